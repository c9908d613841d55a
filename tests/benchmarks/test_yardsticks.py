"""Exact values by seat, opponent and episode, against values by hand, and reasons where there are none."""

from __future__ import annotations

import csv
import io
import math

import pytest
from rich.console import Console

from benchmarks.ceiling_rows import ALL, CeilingRow, ceiling_rows, write_rows
from benchmarks.ceiling_tables import scenario_table
from benchmarks.ceilings import panel_ceilings
from benchmarks.panels import make_panel
from benchmarks.yardsticks import (
    ANY,
    KINDS,
    NEEDS_ALL,
    NO_TABLE,
    NOBODY_ELSE,
    STOPS,
    Kind,
    SeatYardsticks,
    seat_yardsticks,
)
from mage_envs.opponents.populations import POPULATIONS, Population
from mage_envs.scenarios import SCENARIOS, Scenario
from tests.benchmarks.fakes import KUHN, suite

# Of one episode, from seats 0 and 1. Random against aggressive from seat 0: a bet gets -1/3 (+1 from a Jack that folds,
# -2 and +2 from cards that call), a check -1/2 (a fold -1, a call 0 on average); so -5/12.
RANDOM = {"aggressive": (-5 / 12, -1 / 2), "conservative": (-1 / 12, 0.0), "intermediate": (-1 / 6, -1 / 3)}
TOLD = {"aggressive": (1 / 3, 1 / 3), "conservative": (1 / 6, 1 / 3), "intermediate": (1 / 3, 1 / 6)}
SHARES = {"aggressive": 0.3, "conservative": 0.3, "intermediate": 0.4}
PATTERNS = Scenario("test/x", "mage/TicTacToe-meta-v0", "", "points", "tictactoe/patterns_heldout", seats=(1,))
EQUAL = Population("test/equal", "kuhn_poker", tuple((name, 1.0) for name in SHARES))


def yardsticks(scenario: Scenario = KUHN, size: int = 20, **protocol: int | bool) -> tuple[SeatYardsticks, ...]:
    found = suite(size, scenario=scenario, **protocol)
    return seat_yardsticks(found, scenario, make_panel(found).entries)


def rows(scenario: Scenario = KUHN, episodes: int = 3, size: int = 20) -> list[CeilingRow]:
    return list(ceiling_rows(scenario.name, episodes, yardsticks(scenario, size, episodes=episodes)))


def printed(scenario: Scenario, width: int = 100, **protocol: int | bool) -> str:
    told = io.StringIO()
    found = suite(20, scenario=scenario, **protocol)
    seats = seat_yardsticks(found, scenario, make_panel(found).entries)
    Console(width=width, file=told).print(scenario_table(found, scenario, seats, width))
    return told.getvalue()


def test_kuhn_train_by_hand() -> None:
    for seat, found in enumerate(yardsticks()):
        assert (found.seat, found.share, found.bounds) == (seat, 0.5, None)
        assert {member.opponent: member.share for member in found.members} == SHARES
        for member in found.members:
            assert member.values["random"].episodes == pytest.approx((RANDOM[member.opponent][seat],) * 3)
            assert member.values["told"].episodes == pytest.approx((TOLD[member.opponent][seat],) * 3)


@pytest.mark.parametrize("kind", KINDS)
def test_any_is_the_average_by_share(kind: Kind) -> None:
    for seat in yardsticks():
        parts = [(member.share, member.values[kind].episodes or ()) for member in seat.members]
        for number, value in enumerate(seat.average.values[kind].episodes or ()):
            assert value == pytest.approx(sum(share * episodes[number] for share, episodes in parts))


def test_the_known_fractions_of_the_bayes_adaptive_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(POPULATIONS, "_items", {name: POPULATIONS.get(name) for name in POPULATIONS})
    POPULATIONS.register(EQUAL.name, EQUAL)
    scenario = Scenario("test/x", KUHN.env_id, "", "", EQUAL.name)
    for episodes, values in ((1, (1 / 18, 1 / 6)), (3, (77 / 162, 103 / 162))):  # The showdown is revealed.
        totals = [row.value for row in rows(scenario, episodes, size=6)
                  if (row.opponent, row.kind, row.episode) == (ANY, "adaptive", ALL)]  # fmt: skip
        assert totals == pytest.approx(values)


def test_rows_of_the_leaderboard_are_the_same_numbers() -> None:
    found = suite(20)
    ceilings, seats = panel_ceilings(found, KUHN, make_panel(found).entries), yardsticks()
    for kind, value in (("random", ceilings.random), ("equilibrium", ceilings.equilibrium), ("told", ceilings.told)):
        assert value == pytest.approx(sum((seat.average.values[kind].episodes or (math.nan,))[0] for seat in seats) / 2)
    assert ceilings.random == pytest.approx((-13 / 60 - 17 / 60) / 2)
    assert ceilings.adaptive is not None
    assert ceilings.bounds is None


def test_told_on_replayed_deals_is_told_the_opponent_and_learns_the_deal() -> None:
    # Against the arg-max of CFR: 1/6 in the first episode; with the deal known 1/3 from seat 0, and still 1/6 from 1.
    seats = yardsticks(SCENARIOS.get("kuhn/paper_ood"))
    assert [seat.average.values["told"].episodes for seat in seats] == [
        pytest.approx((1 / 6, 1 / 3, 1 / 3)),
        pytest.approx((1 / 6, 1 / 6, 1 / 6)),
    ]
    for seat in yardsticks(Scenario("test/x", KUHN.env_id, "", "", "kuhn/train", instance="replay")):
        told, adaptive = (seat.average.values[kind].episodes or () for kind in ("told", "adaptive"))
        assert sum(adaptive) < sum(told)
        assert told[1] > told[0]


def test_where_only_bounds_are_known_there_is_no_value() -> None:
    (seat,) = yardsticks(PATTERNS)
    assert seat.bounds is not None
    assert seat.average.values["adaptive"].episodes is None
    assert "merges all ways to a board" in seat.average.values["adaptive"].why
    found = {row.episode: row for row in rows(PATTERNS) if (row.opponent, row.kind) == (ANY, "adaptive")}
    assert all(row.value is None and not row.exact and row.note for row in found.values())
    assert [found[n].lower for n in "123"] == [None] * 3  # What Thompson sampling gets in one episode bounds nothing.
    assert [found[n].upper for n in "123"] == pytest.approx([1.0] * 3)
    total = found[ALL]
    assert total.lower is not None
    assert total.upper is not None
    assert 2.9 < total.lower <= total.upper == pytest.approx(3.0)
    assert total.lower_error is not None
    ceilings = panel_ceilings(suite(20, scenario=PATTERNS), PATTERNS, make_panel(suite(20, scenario=PATTERNS)).entries)
    assert ceilings.bounds == (total.lower, total.lower_error, total.upper)
    assert ceilings.adaptive is None


def test_a_single_opponent_leaves_nothing_to_find_out() -> None:
    (seat,) = yardsticks(Scenario("test/x", PATTERNS.env_id, "", "", "random", seats=(0,)))
    assert seat.average.values["adaptive"].episodes == pytest.approx((191 / 192,) * 3)
    assert seat.bounds is None


def test_an_opponent_without_a_table_takes_nothing_from_the_others() -> None:
    for seat in yardsticks(SCENARIOS.get("tictactoe/train")):
        for member in seat.members:
            known = {kind for kind, value in member.values.items() if value.episodes}
            searches = member.opponent == "mcts(simulations=100)"
            assert known == (set() if searches else {"random", "equilibrium", "told"})
            assert member.values["told"].why == (NO_TABLE if searches else "")
            assert member.values["adaptive"].why == (NO_TABLE if searches else NEEDS_ALL)
        assert {value.why for value in seat.average.values.values()} == {NEEDS_ALL}
        assert seat.bounds is None


def test_a_game_that_is_too_large_says_so() -> None:
    scenario = Scenario(
        "test/x", "mage/OpenSpiel-meta-v0", "", "", "generic", arguments=(("game", "go(board_size=9)"),)
    )
    (seat, _) = yardsticks(scenario, 4)
    assert all("too l" in value.why for member in seat.members for value in member.values.values())
    assert seat.bounds is None


def test_a_first_win_that_ends_the_meta_episode_leaves_the_values_of_one_episode() -> None:
    seat = yardsticks(stop_on_success=True)[0]
    assert seat.average.values["adaptive"].why == STOPS
    assert seat.average.values["told"].episodes is not None


def test_csv_reads_back() -> None:
    written = rows(PATTERNS) + rows()
    read = list(csv.DictReader(io.StringIO(write_rows(written))))
    assert len(read) == len(written) == 4 * 4 * 5 + 2 * 4 * 4 * 4
    for line, row in zip(read, written, strict=True):
        assert tuple(line) == CeilingRow._fields
        assert (line["scenario"], line["opponent"], line["kind"]) == (row.scenario, row.opponent, row.kind)
        assert (line["seat"], line["episode"]) == (str(row.seat), row.episode)
        assert line["exact"] == ("yes" if row.exact else "no")
        assert line["note"] == row.note
        for name in ("share", "value", "lower", "upper", "lower_error"):
            value = getattr(row, name)
            assert line[name] == "" if value is None else float(line[name]) == pytest.approx(value, abs=1e-11)
        assert bool(line["value"]) is row.exact


def test_the_total_is_the_sum_over_episodes() -> None:
    found: dict[tuple[int, str, Kind], list[float]] = {}
    for row in rows():
        found.setdefault((row.seat, row.opponent, row.kind), []).append(row.value or 0.0)
    assert len(found) == 2 * 4 * 4
    assert all(total == pytest.approx(sum(episodes)) for *episodes, total in found.values())


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("name", ["kuhn/train", "kuhn/paper_ood", "tictactoe/train", "tictactoe/patterns_heldout"])
def test_tables_fit_the_terminal(name: str, width: int) -> None:
    told = printed(SCENARIOS.get(name), width)
    assert max(map(len, told.splitlines())) <= width
    if width >= 80:  # Names in one piece.
        for member in yardsticks(SCENARIOS.get(name))[0].members:
            assert f" {member.opponent} " in told
    assert "ep. 1" in told
    assert "ep. 3" in told


def test_bounds_are_marked() -> None:
    told = " ".join(printed(PATTERNS).split())
    assert "≤+1.00 ≤+1.00 ≤+1.00 ≤+3.00" in told
    assert "≤: BOUNDS, not values. The Bayes-adaptive total of seat 1, any, is at least +" in told
    assert "BOUNDS" not in printed(KUHN)


def test_what_is_missing_is_explained() -> None:
    told = " ".join(printed(SCENARIOS.get("tictactoe/train")).split())
    assert "mcts(simulations=100) 50% no table - - - -" in told
    assert "mcts(simulations=100): no table: its moves depend on more than its view" in told
    assert "any, and all Bayes-adaptive values: not every opponent of the population has a table" in told
    replayed = " ".join(printed(SCENARIOS.get("kuhn/paper_ood")).split())
    assert "told +0.167 +0.333 +0.333 +0.833" in replayed
    assert "told the opponent and still has to learn the instance" in replayed


def test_many_episodes_show_the_first_and_the_last() -> None:
    told = printed(KUHN, 80, episodes=12)
    assert "ep. 12" in told
    assert "ep. 2" in told
    assert "ep. 11" not in told
    assert max(map(len, told.splitlines())) <= 80


def test_no_cell_is_a_formula() -> None:
    found = CeilingRow("=cmd()", "@x", 1.0, 0, "1", "told", -0.5, None, None, True, None, "+1")
    assert write_rows([found]).splitlines()[1].split(",") == [
        *("'=cmd()", "'@x", "1", "0", "1", "told", "-0.5", "", "", "yes", "", "'+1")
    ]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_of_worlds_the_best_play_is_shown(width: int) -> None:
    told = printed(SCENARIOS.get("minesweeper/5x5"), width)
    assert max(map(len, told.splitlines())) <= width
    line = next(line for line in told.splitlines() if line.startswith("best"))
    assert line.split() == ["best", "+0.782", "+1.000", "+1.000", "+2.782"]
    assert "seat" not in told
    unknown = " ".join(printed(SCENARIOS.get("minesweeper/8x8"), width).split())
    assert "best: 8×8 with 5 mines has 7624512 placements" in unknown


def test_rows_of_worlds_say_what_is_known_and_why_the_rest_is_not() -> None:
    found = {(row.kind, row.episode): row for row in rows(SCENARIOS.get("minesweeper/5x5"), size=2)}
    assert len(found) == 4 * 4
    assert found["adaptive", "1"].value == found["told", "1"].value == pytest.approx(1798 / 2300)
    assert found["adaptive", ALL].value == pytest.approx(2 + 1798 / 2300)
    assert (found["random", "1"].value, found["random", "1"].note) == (None, NOBODY_ELSE)
    (seat,) = yardsticks(SCENARIOS.get("sokoban/test"), 2, stop_on_success=True)
    assert (seat.members, seat.average.values["adaptive"].why) == ((), STOPS)
    assert seat.average.values["told"].episodes == (1.0, 1.0, 1.0)
