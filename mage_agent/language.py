"""What all prompted agents share: a prompt for each decision, an answer, and a memory between episodes.

A baseline is a subclass with its templates, and what it keeps (:meth:`LanguageAgent.learn`) and shows
(:meth:`LanguageAgent.recall`) of earlier episodes. See docs/language_agents.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from mage_agent.backends.base import CUT, FinalError, Message
from mage_agent.base import Briefing, Usage
from mage_agent.memory import MODES, Kept, Memory, Mode, Passage, check_mode, fitting, shuffled_parts
from mage_agent.model_calls import Model, ModelCalls
from mage_agent.prompting import (
    Step,
    Templates,
    act_prompt,
    answer_in,
    reflect_prompt,
    remark,
    step_text,
)  # fmt: skip
from mage_envs.games import View
from mage_envs.opponents.base import check_range
from mage_envs.text.parser import visible

BUDGET = 4096
"""Tokens of memory in a prompt, unless the spec says otherwise."""

MAX_BUDGET = 10_000_000

Build: TypeAlias = Callable[[Sequence[Passage]], tuple[Message, ...]]


class Ended(NamedTuple):
    """An episode that is over.

    Attributes:
        number: Which one, from 1.
        steps: The agent's decisions.
        told: Those of them that the end does not tell, each in words.
        end: Its last observation.
        result: What the environment says of it: ``reward``, ``outcome`` and more.
    """

    number: int
    steps: tuple[Step, ...]
    told: tuple[str, ...]
    end: str
    result: Mapping[str, Any]

    @property
    def text(self) -> str:
        """How it went, in the environment's words and the agent's answers."""
        return "\n\n".join([*self.told, self.end])


class LanguageAgent:
    """A model that reads the rules and its view, answers, and keeps of each episode what ``memory`` says.

    Attributes:
        name: The spec that makes it.
        oracle: False: it is never told the opponent.
        interface: ``"text"``.
        sees: What its prompts hold, in a few words.
        templates: Its own words.
        modes: The memories that it can have.
        keeps: What its memory is called, if it is none of them.
        recent_steps: So many steps of the present episode are shown where an observation does not tell them.
        mode: Which of the memories it has.
        words: Its templates without those that its memory never uses.
        kept: What it keeps of earlier episodes.
        briefing: What it was told of this meta-episode.
    """

    name = "language"
    oracle = False
    interface = "text"
    sees: ClassVar[str] = "rules, own views"
    templates: ClassVar[Templates]
    modes: ClassVar[tuple[Mode, ...]] = MODES
    keeps: ClassVar[str] = ""
    recent_steps: ClassVar[int] = 10

    def __init__(self, memory: str = "none", memory_budget: int = BUDGET) -> None:
        """Takes what is kept of an episode, and how much of it a prompt may hold.

        Args:
            memory: ``none``, ``history``, ``reflection`` or ``history+reflection``.
            memory_budget: Most tokens of memory in a prompt.

        Raises:
            SpecError: One of them is out of range.
        """
        check_range("memory_budget", memory_budget, 0, MAX_BUDGET)
        self.mode, self._budget = check_mode(memory, self.modes), memory_budget
        self.words = self.templates.used_with(self.mode)
        self.calls = ModelCalls()
        self.kept: Memory = ()
        self._steps: list[Step] = []
        self._costs: dict[str, int] = {}
        self.briefing: Briefing

    # What a baseline may do otherwise.

    def recall(self, observation: str, info: Mapping[str, Any]) -> Sequence[Passage]:
        """Returns what a prompt shows of the memory, of each kind the first to be left out first.

        Args:
            observation: What the environment shows; in phase ``reflect``, the whole episode.
            info: The step's info.
        """
        passages: list[Passage] = []
        for kept in self.kept:
            if kept.history:
                text = self.words.history.format(number=kept.number, text=kept.history)
                passages.append(Passage("history", text))
            if kept.reflection:
                text = self.words.reflection.format(number=kept.number, text=kept.reflection)
                passages.append(Passage("reflection", text))
        return passages

    async def learn(self, ended: Ended, passages: Sequence[Passage]) -> tuple[Memory, str]:
        """Learns from an episode; must not change the agent, for it is called again if the server is busy.

        Args:
            ended: The episode.
            passages: What the memory says, and the steps of the episode.

        Returns:
            The memory to go on with, and the reflection for the record.
        """
        written = await self.write(ended, passages) if "reflection" in self.mode else ""
        history = ended.text if "history" in self.mode else ""
        return (*self.kept, Kept(ended.number, history, written)), written

    # What all baselines do.

    @property
    def memory(self) -> Memory:
        """What it carries over: a tuple of :class:`~mage_agent.memory.Kept`; None if it keeps nothing."""
        return None if self.mode == "none" else self.kept

    @memory.setter
    def memory(self, memory: Memory) -> None:
        self.kept = memory

    def shuffled(self, memory: Memory, rng: np.random.Generator) -> Memory:
        """Shuffles the words of every text."""
        return shuffled_parts(memory, rng)

    def connect(self, model: Model) -> None:
        """Says which model is asked: settings, or a backend that is open."""
        self.calls.connect(model)

    def card(self) -> Mapping[str, Any]:
        """Says what a board shows: the model, the memory, the hash of the templates."""
        return {**self.calls.card(), "memory": self.keeps or self.mode, "prompt_hash": self.words.hash()}

    def usage(self) -> Usage:
        """Returns what the calls of the model came to since :meth:`begin`."""
        return self.calls.usage()

    async def begin(self, briefing: Briefing) -> None:
        """Starts a meta-episode and forgets the last one. The model is not asked yet.

        Raises:
            MageError: There is no model.
        """
        self.calls.begin(briefing)
        self.briefing = briefing
        self.kept = ()
        self._steps, self._costs = [], {}

    async def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Asks for an action. Returns what is visible of the reply."""
        legal = info["legal_actions"] if self.briefing.legal_actions_in_prompt else ()
        steps = [] if _told(info["view"]) else self._steps[-self.recent_steps :]
        passages = [*self.recall(observation, info), *_in_words(self.words, steps)]
        with self.calls.method():
            answer = await self.ask(
                lambda kept: act_prompt(self.words, self.briefing.rules, kept, observation, legal), passages
            )
        self._steps.append(Step(observation, answer_in(answer)))
        return answer

    async def reflect(self, observation: str, info: Mapping[str, Any]) -> str:
        """Keeps what the memory's mode says. Returns the reflection; empty if there is none."""
        steps, result = tuple(self._steps), info["episode_result"]
        told = [] if _tells_all(info["view"]) and not result["invalid"] else _in_words(self.words, steps)
        ended = Ended(info["episode"] + 1, steps, tuple(step.text for step in told), observation, result)
        memory, written = self.kept, ""
        if self.mode != "none":
            with self.calls.method():
                memory, written = await self.learn(ended, [*self.recall(ended.text, info), *told])
        self.kept, self._steps = memory, []
        return written

    async def close(self) -> None:
        """Gives the backend back."""
        await self.calls.close()

    async def write(self, ended: Ended, passages: Sequence[Passage]) -> str:
        """Asks the model for a reflection on an episode. Returns its text."""
        rules = self.briefing.rules
        return remark(await self.ask(lambda kept: reflect_prompt(self.words, rules, kept, ended.end), passages))

    async def ask(self, build: Build, passages: Sequence[Passage]) -> str:
        """Asks the model, with as much of the passages as fits. Returns what is visible of its reply.

        Raises:
            Overloaded: The server has too much to do.
            FinalError: The prompt does not fit even without any passage.
            BackendError: There is no reply.
        """
        kept = await self._within_budget(passages)
        messages, kept = await self._within_context(build, kept)
        completion = await self.calls.ask(messages, shortened=len(kept) < len(passages))
        return visible(completion.text, cut=completion.finish in CUT)

    async def _within_budget(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        costs = [0 if passage.kind == "step" else await self._cost(passage) for passage in passages]
        return fitting(passages, costs, self._budget)

    async def _within_context(
        self, build: Build, kept: tuple[Passage, ...]
    ) -> tuple[tuple[Message, ...], tuple[Passage, ...]]:
        backend, reply = await self.calls.backend(), self.calls.settings.sampling.max_tokens
        messages = self.calls.as_sent(build(kept))
        if backend.context is None:
            return messages, kept
        while (excess := await backend.count_tokens(messages) - (backend.context - reply)) > 0:
            if not kept:
                count = excess + backend.context - reply
                raise FinalError(
                    f"a prompt of {count} tokens, without any memory, and a reply of up to {reply} do not fit into "
                    f"{backend.context}: allow shorter replies (--max-tokens), or a longer context (--context)"
                )
            costs = [await self._cost(passage) for passage in kept]
            kept = fitting(kept, costs, sum(costs) - excess)
            messages = self.calls.as_sent(build(kept))
        return messages, kept

    async def _cost(self, passage: Passage) -> int:
        """Counts the tokens of a passage, once in a meta-episode; as a message by itself it is an upper bound."""
        if passage.text not in self._costs:
            backend = await self.calls.backend()
            self._costs[passage.text] = await backend.count_tokens((Message("user", passage.text),))
        return self._costs[passage.text]


def _in_words(words: Templates, steps: Sequence[Step]) -> list[Passage]:
    return [Passage("step", step_text(words, step)) for step in steps]


def _told(view: Any) -> bool:
    """Whether a view tells all that the seat has seen of the episode, or all of it that matters."""
    return isinstance(view, View) and (view.spec.perfect_information or _tells_all(view))


def _tells_all(view: Any) -> bool:
    """Whether a view tells every move that the seat has seen: it is named by OpenSpiel's information state."""
    if not isinstance(view, View) or view.spec.merge:
        return False
    return bool(view.spec.game.get_type().provides_information_state_string)
