"""A run whose agents ask a language model: who they are, whether it is there, and what the manifest says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import Timer
from typing import Any

from benchmarks.asking import run_loop
from benchmarks.first_prompts import FirstPrompt, first_prompts
from benchmarks.plan import MakeAgent, Plan
from benchmarks.progress import Style, Teller
from benchmarks.run_directory import AgentCard
from benchmarks.runner import Executor, Scheduling
from benchmarks.stopping import Limits
from mage_agent.agents import make_agent
from mage_agent.base import Agent
from mage_agent.model_flags import ModelFlags
from mage_agent.model_settings import ModelSettings
from mage_agent.preflight import Preflight, model_facts, preflight
from mage_agent.spec_parameters import with_parameters
from mage_envs.errors import MageError

MAX_ERROR_RATE = 0.2
"""Past it a run of language agents stops, unless it was told otherwise: a server that is down fails them all."""

IN_PROCESS = frozenset({"transformers", "vllm"})
"""Backends that play a model in the process of the run, in batches: more in flight only wait for each other."""

CONCURRENCY = 64
"""Meta-episodes in flight, of agents that wait for a server, unless it is said otherwise."""

SILENT_SECONDS = 1.0
"""A preflight that takes longer says what it waits for."""


@dataclass(frozen=True)
class Cast:
    """The agents of a run, and the model that some of them ask.

    Attributes:
        specs: Their specs.
        model: The model; None if none of them asks one.
        asking: Names of those that ask it.
        in_terminal: Names of those that are people at this terminal.
    """

    specs: tuple[str, ...]
    model: ModelSettings | None
    asking: frozenset[str]
    in_terminal: frozenset[str]

    @property
    def factory(self) -> MakeAgent:
        """Makes an agent from its spec, in any process."""
        return make_agent if self.model is None else partial(make_agent, model=self.model)

    @property
    def concurrency(self) -> int:
        """Meta-episodes in flight by default: of a model in this process as many as it answers at once."""
        return self.model.batch if self.model and self.model.backend in IN_PROCESS else CONCURRENCY

    def limits(self, error_rate: float | None, cost: float | None) -> Limits:
        """Returns when the run stops early.

        Raises:
            MageError: Cost is limited, and unknown.
            ValueError: One is out of range.
        """
        if cost is not None and (self.model is None or self.model.price is None):
            name = self.model.model if self.model else "NAME"
            raise MageError(
                f"--cost-limit needs to know what tokens of {name!r} cost: say it in a table, --prices FILE "
                "(docs/your_model.md)"
            )
        return Limits(MAX_ERROR_RATE if error_rate is None and self.asking else error_rate, cost)

    def style(self, style: Style) -> Style:
        """Returns how the run tells how far it is: no bar is drawn across what a person is shown."""
        return "quiet" if self.in_terminal and style == "bar" else style

    def schedule(self, how: Scheduling, *, on_terminal: bool) -> Scheduling:
        """Returns how the run is played: a person plays one meta-episode at a time, here.

        Raises:
            MageError: There is no terminal to play at.
        """
        if not self.in_terminal:
            return how
        if not on_terminal or how.executor != "local":
            raise MageError(f"{min(self.in_terminal)} plays at a terminal, and this is none")
        return replace(how, jobs=1)


def choose_cast(specs: Sequence[str], flags: ModelFlags, executor: Executor = "local") -> Cast:
    """Sees who asks a model, and which.

    Args:
        specs: Specs of agents.
        flags: What the command was told of the model.
        executor: Where the agents play.

    Raises:
        MageError: An agent needs a model, and none was named, or the other way round; options contradict each other;
            or a spec is bad.
    """
    if flags.api_key is not None and executor == "ray":
        raise MageError("--api-key stays on this machine: set a variable on every node, and name it by --api-key-env")
    specs = with_parameters(specs, flags.parameters())
    model = flags.settings()
    made = [make_agent(spec) for spec in specs]
    asking = frozenset(agent.name for agent in made if asks_model(agent) and not (model is None and has_model(agent)))
    if asking and model is None:
        raise MageError(
            f"{min(asking)} asks a language model: name it by --backend and --model (docs/your_model.md); "
            "`--backend fake --model first` plays without any"
        )
    if model is not None and not asking:
        raise MageError(
            f"none of the agents ({', '.join(specs)}) asks a language model: leave --model out, or name one that does, "
            "such as --agent zero_shot"
        )
    people = frozenset(agent.name for agent in made if getattr(agent, "in_terminal", False))
    return Cast(specs, model, asking, people)


def asks_model(agent: Agent) -> bool:
    """Whether an agent asks a language model."""
    return hasattr(agent, "connect")


def has_model(agent: Agent) -> bool:
    """Whether an agent comes with a model of its own, so that none needs to be named."""
    return bool(getattr(agent, "own_model", False))


def with_model(plan: Plan, cast: Cast) -> Plan:
    """Writes into the manifest of a plan what its command says of the model."""
    return plan if cast.model is None else with_facts(plan, cast.asking, model_facts(cast.model, None))


def with_tried_model(plan: Plan, cast: Cast, teller: Teller, limits: Limits) -> Plan:
    """Tries the model, if the plan has one, says what was found, and writes it into the plan's manifest.

    Args:
        plan: The plan.
        cast: Its agents.
        teller: Is told.
        limits: When the run stops early.

    Raises:
        MageError: It gives no reply, does not say what cost is limited by, or has too short a context.
    """
    if cast.model is None:
        return plan
    firsts = first_prompts(plan)
    with _said_if_long(cast.model, teller):
        found = run_loop(preflight(cast.model, [each.messages for each in firsts]))
    teller.event("preflight", f"preflight: {found.line()}", **found.facts())
    _check_lengths(firsts, found, cast.model)
    if limits.cost is not None and None in (found.completion.prompt_tokens, found.completion.completion_tokens):
        raise MageError(f"{cast.model.model} does not say how many tokens it used: --cost-limit could not hold")
    return with_facts(plan, cast.asking, model_facts(cast.model, found))


@contextmanager
def _said_if_long(model: ModelSettings, teller: Teller) -> Iterator[None]:
    """Says what is waited for, if it takes long: a server that is down is tried again and again."""
    where = model_facts(model, None)["sampling"].get("base_url", model.model)
    timer = Timer(SILENT_SECONDS, lambda: teller.event("waiting", f"waiting for {where} …", model=model.model))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _check_lengths(firsts: Sequence[FirstPrompt], found: Preflight, model: ModelSettings) -> None:
    context, reply = model.context or found.context, model.sampling.max_tokens
    for first, tokens in zip(firsts, found.lengths, strict=True):
        if context is not None and tokens + reply > context:
            raise MageError(
                f"{first.agent} in {first.scenario}: its first prompt has {tokens} tokens, and with replies of up to "
                f"{reply} that is more than the context of {context}: allow shorter replies (--max-tokens), or a "
                "longer context (--context)"
            )


def with_facts(plan: Plan, asking: frozenset[str], facts: Mapping[str, Any]) -> Plan:
    """Adds to the cards of a plan's language agents what is known of their model.

    Args:
        plan: The plan.
        asking: Names of these agents.
        facts: ``revision`` and ``sampling``, as :func:`mage_agent.preflight.model_facts` gives them.
    """

    def told(card: AgentCard) -> AgentCard:
        if card.name not in asking:
            return card
        sampling = {**card.sampling, **facts["sampling"]}
        return card.model_copy(update={"revision": card.revision or facts["revision"], "sampling": sampling})

    config = plan.manifest.config
    config = config.model_copy(update={"agents": tuple(map(told, config.agents))})
    return replace(plan, manifest=plan.manifest.model_copy(update={"config": config, "digest": config.digest}))
