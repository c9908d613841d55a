"""Causal controls: what each takes away, that nothing else changes, and that agents without a memory are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.controls import CONTROLS, foreign_donors, play_under, transplant_donors, why_not
from benchmarks.panels import Entry, make_panel
from benchmarks.plan import make_plan
from benchmarks.records import Record
from benchmarks.referee import answered_at_once, play
from benchmarks.runner import run
from benchmarks.statistics import mean_estimate
from benchmarks.verification import verify
from mage_agent.agents import make_agent
from mage_envs.errors import MageError, UnknownNameError
from mage_envs.scenarios import Scenario
from tests.benchmarks.fakes import KUHN, Fake, ignore_progress, make_fake, suite

PLACES = {
    "thompson": KUHN,
    "bayes_optimal": KUHN,
    "recall(base=cfr)": KUHN,
    "change_point": Scenario("test/switch", KUHN.env_id, "", "", "kuhn/switching"),
    "markov": Scenario(
        "test/rps",
        "mage/RockPaperScissors-meta-v0",
        "",
        "",
        "rps/train",
        (0,),
        arguments=(("game", "rock_paper_scissors(throws=10)"),),
    ),
}
REAL = CONTROLS[1:]


def records(agent: str, control: str, count: int, scenario: Scenario = KUHN, **protocol: Any) -> list[Record]:
    """Plays the panel of a small suite under a control, in this process."""
    found = suite(count, agent, scenario=scenario, **protocol)
    entries = make_panel(found).entries
    env, player = found.make_env(scenario, "array"), make_fake(agent)
    return [answered_at_once(play_under(control, env, player, entry, entries)) for entry in entries]


def scores(found: list[Record]) -> np.ndarray[Any, Any]:
    return np.array([[episode.reward for episode in record.episodes] for record in found])


def less(one: list[Record], other: list[Record]) -> tuple[float, float]:
    """Returns the interval of what ``other`` scores less in the last episode; each deal is played from both seats."""
    differences = scores(one)[:, -1] - scores(other)[:, -1]
    found = mean_estimate(differences.tolist(), [record.seed for record in one])
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@pytest.fixture(scope="module")
def thompson() -> dict[str, list[Record]]:
    return {control: records("thompson", control, 1200, episodes=5) for control in CONTROLS}


def test_no_control_is_plain_play() -> None:
    found = suite(10, "thompson")
    entries, env = make_panel(found).entries, found.make_env(KUHN, "array")
    assert records("thompson", "none", 10) == [play(env, make_agent("thompson"), entry) for entry in entries]


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("control", REAL)
def test_opponents_instances_and_the_first_episode_stay(name: str, control: str) -> None:
    plain, under = (records(name, which, 24, PLACES[name], episodes=4) for which in ("none", control))
    assert [record.status for record in under] == ["ok"] * 24
    for one, other in zip(plain, under, strict=True):
        assert (one.key, one.seat, one.seed, one.opponent) == (other.key, other.seat, other.seed, other.opponent)
        assert [e.instance for e in one.episodes] == [e.instance for e in other.episodes]
        assert one.episodes[0] == other.episodes[0]


def test_without_memory_the_gain_is_gone(thompson: dict[str, list[Record]]) -> None:
    clusters = [record.seed for record in thompson["none"]]
    gains = {c: scores(found)[:, -1] - scores(found)[:, 0] for c, found in thompson.items()}
    plain, without = (mean_estimate(gains[c].tolist(), clusters) for c in ("none", "no_memory"))
    assert plain.low is not None
    assert plain.low > 0.03
    assert without.low is not None
    assert without.high is not None
    assert without.low < 0.0 < without.high
    assert less(thompson["none"], thompson["no_memory"])[0] > 0.03


def test_a_wrong_memory_is_no_better_than_none(thompson: dict[str, list[Record]]) -> None:
    for control in ("foreign_reflection", "shuffled_reflection"):
        assert less(thompson["none"], thompson[control])[0] > 0.05
        assert less(thompson["no_memory"], thompson[control])[1] > 0.0
    assert less(thompson["no_memory"], thompson["foreign_reflection"])[0] > 0.0


def test_what_another_first_episode_taught_is_worth_as_much(thompson: dict[str, list[Record]]) -> None:
    low, high = less(thompson["none"], thompson["transplanted_first_episode"])
    assert low < 0.0 < high
    assert less(thompson["transplanted_first_episode"], thompson["no_memory"])[0] > 0.03


def test_without_memory_every_episode_is_a_first_one() -> None:
    """An agent that draws nothing does the same again on a replayed deal, unless it remembers what came of it."""
    replayed = Scenario("test/replay", KUHN.env_id, "", "", "kuhn/train", instance="replay")
    found = records("recall(base=first_legal)", "no_memory", 20, replayed, episodes=4)
    assert {len({episode.actions for episode in record.episodes}) for record in found} == {1}
    kept = records("recall(base=first_legal)", "none", 20, replayed, episodes=4)
    assert {len({episode.actions for episode in record.episodes}) for record in kept} != {1}


class Notebook(Fake):
    """Writes down who it played, which it could not know, to see what it is given."""

    oracle = True

    def begin(self, briefing: Any) -> None:
        super().begin(briefing)
        self.memory, self.read, self.briefing = "nothing", [], briefing

    def act(self, observation: Any, info: Any) -> Any:
        self.read.append(self.memory)
        return super().act(observation, info)

    def reflect(self, observation: Any, info: Any) -> Any:
        self.memory += f" {self.briefing.opponent}/{self.briefing.seed}"
        return 0

    def shuffled(self, memory: str, rng: np.random.Generator) -> str:
        return " ".join(rng.permutation(memory.split()).tolist())


def reading(control: str, number: int = 0, **protocol: Any) -> tuple[Entry, list[str]]:
    """Returns an entry, and what a notebook read in each of its episodes under a control."""
    found = suite(30, scenario=KUHN, episodes=4, **protocol)
    entries, agent = make_panel(found).entries, Notebook("notebook")
    record = answered_at_once(play_under(control, found.make_env(KUHN, "array"), agent, entries[number], entries))
    assert record.status == "ok"
    return entries[number], list(dict.fromkeys(agent.read))


def test_what_is_read_under_each_control() -> None:
    entry, plain = reading("none")
    own = f"{entry.opponent}/{entry.agent_seed}"
    assert plain == ["nothing", f"nothing {own}", f"nothing {own} {own}", f"nothing {own} {own} {own}"]
    assert reading("no_memory")[1] == ["nothing"]
    shuffled = reading("shuffled_reflection")[1]
    assert [sorted(text.split()) for text in dict.fromkeys([*shuffled, shuffled[-1]])][-1] == sorted(plain[3].split())
    foreign = reading("foreign_reflection")[1]
    assert [len(text.split()) for text in foreign] == [1, 2, 3, 4]
    assert all(own not in text and str(entry.opponent) not in text for text in foreign)
    transplanted = reading("transplanted_first_episode")[1]
    other = transplanted[1].split()[1]
    assert other.startswith(f"{entry.opponent}/")
    assert other != own
    assert transplanted == ["nothing", f"nothing {other}", f"nothing {other} {own}", f"nothing {other} {own} {own}"]


def test_donors_are_functions_of_the_entry() -> None:
    entries = make_panel(suite(30)).entries
    for entry in entries:
        donors = list(foreign_donors(entry, entries))
        assert donors == list(foreign_donors(entry, entries))
        assert {donor.seat for donor in donors} == {entry.seat}
        assert entry.opponent not in {donor.opponent for donor in donors}
    firsts = {next(foreign_donors(entry, entries)) for entry in entries}
    assert len(firsts) > 5
    seeds = {next(transplant_donors(entry)).seed for entry in entries}
    assert not seeds & {entry.seed for entry in entries}
    assert len(seeds) == len(entries)


@pytest.mark.parametrize("control", REAL)
def test_any_number_of_workers_writes_the_same_records_and_they_replay(control: str, tmp_path: Path) -> None:
    plan = make_plan(suite(24, "thompson", "recall"), control=control)
    for jobs in (1, 2):
        directory = run(plan, tmp_path / str(jobs), ignore_progress, jobs=jobs)
        assert directory.manifest.config.control == control
        assert verify(directory, plan.panel, jobs=1, progress=ignore_progress) == 48
    files = [(tmp_path / str(jobs) / "meta_episodes.jsonl").read_bytes() for jobs in (1, 2)]
    assert files[0] == files[1]


def test_agents_without_a_memory_are_refused_by_name(tmp_path: Path) -> None:
    plan = make_plan(suite(6, "random", "thompson", "first"), control="no_memory", factory=make_fake)
    assert plan.manifest.config.plays == {"test/kuhn": ("thompson",)}
    for name in ("random", "first"):
        assert "carries no memory from one episode into the next" in plan.manifest.unsupported[name]["test/kuhn"]


def test_a_panel_of_one_opponent_has_no_foreign_memory() -> None:
    single = Scenario("test/kuhn", KUHN.env_id, "", "", "kuhn/heldout")
    plan = make_plan(suite(6, "thompson", scenario=single), control="foreign_reflection")
    assert "the panel has one only" in plan.manifest.unsupported["thompson"]["test/kuhn"]
    assert not plan.tasks


def test_what_an_opponent_remembers_is_not_shuffled() -> None:
    plan = make_plan(suite(6, "mirror"), control="shuffled_reflection")
    assert "nothing says how to shuffle" in plan.manifest.unsupported["mirror"]["test/kuhn"]
    assert make_plan(suite(6, "mirror"), control="no_memory").tasks


def test_unknown_controls_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown control 'no_memori'.*'no_memory'"):
        make_plan(suite(6, "thompson"), control="no_memori")
    with pytest.raises(UnknownNameError):
        play_under("nothing", None, make_agent("thompson"), make_panel(suite(2)).entries[0], ())
    assert why_not("none", make_agent("random"), ()) == ""


class Forgetful(Notebook):
    """Cannot say what it remembers."""

    @property
    def memory(self) -> str:
        raise ValueError("I forgot")

    @memory.setter
    def memory(self, memory: str) -> None:
        self.held = memory


class FailingDonor(Notebook):
    """Fails in any meta-episode but that of the first entry."""

    def act(self, observation: Any, info: Any) -> Any:
        if self.briefing.seed != make_panel(suite(30)).entries[0].agent_seed:
            raise ConnectionError("the server is gone")
        return super().act(observation, info)


@pytest.mark.parametrize("control", REAL)
def test_a_memory_that_cannot_be_read_is_the_agents_error(control: str) -> None:
    found = suite(30)
    entries, env = make_panel(found).entries, found.make_env(KUHN, "array")
    record = answered_at_once(play_under(control, env, Forgetful("forgetful"), entries[0], entries))
    assert (record.status, record.scored) == ("error", False)
    assert "I forgot" in str(record.error)


@pytest.mark.parametrize("control", ["foreign_reflection", "transplanted_first_episode"])
def test_an_agent_that_fails_as_a_donor_has_failed(control: str) -> None:
    found = suite(30)
    entries, env = make_panel(found).entries, found.make_env(KUHN, "array")
    record = answered_at_once(play_under(control, env, FailingDonor("failing"), entries[0], entries))
    assert (record.status, record.number, record.episodes) == ("error", 0, ())
    assert "the server is gone" in str(record.error)


def test_where_the_first_win_ends_it_a_donor_that_won_at_once_gives_nothing_and_another_is_asked() -> None:
    entry, read = reading("transplanted_first_episode", 1, stop_on_success=True)
    assert len(read) == 1 or read[1].split()[1].startswith(f"{entry.opponent}/")


def test_a_bug_of_the_environment_in_a_donor_is_not_hidden() -> None:
    from tests.benchmarks.fakes import BuggyEnv

    found = suite(30)
    entries, env = make_panel(found).entries, BuggyEnv(found.make_env(KUHN, "array"))
    with pytest.raises(MageError, match="an opponent gave nonsense"):
        answered_at_once(play_under("foreign_reflection", env, make_agent("thompson"), entries[0], entries))
