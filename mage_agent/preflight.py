"""One call of a model before many: is it there, does it reply, can it be counted, does it keep to the format?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mage_agent.backends.base import BACKENDS, Backend, BackendError, Completion, Message, Request, without_system
from mage_agent.errors import Overloaded
from mage_agent.model_settings import ModelSettings
from mage_envs.text.parser import ReplyKind, final_answer

PROMPT = (
    Message("system", "You play. Answer with an action in tags, as in <action>its name</action>, and nothing else."),
    Message("user", "This is a test of the connection.\n\nYour legal actions:\n- ready"),
)
_ANSWER = "ready"


@dataclass(frozen=True)
class Preflight:
    """What one call of a model found.

    Attributes:
        model: Its name.
        revision: Its revision or fingerprint; empty if unknown.
        context: Most tokens of prompt and reply together; None if unknown.
        counter: How tokens are counted.
        counted: Tokens of the test's prompt, as counted before sending.
        completion: The reply.
        seconds: How long it took.
        system_role: Whether the model is sent system messages.
        lengths: Tokens of the other prompts that it was given, as counted before sending; they are not sent.
    """

    model: str
    revision: str
    context: int | None
    counter: str
    counted: int
    completion: Completion
    seconds: float
    system_role: bool = True
    lengths: tuple[int, ...] = ()

    @property
    def thinks(self) -> bool:
        """Whether it thinks before it answers."""
        return bool(self.completion.reasoning) or "think>" in self.completion.text.lower()

    @property
    def answered(self) -> bool:
        """Whether it answered in the format that was asked for."""
        kind, text = final_answer(self.completion.text)
        return kind is ReplyKind.OK and text.strip().lower() == _ANSWER

    def line(self) -> str:
        """Says it in one line."""
        context = "context unknown" if self.context is None else f"context {self.context:,} tokens"
        told = self.completion.prompt_tokens
        few = "" if told is None or self.counted >= told else f", too few: {self.counted} for {told}"
        facts = (
            f"replies in {self.seconds:.1f} s",
            "thinks" if self.thinks else "does not think",
            f"{context}, counted by {self.counter}{few}",
            "keeps to the format" if self.answered else f"does not keep to the format: {self._said()}",
        )
        revision = f" ({self.revision})" if self.revision else ""
        return f"{self.model}{revision} {'; '.join(facts)}"

    def facts(self) -> dict[str, Any]:
        """Says it as JSON values."""
        return {
            "model": self.model,
            "revision": self.revision,
            "context": self.context,
            "counter": self.counter,
            "counted_tokens": self.counted,
            "prompt_tokens": self.completion.prompt_tokens,
            "completion_tokens": self.completion.completion_tokens,
            "thinks": self.thinks,
            "answered": self.answered,
            "seconds": round(self.seconds, 3),
        }

    def _said(self) -> str:
        if self.completion.finish == "length":
            return "its reply was cut, a larger --max-tokens may help"
        if not self.completion.text.strip():
            return "its reply is empty"
        text = " ".join(self.completion.text.split())
        return f"it said {text[:60]!r}{' …' if len(text) > 60 else ''}"


async def preflight(settings: ModelSettings, prompts: Sequence[Sequence[Message]] = ()) -> Preflight:
    """Opens a backend, asks it once, counts more prompts, and closes it.

    Args:
        settings: Which model. The cache is left aside: what was answered yesterday says nothing of today.
        prompts: Prompts to be counted.

    Raises:
        BackendError: It cannot be opened, has too much to do, or gives no reply.
        UnknownNameError: There is no such backend.
    """
    backend = BACKENDS.get(settings.backend)(replace(settings, cache=None))
    try:
        await backend.open()
        found = await _ask(backend, settings)
        return replace(found, lengths=tuple([await backend.count_tokens(prompt) for prompt in prompts]))
    except Overloaded as error:
        raise BackendError(f"{settings.model}: {error}. Try again later") from error
    finally:
        await backend.close()


async def _ask(backend: Backend, settings: ModelSettings) -> Preflight:
    prompt = PROMPT if settings.system_role else without_system(PROMPT)
    counted = await backend.count_tokens(prompt)
    begun = time.perf_counter()
    completion = await backend.complete(Request(prompt, "preflight"))
    seconds = time.perf_counter() - begun
    return Preflight(
        model=backend.model,
        revision=backend.revision,
        context=backend.context,
        counter=backend.counter,
        counted=counted,
        completion=completion,
        seconds=seconds,
        system_role=getattr(backend, "system_role", True),
    )


def model_facts(settings: ModelSettings, found: Preflight | None) -> Mapping[str, Any]:
    """Returns what the card of a language agent says besides its own: where the model is, and what was found of it.

    Args:
        settings: Which model.
        found: What a preflight found; None if there was none.

    Returns:
        ``revision`` and ``sampling``, as in a card.
    """
    sampling: dict[str, Any] = {"backend": settings.backend}
    if settings.base_url is not None:
        sampling["base_url"] = _shown(settings.base_url)
    if settings.tokenizer is not None:
        sampling["tokenizer"] = settings.tokenizer
    context = settings.context or (found and found.context)
    if context is not None:
        sampling["context"] = context
    if found is not None:
        sampling["counter"] = found.counter
        if not found.system_role:
            sampling["chat_template"] = "no system role"
    return {"revision": settings.revision or (found.revision if found else ""), "sampling": sampling}


def _shown(url: str) -> str:
    from mage_agent.backends.endpoint import shown_url

    return shown_url(url)
