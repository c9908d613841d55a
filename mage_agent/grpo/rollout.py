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
from typing import Any, TypeAlias

from mage_agent.backends.local_chat import LocalChat
from mage_agent.base import Agent
from mage_agent.briefing import brief
from mage_agent.grpo.samples import Ending, Phase, Played, Task, Turn
from mage_agent.grpo.table import Asked, Conditions, Line, Sampler, Table
from mage_envs.errors import MageError
from mage_envs.scenarios import SCENARIOS, Scenario

AgentFactory: TypeAlias = Callable[[], Agent]

InStep: TypeAlias = Callable[[bool], bool]
"""Is told whether this process has prompts to be answered; returns whether any process has."""


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
        table = Table(self._chat, self._conditions, len(tasks))
        try:
            async with asyncio.TaskGroup() as group:
                playing = [group.create_task(self._seat(task, table, number)) for number, task in enumerate(tasks)]
                while in_step(await table.filled()):
                    table.serve(sampler)
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # One is enough to look into.
        return [task.result() for task in playing]

    async def _seat(self, task: Task, table: Table, number: int) -> Played:
        try:
            return await self._play(task, Line(table, number))
        finally:
            table.leave()

    async def _play(self, task: Task, line: Line) -> Played:
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
    env: Any, agent: Any, line: Line, observation: Any, info: dict[str, Any]
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
    asked: Sequence[Asked], phase: Phase, episode: int, anchor: str, reward: float, *, valid: bool
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
