"""One meta-episode of a language agent, shown as it happens: prompts, replies, how they were read, what came of it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from mage_agent.backends.base import CUT
from mage_agent.briefing import brief
from mage_agent.language import LanguageAgent
from mage_agent.plain_text import plain
from mage_envs.scenarios import Scenario

_END_OF_THOUGHTS = "</think>"


class Shown:
    """Writes a conversation to a console: thoughts dimmed, and plain text into a pipe.

    Attributes:
        place: Where in the meta-episode this is.
    """

    def __init__(self, console: Console) -> None:
        """Takes the console."""
        self._console = console
        self.place = ""
        self._calls = 0
        self._seen: dict[str, int] = {}

    def call(self, call: Mapping[str, Any]) -> None:
        """Shows a call of the model: it is the agent's ``record_call``."""
        self._calls += 1
        self.heading(f"{self.place}, call {self._calls}")
        for message in call["prompt"]:
            self._message(message["role"], message["content"])
        reply = call["reply"]
        self.say(f"[{self._tokens(reply)}]", "bold")
        if reply["reasoning"]:
            self.say(reply["reasoning"], "dim")
        thoughts, end, said = reply["text"].rpartition(_END_OF_THOUGHTS)
        if thoughts or end:
            self.say(thoughts + end, "dim")
        self.say(said.strip() or "(nothing)", "cyan")
        if reply["finish"] in CUT:
            self.say(f"The reply was cut{' at the limit of tokens' * (reply['finish'] == 'length')}.", "yellow")

    def read(self, kind: str) -> None:
        """Shows how an answer was read."""
        self.say(f"Read as: {kind}", "green" if kind == "ok" else "red")

    def heading(self, text: str) -> None:
        """Draws a line with a text in it."""
        self._console.print(Rule(text, align="left", characters="─"))

    def say(self, text: str, style: str = "") -> None:
        """Writes a text; a terminal breaks lines between words."""
        self._console.print(Text(plain(text), style), soft_wrap=not self._console.is_terminal)

    def _message(self, role: str, content: str) -> None:
        first = self._seen.setdefault(content, self._calls) if role == "system" else self._calls
        if first < self._calls:
            self.say(f"[{role}] as in call {first}", "bold")
        else:
            self.say(f"[{role}]", "bold")
            self.say(content)

    def _tokens(self, reply: Mapping[str, Any]) -> str:
        read, written = (reply[name] for name in ("prompt_tokens", "completion_tokens"))
        return "reply" if read is None or written is None else f"reply, {read} tokens read, {written} written"


async def chat(
    scenario: Scenario,
    agent: LanguageAgent,
    shown: Shown,
    *,
    episodes: int,
    seed: int,
    options: Mapping[str, Any],
    legal_actions: bool = True,
) -> None:
    """Plays a meta-episode, and shows it.

    Args:
        scenario: What is played.
        agent: Who plays, connected to a model.
        shown: Where it is shown.
        episodes: N.
        seed: Seed of the environment, and of the agent.
        options: What would be drawn: ``opponent``, ``seat``.
        legal_actions: Whether prompts list the legal actions.

    Raises:
        ValueError: An option is none of the environment's.
        MageError: The agent cannot play here, or its model gives no reply.
    """
    env = scenario.make(interface="text", episodes=episodes)
    observation, info = env.reset(seed=seed, options=dict(options))
    opponent = info.pop("privileged").get("opponent", "")
    try:
        await agent.begin(brief(env, info, seed, record_call=shown.call, legal_actions_in_prompt=legal_actions))
        scores = await _play(env, observation, info, agent, shown)
    finally:
        await agent.close()
    shown.heading("The end")
    against = f" against {opponent}" if opponent else ""
    shown.say(f"Score{against}: {', '.join(f'{score:+g}' for score in scores)} ({scenario.unit}). Seed {seed}.")
    shown.say(_spent(agent))


async def _play(env: Any, observation: Any, info: dict[str, Any], agent: LanguageAgent, shown: Shown) -> list[float]:
    scores: list[float] = []
    over = False
    while not over:
        reflects = info["phase"] == "reflect"
        shown.place = f"Episode {info['episode'] + 1} of {info['episodes']}"
        if reflects:
            answer = await _said(agent.reflect(observation, info))
            if answer:
                shown.say("Kept as its reflection.", "green")
        elif info["view"].terminal:  # The others ended the episode before the agent had a move.
            answer = ""
        else:
            answer = await _said(agent.act(observation, info))
        observation, _, terminated, truncated, info = env.step(answer)
        info.pop("privileged")
        over = terminated or truncated
        if not reflects and answer:
            shown.read(info.get("invalid_reason", "ok"))
        if result := info.get("episode_result"):
            shown.say(f"\n{observation}", "bold")  # It tells how the episode ended.
            scores.append(result["reward"])
    return scores


async def _said(answer: Any) -> str:
    return str(await answer if inspect.isawaitable(answer) else answer)


def _spent(agent: LanguageAgent) -> str:
    usage = agent.usage()
    tokens = "tokens unknown"
    if usage.prompt_tokens is not None and usage.completion_tokens is not None:
        tokens = f"{usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written"
    cost = "" if usage.cost is None else f", {usage.cost:.6f} dollars"
    short = f"; memory was shortened in {usage.memory_truncated}" if usage.memory_truncated else ""
    calls = "1 call" if usage.calls == 1 else f"{usage.calls} calls"
    return f"{calls}, {tokens}{cost}{short}."
