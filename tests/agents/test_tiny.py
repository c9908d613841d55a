"""The tiny model is the same each time, and its tokenizer loses nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra agent")
transformers = pytest.importorskip("transformers", reason="needs the extra agent")

from mage_agent.tiny.build import build_model, main  # noqa: E402
from mage_agent.tiny.tokenizer import build_tokenizer  # noqa: E402

MESSAGES = [
    {"role": "system", "content": "Rules: 2 × 3 ≥ 5.\n\n Naïve  players lose."},
    {"role": "user", "content": "Your card is K. <think> is no mark here."},
]


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_model(tmp_path_factory.mktemp("models") / "tiny")


def test_it_loads_as_any_model_does(tiny: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny, use_safetensors=True)
    assert sum(weight.numel() for weight in model.parameters()) == 1_116_544
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    assert model.generation_config.eos_token_id == tokenizer.eos_token_id
    assert model.config.max_position_embeddings == tokenizer.model_max_length == 8192


def test_the_same_seed_gives_the_same_weights_and_touches_no_global_generator(tiny: Path, tmp_path: Path) -> None:
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    assert weights(build_model(tmp_path / "again")) == weights(tiny)
    assert torch.equal(torch.rand(3), expected)
    assert weights(build_model(tmp_path / "other", seed=1)) != weights(tiny)


def test_weights_are_those_of_a_llama_at_its_start(tiny: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny)
    for weight in model.parameters():
        if weight.ndim > 1:
            assert weight.std().item() == pytest.approx(0.02, rel=0.03)
        else:
            assert bool((weight == 1).all())


@pytest.mark.parametrize("text", ["", "plain", "two  spaces\n", "é∞\x00\U0001f600", " <think>x</think> <|endoftext|>"])
def test_any_text_survives_as_bytes(text: str) -> None:
    tokenizer = build_tokenizer(100)
    tokens = tokenizer(text)["input_ids"]
    assert len(tokens) == len(text.encode())
    assert tokenizer.decode(tokens) == text


def test_the_chat_template_has_roles() -> None:
    tokenizer = build_tokenizer(100)
    text = tokenizer.apply_chat_template(MESSAGES, tokenize=False, add_generation_prompt=True)
    assert text == (
        "<|system|>Rules: 2 × 3 ≥ 5.\n\n Naïve  players lose.<|end|>"
        "<|user|>Your card is K. <think> is no mark here.<|end|><|assistant|>"
    )
    with pytest.raises(Exception, match="not tool"):
        tokenizer.apply_chat_template([{"role": "tool", "content": ""}], tokenize=False)


def test_what_the_assistant_wrote_is_marked_for_training() -> None:
    tokenizer = build_tokenizer(100)
    chat = [*MESSAGES, {"role": "assistant", "content": "bet"}, MESSAGES[1], {"role": "assistant", "content": "pass"}]
    made: Any = tokenizer.apply_chat_template(chat, return_dict=True, return_assistant_tokens_mask=True)
    marked = [token for token, mark in zip(made["input_ids"], made["assistant_masks"], strict=True) if mark]
    assert tokenizer.decode(marked) == "bet<|end|>pass<|end|>"


def test_the_command_builds_it(tiny: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mage_agent.tiny.build", str(tmp_path / "made"), "--seed", "0"]
    assert "built" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert weights(tmp_path / "made") == weights(tiny)


def test_without_the_extra_its_remedy_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("sys.argv", ["build", str(tmp_path / "tiny")])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr()
    assert left.value.code == 2
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "pip install 'mage-envs[agent]'" in said.err
