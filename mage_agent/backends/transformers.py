"""The backend ``transformers``: a model in this process, from a local folder or a hub id. Needs the extra ``agent``.

Requests that wait are answered in batches. Each draws from a generator of its own, so that a reply does not depend on
who shares its batch, up to rounding: the sums of a padded batch have other last digits, which now and then decide
between two tokens. Nothing can hang here, so that the settings' ``timeout`` and ``retries`` have no use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from mage_agent.backends.base import BACKENDS, BackendError, Completion, Message, Request
from mage_agent.backends.generation import OPTIONS, TEMPLATE_VALUES, Generator, Row, check_options, template_values
from mage_agent.backends.loading import in_one_line, loading, no_progress_bars, only_here, remedy_for
from mage_agent.backends.local_chat import LocalChat, fit, load_chat
from mage_agent.backends.local_files import local_folder, need, revision_of
from mage_agent.backends.micro_batcher import MicroBatcher
from mage_agent.model_settings import ModelSettings


class Loaded(NamedTuple):
    """A model that is ready.

    Attributes:
        chat: Its tokenizer and chat template.
        generator: What answers a batch.
        revision: Fingerprint of a folder, commit of a hub id.
        context: Most tokens of prompt and reply together, as its configuration says; None if it does not.
    """

    chat: LocalChat
    generator: Generator
    revision: str
    context: int | None


Loader: TypeAlias = Callable[[ModelSettings], Loaded]


class TransformersBackend:
    """A model of transformers in this process."""

    counter = "the model's tokenizer"
    system_role = True

    def __init__(self, settings: ModelSettings, loader: Loader | None = None) -> None:
        """Loads nothing yet.

        Args:
            settings: Which model, and how it is asked.
            loader: What gets the model ready, where it is in memory already; None: :func:`load`.
        """
        self.model, self.revision, self.context = settings.model, settings.revision, settings.context
        self._settings, self._load = settings, loader or load
        self._opening = asyncio.Lock()
        self._chat: LocalChat | None = None
        self._batcher: MicroBatcher[Row, list[int]] | None = None

    async def open(self) -> None:
        """Loads the model in a thread, once.

        Raises:
            BackendError: It cannot; the message names the remedy.
        """
        async with self._opening:
            if self._batcher is None:
                loaded = await asyncio.to_thread(self._load, self._settings)
                self.revision, self.context = loaded.revision, self._settings.context or loaded.context
                self._chat, self.system_role = loaded.chat, loaded.chat.system_role
                self._batcher = MicroBatcher(loaded.generator, self._settings.batch, lambda row: len(row.tokens))

    async def complete(self, request: Request) -> Completion:
        """Returns a reply, computed together with those of others.

        Raises:
            BackendError: The prompt does not fit, or the model failed.
        """
        chat, batcher = await self._ready()
        prompt = chat.prompt(request.messages)
        fit(len(prompt.tokens), self._settings.sampling.max_tokens, self.context)
        written = await batcher.submit(Row(prompt.tokens, request.draw))
        ended = bool(written) and written[-1] in chat.ends
        return chat.completion(prompt, written, "stop" if ended else "length")

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Returns the number of tokens of a prompt, chat template included."""
        chat, _ = await self._ready()
        return len(chat.prompt(messages).tokens)

    async def close(self) -> None:
        """Stops what is computed, and lets go of the model."""
        async with self._opening:
            batcher, self._batcher, self._chat = self._batcher, None, None
        if batcher is not None:
            await batcher.close()

    async def _ready(self) -> tuple[LocalChat, MicroBatcher[Row, list[int]]]:
        """Returns the loaded model, loading it if need be."""
        if self._chat is None or self._batcher is None:
            await self.open()
        assert self._chat is not None
        assert self._batcher is not None
        return self._chat, self._batcher


def load(settings: ModelSettings) -> Loaded:
    """Loads a model: weights in safetensors only, and none of its code unless the settings trust it.

    Raises:
        BackendError: It does not load, whatever the cause, or an option is unknown; the message names the remedy.
    """
    need("the backend transformers", "agent", "torch", "transformers")
    check_options(settings.sampling, (TEMPLATE_VALUES, *OPTIONS))
    values = template_values(settings.sampling)
    folder = local_folder(settings.model)
    revision = revision_of(folder, settings.revision) if folder else settings.revision
    name = str(folder) if folder else settings.model
    offline = only_here(name)
    with loading(f"the model {settings.model}", remedy_for(name, offline)), no_progress_bars():
        device = _device(settings.device)
        model = _load_model(settings, name, None if folder else settings.revision or None, offline)
        chat = load_chat(settings, model.generation_config.eos_token_id, values)
        generator = Generator(model.to(device).eval(), sorted(chat.ends), chat.pad, settings.sampling)
        context = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        return Loaded(chat, generator, revision or getattr(model.config, "_commit_hash", None) or "", context)


def _load_model(settings: ModelSettings, name: str, revision: str | None, offline: bool) -> Any:
    """Returns the model in the type of its weights."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(
        name,
        revision=revision,
        dtype="auto",
        use_safetensors=True,
        trust_remote_code=settings.trust_remote_code,
        local_files_only=offline,
        adapter_kwargs={"local_files_only": offline},  # With peft, the hub is asked for an adapter, too.
    )


def _device(asked: str | None) -> Any:
    """Returns the device that was asked for, after a look whether it is there; else the best that torch sees.

    Raises:
        BackendError: It is not there.
    """
    import torch

    name = asked or _best_device()
    try:
        device = torch.device(name)
        torch.empty(1, device=device).to("cpu")  # Nothing can be computed on the device meta, either.
    except Exception as error:  # AssertionError, RuntimeError, NotImplementedError: each kind of device has its own.
        raise BackendError(
            f"no device {name!r} for torch here ({in_one_line(error)}): say --device cpu, or install a torch for it"
        ) from error
    return device


def _best_device() -> str:
    """Returns the name of the best device that torch sees."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


BACKENDS.register("transformers", TransformersBackend)
