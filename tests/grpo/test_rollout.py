"""Rollouts: the prompts are the benchmark's, a group shares what it must, and nothing that was sampled is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers", reason="needs the extra agent")

from benchmarks.calls import CALLS, read_calls
from benchmarks.plan import make_plan
from benchmarks.runner import Scheduling, run
from benchmarks.suites import Part, Suite
from mage_agent.agents import make_agent
from mage_agent.backends.base import FinalError, Message
from mage_agent.backends.fake import FakeBackend
from mage_agent.grpo.rollout import Rollout
from mage_agent.grpo.samples import Played, Task
from mage_agent.grpo.table import Conditions, Sampled
from mage_envs.envs.game_env import MetaGameEnv
from mage_envs.errors import MageError
from mage_envs.scenarios import SCENARIOS, Scenario
from tests.grpo.rolling import CHAT, END, TOKENIZER, Brief, Scripted, first_listed, group, rollout, user_text


def prompts(played: Played) -> list[tuple[int, ...]]:
    return [turn.prompt_ids for turn in played.turns]


@pytest.mark.parametrize("spec", ["reflective", "reflexion", "react(memory=history)", "zero_shot"])
@pytest.mark.parametrize("listed", [True, False])
def test_prompts_are_those_of_the_harness(tmp_path: Path, spec: str, listed: bool) -> None:
    suite = Suite("example", 1, "kuhn", (Part(SCENARIOS.get("kuhn/train"), 6, (spec,)),))
    backend = FakeBackend(lambda request: first_listed(request.messages[-1].content))
    factory = partial(make_agent, model=backend)
    plan = make_plan(suite, factory=factory, legal_actions_in_prompt=listed)
    run(plan, tmp_path / "run", lambda *_: None, how=Scheduling(calls=True, concurrency=6))
    said = {key.number: calls for key, calls in read_calls(tmp_path / "run" / CALLS)}
    assert len(said) == 6

    tasks = [Task("kuhn/train", entry.opponent, entry.seat, entry.seed, 0) for entry in plan.panel.entries]
    played = rollout(partial(make_agent, spec), context=None, legal_actions_in_prompt=listed).play(tasks, Scripted())
    for entry, mine in zip(plan.panel.entries, played, strict=True):
        sent = [tuple(Message(**message) for message in call["prompt"]) for call in said[entry.number]]
        assert prompts(mine) == [CHAT.prompt(messages).tokens for messages in sent]


def test_the_first_prompt_holds_the_rules_and_the_view() -> None:
    (played,) = rollout(partial(make_agent, "reflective")).play(group(1), Scripted())
    text = TOKENIZER.decode(played.turns[0].prompt_ids)
    env: Any = SCENARIOS.get("kuhn/train").make(interface="text", episodes=3)
    observation, info = env.reset(seed=5, options={"opponent": "conservative", "seat": 0})
    assert info["rules"] in text
    assert observation in text
    assert info["view"].text in text


def test_members_of_a_group_see_the_same_and_other_seeds_something_else() -> None:
    played = rollout().play([*group(3, seed=5), *group(3, seed=6), *group(3, seed=9)], Scripted())
    for start in (0, 3, 6):
        first, *others = played[start : start + 3]
        assert all(other.turns == first.turns and other.endings == first.endings for other in others)
    deals = {tuple(prompts(played[start])) for start in (0, 3, 6)}
    assert len(deals) == 3


def test_no_field_of_a_task_is_dropped() -> None:
    base = Task("kuhn/train", "conservative", 0, 5, 0)
    tasks = [base, base._replace(opponent="aggressive"), base._replace(seat=1), base._replace(seed=6)]
    played = rollout(episodes=4).play(tasks, Scripted())
    assert [one.task for one in played] == tasks
    assert len({tuple(prompts(one)) for one in played}) == 4
    assert played[0].turns[0].prompt_ids == played[1].turns[0].prompt_ids  # The opponent is hidden, the deal the same.


def test_rows_are_the_replies_of_play_and_reflection_in_order() -> None:
    (played,) = rollout().play(group(1), Scripted())
    kinds = [(turn.phase, turn.episode) for turn in played.turns]
    assert kinds == sorted(kinds, key=lambda kind: (kind[1], kind[0] == "reflect"))
    assert [episode for phase, episode in kinds if phase == "reflect"] == [0, 1]
    assert len(played.endings) == 3
    for turn in played.turns:
        assert turn.valid
        assert not turn.cut
        assert turn.completion_ids[-1] == END
        assert turn.logprobs is None
        assert TOKENIZER.decode(turn.completion_ids[:-1]) == first_listed(user_text(turn.prompt_ids))
    for number, ending in enumerate(played.endings):
        paid = [turn.reward for turn in played.turns if turn.episode == number]
        assert sum(paid) == ending.score
        assert sum(turn.phase == "play" for turn in played.turns if turn.episode == number) == ending.decisions


def test_a_reflection_reaches_the_prompts_that_follow() -> None:
    (played,) = rollout().play(group(1), Scripted(lambda prompt: first_listed(prompt).replace("letters", "xyzzy")))
    shown = ["xyzzy" in user_text(turn.prompt_ids) for turn in played.turns]
    written = next(number for number, turn in enumerate(played.turns) if turn.phase == "reflect")
    assert not any(shown[: written + 1])
    assert all(shown[written + 1 :])


def test_one_generation_serves_all_that_are_alive() -> None:
    sampler = Scripted()
    played = rollout().play([*group(3), *group(2, seed=8, seat=1)], sampler)
    turns = sorted((len(one.turns) for one in played), reverse=True)
    assert [len(prompts) for prompts in sampler.rounds] == [sum(n > round for n in turns) for round in range(turns[0])]


def test_replies_that_cannot_be_played_stay_and_cost_nothing_here() -> None:
    (played,) = rollout(max_invalid=2, episodes=2).play(group(1), Scripted(lambda prompt: "no idea"))
    play = [turn for turn in played.turns if turn.phase == "play"]
    assert [turn.valid for turn in play] == [False] * 4
    assert [turn.reward for turn in play] == [0.0] * 4
    assert [(ending.score, ending.outcome, ending.invalid) for ending in played.endings] == [(-2.0, "loss", 2)] * 2


def test_cut_replies_stay_and_are_marked() -> None:
    (played,) = rollout(max_invalid=1).play(group(1), Scripted(most=4))
    assert {turn.phase for turn in played.turns} == {"play", "reflect"}
    for turn in played.turns:
        assert turn.cut
        assert not turn.valid
        assert len(turn.completion_ids) == 4


@pytest.mark.parametrize("written", ["", " \n", "<remark></remark>"])
def test_an_empty_reflection_is_not_valid(written: str) -> None:
    (played,) = rollout().play(group(1), Scripted(lambda prompt: first_listed(prompt) if "- " in prompt else written))
    assert [turn.valid for turn in played.turns if turn.phase == "reflect"] == [False, False]
    assert all(turn.valid for turn in played.turns if turn.phase == "play")


def test_equal_states_have_equal_anchors() -> None:
    (played,) = rollout(episodes=8).play(group(1), Scripted())
    named: dict[str, set[str]] = {}
    for turn in played.turns:
        if turn.phase == "play":
            situation = user_text(turn.prompt_ids).partition("The situation now:")[2]
            named.setdefault(turn.anchor, set()).add(situation.split("Legal")[0].split(".", 1)[-1])
    plays = [turn for turn in played.turns if turn.phase == "play"]
    assert len(named) < len(plays)  # Some state came twice.
    assert len(named) > 1


def test_a_prompt_that_does_not_fit_is_an_error_before_it_is_sent() -> None:
    sampler = Scripted()
    with pytest.raises(FinalError, match=r"--context"):
        rollout(context=150, max_completion=100).play(group(2), sampler)
    assert sampler.rounds == []


def test_memory_gives_way_where_the_context_is_short_as_in_the_harness() -> None:
    longest = max(len(turn.prompt_ids) for turn in rollout().play(group(1), Scripted())[0].turns)
    (played,) = rollout(context=longest + 199).play(group(1), Scripted())
    assert max(len(turn.prompt_ids) for turn in played.turns) < longest
    assert len(played.endings) == 3


class EndsAtOnce(MetaGameEnv):
    """Kuhn poker, but the first episode is over before the agent has had a move."""

    def _begin(self, episode: int) -> None:
        super()._begin(episode)
        while episode == 0 and not self._view.terminal:
            self._advance(self._position.follow(0))


class Hasty(Scenario):
    def make(self, *, interface: str | None = None, **more: Any) -> Any:
        return EndsAtOnce("kuhn_poker", population="conservative", interface="text", **more)


def test_an_episode_that_ends_before_we_move_has_no_turn_and_an_ending() -> None:
    hasty = Hasty("kuhn/hasty", "", "", "chips", population="conservative")
    table = Rollout(Brief, CHAT, Conditions(episodes=2, max_completion=200), [hasty])
    (played,) = table.play([Task("kuhn/hasty", "conservative", 0, 5, 0)], Scripted())
    assert played.endings[0].decisions == 0
    assert played.endings[0].score != 0
    assert [(turn.phase, turn.episode) for turn in played.turns][:2] == [("reflect", 0), ("play", 1)]


def test_a_world_is_played_without_an_opponent() -> None:
    tasks = [Task("minesweeper/train", None, None, seed, member) for seed in (1, 2) for member in (0, 1)]
    played = rollout(context=None).play(tasks, Scripted())
    assert played[0].turns == played[1].turns
    assert played[0].turns[0].prompt_ids != played[2].turns[0].prompt_ids or played[0].turns != played[2].turns
    assert all(len(one.endings) == 3 for one in played)


def test_the_first_win_ends_it_if_it_shall() -> None:
    tasks = [Task("kuhn/train", "conservative", 1, seed, 0) for seed in range(8)]
    played = rollout(stop_on_success=True, episodes=5).play(tasks, Scripted())
    assert {len(one.endings) for one in played} != {5}
    for one in played:
        assert all(ending.outcome != "win" for ending in one.endings[:-1])
        assert one.endings[-1].outcome == "win" or len(one.endings) == 5


def test_an_environment_is_used_again_and_remembers_nothing() -> None:
    table = rollout()
    before = table.play(group(2), Scripted())
    table.play(group(2, seed=77, opponent="aggressive", seat=1), Scripted())
    assert table.play(group(2), Scripted()) == before


def test_a_process_that_is_done_still_takes_part() -> None:
    rounds: list[int] = []

    class Counting(Scripted):
        def sample(self, prompts: Sequence[Sequence[int]]) -> list[Sampled]:
            rounds.append(len(prompts))
            return super().sample(prompts)

    asked = iter(range(30))
    rollout().play(group(1), Counting(), lambda waiting: waiting or next(asked) < 3)
    assert rounds[-3:] == [0, 0, 0]
    assert all(count == 1 for count in rounds[:-3])


def test_an_error_of_an_agent_or_the_sampler_is_told_as_it_is() -> None:
    class Broken(Brief):
        async def act(self, observation: str, info: Any) -> str:
            raise MageError("out of order")

    with pytest.raises(MageError, match="out of order"):
        rollout(Broken).play(group(2), Scripted())

    def fail(prompt: str) -> str:
        raise RuntimeError("no memory")

    with pytest.raises(RuntimeError, match="no memory"):
        rollout().play(group(2), Scripted(fail))


def test_an_agent_that_asks_no_model_is_refused() -> None:
    with pytest.raises(MageError, match="train a language agent"):
        rollout(partial(make_agent, "thompson")).play(group(1), Scripted())


def test_it_plays_where_an_event_loop_is_running() -> None:
    async def in_a_notebook() -> list[Played]:
        return rollout().play(group(1), Scripted())

    assert asyncio.run(in_a_notebook()) == rollout().play(group(1), Scripted())


def test_an_agent_that_asks_twice_a_step_makes_two_samples_and_is_paid_once() -> None:
    class Twice(Brief):
        async def act(self, observation: str, info: Any) -> str:
            await super().act(observation, info)
            return await super().act(observation, info)

    (once,), (twice,) = rollout().play(group(1), Scripted()), rollout(Twice).play(group(1), Scripted())
    assert once.endings == twice.endings
    play = [turn for turn in twice.turns if turn.phase == "play"]
    assert len(play) == 2 * sum(turn.phase == "play" for turn in once.turns)
    assert all(turn.reward == 0 for turn in play[::2])
    assert sum(turn.reward for turn in play) == sum(ending.score for ending in twice.endings)
