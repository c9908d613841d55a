"""The backend ``vllm``: vLLM's asynchronous engine in this process. Needs the extra ``vllm``.

The engine batches by itself. It is given token ids that were counted before, so that it never shortens a prompt. What
the settings leave open is the model's own generation_config; vLLM draws also where that says ``do_sample: false``.
For options of the engine that are not here, start vLLM's own server and ask it with the backend ``openai``.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from mage_agent.backends.base import BACKENDS, BackendError, Completion, Finish, Message, Request
from mage_agent.backends.generation import TEMPLATE_VALUES, check_options, template_values
from mage_agent.backends.loading import in_one_line
from mage_agent.backends.local_chat import LocalChat, fit, load_chat
from mage_agent.backends.local_files import local_folder, need, revision_of
from mage_agent.model_settings import ModelSettings, Sampling

SEED_BY_DRAW = "seed_by_draw"
"""The option that sends a seed with each request, made from its draw. Not every build of vLLM takes seeds."""

OPTIONS = ("min_p", "repetition_penalty", "presence_penalty", "frequency_penalty", "min_tokens")
"""Further options of sampling (``Sampling.extra``), by their names in vLLM's SamplingParams."""


ENGINE_OPTIONS = ("dtype", "enforce_eager", "gpu_memory_utilization", "tensor_parallel_size")
"""Options of the engine, in ``Sampling.extra`` too, by their names in vLLM's EngineArgs."""


class Loaded(NamedTuple):
    """An engine that is ready.

    Attributes:
        engine: vLLM's.
        chat: The model's tokenizer and chat template.
        defaults: What its generation_config says of sampling, by vLLM's names.
        revision: Fingerprint of a folder; of a hub id, what was asked for.
        context: Most tokens of prompt and reply together.
    """

    engine: Any
    chat: LocalChat
    defaults: dict[str, Any]
    revision: str
    context: int


class VllmBackend:
    """A model in vLLM's engine."""

    counter = "the model's tokenizer"
    system_role = True

    def __init__(self, settings: ModelSettings) -> None:
        """Loads nothing yet."""
        self.model, self.revision, self.context = settings.model, settings.revision, settings.context
        self._settings = settings
        self._opening = asyncio.Lock()
        self._loaded: Loaded | None = None
        self._numbers = itertools.count()

    async def open(self) -> None:
        """Starts the engine, once. The event loop stands still meanwhile: the engine belongs to it.

        Raises:
            BackendError: It cannot; the message names the remedy.
        """
        async with self._opening:
            if self._loaded is None:
                self._loaded = load(self._settings)
                self.revision, self.context = self._loaded.revision, self._loaded.context
                self.system_role = self._loaded.chat.system_role

    async def complete(self, request: Request) -> Completion:
        """Returns a reply.

        Raises:
            BackendError: The prompt does not fit, or the engine failed.
        """
        loaded = await self._ready()
        prompt = loaded.chat.prompt(request.messages)
        fit(len(prompt.tokens), self._settings.sampling.max_tokens, self.context)
        written, reason = await self._generate(loaded, list(prompt.tokens), request.draw)
        finish: Finish = "stop" if reason == "stop" else "length" if reason == "length" else "cut"
        return loaded.chat.completion(prompt, written, finish)

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Returns the number of tokens of a prompt, chat template included."""
        return len((await self._ready()).chat.prompt(messages).tokens)

    async def close(self) -> None:
        """Ends the engine and its processes; the event loop stands still, or the engine would take it for a fault."""
        async with self._opening:
            loaded, self._loaded = self._loaded, None
        if loaded is not None:
            loaded.engine.shutdown()

    async def _ready(self) -> Loaded:
        """Returns the engine, starting it if need be."""
        if self._loaded is None:
            await self.open()
        assert self._loaded is not None
        return self._loaded

    async def _generate(self, loaded: Loaded, tokens: list[int], draw: str) -> tuple[list[int], str | None]:
        """Returns the tokens of a reply, and why they ended."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        asked = sampling_fields(self._settings.sampling, loaded.defaults, draw)
        number = f"mage-{next(self._numbers)}"
        try:
            params = SamplingParams(**asked, detokenize=False, output_kind=RequestOutputKind.FINAL_ONLY)
            outputs = [
                output.outputs[0]
                async for output in loaded.engine.generate({"prompt_token_ids": tokens}, params, number)
            ]
        except Exception as error:  # The engine raises what it likes.
            raise BackendError(f"vLLM failed: {type(error).__name__}: {error}") from error
        if not outputs:
            raise BackendError("vLLM gave no reply")
        return list(outputs[-1].token_ids), outputs[-1].finish_reason


def sampling_fields(sampling: Sampling, defaults: dict[str, Any], draw: str) -> dict[str, Any]:
    """Returns the fields of vLLM's SamplingParams for one request.

    >>> sampling_fields(Sampling(temperature=0.5, max_tokens=9), {"top_k": 20, "max_tokens": 100}, "7/0")
    {'top_k': 20, 'max_tokens': 9, 'temperature': 0.5}

    Args:
        sampling: How replies are drawn.
        defaults: What the model's generation_config says.
        draw: The request's draw, which makes the seed if one is asked for.
    """
    options = {name: value for name, value in sampling.extra if name in OPTIONS}
    own = {name: getattr(sampling, name) for name in ("temperature", "top_p", "top_k", "max_tokens")}
    fields = defaults | {name: value for name, value in own.items() if value is not None} | options
    if dict(sampling.extra).get(SEED_BY_DRAW):
        fields["seed"] = int.from_bytes(hashlib.sha256(draw.encode()).digest()[:7], "big")
    return fields


def load(settings: ModelSettings) -> Loaded:
    """Starts an engine: weights in safetensors only, and none of the model's code unless the settings trust it.

    Raises:
        BackendError: A package, the model or its chat template is missing, or an option is unknown.
    """
    need("the backend vllm", "vllm", "vllm", "transformers")
    if settings.device is not None:
        raise BackendError("vLLM chooses the device itself: leave --device out")
    check_options(settings.sampling, (TEMPLATE_VALUES, SEED_BY_DRAW, *OPTIONS, *ENGINE_OPTIONS))
    values = template_values(settings.sampling)
    folder = local_folder(settings.model)
    revision = revision_of(folder, settings.revision) if folder else settings.revision
    engine = _start(settings, str(folder) if folder else settings.model, None if folder else settings.revision or None)
    config = engine.model_config
    try:
        chat = load_chat(settings, (config.try_get_generation_config() or {}).get("eos_token_id"), values)
    except BackendError:
        engine.shutdown()
        raise
    return Loaded(engine, chat, config.get_diff_sampling_param(), revision, config.max_model_len)


def _start(settings: ModelSettings, name: str, revision: str | None) -> Any:
    """Returns a running engine."""
    from vllm import AsyncEngineArgs
    from vllm.v1.engine.async_llm import AsyncLLM

    try:
        return AsyncLLM.from_engine_args(
            AsyncEngineArgs(
                model=name,
                revision=revision,
                max_model_len=settings.context,
                max_num_seqs=settings.batch,
                load_format="safetensors",
                trust_remote_code=settings.trust_remote_code,
                disable_log_stats=True,
                **{option: value for option, value in settings.sampling.extra if option in ENGINE_OPTIONS},
            )
        )
    except Exception as error:  # It raises what it likes, errors of its processes among them.
        raise BackendError(f"vLLM cannot start with {settings.model}: {in_one_line(error)}") from error


BACKENDS.register("vllm", VllmBackend)
