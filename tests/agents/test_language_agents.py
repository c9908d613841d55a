"""Every registered language agent, by a fake model: what it is, what it is shown, what it carries over."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mage_agent.agents import AGENTS, make_agent
from mage_agent.backends.base import BackendError, Completion, Request
from mage_agent.backends.fake import FakeBackend, Reply
from mage_agent.base import Briefing
from mage_agent.errors import Overloaded
from mage_agent.language import LanguageAgent
from mage_agent.memory import MODES
from mage_agent.model_settings import ModelSettings, Price
from mage_envs.errors import MageError, SpecError
from mage_envs.games import load_game_spec
from tests.agents.language_loop import KUHN, act_first, meta_episode

LANGUAGE = sorted(
    name
    for name in AGENTS
    if isinstance(AGENTS.get(name), type) and issubclass(AGENTS.get(name), LanguageAgent)  # type: ignore[arg-type]
)
REMEMBERING = [name for name in LANGUAGE if make_agent(name, FakeBackend([])).memory is not None]  # type: ignore[attr-defined]
TIC_TAC_TOE = ("TicTacToe", {"population": "tictactoe/train", "seat": 0})


@pytest.mark.parametrize("name", LANGUAGE)
def test_it_says_what_it_is_and_what_it_sees(name: str) -> None:
    played = meta_episode(name)
    card = played.agent.card()
    assert card["model"] == "fake"
    assert len(card["prompt_hash"]) == 64
    assert card["memory"]
    assert card["sampling"]["max_tokens"] == 1024
    assert played.agent.sees.startswith("rules, ")
    assert not played.agent.oracle


@pytest.mark.parametrize("name", LANGUAGE)
def test_the_rules_are_in_every_prompt_and_the_opponent_is_in_none(name: str) -> None:
    for place in (KUHN, TIC_TAC_TOE):
        played = meta_episode(name, place=place)
        assert played.backend.requests
        rules = played.agent.briefing.rules
        for text in played.texts:
            assert rules in text
            assert played.opponent not in text
            assert "privileged" not in text


@pytest.mark.parametrize("name", LANGUAGE)
def test_same_seed_same_prompts_and_begin_forgets(name: str) -> None:
    one, two = meta_episode(name, seed=5), meta_episode(name, seed=5)
    assert one.backend.requests == two.backend.requests
    assert one.agent.usage() == two.agent.usage()
    assert one.agent.usage() != meta_episode(name, seed=6).agent.usage()


@pytest.mark.parametrize("name", LANGUAGE)
def test_usage_adds_up(name: str) -> None:
    def script(request: Request) -> Reply:
        reply = act_first(request)
        return Completion(reply, prompt_tokens=1000, completion_tokens=10)

    played = meta_episode(name, script)
    usage = played.agent.usage()
    calls = len(played.backend.requests)
    assert usage[:4] == (calls, 1000 * calls, 10 * calls, None)
    assert usage.memory_truncated == 0
    assert len(usage.prompts) == 64


@pytest.mark.parametrize("name", LANGUAGE)
def test_a_call_repeated_after_an_overload_is_the_same_draw(name: str) -> None:
    seen: set[str] = set()

    def script(request: Request) -> Reply:
        if request.draw not in seen:
            seen.add(request.draw)
            return Overloaded(0.0)
        return act_first(request)

    busy, free = meta_episode(name, script), meta_episode(name)
    assert [r for n, r in enumerate(busy.backend.requests) if n % 2] == free.backend.requests
    assert busy.backend.requests[::2] == free.backend.requests
    assert busy.answers == free.answers
    assert busy.memories == free.memories
    assert busy.agent.usage() == free.agent.usage()
    draws = [request.draw for request in free.backend.requests]
    assert draws == [f"3/{number}" for number in range(len(draws))]


@pytest.mark.parametrize("name", LANGUAGE)
def test_a_fault_of_the_backend_is_raised_and_never_a_move(name: str) -> None:
    with pytest.raises(BackendError, match="gone"):
        meta_episode(name, [BackendError("the server is gone")])


@pytest.mark.parametrize("name", sorted(set(LANGUAGE) - {"tiny"}))  # It comes with a model.
def test_without_a_model_it_is_listed_and_says_what_is_missing_when_it_begins(name: str) -> None:
    agent: Any = make_agent(name)
    assert "model" not in agent.card()
    assert agent.usage().calls == 0
    with pytest.raises(MageError, match=r"--backend and --model"):
        asyncio.run(agent.begin(None))


@pytest.mark.parametrize("name", REMEMBERING)
def test_memory_is_a_value_and_all_that_is_carried_over(name: str) -> None:
    first = meta_episode(name, episodes=4)
    assert pickle.loads(pickle.dumps(first.memories)) == first.memories
    emptied = meta_episode(name, episodes=2, at_boundary=lambda agent: setattr(agent, "memory", ()))
    last = [text for text in emptied.texts if "Episode 2 of 2." in text]
    assert last
    for text in last:
        assert "Episode 1 of 2." not in text
        assert "Note 3/" not in text


@pytest.mark.parametrize("name", REMEMBERING)
def test_shuffling_keeps_the_words_and_changes_what_they_say(name: str) -> None:
    played = meta_episode(name, episodes=4, seed=1)
    memory = played.memories[-1]
    assert memory
    found = played.agent.shuffled(memory, np.random.default_rng(0))
    assert words(found) == words(memory)
    assert found != memory
    assert found == played.agent.shuffled(memory, np.random.default_rng(0))


def words(memory: Any) -> list[str]:
    if isinstance(memory, tuple):
        return sorted(word for part in memory for word in words(part))
    return sorted(str(memory).split())


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_keeps_and_shows_what_it_says(mode: str) -> None:
    played = meta_episode(f'reflective(memory="{mode}")', episodes=2)
    last = next(text for text in played.texts if "Episode 2 of 2." in text)
    assert ("Episode 1, as it went" in last) == ("history" in mode)
    assert ("Showdown" in last or "the cards stay hidden" in last) == ("history" in mode)
    assert ("Note 3/" in last) == ("reflection" in mode)
    assert (played.agent.memory is None) == (mode == "none")
    reflections = [text for text in played.texts if "The episode that has just ended" in text]
    assert len(reflections) == ("reflection" in mode)


def test_other_memories_are_refused_with_near_matches() -> None:
    with pytest.raises(SpecError, match=r"memory has no value 'reflections'\. Did you mean 'reflection'"):
        make_agent("reflective(memory=reflections)")
    with pytest.raises(SpecError, match="memory_budget must be an integer in 0"):
        make_agent("reflective(memory_budget=-1)")


def test_thoughts_are_no_part_of_what_is_sent_and_cuts_are_marked() -> None:
    played = meta_episode("zero_shot", lambda request: Completion("<think>a</think> <action>pass</action>"))
    assert played.answers[0] == " <action>pass</action>"
    cut = meta_episode("zero_shot", lambda request: Completion("I would rather not", finish="length"))
    assert cut.answers[0] == "I would rather not<cut>"


def test_a_move_in_a_reply_that_a_filter_or_a_fault_cut_is_none() -> None:
    said = Completion("<action>pass</action>", finish="cut")
    assert meta_episode("zero_shot", lambda request: said).answers[0] == "<action>pass</action><cut>"


def test_a_model_without_a_system_role_is_sent_the_same_words() -> None:
    both: dict[bool, list[Any]] = {}
    for system_role in (True, False):
        calls: list[Any] = both.setdefault(system_role, [])
        settings = ModelSettings("fake", "any", system_role=system_role)
        played = meta_episode("reflective", settings=settings, record_call=calls.append)
        assert ("system_role" in played.agent.card()["sampling"]) == (not system_role)
    for one, other in zip(*both.values(), strict=True):
        system, user = (message["content"] for message in one["prompt"])
        assert other["prompt"] == [{"role": "user", "content": f"{system}\n\n{user}"}]
        assert other["reply"]["text"] == one["reply"]["text"]


def test_memory_beyond_the_budget_is_left_out_and_counted() -> None:
    long = "<remark>" + "word " * 50 + "</remark>"
    played = meta_episode("reflective(memory_budget=130)", lambda r: long if "just ended" in r.messages[-1].content
                          else act_first(r), episodes=4)  # fmt: skip
    last = next(text for text in played.texts if "Episode 4 of 4." in text)
    assert "after episode 1:" not in last
    assert "after episode 3:" in last
    assert played.agent.usage().memory_truncated >= 1


def test_a_prompt_that_does_not_fit_at_all_is_an_error_with_numbers() -> None:
    with pytest.raises(BackendError, match=r"a prompt of \d+ tokens, without any memory, and a reply of up to 1024"):
        meta_episode("zero_shot", context=1100)


def test_memory_is_shortened_to_the_context_and_rules_stay() -> None:
    long = "<remark>" + "word " * 200 + "</remark>"
    script: Callable[[Request], str] = lambda r: long if "just ended" in r.messages[-1].content else act_first(r)  # noqa: E731
    played = meta_episode("reflective", script, episodes=4, context=1024 + 600)
    assert all(played.agent.briefing.rules in text for text in played.texts)
    assert max(sum(len(m.content.split()) + 1 for m in prompt) for prompt in played.prompts) <= 600
    assert played.agent.usage().memory_truncated >= 1


class Maze:
    """A view of a world, which shows where one is now and nothing of the way."""

    terminal = False


async def walk(agent: Any, steps: int) -> None:
    """Walks through a maze, then reflects."""
    await agent.begin(Briefing(load_game_spec("kuhn_poker"), "Find the door.", 2, (), 5))
    info = {"view": Maze(), "legal_actions": ("north", "south"), "phase": "play", "episode": 0}
    for number in range(steps):
        await agent.act(f"You are in room {number}.", info)
    result = {"outcome": "loss", "reward": 0.0, "invalid": 0}
    await agent.reflect("You are tired.\nThe episode is over.", {**info, "episode_result": result})


def test_in_worlds_a_prompt_has_the_recent_steps_and_a_reflection_all() -> None:
    backend = FakeBackend(act_first)
    asyncio.run(walk(make_agent("reflective", backend), 13))
    last, reflection = backend.requests[-2].messages[1].content, backend.requests[-1].messages[1].content
    assert "in room 1." not in last
    for number in range(2, 12):
        assert f"You are in room {number}.\nYour answer: north" in last
    assert "The situation now:\nYou are in room 12." in last
    assert [f"in room {number}." in reflection for number in range(13)] == [True] * 13


def test_steps_are_left_out_last_and_the_oldest_first() -> None:
    backend = FakeBackend(act_first, context=1024 + 240)
    agent: Any = make_agent("reflective", backend)
    asyncio.run(walk(agent, 20))
    reflection = backend.requests[-1].messages[1].content
    shown = [number for number in range(20) if f"in room {number}." in reflection]
    assert shown == list(range(20))[-len(shown) :]
    assert 0 < len(shown) < 20
    assert "You are tired." in reflection
    assert agent.usage().memory_truncated >= 1


def test_cost_is_what_the_tokens_cost() -> None:
    agent: Any = make_agent("zero_shot", ModelSettings("fake", "first", price=Price(2.0, 10.0)))
    assert agent.usage().cost == 0.0
    agent.calls._tokens = (1_000_000, 100_000)
    assert agent.usage().cost == pytest.approx(3.0)


def test_legal_actions_are_listed_unless_the_protocol_hides_them() -> None:
    assert "- bet" in meta_episode("zero_shot").texts[0]
    with_prose = meta_episode("zero_shot", lambda r: "<action>pass</action>", legal_actions_in_prompt=False)
    assert "- bet" not in with_prose.texts[0]


def test_calls_are_recorded_if_the_run_wants_them() -> None:
    kept: list[Any] = []
    played = meta_episode("reflective", record_call=kept.append)
    assert len(kept) == len(played.backend.requests)
    assert kept[0]["reply"]["text"].startswith("<think>fold?</think>")
    assert kept[0]["prompt"][0]["role"] == "system"
