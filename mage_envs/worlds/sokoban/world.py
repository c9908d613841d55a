"""Sokoban: push all boxes onto the targets. One cell at a time, pushes only, one box at once.

By default as MAGE (arXiv 2603.03680) and LaMer (arXiv 2512.16848) play it: rooms of 6×6 cells, walls included, with
two boxes, solved in at most 21 moves; 7 turns of up to 3 moves; the score is 1 if solved. Rooms are our own, made by
reverse play, each with its proven shortest solution (:mod:`~mage_envs.worlds.sokoban.rooms`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from mage_envs.errors import LevelError, MageError, UnsupportedGameError, near_matches
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
from mage_envs.worlds.sokoban.levels import HEADINGS, SYMBOLS, Level, load_levels, parse_level
from mage_envs.worlds.sokoban.picture import paint
from mage_envs.worlds.sokoban.rooms import MAX_BOXES, MAX_MOVES, MAX_SIDE, MIN_SIDE, RoomKind, make_room
from mage_envs.worlds.sokoban.words import Shown, say, told_rules

SPLITS = {"train": range(8), "validation": range(8, 9), "test": range(9, 10)}
"""Of each ten rooms, by a hash of the room, mirrored and turned ones together: eight, one and one."""

MAX_POOL = 100_000

STEP_COST, BOX_REWARD, SOLVED_REWARD = -0.1, 1.0, 10.0
"""The classic shaping (gym-sokoban): each move, each box put on a target or taken off one, the solved room."""

_SPELLINGS = tuple((name, name[0], f"move {name}", f"go {name}", f"push {name}") for name in HEADINGS)
_HEADING = {spelling: heading for heading, names in enumerate(_SPELLINGS) for spelling in names}
_BETWEEN = re.compile(r"\s*(?:,|;|\n|\bthen\b)\s*|\s+(?=(?:up|down|left|right|[udlr])\b)", re.IGNORECASE)
_TRIES = 1_000
_POOL = int.from_bytes(b"pool", "big")


class Turn(NamedTuple):
    """What became of the moves of the last turn.

    Attributes:
        done: Headings that moved the player.
        blocked: The heading that moved nothing, −1 if none did.
        by: What was in the way: ``"a wall"`` or ``"a box that cannot move"``.
        left: Headings that were not tried any more.
    """

    done: tuple[int, ...] = ()
    blocked: int = -1
    by: str = ""
    left: tuple[int, ...] = ()


class Room(NamedTuple):
    """A state.

    Attributes:
        level: Walls and targets, shared.
        player: Index of the player's cell.
        boxes: Indices of the boxes.
        moves: Moves so far that moved the player.
        pushes: How many of them pushed a box.
        blocked: Moves so far that moved nothing.
        turn: What became of the last turn.
    """

    level: Level
    player: int
    boxes: frozenset[int]
    moves: int = 0
    pushes: int = 0
    blocked: int = 0
    turn: Turn = Turn()


class Sokoban(World):
    """Push all boxes onto the targets.

    Args:
        rows: Rows of a room, walls included, 5..12.
        columns: Columns, 5..12.
        boxes: Boxes, 1..5.
        max_moves: Longest shortest solution in moves, 1..200.
        moves_per_turn: So many moves one answer of the text interface may hold, 1..20.
        show: How the text shows a room: ``"grid"`` or ``"coordinates"``.
        reward: ``"success"`` (1 for a solved room) or ``"shaped"`` (as gym-sokoban: −0.1 a move, +1 and −1 as boxes
            get on and off targets, +10 for the solved room).
        split: Instances are drawn from ``"all"`` rooms, or from those of ``"train"``, ``"validation"``, ``"test"``.
        pool: So many different instances there are to draw from, 0..100000; 0: as many as there are. Rooms of a pool
            are made once a process.
        levels: A file of levels in XSB (Boxoban's files, too) to draw instances from, instead of made rooms. Rows and
            columns are then those of the largest level; ``boxes``, ``max_moves``, ``split`` and ``pool`` do nothing.

    An instance is a number, from which a room is made, or a level in one line of XSB: ``"#####/#@$.#/#####"``.

    Array: one plane a symbol, in the order ``# .$*@+`` (wall, floor, target, box, box on target, player, player on
    target), 1 where it is, else 0; float32, shape (7, rows, columns); a smaller level is surrounded with wall.

    Action: 0 up, 1 down, 2 left, 3 right. A move into a wall, or against a box that cannot move, moves nothing; it
    costs its step. An answer in text has up to ``moves_per_turn`` moves, ``"up, up, left"``, and stops at the first
    that moves nothing and at the one that solves the room; the next view says what was done.
    """

    title: ClassVar[str] = "Sokoban"
    turns = 7
    actions = len(HEADINGS)
    vocabulary = frozenset(_HEADING)
    pictures = True
    batched = True

    def __init__(
        self,
        rows: int = 6,
        columns: int = 6,
        boxes: int = 2,
        max_moves: int = 21,
        moves_per_turn: int = 3,
        show: str = "grid",
        reward: str = "success",
        split: str = "all",
        pool: int = 0,
        levels: str = "",
    ) -> None:
        """Makes the world; see the class for the arguments.

        Raises:
            ValueError: A value out of range.
            LevelError: The file has no levels, or one that cannot be solved.
        """
        if not isinstance(levels, str):
            raise ValueError(f"levels must be the path of a file, got {levels!r}")
        self._levels = _checked_levels(levels) if levels else ()
        if self._levels:
            rows, columns = (max(sides) for sides in zip(*map(_sides, self._levels), strict=True))
        else:
            _check("rows", rows, MIN_SIDE, MAX_SIDE)
            _check("columns", columns, MIN_SIDE, MAX_SIDE)
        _check("boxes", boxes, 1, MAX_BOXES)
        _check("max_moves", max_moves, 1, MAX_MOVES)
        _check("moves_per_turn", moves_per_turn, 1, 20)
        _check("pool", pool, 0, MAX_POOL)
        _check_name("show", show, get_args(Shown))
        _check_name("reward", reward, ("success", "shaped"))
        _check_name("split", split, ("all", *SPLITS))
        self.kind = RoomKind(rows, columns, boxes, max_moves)
        self.moves_per_turn, self.split, self.pool = moves_per_turn, split, pool
        self._pooled: dict[InstanceId, Room] = {}
        self._numbers: dict[int, int] = {}  # From the place in the pool to the number of the room.
        self.shaped, self._show = reward == "shaped", show
        self.rules = told_rules(show, moves_per_turn)
        self.unit = "shaped reward of gym-sokoban" if self.shaped else "1 if solved, else 0"
        self.hint = (
            "Answer with one move: up, down, left or right."
            if moves_per_turn == 1
            else f"Answer with 1 to {moves_per_turn} moves of up, down, left, right, with commas between: up, up, left."
        )
        self.box = TensorBox((len(SYMBOLS), rows, columns), 0.0, 1.0)
        if self.shaped:
            most = max([boxes, *(len(level.boxes) for level in self._levels)])
            self.worst_score, self.worst_move = -BOX_REWARD * most, STEP_COST

    # Instances.

    def draw(self, u: float) -> InstanceId:
        """Returns a level of the file, or the number of a room of the split."""
        if self._levels:
            return self._levels[int(u * len(self._levels))].id
        if not self.pool:
            return self._of_the_split(int(u * 2**53))
        number = int(u * self.pool)
        if number not in self._numbers:
            self._numbers[number] = self._of_the_split(splitmix64(_POOL, number) >> 11)
        return self._numbers[number]

    def _of_the_split(self, first: int) -> int:
        """Returns the first of a series of numbers whose room is of the split."""
        if self.split == "all":
            return first
        for k in range(_TRIES):
            instance = first if k == 0 else splitmix64(first, k) >> 11
            if split_of(make_room(instance, self.kind)) == self.split:
                return instance
        raise MageError(f"no room of split {self.split!r} in {_TRIES} draws: allow more kinds of rooms")

    def check_instance(self, given: object) -> InstanceId:
        """Returns a number, or a level in one line, that fits into ``rows`` and ``columns``."""
        if not isinstance(given, str) or "#" not in given:
            return super().check_instance(given)
        level = parse_level(given)
        if len(level.rows) > self.kind.rows or level.columns > self.kind.columns:
            raise LevelError(
                f"the level has {len(level.rows)} rows and {level.columns} columns, this world at most "
                f"{self.kind.rows} and {self.kind.columns}"
            )
        return level.id

    def start(self, instance: InstanceId) -> Room:
        """Returns the start of a room or level."""
        if instance in self._pooled:
            return self._pooled[instance]
        level = parse_level(instance) if isinstance(instance, str) else make_room(instance, self.kind)
        room = Room(level, level.player, level.boxes)
        if self.pool and len(self._pooled) < self.pool:
            self._pooled[instance] = room
        return room

    def batch(self, count: int) -> WorldBatch:
        """Returns many rooms as arrays.

        Raises:
            UnsupportedGameError: Instances come from a file.
        """
        from mage_envs.worlds.sokoban.batch import SokobanBatch

        if self._levels:
            raise UnsupportedGameError("a batch plays made rooms only: for levels= use vectorization_mode='sync'")
        return SokobanBatch(self, count)

    # Play.

    def step(self, state: State, command: Command) -> Step:
        """Plays one move, or those of a turn until one moves nothing or solves the room."""
        room: Room = state
        headings = (command,) if isinstance(command, int) else tuple(command)
        reward, number, by = 0.0, 0, ""
        while number < len(headings) and not by and room.boxes != room.level.targets:
            before = room
            room, by = _moved(room, headings[number])
            reward += self._paid(before, room)
            number += 1
        done = headings[: number - 1] if by else headings[:number]
        turn = Turn(done, headings[number - 1] if by else -1, by, headings[number:])
        return Step(room._replace(turn=turn), reward)

    def _paid(self, before: Room, room: Room) -> float:
        solved = room.boxes == room.level.targets
        if not self.shaped:
            return 1.0 if solved else 0.0
        on = len(room.boxes & room.level.targets) - len(before.boxes & room.level.targets)
        return STEP_COST + BOX_REWARD * on + SOLVED_REWARD * solved

    def outcome(self, state: State) -> WorldOutcome | None:
        """Returns a win if all boxes are on targets; the rules know no loss."""
        return "win" if state.boxes == state.level.targets else None

    # What the agent is shown.

    def facts(self, state: State) -> Facts:
        """Returns the rows in XSB, what became of the last turn, and counts."""
        room: Room = state
        turn = room.turn
        return {
            "rows": room.level.show(room.player, room.boxes),
            "done": tuple(HEADINGS[heading] for heading in turn.done),
            "blocked": HEADINGS[turn.blocked] if turn.by else "",
            "by": turn.by,
            "left": tuple(HEADINGS[heading] for heading in turn.left),
            "on_target": len(room.boxes & room.level.targets),
            "boxes": len(room.boxes),
            "moves": room.moves,
            "pushes": room.pushes,
            "blocked_moves": room.blocked,
            "show": self._show,
        }

    def describe(self, facts: Facts) -> str:
        """Returns the room as a grid or as coordinates, after what became of the last turn."""
        return say(facts)

    def key(self, state: State) -> str:
        """Returns the room in one line."""
        return "/".join(state.level.show(state.player, state.boxes))

    def tensor(self, state: State) -> npt.NDArray[Any]:
        """Returns one plane a symbol."""
        assert self.box is not None
        planes = np.zeros(self.box.shape, dtype=np.float32)
        planes[0] = 1.0
        shown = state.level.show(state.player, state.boxes)
        symbols = np.array([[SYMBOLS.index(symbol) for symbol in row] for row in shown])
        for plane in range(len(SYMBOLS)):
            planes[plane, : symbols.shape[0], : symbols.shape[1]] = symbols == plane
        return planes

    def picture(self, facts: Facts) -> npt.NDArray[np.uint8]:
        """Returns a picture of 32×32 pixels a cell."""
        return paint(facts["rows"])

    def known(self, state: State) -> Facts:
        """Returns the proven length of a made room."""
        optimum = state.level.optimum
        return {} if optimum is None else {"optimal_moves": optimum.moves, "optimal_pushes": optimum.pushes}

    def best_play(self, instances: Iterable[InstanceId], turns: int) -> BestPlay:
        """Returns the share of the rooms whose shortest solution fits into the turns: nothing of a room is hidden."""
        if self.shaped:
            raise UnsupportedGameError("the best shaped reward of a room is not known; reward='success' has one")
        moves = turns * self.moves_per_turn
        if not self._levels and moves >= self.kind.max_moves:  # No made room needs more.
            return BestPlay(1.0, 1.0)
        shortest = [self.known(self.start(instance)).get("optimal_moves") for instance in instances]
        if None in shortest or not shortest:
            raise UnsupportedGameError("the shortest solutions of these rooms are not known")
        share = float(np.mean([length is not None and length <= moves for length in shortest]))
        return BestPlay(share, share)

    # What the agent may answer.

    def legal(self, state: State) -> tuple[int, ...]:
        """Returns all four: moves that move nothing can be tried."""
        return (0, 1, 2, 3)

    def words(self, state: State, action: int) -> tuple[str, ...]:
        """Returns ``up``, and what is read as it."""
        return _SPELLINGS[action]

    def read(self, state: State, answer: str) -> Command | None:
        """Reads several moves; None if there are too many, or anything else among them."""
        parts = [" ".join(part.casefold().split()) for part in _BETWEEN.split(answer.strip(" \n\t.,;[]()")) if part]
        if not 1 <= len(parts) <= self.moves_per_turn or any(part not in _HEADING for part in parts):
            return None
        return tuple(_HEADING[part] for part in parts)


WORLDS.register("sokoban", Sokoban)


def split_of(level: Level) -> str:
    """Returns the split of a room: a function of what it looks like, mirrored and turned ones together."""
    rows, columns = list(level.rows), ["".join(column) for column in zip(*level.rows, strict=True)]
    mirrored = [[line[::-1] for line in picture] for picture in (rows, columns)]
    first = min("/".join(way) for picture in (rows, columns, *mirrored) for way in (picture, picture[::-1]))
    bucket = int(hashlib.sha256(first.encode()).hexdigest(), 16) % 10
    return next(name for name, buckets in SPLITS.items() if bucket in buckets)


def _moved(room: Room, heading: int) -> tuple[Room, str]:
    """Plays one move. Returns the room after it, and what was in the way, if something was."""
    level = room.level
    step = level.steps[heading]
    cell = room.player + step
    if cell in level.walls:
        return room._replace(blocked=room.blocked + 1), "a wall"
    if cell not in room.boxes:
        return room._replace(player=cell, moves=room.moves + 1), ""
    ahead = cell + step
    if ahead in level.walls or ahead in room.boxes:
        return room._replace(blocked=room.blocked + 1), "a box that cannot move"
    boxes = (room.boxes - {cell}) | {ahead}
    return room._replace(player=cell, boxes=boxes, moves=room.moves + 1, pushes=room.pushes + 1), ""


def _sides(level: Level) -> tuple[int, int]:
    return len(level.rows), level.columns


def _checked_levels(path: str) -> tuple[Level, ...]:
    loaded = load_levels(path)
    lost = [each for each in loaded if each.deadlocks]
    if lost:
        raise LevelError(
            f"{len(lost)} of {len(loaded)} levels of {path!r} cannot be solved; the first is in line {lost[0].line}: "
            f"{lost[0].deadlocks[0]}. Take them out: load_levels lists them"
        )
    return tuple(each.level for each in loaded)


def _check(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer in {low}..{high}, got {value!r}")


def _check_name(name: str, value: str, names: tuple[str, ...]) -> None:
    if value not in names:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, names))}, got {value!r}. {near_matches(str(value), names)}"
        )
