"""The yardsticks as a person reads them: what ``benchmark ceilings`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchmarks.suites.base import Suite
from benchmarks.yardsticks import ANY, NEEDS_ALL, NO_TABLE, Exact, Kind, Member, SeatYardsticks
from mage_envs.scenarios import Scenario

_CELL = 6
_OTHERS = 59  # Columns of an opponent's name, its share, three values and the total, with the gaps.
_BEST = 19  # Columns of the word best and the total, in a world.
_MANY = 4  # Opponents that are named one by one.

LEGEND = (
    "Exact expected scores. In each episode: random, uniform random play; equil., equilibrium play; told, the best of "
    "an agent that is told the opponent. adapt., by episode and in total: the Bayes-adaptive value, the best "
    "expected total of an agent that knows the population and not the opponent; in the row of an opponent, what this "
    "agent gets if that one has come. share: of the panel's meta-episodes in this seat; any: the average with these "
    "weights. best, where nobody else plays: the best that can be expected of an episode; a replayed instance is known "
    "from the second one on. docs/ceilings.md explains."
)

REPLAY = (
    "The instance is replayed: told is, by episode, the best of an agent that is told the opponent and still has to "
    "learn the instance."
)


class _Shown(NamedTuple):
    """Which columns a table has.

    Attributes:
        episodes: Numbers of the episodes with a column.
        kinds: What has one column for all episodes.
    """

    episodes: tuple[int, ...]
    kinds: tuple[Kind, ...]


def scenario_table(
    suite: Suite, scenario: Scenario, seats: Sequence[SeatYardsticks], width: int = 100
) -> RenderableType:
    """Renders the yardsticks of a scenario.

    Args:
        suite: For its protocol.
        scenario: The scenario.
        seats: From :func:`~benchmarks.yardsticks.seat_yardsticks`.
        width: Columns of the terminal; narrow ones show fewer episodes.

    Returns:
        What rich prints.
    """
    count = suite.protocol.episodes
    head = f"   {scenario.unit}; N = {count}, {scenario.instance} instances"
    title = Text.assemble(("\n" + scenario.name, "bold"), head)
    if scenario.population is None:
        return Group(title, *_best_play(seats[0].average.values["told"], _episodes(count, width, _BEST)))
    fresh = scenario.instance == "fresh"
    shown = _Shown(_episodes(count, width), ("random", "equilibrium", "told") if fresh else ("random", "equilibrium"))
    table = _empty(shown)
    for seat in seats:
        table.add_row(Text(f"seat {seat.seat}", style="bold"))
        for member in _lines(seat):
            table.add_row(*_cells(seat, member, shown))
            if not fresh:
                blank = [""] * (1 + len(shown.kinds))
                table.add_row(" told", *blank, *_by_episode(member.values["told"], shown), style="dim")
    notes = [*([] if fresh else [REPLAY]), *_notes(seats)]
    return Group(title, table, *(Text(note, style="dim") for note in notes))


def _best_play(best: Exact, episodes: tuple[int, ...]) -> Iterator[RenderableType]:
    """Renders what is known of a world."""
    if best.episodes is None:
        yield Text(f"best: {best.why}")
        return
    table = _named_rows()
    for number in episodes:
        table.add_column(f"ep. {number}", justify="right", width=_CELL)
    table.add_column("total", justify="right", width=_CELL)
    table.add_row("best", *_by_episode(best, _Shown(episodes, ())))
    yield table


def _named_rows() -> Table:
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, expand=True, show_edge=False)
    table.add_column("", ratio=1, overflow="fold", min_width=12)
    return table


def _empty(shown: _Shown) -> Table:
    table = _named_rows()
    table.add_column("\nshare", justify="right", width=5)
    for kind in shown.kinds:
        table.add_column("\nequil." if kind == "equilibrium" else f"\n{kind}", justify="right", width=_CELL)
    for number in shown.episodes:
        table.add_column(f"adapt.\nep. {number}", justify="right", width=_CELL)
    table.add_column("adapt.\ntotal", justify="right", width=_CELL)
    return table


def _episodes(count: int, width: int, others: int = _OTHERS) -> tuple[int, ...]:
    """Chooses the episodes to show: all if there is room, else the first ones and the last."""
    room = max(2, (width - others) // (_CELL + 1))
    return tuple(range(1, count + 1)) if count <= room else (*range(1, room), count)


def _lines(seat: SeatYardsticks) -> tuple[Member, ...]:
    """A single opponent is its own average."""
    return seat.members if len(seat.members) == 1 else (*seat.members, seat.average)


def _cells(seat: SeatYardsticks, member: Member, shown: _Shown) -> list[str | Text]:
    each = [_first(member.values[kind]) for kind in shown.kinds]
    if member.values["random"].why == NO_TABLE:
        each = ["no", "table", ""][: len(each)]
    bounds = seat.bounds if member is _lines(seat)[-1] else None
    if bounds is None:
        adaptive = _by_episode(member.values["adaptive"], shown)
    else:
        adaptive = [_fitted(bounds.upper_per_episode[n - 1], _CELL, "≤") for n in shown.episodes]
        adaptive.append(_fitted(bounds.upper, _CELL, "≤"))
    share = f"{100.0 * member.share:.1f}".removesuffix(".0")
    return [Text(" " + member.opponent), f"{share}%", *each, *adaptive]


def _first(value: Exact) -> str:
    return "-" if value.episodes is None else _fitted(value.episodes[0], _CELL)


def _by_episode(value: Exact, shown: _Shown) -> list[str]:
    if value.episodes is None:
        return ["-"] * (len(shown.episodes) + 1)
    return [_fitted(value.episodes[n - 1], _CELL) for n in shown.episodes] + [_fitted(sum(value.episodes), _CELL)]


def _fitted(value: float, width: int, mark: str = "") -> str:
    """Writes a number with as many digits as there is room for, three at most."""
    texts = [mark + format(round(value, digits) + 0.0, f"+.{digits}f") for digits in (3, 2, 1, 0)]
    return next((text for text in texts if len(text) <= width), texts[-1])


def _notes(seats: Sequence[SeatYardsticks]) -> Iterator[str]:
    """Says what is known of missing values, and why they are missing."""
    for seat in seats:
        if seat.bounds is not None:
            yield (
                f"≤: BOUNDS, not values. The Bayes-adaptive total of seat {seat.seat}, {_lines(seat)[-1].opponent}, is "
                f"at least {seat.bounds.lower:+.3f} (standard error {seat.bounds.lower_error:.3f}) "
                f"and at most {seat.bounds.upper:+.3f} (told the opponent)."
            )
    missing = [
        (value.why, member.opponent, kind)
        for seat in seats
        for member in _lines(seat)
        for kind, value in member.values.items()
        if value.episodes is None
    ]
    for reason in dict.fromkeys(why for why, _, _ in missing):
        opponents = dict.fromkeys(opponent for why, opponent, _ in missing if why == reason)
        kinds = {kind for why, _, kind in missing if why == reason}
        yield f"{_named(list(opponents), kinds, reason)}: {reason}"


def _named(opponents: Sequence[str], kinds: Set[Kind], reason: str) -> str:
    if reason == NEEDS_ALL:
        return f"{ANY}, and all Bayes-adaptive values"
    if kinds == {"adaptive"}:
        return "Bayes-adaptive values"
    return ", ".join(opponents) if len(opponents) <= _MANY else f"{len(opponents)} opponents"
