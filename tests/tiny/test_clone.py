"""Cloning: what is trained on, and that it learns."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra agent)")
pytest.importorskip("trl", reason="TRL is not installed (extra train)")

from mage_agent.baselines.tiny import Tiny  # noqa: E402
from mage_agent.tiny import clone as cloning  # noqa: E402
from mage_agent.tiny.clone import Share, clone, row_of  # noqa: E402
from mage_agent.tiny.tokenizer import trained_tokenizer  # noqa: E402
from mage_agent.tiny.transcripts import transcripts  # noqa: E402

SAMPLES = list(transcripts("rps/leaning", Tiny(), 40, seed=0))


def test_phrases_are_tokens_and_nothing_is_lost() -> None:
    phrases = cloning._phrases(SAMPLES)
    tokenizer = trained_tokenizer(cloning._texts(SAMPLES), phrases, 512)
    for sample in SAMPLES:
        for text in (*(message.content for message in sample.prompt), sample.reply):
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text
    assert all(len(tokenizer(phrase, add_special_tokens=False)["input_ids"]) == 1 for phrase in phrases)
    odd = "Straße ♠\t 対戦 \x00"
    assert tokenizer.decode(tokenizer(odd, add_special_tokens=False)["input_ids"]) == odd


def test_the_same_transcripts_give_the_same_tokenizer() -> None:
    first, second = (
        trained_tokenizer(cloning._texts(SAMPLES), cloning._phrases(SAMPLES), 512).get_vocab() for _ in range(2)
    )
    assert first == second


def test_only_the_reply_and_its_end_are_learnt() -> None:
    tokenizer = trained_tokenizer(cloning._texts(SAMPLES), cloning._phrases(SAMPLES), 512)
    row = row_of(tokenizer, SAMPLES[0])
    learnt = [token for token, mask in zip(row["input_ids"], row["completion_mask"], strict=True) if mask]
    assert tokenizer.decode(learnt) == SAMPLES[0].reply + tokenizer.eos_token
    whole = tokenizer.apply_chat_template(
        [*(message._asdict() for message in SAMPLES[0].prompt), {"role": "assistant", "content": SAMPLES[0].reply}],
        tokenize=False,
    )
    assert tokenizer.decode(row["input_ids"]) == whole


def test_a_clone_learns_its_tutors_replies_and_not_its_prompts(tmp_path: Path) -> None:
    """A few steps make replies likelier; prompts, on which there is no loss, stay as strange as before."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    folder = clone(tmp_path / "model", seed=3, shares=(Share("rps/leaning", 400),), epochs=1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    losses = {0: [], 1: []}
    for sample in SAMPLES[:30]:
        row = row_of(tokenizer, sample)
        ids, mask = torch.tensor([row["input_ids"]]), torch.tensor(row["completion_mask"])
        with torch.no_grad():
            each = torch.nn.functional.cross_entropy(model(ids).logits[0, :-1], ids[0, 1:], reduction="none")
        for wanted in losses:
            losses[wanted].append(float(each[mask[1:] == wanted].mean()))
    reply, prompt = (sum(losses[wanted]) / len(losses[wanted]) for wanted in (1, 0))
    assert reply < 1.5
    assert prompt > 4.0
    assert sorted(file.name for file in folder.iterdir() if file.suffix == ".safetensors") == ["model.safetensors"]
