"""How likely each hidden cell is a mine, exactly: every placement of the mines that fits what is open counts the same.

Hidden cells that stand under the same numbers are alike and make one *box*. Boxes that share a number make a component,
and components meet only in the number of mines that are left. In a component, boxes are filled one after the other;
what is kept is how many mines each number that is still in work lacks, with the number of ways to get there (dynamic
programming; Python's integers, so that nothing is rounded). Checked against counting all placements.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import comb
from typing import NamedTuple, TypeAlias

from mage_envs.errors import MageError
from mage_envs.worlds.minesweeper.grid import bits
from mage_envs.worlds.minesweeper.knowledge import Constraint, Knowledge

MAX_STATES = 200_000
"""Partial fillings of a component that are kept at a time."""

Ways: TypeAlias = Mapping[int, int]
"""From a number of mines to the number of ways to place them."""

_Lacks: TypeAlias = tuple[int, ...]


class SolverLimitError(MageError, ValueError):
    """A board on which an exact count would take too much memory or time."""


class Odds(NamedTuple):
    """How the mines can lie.

    Attributes:
        ways: Number of placements that fit.
        mined: Of each cell, the number of those in which it is a mine; 0 for open cells.
        hidden: The cells that are not open, as a set.
    """

    ways: int
    mined: tuple[int, ...]
    hidden: int

    @property
    def safe(self) -> int:
        """The hidden cells that are a mine in no placement, as a set: what logic alone can tell."""
        return sum(1 << cell for cell in bits(self.hidden) if not self.mined[cell])

    def probability(self, cell: int) -> Fraction:
        """Returns the probability that a cell is a mine."""
        return Fraction(self.mined[cell], self.ways)


class _Box(NamedTuple):
    cells: int
    constraints: tuple[int, ...]


class _Component(NamedTuple):
    ways: Ways
    boxes: tuple[tuple[int, Ways], ...]
    """Cells of each box; and, for one of its cells, the ways with a mine on it, by the component's mines."""


def mine_odds(knowledge: Knowledge) -> Odds:
    """Counts the placements that fit, and of each cell those with a mine on it.

    Args:
        knowledge: What is open, and the number of mines.

    Returns:
        The counts.

    Raises:
        ValueError: No placement fits.
        SolverLimitError: The open numbers hang together in too wide a tangle.
    """
    hidden = knowledge.hidden
    constraints = list(dict.fromkeys(knowledge.constraints()))
    components = [_solve(boxes, constraints) for boxes in _components(_boxes(constraints))]
    touched = 0
    for constraint in constraints:
        touched |= constraint.cells
    rest = hidden & ~touched
    free, left = rest.bit_count(), knowledge.mines
    before: list[Ways] = [{0: 1}]
    for component in components:
        before.append(_product(before[-1], component.ways))
    after: Ways = {left - mines: comb(free, mines) for mines in range(min(free, left) + 1)}
    total = sum(ways * after.get(mines, 0) for mines, ways in before[-1].items())
    if not total:
        raise ValueError("no placement of the mines fits these numbers: check the open cells and the number of mines")
    mined = [0] * knowledge.grid.cells
    if free:
        share = sum(ways * comb(free - 1, left - mines - 1) for mines, ways in before[-1].items() if mines < left)
        for cell in bits(rest):
            mined[cell] = share
    for component, others in zip(reversed(components), reversed(before[:-1]), strict=True):
        fitting = _shifted(others, after)
        for cells, ways in component.boxes:
            share = sum(count * fitting.get(mines, 0) for mines, count in ways.items())
            for cell in bits(cells):
                mined[cell] = share
        after = _shifted(component.ways, after)
    return Odds(total, tuple(mined), hidden)


def _product(one: Ways, other: Ways) -> Ways:
    """Returns the ways to place mines in both."""
    found: dict[int, int] = defaultdict(int)
    for mines, ways in one.items():
        for more, times in other.items():
            found[mines + more] += ways * times
    return found


def _shifted(part: Ways, after: Ways) -> Ways:
    """Returns the ways to go on after a number of mines, with the part in between filled in every way."""
    found: dict[int, int] = defaultdict(int)
    for total, ways in after.items():
        for mines, times in part.items():
            if mines <= total:
                found[total - mines] += ways * times
    return found


def _boxes(constraints: Sequence[Constraint]) -> list[_Box]:
    """Returns the cells under the same constraints, together."""
    under: dict[int, list[int]] = defaultdict(list)
    for index, constraint in enumerate(constraints):
        for cell in bits(constraint.cells):
            under[cell].append(index)
    boxes: dict[tuple[int, ...], int] = defaultdict(int)
    for cell in sorted(under):
        boxes[tuple(under[cell])] |= 1 << cell
    return [_Box(cells, indices) for indices, cells in boxes.items()]


def _components(boxes: Sequence[_Box]) -> Iterator[list[_Box]]:
    """Yields the boxes that hang together, in an order that finishes constraints early."""
    within: dict[int, list[_Box]] = defaultdict(list)
    for box in boxes:
        for index in box.constraints:
            within[index].append(box)
    placed: set[_Box] = set()
    for first in boxes:
        if first in placed:
            continue
        ordered: list[_Box] = []
        lacking: dict[int, int] = {}
        ready = [first]
        while ready:
            for box in ready:
                placed.add(box)
                ordered.append(box)
                for index in box.constraints:
                    lacking[index] = lacking.get(index, len(within[index])) - 1
            lacking = {index: count for index, count in lacking.items() if count}
            nearest = min(lacking, key=lacking.__getitem__, default=None)
            ready = [] if nearest is None else [box for box in within[nearest] if box not in placed]
        yield ordered


class _Step(NamedTuple):
    """How a box is filled: what the constraints in work lack before and after."""

    size: int
    places: tuple[int, ...]
    """Where the box's constraints stand among those in work."""
    keep: tuple[int, ...]
    """The places that stay in work."""
    room: tuple[int, ...]
    """Of each place, the cells that come after this box."""


def _steps(boxes: Sequence[_Box], constraints: Sequence[Constraint]) -> Iterator[tuple[_Step, _Lacks]]:
    """Yields each box's step, and what the constraints lack that it brings in."""
    room = {index: constraints[index].cells.bit_count() for box in boxes for index in box.constraints}
    working: list[int] = []
    for box in boxes:
        new = [index for index in box.constraints if index not in working]
        working += new
        size = box.cells.bit_count()
        for index in box.constraints:
            room[index] -= size
        places = tuple(working.index(index) for index in box.constraints)
        keep = tuple(place for place, index in enumerate(working) if room[index])
        step = _Step(size, places, keep, tuple(room[index] for index in working))
        yield step, tuple(constraints[index].mines for index in new)
        working = [working[place] for place in keep]


def _solve(boxes: Sequence[_Box], constraints: Sequence[Constraint]) -> _Component:
    """Counts the ways to fill a component."""
    layers: list[dict[_Lacks, Ways]] = [{(): {0: 1}}]
    moves: list[list[tuple[_Lacks, int, _Lacks]]] = []
    for step, new in _steps(boxes, constraints):
        layer: dict[_Lacks, dict[int, int]] = {}
        taken = []
        for before, ways in layers[-1].items():
            for mines, after in _fillings(step, before + new):
                taken.append((before, mines, after))
                times = comb(step.size, mines)
                into = layer.setdefault(after, defaultdict(int))
                for count, way in ways.items():
                    into[count + mines] += way * times
        if len(layer) > MAX_STATES:
            raise SolverLimitError(
                f"more than {MAX_STATES} ways in which open numbers hang together: open cells nearer to each other, "
                "or play a smaller board"
            )
        layers.append(dict(layer))
        moves.append(taken)
    onward: dict[_Lacks, Ways] = {(): {0: 1}}
    found: list[tuple[int, Ways]] = []
    for box, layer_before, taken in zip(reversed(boxes), reversed(layers[:-1]), reversed(moves), strict=True):
        onward, mined = _backwards(box.cells.bit_count(), layer_before, taken, onward)
        found.append((box.cells, mined))
    return _Component(layers[-1].get((), {}), tuple(found))


def _backwards(
    size: int, before: Mapping[_Lacks, Ways], moves: Sequence[tuple[_Lacks, int, _Lacks]], onward: Mapping[_Lacks, Ways]
) -> tuple[dict[_Lacks, Ways], Ways]:
    """Returns the ways to go on from before a box, and those with a mine on one cell of it, by all mines."""
    further: dict[_Lacks, dict[int, int]] = {}
    mined: dict[int, int] = defaultdict(int)
    for lacks, mines, after in moves:
        ending = onward.get(after)
        if not ending:
            continue
        into = further.setdefault(lacks, defaultdict(int))
        for count, way in ending.items():
            into[count + mines] += way * comb(size, mines)
        if mines:
            with_mine = comb(size - 1, mines - 1)
            for count, way in before[lacks].items():
                for more, times in ending.items():
                    mined[count + mines + more] += way * with_mine * times
    return dict(further), mined


def _fillings(step: _Step, lacks: _Lacks) -> Iterator[tuple[int, _Lacks]]:
    """Yields the numbers of mines that a box can have, and what the constraints that stay in work then lack."""
    most = min(step.size, *(lacks[place] for place in step.places))
    least = max(0, *(lacks[place] - step.room[place] for place in step.places))
    for mines in range(least, most + 1):
        left = list(lacks)
        for place in step.places:
            left[place] -= mines
        yield mines, tuple(left[place] for place in step.keep)
