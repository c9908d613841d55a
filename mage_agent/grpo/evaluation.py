"""Evaluation in the middle of training: the model as it is plays a validation panel, by the harness of the benchmark.

The harness is in a room that this one may not import. So what is needed of it is said here, as a protocol, and what
does it is found by name when it is needed: ``benchmarks.training``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from mage_agent.backends.base import Backend
from mage_agent.base import Agent
from mage_agent.grpo.config import TrainConfig, with_population
from mage_agent.model_settings import ModelSettings, Sampling
from mage_envs.scenarios import Scenario

if TYPE_CHECKING:
    from mage_agent.backends.local_chat import LocalChat

HARNESS = "benchmarks.training"


class Interval(NamedTuple):
    """A mean with its 95 % interval; None where there is too little to tell."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Panel:
    """What is played.

    Attributes:
        scenario: The scenario, with the population that comes.
        meta_episodes: How many, at least 2.
        episodes: N.
        max_invalid: So many replies in a row that cannot be played lose the episode.
        stop_on_success: Whether the first win ends the meta-episode.
        legal_actions_in_prompt: Whether prompts list the legal actions.
    """

    scenario: Scenario
    meta_episodes: int
    episodes: int
    max_invalid: int
    stop_on_success: bool
    legal_actions_in_prompt: bool


class Evaluation(NamedTuple):
    """What came of it.

    Attributes:
        panel: SHA-256 of all that decides what was played.
        scored: Meta-episodes with a score.
        errors: Meta-episodes in which the agent failed; they are in no score.
        first_error: What the first of them says; empty if there is none.
        score: Mean score, by episode.
        win: Share of wins, by episode.
        invalid: Share of episodes with a reply that could not be played, by episode.
        gain: Score of the last episode minus score of the first, paired.
        opponents: Mean score by episode, for each opponent.
    """

    panel: str
    scored: int
    errors: int
    first_error: str
    score: tuple[Interval, ...]
    win: tuple[Interval, ...]
    invalid: tuple[Interval, ...]
    gain: Interval
    opponents: Mapping[str, tuple[Interval, ...]]

    def metrics(self) -> dict[str, float]:
        """Returns the numbers for a log, as its names have them; those that are not known are left out."""
        named = {f"eval_score/{number}": score for number, score in enumerate(self.score, start=1)}
        named |= {f"eval_win/{number}": win for number, win in enumerate(self.win, start=1)}
        named |= {"eval_gain": self.gain, "eval_invalid": self.invalid[-1]}
        ends = ("eval_gain", f"eval_score/{len(self.score)}")
        found = {name: interval.value for name, interval in named.items()}
        found |= {f"{name}/low": named[name].low for name in ends} | {f"{name}/high": named[name].high for name in ends}
        return {name: value for name, value in found.items() if value is not None}


class Harness(Protocol):
    """What ``benchmarks.training`` has."""

    def evaluate(self, panel: Panel, agent: Callable[[], Agent], concurrency: int) -> Evaluation:
        """Plays a panel: the same for every agent, and none that a suite has."""

    def commit(self) -> str:
        """Returns the commit of the checkout; see ``benchmarks.provenance``."""


def harness() -> Harness:
    """Returns the harness."""
    return cast(Harness, importlib.import_module(HARNESS))


def panel_of(config: TrainConfig) -> Panel:
    """Returns the validation panel of a training.

    Raises:
        UnknownNameError: There is no such scenario.
    """
    own = not config.eval_scenario
    return Panel(
        scenario=config.played if own else with_population(config.eval_scenario, ""),
        meta_episodes=config.eval_meta_episodes,
        episodes=config.eval_episodes,
        max_invalid=config.max_invalid,
        stop_on_success=config.stop_on_success,
        legal_actions_in_prompt=config.legal_actions,
    )


def policy_backend(model: Any, chat: LocalChat, config: TrainConfig, context: int | None) -> Backend:
    """Returns a backend over a model in memory, which plays as the backend ``transformers`` would play it from disk.

    Args:
        model: The model, in the mode of evaluation.
        chat: Its tokenizer and template.
        config: How replies are drawn.
        context: Most tokens of prompt and reply together; None: nobody counts.
    """
    from mage_agent.backends.generation import Generator
    from mage_agent.backends.transformers import Loaded, TransformersBackend

    sampling = Sampling(config.temperature, config.top_p, config.top_k or None, config.max_completion)
    generator = Generator(model, sorted(chat.ends), chat.pad, sampling)
    settings = ModelSettings("transformers", "policy", context=context, sampling=sampling, batch=config.eval_batch)
    return TransformersBackend(settings, lambda _: Loaded(chat, generator, "", context))


def evaluate(model: Any, chat: LocalChat, config: TrainConfig, context: int | None) -> Evaluation:
    """Lets a model play the validation panel. No global generator is touched.

    Args:
        model: The model, on its device; it is put into the mode of evaluation, and back.
        chat: Its tokenizer and template.
        config: What is trained.
        context: Most tokens of prompt and reply together; None: nobody counts.
    """
    from mage_agent.agents import make_agent

    backend = policy_backend(model, chat, config, context)
    training = model.training
    model.eval()
    try:
        return harness().evaluate(panel_of(config), lambda: make_agent(config.agent, backend), config.eval_batch)
    finally:
        model.train(training)
