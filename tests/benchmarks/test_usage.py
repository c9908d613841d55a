"""What a meta-episode cost, and why answers were not played: kept in its record, and in no record that has neither."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from benchmarks.asking import Call, OutOfTime, ask
from benchmarks.panels import Entry, make_panel
from benchmarks.players import Table, advance
from benchmarks.records import EpisodeRecord, Record, Refusal, UsageRecord, parse_line
from benchmarks.referee import answered_at_once, play, playing
from mage_agent.base import Usage
from mage_envs.text.parser import ReplyKind
from tests.benchmarks.fakes import Fake, episode, make_fake, record, suite

OLD_LINE = (
    b'{"v":1,"agent":"random","interface":"array","scenario":"test/kuhn","number":0,"opponent":"conservative",'
    b'"described":"conservative: bets with the King","seat":0,"seed":0,"status":"ok","episodes":[{"instance":"0",'
    b'"seat":0,"actions":[0],"reward":1.0,"outcome":"win","length":1,"invalid":0,"forfeit":false,"reflection":null}],'
    b'"error":null}'
)
"""As it was written before records held usage and reasons: hashes of committed boards are over such lines."""

USAGE = Usage(3, 100, 20, 0.25, 1, "a" * 64)


class Paying(Fake):
    """Counts a call for each decision and reflection, and answers nonsense now and then."""

    interface = "text"
    answers = ("", "<action>pass", "<action>pass</action><action>bet</action>", "dance", "call", "pass")

    def begin(self, briefing: Any) -> None:
        super().begin(briefing)
        self.calls = 0

    def act(self, observation: Any, info: Any) -> str:
        self.calls += 1
        return self.answers[(self.calls - 1) % len(self.answers)]

    def reflect(self, observation: Any, info: Any) -> str:
        self.calls += 1
        return "noted"

    def usage(self) -> Any:
        return Usage(self.calls, 10 * self.calls, self.calls, 0.5 * self.calls, 0, "b" * 64)


class FailingLater(Paying):
    def reflect(self, observation: Any, info: Any) -> str:
        raise ConnectionError("the server is gone")


class Notebook(Paying):
    """Has a memory."""

    memory = ""
    answers = ("pass",)


def entry(size: int = 2) -> Entry:
    return make_panel(suite(size)).entries[0]


def played(agent: Any, **protocol: Any) -> Record:
    found = suite(2, **protocol)
    return play(found.make_env(found.parts[0].scenario, agent.interface), agent, entry())


def test_a_line_without_usage_and_reasons_is_what_it_was() -> None:
    assert record(0, episode()).line() == OLD_LINE
    assert parse_line(OLD_LINE, "x") == record(0, episode())


def test_lines_with_them_read_back() -> None:
    told = episode().model_copy(update={"invalid": 3, "refused": {"illegal": 2, "empty": 1}})
    found = record(0, told, usage=UsageRecord(**USAGE._asdict()))
    assert parse_line(found.line(), "x") == found
    line = json.loads(found.line())
    assert line["episodes"][0]["refused"] == {"illegal": 2, "empty": 1}
    assert line["usage"] == USAGE._asdict()


def test_reasons_and_fields_are_those_of_the_parser_and_of_agents() -> None:
    assert {*get_args(Refusal)} == {kind.value for kind in ReplyKind} - {"ok"}
    assert tuple(UsageRecord.model_fields) == Usage._fields


def test_answers_are_counted_by_their_reason() -> None:
    found = played(Paying("paying"), episodes=1, max_invalid=9)
    (only,) = found.episodes
    assert only.refused == {"empty": 1, "truncated": 1, "ambiguous": 1, "unparsable": 1, "illegal": 1}
    assert sum(only.refused.values()) == only.invalid == 5
    assert found.refused == only.refused
    assert found.figures().refused == only.refused


def test_reasons_are_added_over_episodes() -> None:
    found = played(Paying("paying"), episodes=3, max_invalid=9)
    assert found.refused == {
        kind: sum(each.refused.get(kind, 0) for each in found.episodes) for kind in get_args(Refusal)
    }
    assert sum(found.refused.values()) == sum(each.invalid for each in found.episodes)
    assert record(0, episode()).refused == {}


def test_an_agent_that_has_usage_is_asked_at_the_end() -> None:
    agent = Paying("paying")
    found = played(agent, episodes=2, max_invalid=9)
    assert found.usage == UsageRecord(**agent.usage()._asdict())
    assert found.usage.calls == agent.calls > 6
    assert played(Fake("first")).usage is None


def test_a_failed_meta_episode_was_paid_too() -> None:
    found = played(FailingLater("failing"), max_invalid=9)
    assert found.status == "error"
    assert found.usage is not None
    assert found.usage.calls > 5


def test_an_agent_that_cannot_say_its_usage_has_failed() -> None:
    agent = Paying("paying")
    agent.usage = lambda: 1 / 0  # type: ignore[method-assign]
    found = played(agent, episodes=1, max_invalid=9)
    assert (found.status, found.usage, len(found.episodes)) == ("error", None, 1)
    assert "ZeroDivisionError" in str(found.error)


def test_the_first_failure_is_the_one_that_is_told() -> None:
    agent = FailingLater("failing")
    agent.usage = lambda: 1 / 0  # type: ignore[method-assign]
    assert "the server is gone" in str(played(agent, max_invalid=9).error)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"calls": 1}, "the agent's usage is dict, not mage_agent.base.Usage"),
        (USAGE._replace(calls=-1), "usage is bad .calls"),
        (USAGE._replace(cost=float("inf")), "usage is bad .cost"),
        (USAGE._replace(prompts="Say yes"), "usage is bad .prompts"),
        (USAGE._replace(prompt_tokens="many"), "usage is bad .prompt_tokens"),
    ],
)
def test_usage_that_cannot_be_is_refused(said: Any, message: str) -> None:
    agent = Paying("paying")
    agent.usage = lambda: said  # type: ignore[method-assign]
    found = played(agent, episodes=1, max_invalid=9)
    assert found.status == "error"
    assert message.split(" .")[0] in str(found.error)
    assert message.split(" .")[-1] in str(found.error)


def test_a_count_of_none_is_no_reason() -> None:
    values = episode().model_dump() | {"refused": {"illegal": 0}}
    with pytest.raises(ValidationError):
        EpisodeRecord.model_validate(values)
    with pytest.raises(ValidationError):
        EpisodeRecord.model_validate(values | {"refused": {"rude": 1}})


def test_stretches_add_up_and_unknown_stays_unknown() -> None:
    one, other = UsageRecord(**USAGE._asdict()), UsageRecord(**USAGE._replace(cost=None)._asdict())
    both = one + other
    assert (both.calls, both.prompt_tokens, both.completion_tokens, both.cost) == (6, 200, 40, None)
    assert both.memory_truncated == 2
    assert (one + one).prompts == both.prompts != one.prompts


@pytest.mark.parametrize("control", ["none", "no_memory", "foreign_reflection", "transplanted_first_episode"])
@pytest.mark.parametrize("shown", [True, False])
def test_agents_are_told_the_protocol_and_donors_are_paid(control: str, shown: bool) -> None:
    found = suite(12, legal_actions_in_prompt=shown)
    panel = make_panel(found)
    table = Table(panel, control, (), make_fake, lambda: lambda line, frame: None)
    agent, env = Notebook("notebook"), table.env("test/kuhn", "text")
    made = answered_at_once(table.playing(env, agent, panel.entries[0]))
    assert made.status == "ok", made.error
    assert agent.briefing is not None
    assert agent.briefing.legal_actions_in_prompt is shown
    donated = {"foreign_reflection": 5, "transplanted_first_episode": 2}.get(control, 0)
    assert made.usage is not None
    assert made.usage.calls >= agent.calls + donated
    assert (made.usage.calls > agent.calls) == (donated > 0)
    assert made.usage.cost == 0.5 * made.usage.calls


def until(agent: Any, meta_episode: Any, fails: Any) -> Record:
    """Plays a meta-episode in which the time is up when ``fails`` says so of a call; that call is not made."""
    found = advance(meta_episode)
    while isinstance(found, Call):
        found = advance(meta_episode, failure=OutOfTime(1.0)) if fails(found) else advance(meta_episode, ask(found))
    assert isinstance(found, Record)
    return found


def test_what_an_agent_did_not_begin_cost_nothing() -> None:
    """Time may be up while it waits for its turn: what it still knows is of the meta-episode before."""
    agent, found = Paying("paying"), suite(2)
    env = found.make_env(found.parts[0].scenario, "text")
    assert play(env, agent, entry()).usage is not None
    late = until(agent, playing(env, agent, entry()), lambda call: call.method == "begin")
    assert (late.status, late.usage) == ("timeout", None)


@pytest.mark.parametrize("last", ["begin", "act", "reflect"])
def test_a_donor_that_fails_is_paid_once_for_what_it_did(last: str) -> None:
    found = suite(12)
    panel = make_panel(found)
    table = Table(panel, "foreign_reflection", (), make_fake, lambda: lambda line, frame: None)
    agent, env = Notebook("notebook"), table.env("test/kuhn", "text")
    play(env, agent, panel.entries[0])
    made: list[str] = []

    def fails(call: Call) -> bool:
        made.append(call.method)
        return call.method == last

    failed = until(agent, table.playing(env, agent, panel.entries[0]), fails)
    assert failed.status == "timeout"
    assert (failed.usage.calls if failed.usage else 0) == sum(name != "begin" for name in made[:-1])
