"""Transcripts of tutors: the prompts that the agent ``tiny`` would send, and what the tutor answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from mage_agent.backends.base import Completion, Message, Request
from mage_agent.briefing import brief
from mage_agent.language import LanguageAgent
from mage_agent.tiny.tutors import TUTORS, Tutor
from mage_envs.scenarios import SCENARIOS
from mage_envs.text.parser import CUT_MARK

STUMBLES = 0.03
"""Share of answers that cannot be played. They are no samples: cloned is how to answer when one is asked again."""

STUMBLES_AGAIN = 0.3
"""The same after one that could not be played."""

STUMBLE = ("", "none", "<action>none</action>", "<action>one</action> <action>two</action>", f"<action>{CUT_MARK}")


class Sample(NamedTuple):
    """One prompt and its reply."""

    prompt: tuple[Message, ...]
    reply: str


class Dictated:
    """A backend that answers what it was told to, and keeps what it was asked."""

    model, revision, counter = "tutor", "", "characters"
    context: int | None = None

    def __init__(self) -> None:
        """Has heard nothing yet."""
        self.reply = ""
        self.samples: list[Sample] = []

    async def open(self) -> None:
        """Does nothing."""

    async def complete(self, request: Request) -> Completion:
        """Gives the reply that was dictated."""
        self.samples.append(Sample(request.messages, self.reply))
        return Completion(self.reply)

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Counts nothing: there is no limit."""
        return 0

    async def close(self) -> None:
        """Does nothing."""


def transcripts(scenario: str, agent: LanguageAgent, count: int, seed: int, episodes: int = 3) -> Iterator[Sample]:
    """Plays meta-episodes as a tutor.

    Args:
        scenario: One of :data:`~mage_agent.tiny.tutors.TUTORS`.
        agent: Whose prompts are wanted.
        count: Number of meta-episodes.
        seed: Meta-episode k is played with seed ``seed + k``.
        episodes: N.

    Yields:
        All prompts and replies, in the order of play.
    """
    env = SCENARIOS.get(scenario).make(interface="text", episodes=episodes)
    dictated, tutor = Dictated(), TUTORS[scenario]()
    agent.connect(dictated)
    for number in range(count):
        asyncio.run(_play(env, agent, tutor, dictated, seed + number))
    yield from dictated.samples


async def _play(env: object, agent: LanguageAgent, tutor: Tutor, dictated: Dictated, seed: int) -> None:
    observation, info = env.reset(seed=seed)  # type: ignore[attr-defined]
    briefing = brief(env, info, seed)
    tutor.begin(briefing)
    await agent.begin(briefing)
    stumbles = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    over = False
    while not over:
        if info["phase"] == "reflect":
            dictated.reply = f"<remark>{tutor.remark(info['view'])}</remark>"
            answer = await agent.reflect(observation, info)
        elif info["view"].terminal:
            answer = ""
        elif stumbles.random() < (STUMBLES if info["action_valid"] else STUMBLES_AGAIN):
            answer = str(stumbles.choice(STUMBLE))
        else:
            dictated.reply = f"<action>{tutor.act(info['view'])}</action>"
            answer = await agent.act(observation, info)
        observation, _, over, _, info = env.step(answer)  # type: ignore[attr-defined]
