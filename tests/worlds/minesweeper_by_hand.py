"""MineSweeper written a second time, plainly and slowly: the tests hold the package against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations

Cells = frozenset[int]


def near(cell: int, rows: int, columns: int) -> Cells:
    """Returns the neighbours of a cell."""
    row, column = divmod(cell, columns)
    return frozenset(
        r * columns + c
        for r in range(rows)
        for c in range(columns)
        if (r, c) != (row, column) and abs(r - row) <= 1 and abs(c - column) <= 1
    )


def number(cell: int, mines: Cells, rows: int, columns: int) -> int:
    return len(near(cell, rows, columns) & mines)


def flooded(cell: int, mines: Cells, rows: int, columns: int) -> Cells:
    """Returns what opens when a cell is revealed, one cell after the other."""
    opened, waiting = set(), [cell]
    while waiting:
        here = waiting.pop()
        if here in opened:
            continue
        opened.add(here)
        if here not in mines and not number(here, mines, rows, columns):
            waiting += near(here, rows, columns)
    return frozenset(opened)


def fitting(shown: tuple[int, ...], mines: int, rows: int, columns: int) -> Iterator[Cells]:
    """Yields every placement of the mines that shows these numbers; −1 is not open."""
    hidden = [cell for cell, told in enumerate(shown) if told < 0]
    for chosen in combinations(hidden, mines):
        placed = frozenset(chosen)
        if all(told < 0 or number(cell, placed, rows, columns) == told for cell, told in enumerate(shown)):
            yield placed


def win_probability(
    rows: int, columns: int, mines: int, allowed: Callable[[Cells], bool] = lambda mines: True
) -> Fraction:
    """Returns how likely the best play wins, by trying every cell in every situation, floods and all."""

    @cache
    def best(opened: Cells, possible: frozenset[Cells]) -> int:
        if len(opened) == rows * columns - mines:
            return len(possible)
        return max(after(opened, possible, cell) for cell in set(range(rows * columns)) - opened)

    def after(opened: Cells, possible: frozenset[Cells], cell: int) -> int:
        told: dict[tuple[tuple[int, int], ...], list[Cells]] = {}
        for placed in possible:
            if cell not in placed:
                now = opened | flooded(cell, placed, rows, columns)
                seen = tuple((each, number(each, placed, rows, columns)) for each in sorted(now))
                told.setdefault(seen, []).append(placed)
        return sum(best(frozenset(each for each, _ in seen), frozenset(group)) for seen, group in told.items())

    every = frozenset(p for p in map(frozenset, combinations(range(rows * columns), mines)) if allowed(p))
    return Fraction(best(frozenset(), every), len(every))
