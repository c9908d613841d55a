"""How a model of transformers writes the replies of one batch: padding, sampling, ends. Runs in a worker thread.

Where nothing is drawn, a prompt has one reply, and is computed once.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from mage_agent.backends.base import BackendError
from mage_agent.backends.micro_batcher import Unwanted
from mage_agent.backends.row_sampler import RowSampler, draw_generator
from mage_agent.model_settings import Sampling
from mage_envs.cache import content_key
from mage_envs.errors import near_matches

TEMPLATE_VALUES = "chat_template_kwargs"
"""The option that holds values for the chat template, as vLLM's server calls it: ``{"enable_thinking": false}``."""

MOST_KEPT = 4096
"""Greedy replies that are remembered."""

OPTIONS = ("min_p", "repetition_penalty", "no_repeat_ngram_size", "min_new_tokens")
"""Further options of sampling (``Sampling.extra``), by their names in transformers' GenerationConfig."""

_SAMPLED = ("temperature", "top_k", "top_p", "min_p", "top_h", "typical_p", "epsilon_cutoff", "eta_cutoff")
"""Fields of a GenerationConfig that only sampling reads; the library complains of them in greedy decoding."""


class Row(NamedTuple):
    """One request of a batch.

    Attributes:
        tokens: Token ids of the prompt, at least one.
        draw: The request's draw.
    """

    tokens: tuple[int, ...]
    draw: str


class Generator:
    """A model with its way of sampling: the batch function of a micro-batcher.

    Whoever changes the model's weights makes a new one: greedy replies are remembered.
    """

    def __init__(self, model: Any, ends: Sequence[int], pad: int, sampling: Sampling) -> None:
        """Plans the sampling.

        Args:
            model: A causal language model of transformers, on its device.
            ends: Ids of the tokens that end a reply.
            pad: Id of the token that fills rows up.
            sampling: How replies are drawn; what it leaves open is the model's own generation_config.
        """
        own = model.generation_config
        self._model, self._pad, self._ends = model, pad, frozenset(ends)
        self._known: OrderedDict[str, list[int]] = OrderedDict()
        options = {name: value for name, value in sampling.extra if name != TEMPLATE_VALUES}
        self._sampled = _samples(own, sampling)
        self._warpers = _warpers(own, sampling, options) if self._sampled else []
        self._config = _greedy(own)
        self._config.update(
            eos_token_id=sorted(ends),
            pad_token_id=pad,
            max_new_tokens=sampling.max_tokens,
            **{name: value for name, value in options.items() if name != "min_p"},
        )

    def __call__(self, rows: Sequence[Row], unwanted: Unwanted) -> list[list[int]]:
        """Returns what the model wrote in each row, its end included if it came to one.

        Raises:
            MemoryError: The batch is too large for the device.
        """
        if self._sampled:
            return self._write(rows, unwanted)
        keys = [content_key(str(row.tokens)) for row in rows]
        found = {key: self._known[key] for key in keys if key in self._known}
        if new := {key: row for key, row in zip(keys, rows, strict=True) if key not in found}:
            written = dict(zip(new, self._write(list(new.values()), unwanted), strict=True))
            found |= written
            if not unwanted():  # Else the replies may be cut short.
                self._remember(written)
        return [found[key] for key in keys]

    def _remember(self, written: dict[str, list[int]]) -> None:
        self._known |= written
        while len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)

    def _write(self, rows: Sequence[Row], unwanted: Unwanted) -> list[list[int]]:
        """Computes replies, turning a lack of memory into a MemoryError."""
        import torch

        try:
            with torch.inference_mode():
                written = self._generate(rows, unwanted).tolist()
        except RuntimeError as error:
            if not _out_of_memory(error):
                raise
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            raise MemoryError(str(error)) from error
        return [self._until_end(tokens) for tokens in written]

    def _generate(self, rows: Sequence[Row], unwanted: Unwanted) -> Any:
        """Returns new token ids ``(rows, most that one wrote)``, padded at their ends."""
        import torch

        longest = max(len(row.tokens) for row in rows)
        fill = [longest - len(row.tokens) for row in rows]
        device = self._model.device
        tokens = [[self._pad] * pad + list(row.tokens) for pad, row in zip(fill, rows, strict=True)]
        mask = [[0] * pad + [1] * len(row.tokens) for pad, row in zip(fill, rows, strict=True)]

        def given_up(input_ids: Any, *_: Any, **__: Any) -> Any:
            return torch.full((len(rows),), unwanted(), dtype=torch.bool, device=input_ids.device)

        processors = list(self._warpers)
        if self._sampled:
            processors.append(RowSampler([draw_generator(row.draw, row.tokens) for row in rows]))
        both = self._model.generate(
            input_ids=torch.tensor(tokens, device=device),
            attention_mask=torch.tensor(mask, device=device),
            generation_config=self._config,
            logits_processor=processors,
            stopping_criteria=[given_up],
        )
        return both[:, longest:]

    def _until_end(self, tokens: list[int]) -> list[int]:
        """Cuts off what fills a row up after its end."""
        end = next((index for index, token in enumerate(tokens) if token in self._ends), len(tokens))
        return tokens[: end + 1]


def template_values(sampling: Sampling) -> dict[str, Any]:
    """Returns what the chat template is given besides the messages.

    Raises:
        BackendError: It is no mapping.
    """
    values = dict(sampling.extra).get(TEMPLATE_VALUES, {})
    if not isinstance(values, dict):
        raise BackendError(f'{TEMPLATE_VALUES} is a mapping, such as {{"enable_thinking": false}}, and not {values!r}')
    return values


def check_options(sampling: Sampling, known: Sequence[str]) -> None:
    """Makes sure that every further option of sampling is one that the backend knows.

    Raises:
        BackendError: One is not; the message lists near matches.
    """
    for name, _ in sampling.extra:
        if name not in known:
            raise BackendError(f"this backend has no option {name!r}. {near_matches(name, known)}")


def _samples(own: Any, sampling: Sampling) -> bool:
    """Returns whether replies are drawn, or the likeliest token is taken each time."""
    if sampling.temperature is not None:
        return sampling.temperature > 0
    return bool(own.do_sample) or sampling.top_k is not None or sampling.top_p is not None


def _warpers(own: Any, sampling: Sampling, options: dict[str, Any]) -> list[Any]:
    """Returns the library's processors for temperature, top-k, top-p and min-p, in its order."""
    from transformers import MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    def chosen(asked: Any, name: str) -> Any:
        return getattr(own, name) if asked is None else asked

    temperature, top_k = chosen(sampling.temperature, "temperature"), chosen(sampling.top_k, "top_k")
    top_p, min_p = chosen(sampling.top_p, "top_p"), chosen(options.get("min_p"), "min_p")
    warpers: list[Any] = []
    if temperature is not None and temperature != 1:
        warpers.append(TemperatureLogitsWarper(float(temperature)))
    if top_k:
        warpers.append(TopKLogitsWarper(top_k))
    if top_p is not None and top_p < 1:
        warpers.append(TopPLogitsWarper(float(top_p)))
    if min_p:
        warpers.append(MinPLogitsWarper(min_p))
    return warpers


def _greedy(own: Any) -> Any:
    """Returns a copy of a model's generation_config that takes the likeliest token: drawing is done before."""
    config = copy.deepcopy(own)
    config.update(do_sample=False, num_beams=1, num_return_sequences=1, max_length=None, **dict.fromkeys(_SAMPLED))
    return config


def _out_of_memory(error: RuntimeError) -> bool:
    """Returns whether torch had no more memory, on a GPU or (a plain RuntimeError) on the CPU."""
    import torch

    words = str(error)
    return isinstance(error, torch.OutOfMemoryError) or "not enough memory" in words or "can't allocate memory" in words
