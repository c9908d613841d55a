"""The yardsticks as tidy rows, one number a row: what ``benchmark ceilings --csv`` writes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from benchmarks.leaderboard import safe_text
from benchmarks.yardsticks import Exact, Kind, Member, SeatYardsticks

ALL = "all"
"""Stands for the episode where a number is the total over all."""


class CeilingRow(NamedTuple):
    """One number.

    Attributes:
        scenario: Name of the scenario.
        opponent: Its spec; ``any`` for the average over the opponents with their shares.
        share: Share of the opponent in the panel's meta-episodes of this seat.
        seat: The agent's seat.
        episode: Number of the episode, from 1; ``all`` for the total.
        kind: ``random``, ``equilibrium``, ``told`` or ``adaptive``.
        value: The exact expected score; None if it is not known.
        lower: A lower bound, if only bounds are known; estimated.
        upper: An upper bound, if only bounds are known.
        exact: Whether there is a value.
        lower_error: Standard error of ``lower``.
        note: Why there is no value.
    """

    scenario: str
    opponent: str
    share: float
    seat: int
    episode: str
    kind: Kind
    value: float | None
    lower: float | None
    upper: float | None
    exact: bool
    lower_error: float | None
    note: str


class _Number(NamedTuple):
    value: float | None
    lower: float | None = None
    upper: float | None = None
    lower_error: float | None = None


def ceiling_rows(scenario: str, episodes: int, seats: Iterable[SeatYardsticks]) -> Iterator[CeilingRow]:
    """Lists the yardsticks of a scenario.

    Args:
        scenario: Its name.
        episodes: N.
        seats: From :func:`~benchmarks.yardsticks.seat_yardsticks`.

    Yields:
        For each seat, opponent and kind the N episodes, then the total.
    """
    for seat in seats:
        for member in (*seat.members, seat.average):
            for kind, value in member.values.items():
                yield from _rows(scenario, seat, member, kind, value, episodes)


def write_rows(rows: Iterable[CeilingRow]) -> str:
    """Writes rows as CSV with a header. No cell can run as a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CeilingRow._fields)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _rows(
    scenario: str, seat: SeatYardsticks, member: Member, kind: Kind, value: Exact, episodes: int
) -> Iterator[CeilingRow]:
    bounds = seat.bounds if kind == "adaptive" and member is seat.average else None
    per_episode = [None] * episodes if value.episodes is None else value.episodes
    numbers = [_Number(x) for x in per_episode]
    total = _Number(None if value.episodes is None else sum(value.episodes))
    if bounds is not None:  # What Thompson sampling gets in one episode bounds nothing: only its total does.
        numbers = [_Number(None, upper=upper) for upper in bounds.upper_per_episode]
        total = _Number(None, bounds.lower, bounds.upper, bounds.lower_error)
    for episode, number in zip([*map(str, range(1, episodes + 1)), ALL], [*numbers, total], strict=True):
        yield CeilingRow(
            scenario=scenario,
            opponent=member.opponent,
            share=member.share,
            seat=seat.seat,
            episode=episode,
            kind=kind,
            value=number.value,
            lower=number.lower,
            upper=number.upper,
            exact=number.value is not None,
            lower_error=number.lower_error,
            note=value.why,
        )


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format(value + 0.0, ".12g")
    if isinstance(value, str):
        return value if value.startswith("'") else safe_text(value)  # A quoted name in a note is no formula.
    return "" if value is None else str(value)
