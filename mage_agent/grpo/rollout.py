"""Rollouts: meta-episodes of a language agent, all of them at once, with one batched generation a round.

The agents are those of the benchmark. They ask a backend that lets each of them wait until all meta-episodes that are
not over wait for a reply, and then has all replies sampled together. What was asked and answered is kept, as tokens.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from mage_agent.backends.base import Completion, Message, Request
from mage_agent.backends.local_chat import LocalChat, Prompt, fit
from mage_agent.base import Agent
from mage_agent.briefing import brief
from mage_agent.grpo.samples import Ending, Phase, Played, Task, Turn
from mage_agent.model_settings import ModelSettings, Sampling
from mage_envs.errors import MageError
from mage_envs.scenarios import SCENARIOS, Scenario

AgentFactory: TypeAlias = Callable[[], Agent]

InStep: TypeAlias = Callable[[bool], bool]
"""Is told whether this process has prompts to be answered; returns whether any process has."""

MODEL = "policy"
"""What the model in training is called in an agent's card."""


class Sampled(NamedTuple):
    """A reply.

    Attributes:
        ids: Token ids, the end token included if the model came to it.
        logprobs: Of each token, under the policy that sampled; None if the sampler does not tell.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...] | None


class Sampler(Protocol):
    """What writes replies."""

    def sample(self, prompts: Sequence[Sequence[int]]) -> list[Sampled]:
        """Returns one reply for each prompt of token ids. No prompts: takes part in what other processes do."""


@dataclass(frozen=True)
class Conditions:
    """How meta-episodes are played: what a suite's protocol says, and the limits of the model.

    Attributes:
        episodes: N, at least 1.
        max_invalid: So many replies in a row that cannot be played lose the episode.
        stop_on_success: Whether the first win ends the meta-episode.
        legal_actions_in_prompt: Whether prompts list the legal actions.
        max_completion: Most tokens of a reply.
        context: Most tokens of prompt and reply together; None: nobody counts.
    """

    episodes: int = 3
    max_invalid: int = 3
    stop_on_success: bool = False
    legal_actions_in_prompt: bool = True
    max_completion: int = 64
    context: int | None = None


def alone(waiting: bool) -> bool:
    """Goes on for as long as this process, which is the only one, has prompts to be answered."""
    return waiting


class Rollout:
    """Plays tasks. Environments are made once and used again."""

    def __init__(
        self, factory: AgentFactory, chat: LocalChat, conditions: Conditions, scenarios: Sequence[Scenario] = ()
    ) -> None:
        """Takes what plays.

        Args:
            factory: Makes an agent, which plays text and can be connected to a model.
            chat: Tokenizer and chat template of the model.
            conditions: How it is played.
            scenarios: Scenarios that go by their names; all others are registered ones.
        """
        self._factory, self._chat, self._conditions = factory, chat, conditions
        self._scenarios = {scenario.name: scenario for scenario in scenarios}
        self._spare: dict[str, list[Any]] = {}

    def play(self, tasks: Sequence[Task], sampler: Sampler, in_step: InStep = alone) -> list[Played]:
        """Plays meta-episodes to their ends.

        Args:
            tasks: What is played.
            sampler: What writes the replies; it is asked from the thread that calls this, unless that has an event
                loop running.
            in_step: Keeps several processes in step.

        Returns:
            One for each task, in order.

        Raises:
            FinalError: A prompt does not fit into the context, even without any memory. Nothing is ever cut off it.
            MageError: An agent cannot play here.
        """
        return _run(self._all(tasks, sampler, in_step))

    async def _all(self, tasks: Sequence[Task], sampler: Sampler, in_step: InStep) -> list[Played]:
        table = _Table(self._chat, self._conditions, len(tasks))
        try:
            async with asyncio.TaskGroup() as group:
                playing = [group.create_task(self._seat(task, table, number)) for number, task in enumerate(tasks)]
                while in_step(await table.filled()):
                    table.serve(sampler)
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # One is enough to look into.
        return [task.result() for task in playing]

    async def _seat(self, task: Task, table: _Table, number: int) -> Played:
        try:
            return await self._play(task, _Line(table, number))
        finally:
            table.leave()

    async def _play(self, task: Task, line: _Line) -> Played:
        spare = self._spare.setdefault(task.scenario, [])
        env = spare.pop() if spare else self._make(task.scenario)
        agent: Any = self._factory()
        if not hasattr(agent, "connect"):
            raise MageError(f"{agent.name} asks no model: train a language agent, such as reflective")
        agent.connect(line)
        options = {} if task.opponent is None else {"opponent": task.opponent, "seat": task.seat}
        observation, info = env.reset(seed=task.seed, options=options)
        listed = self._conditions.legal_actions_in_prompt
        await _answer(agent.begin(brief(env, info, agent_seed(task), legal_actions_in_prompt=listed)))
        played = await _episodes(env, agent, line, observation, info)
        if hasattr(agent, "close"):
            await _answer(agent.close())
        spare.append(env)
        return Played(task, *played)

    def _make(self, name: str) -> Any:
        conditions = self._conditions
        scenario = self._scenarios.get(name) or SCENARIOS.get(name)
        return scenario.make(
            interface="text",
            episodes=conditions.episodes,
            max_invalid=conditions.max_invalid,
            stop_on_success=conditions.stop_on_success,
            invalid_penalty=0.0,  # What an invalid reply costs in training is the credit's business.
        )


def agent_seed(task: Task) -> int:
    """Returns the seed of a member's agent: its own, and independent of the environment's."""
    return int.from_bytes(hashlib.sha256(repr(("agent", *task)).encode()).digest()[:6], "big")


async def _episodes(
    env: Any, agent: Any, line: _Line, observation: Any, info: dict[str, Any]
) -> tuple[tuple[Turn, ...], tuple[Ending, ...]]:
    """Plays until the meta-episode is over."""
    turns: list[Turn] = []
    endings: list[Ending] = []
    over = False
    while not over:
        info.pop("privileged")
        reflects, episode, view = info["phase"] == "reflect", info["episode"], info["view"]
        if reflects:
            answer = await _answer(agent.reflect(observation, info))
        elif view.terminal:  # The others ended the episode before the agent had a move.
            answer = ""
        else:
            answer = await _answer(agent.act(observation, info))
        asked = line.take()
        observation, reward, terminated, truncated, info = env.step(answer)
        over = terminated or truncated
        if reflects:
            turns += _turns(asked, "reflect", episode, view.key, 0.0, valid=bool(answer.strip()))
        else:
            valid = bool(info["action_valid"])
            turns += _turns(asked, "play", episode, view.key, float(reward) if valid else 0.0, valid=valid)
            if result := info.get("episode_result"):
                endings.append(_ending(result))
    return tuple(turns), tuple(endings)


def _turns(
    asked: Sequence[_Asked], phase: Phase, episode: int, anchor: str, reward: float, *, valid: bool
) -> list[Turn]:
    """Returns the turns of one step; what the environment paid for it goes to the last."""
    return [
        Turn(
            prompt_ids=call.prompt_ids,
            completion_ids=call.reply.ids,
            logprobs=call.reply.logprobs,
            cut=call.cut,
            phase=phase,
            episode=episode,
            reward=reward if call is asked[-1] else 0.0,
            valid=valid and not (phase == "reflect" and call.cut),
            anchor=anchor,
        )
        for call in asked
    ]


def _ending(result: Mapping[str, Any]) -> Ending:
    return Ending(float(result["reward"]), str(result["outcome"]), int(result["length"]), int(result["invalid"]))


async def _answer(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer


def _run(play: Coroutine[Any, Any, list[Played]]) -> list[Played]:
    """Runs to the end, also in a notebook, which has an event loop running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(play)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, play).result()


class _Asked(NamedTuple):
    """A call of the model."""

    prompt_ids: tuple[int, ...]
    reply: Sampled
    cut: bool


class _Table:
    """Where the agents of all meta-episodes wait until the last of them asks."""

    def __init__(self, chat: LocalChat, conditions: Conditions, live: int) -> None:
        self.chat, self.conditions = chat, conditions
        self._live = live
        self._waiting: list[tuple[int, tuple[int, ...], asyncio.Future[Sampled]]] = []
        self._full = asyncio.Event()
        self._prompts: dict[tuple[Message, ...], Prompt] = {}
        self._look()

    def prompt(self, messages: tuple[Message, ...]) -> Prompt:
        """Renders a prompt, once: it is counted before it is sent, and members of a group begin with the same one."""
        found = self._prompts.get(messages)
        if found is None:
            found = self._prompts[messages] = self.chat.prompt(messages)
        return found

    async def ask(self, number: int, tokens: tuple[int, ...]) -> Sampled:
        """Waits for a reply."""
        reply: asyncio.Future[Sampled] = asyncio.get_running_loop().create_future()
        self._waiting.append((number, tokens, reply))
        self._look()
        return await reply

    def leave(self) -> None:
        """Says that a meta-episode is over."""
        self._live -= 1
        self._look()

    async def filled(self) -> bool:
        """Waits until all that are not over wait. Returns whether there are any."""
        await self._full.wait()
        return bool(self._waiting)

    def serve(self, sampler: Sampler) -> None:
        """Has all replies sampled, in the order of the tasks."""
        asked = sorted(self._waiting, key=lambda one: one[0])
        replies = sampler.sample([tokens for _, tokens, _ in asked])
        self._waiting.clear()
        self._full.clear()
        for (_, _, reply), sampled in zip(asked, replies, strict=True):
            reply.set_result(sampled)
        self._look()

    def _look(self) -> None:
        if len({number for number, *_ in self._waiting}) == self._live:
            self._full.set()


class _Line:
    """The backend of one meta-episode's agent."""

    model, revision, counter, system_role = MODEL, "", "the model's tokenizer", True

    def __init__(self, table: _Table, number: int) -> None:
        self._table, self._number = table, number
        conditions = table.conditions
        self.context = conditions.context
        self.settings = ModelSettings(
            "", MODEL, context=conditions.context, sampling=Sampling(max_tokens=conditions.max_completion)
        )
        self._asked: list[_Asked] = []

    async def open(self) -> None:
        """Has nothing to open."""

    async def close(self) -> None:
        """Has nothing to close."""

    async def complete(self, request: Request) -> Completion:
        """Returns a reply, sampled together with those of all other meta-episodes.

        Raises:
            FinalError: The prompt does not fit.
        """
        chat, most = self._table.chat, self._table.conditions.max_completion
        prompt = self._table.prompt(request.messages)
        fit(len(prompt.tokens), most, self.context)
        reply = await self._table.ask(self._number, prompt.tokens)
        ended = bool(reply.ids) and reply.ids[-1] in chat.ends
        self._asked.append(_Asked(prompt.tokens, reply, not ended))
        return chat.completion(prompt, reply.ids, "stop" if ended else "length")

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Returns the number of tokens of a prompt, chat template included."""
        return len(self._table.prompt(tuple(messages)).tokens)

    def take(self) -> tuple[_Asked, ...]:
        """Returns the calls since the last time."""
        asked, self._asked = tuple(self._asked), []
        return asked
