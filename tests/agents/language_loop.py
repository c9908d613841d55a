"""Plays meta-episodes with a language agent that asks a fake backend, in an event loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from mage_agent.agents import make_agent
from mage_agent.backends.base import Message, Request
from mage_agent.backends.fake import FakeBackend, Script, listed_actions
from mage_agent.briefing import brief
from mage_agent.errors import Overloaded
from mage_agent.model_settings import ModelSettings
from tests.agents.loop import make

KUHN = ("KuhnPoker", {"population": "kuhn/train", "seat": 0})


def act_first(request: Request) -> str:
    """Takes the first action that a prompt lists; else writes what names its prompt."""
    names = listed_actions(request.messages)
    return (
        f"<think>fold?</think>Hm. <action>{names[0]}</action>"
        if names
        else f"<remark>Note {request.draw} of what may be true of it.</remark>"
    )


class Played(NamedTuple):
    """A meta-episode that was played.

    Attributes:
        agent: Who played.
        backend: What it asked.
        answers: What it answered, in both phases.
        opponent: Who it played against, which it is not told.
        memories: What it held after each reflection.
    """

    agent: Any
    backend: FakeBackend
    answers: list[str]
    opponent: str
    memories: list[Any]

    @property
    def prompts(self) -> list[tuple[Message, ...]]:
        return [request.messages for request in self.backend.requests]

    @property
    def texts(self) -> list[str]:
        return ["\n\n".join(message.content for message in prompt) for prompt in self.prompts]


def meta_episode(
    spec: str,
    script: Script = act_first,
    *,
    seed: int = 3,
    episodes: int = 3,
    place: tuple[str, dict[str, Any]] = KUHN,
    at_boundary: Callable[[Any], None] = lambda agent: None,
    context: int | None = None,
    settings: ModelSettings | None = None,
    **briefing: Any,
) -> Played:
    """Plays a meta-episode; a method whose server is busy is called again at once.

    With settings their backend is asked, and not the script.
    """
    backend = FakeBackend(script, context=context)
    agent: Any = make_agent(spec, settings or backend)

    async def ask(method: Any, *arguments: Any) -> Any:
        for _ in range(20):
            try:
                return await method(*arguments)
            except Overloaded:
                continue
        raise AssertionError("busy for ever")

    async def play() -> Played:
        env: Any = make(place[0], interface="text", episodes=episodes, **place[1])
        observation, info = env.reset(seed=seed)
        opponent = info["privileged"]["opponent"]
        told = brief(env, info, seed)
        await ask(agent.begin, told.__class__(**{**told.__dict__, **briefing}))
        answers, memories, over = [], [], False
        while not over:
            info.pop("privileged")
            if info["phase"] == "reflect":
                answers.append(await ask(agent.reflect, observation, info))
                memories.append(agent.memory)
                at_boundary(agent)
            else:
                answers.append("" if info["view"].terminal else await ask(agent.act, observation, info))
            observation, _, over, _, info = env.step(answers[-1])
        await agent.close()
        return Played(agent, backend, answers, opponent, memories)

    return asyncio.run(play())
