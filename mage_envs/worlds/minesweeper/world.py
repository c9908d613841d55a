"""MineSweeper: reveal every cell without a mine.

By default as LaMer (arXiv 2512.16848) plays it: 6×6 cells with 3 mines; the score is 1 for a won board, else 0. Nothing
is known of the first cell, so that the best play that there is wins 6427/7140 = .9001 of single episodes
(:mod:`~mage_envs.worlds.minesweeper.winning`), and who remembers a replayed board can win every later episode.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, cast, get_args

import numpy as np
import numpy.typing as npt

from mage_envs.errors import MageError, UnsupportedGameError, near_matches
from mage_envs.games.chance import splitmix64
from mage_envs.worlds import WORLDS
from mage_envs.worlds.base import (
    BestPlay,
    Command,
    Facts,
    InstanceId,
    State,
    Step,
    TensorBox,
    World,
    WorldBatch,
    WorldOutcome,
)
from mage_envs.worlds.minesweeper.board import Board, Play
from mage_envs.worlds.minesweeper.grid import bits, grid, listed
from mage_envs.worlds.minesweeper.layout import FirstClick, Layout, Setting, lay_out, moved
from mage_envs.worlds.minesweeper.picture import paint
from mage_envs.worlds.minesweeper.probabilities import SolverLimitError
from mage_envs.worlds.minesweeper.winning import win_probability
from mage_envs.worlds.minesweeper.words import HINT, read, say, symbols, told_rules, vocabulary

SPLITS = {"train": range(6), "validation": range(6, 8), "test": range(8, 10)}
"""Of each ten boards, by a hash of the board, mirrored and turned ones together: six, two and two."""

PLANES = 12
"""Planes of the array: hidden, flag, the numbers 0 to 8, mine."""

_TRIES = 1_000


class Sweep(NamedTuple):
    """A state.

    Attributes:
        play: The board, and what is open and flagged.
        order: Where mines go that must not lie where the first revealed cell is; empty once it is known.
    """

    play: Play
    order: tuple[int, ...] = ()


class MineSweeper(World):
    """Reveal every cell without a mine.

    Args:
        rows: Rows, 2..30.
        columns: Columns, 2..30.
        mines: Mines, at least 1; at most one less than there are cells (9 less where the first cell is a zero).
        first_click: What the first revealed cell may be: ``"risky"`` (anything), ``"safe"`` (no mine), ``"zero"`` (no
            mine, and none around it), ``"given"`` (such a cell is open at the start).
        no_guess: Whether logic alone solves every board; needs ``first_click="given"``.
        split: Instances are drawn from ``"all"`` boards, or from those of ``"train"``, ``"validation"``, ``"test"``.

    An instance is a number, from which the board is made. Replayed, its mines are on the same cells; where the first
    cell is made safe, only the mines that it hits have moved, and always to the same cells.

    Array: one-hot planes: hidden, flag, numbers 0 to 8, mine (shown when the episode is over); float32, shape
    (12, rows, columns).

    Action: a cell is ``row * columns + column``, both from 0; its number reveals it, its number plus the number of
    cells puts a flag on it, or takes it away. A flagged cell cannot be revealed. In text: ``reveal r2c3``,
    ``flag r2c3``, ``unflag r2c3``, counted from 1, and other usual spellings.
    """

    title: ClassVar[str] = "MineSweeper"
    unit = "1 if won, else 0"
    hint = HINT
    pictures = True
    batched = True

    def __init__(
        self,
        rows: int = 6,
        columns: int = 6,
        mines: int = 3,
        first_click: str = "risky",
        no_guess: bool = False,
        split: str = "all",
    ) -> None:
        """Makes the world; see the class for the arguments.

        Raises:
            ValueError: A value out of range.
        """
        _check_name("first_click", first_click, get_args(FirstClick))
        _check_name("split", split, ("all", *SPLITS))
        self.setting = Setting(rows, columns, mines, cast("FirstClick", first_click), no_guess)
        self.grid = grid(rows, columns)
        self.split = split
        self.turns = self.grid.cells
        self.actions = 2 * self.grid.cells
        self.vocabulary = vocabulary(self.grid)
        self.rules = told_rules(self.setting)
        self._names = tuple(f"{verb} {name}" for verb in ("reveal", "flag") for name in self.grid.names)
        self._cells = np.arange(self.grid.cells)
        self.box = TensorBox((PLANES, rows, columns), 0.0, 1.0)

    # Instances.

    def draw(self, u: float) -> InstanceId:
        """Returns the number of a board of the split."""
        first = int(u * 2**53)
        if self.split == "all":
            return first
        for k in range(_TRIES):
            instance = first if k == 0 else splitmix64(first, k) >> 11
            if split_of(lay_out(self.setting, instance).play) == self.split:
                return instance
        raise MageError(f"no board of split {self.split!r} in {_TRIES} draws: set more cells or mines")

    def start(self, instance: InstanceId) -> Sweep:
        """Returns the start of a board."""
        return Sweep(*lay_out(self.setting, int(instance)))

    def batch(self, count: int) -> WorldBatch:
        """Returns many boards as arrays."""
        from mage_envs.worlds.minesweeper.batch import MineSweeperBatch

        return MineSweeperBatch(self.setting, self.grid, PLANES, count)

    # Play.

    def step(self, state: State, command: Command) -> Step:
        """Reveals a cell, or puts a flag on it or takes it away."""
        play, order = state
        kind, cell = divmod(int(command), self.grid.cells)
        if kind:
            return Step(Sweep(play.flag(cell), order), 0.0)
        if order:
            play = play._replace(board=moved(self.setting, Layout(play, order), cell))
        play = play.reveal(cell)
        return Step(Sweep(play), float(play.won))

    def outcome(self, state: State) -> WorldOutcome | None:
        """Returns a win if every safe cell is open, and a loss if a mine is."""
        play: Play = state.play
        return "loss" if play.lost else "win" if play.won else None

    def content(self, state: State) -> str:
        """Returns where the mines are, and what is open."""
        return f"{state.play.board.mines:x} {state.play.opened:x}"

    # What the agent is shown.

    def facts(self, state: State) -> Facts:
        """Returns the open numbers, the flags and counts; the mines as well when the board is won or lost.

        ``shown`` has the number on each cell, −1 where it is not open; ``flags`` and ``mined`` are cells; ``hit`` is
        the mine that was revealed, or −1; ``open`` of ``safe`` cells without a mine are open.
        """
        play: Play = state.play
        hit = play.opened & play.board.mines
        return {
            "rows": self.grid.rows,
            "columns": self.grid.columns,
            "mines": self.setting.mines,
            "first_click": self.setting.first_click,
            "shown": play.shown(),
            "flags": listed(play.flags),
            "open": (play.opened & ~hit).bit_count(),
            "safe": self.grid.cells - self.setting.mines,
            "outcome": self.outcome(state),
            "hit": hit.bit_length() - 1,
            "mined": listed(play.board.mines) if play.over else (),
        }

    def describe(self, facts: Facts) -> str:
        """Returns counts, the grid and its legend."""
        return say(facts)

    def key(self, state: State) -> str:
        """Returns one character a cell."""
        return symbols(self.facts(state))

    def tensor(self, state: State) -> npt.NDArray[Any]:
        """Returns the planes."""
        play: Play = state.play
        plane = np.array(play.shown()) + 2
        plane[plane < 2] = 0
        if play.over:
            plane[list(listed(play.board.mines))] = PLANES - 1
        plane[list(listed(play.flags))] = 1
        planes = np.zeros((PLANES, self.grid.cells), dtype=np.float32)
        planes[plane, self._cells] = 1.0
        return planes.reshape(PLANES, self.grid.rows, self.grid.columns)

    def picture(self, facts: Facts) -> npt.NDArray[np.uint8]:
        """Returns a picture of 32×32 pixels a cell."""
        return paint(symbols(facts), facts["columns"])

    def known(self, state: State) -> Facts:
        """Returns with how few reveals who knows the board wins it, where the first cell does not change the board."""
        return {} if state.order else {"least_reveals": least_reveals(state.play)}

    def best_play(self, instances: Iterable[InstanceId], turns: int) -> BestPlay:
        """Returns the exact win probability of a board that is drawn, and 1 on a board that was played before.

        An episode ends with all mines shown, or with every safe cell open: so it tells the board, whoever wins, and
        what is done in it to win loses nothing later. Who begins again with the same cell meets the same board.
        """
        if turns < self.grid.cells - self.setting.mines:
            raise UnsupportedGameError("the turn limit can end an episode whose board is not known by then")
        try:
            return BestPlay(_win_probability(self.setting), 1.0)
        except SolverLimitError as error:
            raise UnsupportedGameError(str(error)) from error

    # What the agent may answer.

    def legal(self, state: State) -> tuple[int, ...]:
        """Returns a reveal for each hidden cell without a flag, and a flag for each hidden cell."""
        play: Play = state.play
        hidden, cells = listed(play.hidden), self.grid.cells
        reveals = listed(play.hidden & ~play.flags) if play.flags else hidden
        return (*reveals, *[cells + cell for cell in hidden])

    def names(self, state: State) -> tuple[str, ...]:
        """Returns the names of the legal actions."""
        names, flags = self._names, state.play.flags
        if not flags:
            return tuple([names[action] for action in self.legal(state)])
        return tuple(self.words(state, action)[0] for action in self.legal(state))

    def words(self, state: State, action: int) -> tuple[str, ...]:
        """Returns ``reveal r1c1``, ``flag r1c1`` or ``unflag r1c1``."""
        flag = action - self.grid.cells
        taken = flag >= 0 and state.play.flags >> flag & 1
        return (f"unflag {self.grid.names[flag]}" if taken else self._names[action],)

    def read(self, state: State, answer: str) -> Command | None:
        """Reads other spellings; None if it cannot be played now."""
        said = read(answer, self.grid)
        if said is None:
            return None
        play: Play = state.play
        hidden, flagged = play.hidden >> said.cell & 1, play.flags >> said.cell & 1
        if not hidden or flagged != (said.verb == "unflag"):
            return None
        return said.cell if said.verb == "reveal" else self.grid.cells + said.cell


WORLDS.register("minesweeper", MineSweeper)


def split_of(play: Play) -> str:
    """Returns the split of a board and what is open at its start: turned and mirrored ones are together.

    Where the first cell moves mines, the board is the one before that.
    """
    content = (play.board.grid.rows, play.board.grid.columns, *play.board.grid.canonical(play.board.mines, play.opened))
    bucket = int(hashlib.sha256(repr(content).encode()).hexdigest(), 16) % 10
    return next(name for name, buckets in SPLITS.items() if bucket in buckets)


def least_reveals(play: Play) -> int:
    """Returns with how few reveals the rest of a board is won: one for each field of zeros, and for each cell apart."""
    board: Board = play.board
    left, count = board.safe & ~play.opened, 0
    for cells in (board.zeros, board.grid.all):  # Fields first: they open the cells at their rims.
        for cell in bits(left & cells):
            if left >> cell & 1:
                left &= ~board.flood(cell)
                count += 1
    return count


@lru_cache(maxsize=64)
def _win_probability(setting: Setting) -> float:
    return float(win_probability(setting))


def _check_name(name: str, value: str, names: tuple[str, ...]) -> None:
    if value not in names:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, names))}, got {value!r}. {near_matches(str(value), names)}"
        )
