"""ALFWorld as a world: household tasks in text (ALFWorld, arXiv 2010.03768), as MAGE (arXiv 2603.03680) plays it.

By default in households that are made, with no download: 10 turns an episode, 1 if the task is done. On ALFWorld's own
files every text and every list of admissible commands is the original's, to the letter.
"""

from __future__ import annotations

import hashlib
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, get_args

from mage_envs.errors import LevelError, MageError, near_matches
from mage_envs.games.chance import splitmix64
from mage_envs.worlds import WORLDS
from mage_envs.worlds.alfworld.answers import Said, read_answer
from mage_envs.worlds.alfworld.game import Game, check_dialect
from mage_envs.worlds.alfworld.households import HELD_TASKS, errand_of, household, split_of
from mage_envs.worlds.alfworld.households import SPLITS as HOUSEHOLD_SPLITS
from mage_envs.worlds.alfworld.quirks import check_quirks
from mage_envs.worlds.alfworld.reasons import reason
from mage_envs.worlds.alfworld.reference import TextWorldState, written
from mage_envs.worlds.alfworld.sources import (
    PROCEDURAL,
    VARIABLE,
    Loaded,
    file_hash,
    find_games,
    load_game,
    loaded,
    task_type_of,
)
from mage_envs.worlds.alfworld.state import State as House
from mage_envs.worlds.alfworld.tables import TaskType
from mage_envs.worlds.alfworld.words import NOTHING_HAPPENS
from mage_envs.worlds.base import Command, Facts, InstanceId, State, Step, World, WorldOutcome

TASKS: dict[str, frozenset[str]] = {
    "all": frozenset(get_args(TaskType)),
    "seen": frozenset(get_args(TaskType)) - HELD_TASKS,
    "held_out": HELD_TASKS,
    **{task: frozenset({task}) for task in get_args(TaskType)},
}
"""Names of sets of task types; ``held_out`` is Cool and Pick2, as in LaMer (arXiv 2512.16848)."""

_TRIES = 10_000

_RULES = """\
You are in a room and have a task. You go to one receptacle at a time (a cabinet, a table, a fridge), and see what is \
in or on it; what is in a closed one you see when it is open. You can carry one thing.
Answer with one command a turn, each with the name and number that the text gives:
{commands}
A command that is impossible does nothing, and costs its turn all the same. To clean, heat or cool a thing you must \
carry it, and be at a sinkbasin, a microwave or a fridge; it need not be open. To look at a thing in the light you \
carry it to a lamp and use the lamp.
You win when the task is done."""
_COMMANDS = (
    "look; inventory; go to R; open R; close R; examine R; take O from R; {put}; clean O with R; heat O with R; "
    "cool O with R; use O; slice O with K{help}. R is a receptacle, O a thing that can be carried or used, K a knife."
)
_PUT_AS = {"0.3": "put O in/on R", "0.4": "move O to R"}


class Moment(NamedTuple):
    """A state.

    Attributes:
        instance: The number of a household, or the id of a game.
        house: Where the game stands; never changed.
        said: The command that led here, and the answer if it was spelled otherwise.
        why: Why nothing happened; empty if something did, or if reasons are not given.
    """

    instance: InstanceId
    house: House | TextWorldState
    said: Said = Said("")
    why: str = ""


class ALFWorld(World):
    """ALFWorld.

    Args:
        source: ``"procedural"`` (made households), ``"train"``, ``"valid_seen"``, ``"valid_unseen"``,
            ``"valid_train"`` (ALFWorld's own games), or a path of a folder or file of such games.
        data_dir: Folder of ALFWorld's games; empty: ``$ALFWORLD_DATA``, else ``~/.cache/alfworld``.
        split: Of made households, ``"all"``, ``"train"``, ``"validation"``, ``"test"``, or what these hold out:
            ``"task_types"`` (Cool and Pick2), ``"rooms"`` (bathrooms), ``"pairs"`` (of thing and receptacle).
        tasks: ``"all"`` types of tasks, ``"seen"`` (without Cool and Pick2), ``"held_out"`` (these), or one type.
        dialect: ``"0.4"`` (``move O to R``) or ``"0.3"`` (``put O in/on R``), for any source.
        quirks: ``"faithful"``, or ``"clean"``: every receptacle at a place of its own, a thing in one of them only.
        feedback: ``"terse"`` as in ALFWorld, or ``"explain"``: why nothing happened is said, too.
        admissible: Whether the possible commands stand only in ``"info"``, as legal actions, or in the ``"text"``, too.
        answers: ``"lenient"``: letter case, spaces and put/move are forgiven, and an answer that begins with no verb
            of the language is asked again. ``"alfworld"``: any answer is played to the letter, and costs its turn.
        engine: ``"native"``, or ``"textworld"`` to compare with: some seconds a game, some steps a second, and as in
            TextWorld only (no other quirks, no reasons); see :mod:`~mage_envs.worlds.alfworld.reference`.

    An instance is the number of a made household, or the id of a game: the path of its folder.

    Action: a command, such as ``"go to fridge 1"``. ``world.games`` has the ids of the games that are drawn; it is
    empty where households are made.
    """

    title: ClassVar[str] = "ALFWorld"
    turns = 10
    variables: ClassVar[tuple[str, ...]] = (VARIABLE,)
    unit = "1 if the task is done, else 0"

    def __init__(
        self,
        source: str = PROCEDURAL,
        data_dir: str = "",
        split: str = "all",
        tasks: str = "all",
        dialect: str = "0.4",
        quirks: str = "faithful",
        feedback: str = "terse",
        admissible: str = "info",
        answers: str = "lenient",
        engine: str = "native",
    ) -> None:
        """Makes the world; see the class for the arguments.

        Raises:
            ValueError: An unknown name, or an argument that is of another source.
            LevelError: The games are not there; the message says where they were looked for.
        """
        self._dialect, self._quirks = check_dialect(str(dialect)), check_quirks(quirks)
        _check("split", split, HOUSEHOLD_SPLITS)
        _check("tasks", tasks, tuple(TASKS))
        _check("feedback", feedback, ("terse", "explain"))
        _check("admissible", admissible, ("info", "text"))
        _check("answers", answers, ("lenient", "alfworld"))
        _check("engine", engine, ("native", "textworld"))
        self._native = engine == "native"
        if not self._native and (quirks, feedback) != ("faithful", "terse"):
            raise ValueError("engine='textworld' has quirks='faithful' and feedback='terse' only: leave them out")
        self._split, self._tasks = split, TASKS[tasks]
        self._explains, self._listed = feedback == "explain", admissible == "text"
        self._lenient = answers == "lenient"
        self._files: dict[str, Path] | None = None
        self.games: tuple[str, ...] = ()
        if source == PROCEDURAL:
            if data_dir:
                raise ValueError("data_dir is of ALFWorld's own games: leave it out, or choose them by source")
            _check_any(split, self._tasks)
        else:
            self._find(source, data_dir)
        put = _PUT_AS[self._dialect]
        commands = _COMMANDS.format(put=put, help="; help" if self._dialect == "0.4" else "")
        self.rules = _RULES.format(commands=commands)
        self.hint = f"Answer with one command, such as go to R, take O from R, or {put}."

    def _find(self, source: str, data_dir: str) -> None:
        if self._split != "all":
            raise ValueError(f"split={self._split!r} is of made households: with source={source!r}, leave it out")
        self._files = find_games(source, data_dir)
        everything = self._tasks == TASKS["all"]
        self.games = tuple(name for name in self._files if everything or task_type_of(name) in self._tasks)
        self.count = len(self.games)
        if not self.games:
            raise LevelError(f"{source!r} has no games of these types of tasks: {', '.join(sorted(self._tasks))}")

    # Instances.

    @cached_property
    def data(self) -> str:
        """SHA-256 over the ids and files of the games that are drawn; empty where households are made."""
        files = self._files or {}
        lines = [f"{name} {file_hash(files[name])}\n" for name in self.games]
        return hashlib.sha256("".join(lines).encode()).hexdigest() if lines else ""

    def draw(self, u: float) -> InstanceId:
        """Returns the id of a game of the source, or the number of a household of the split."""
        if self._files is not None:
            return self.games[int(u * len(self.games))]
        first = int(u * 2**53)
        for k in range(_TRIES):
            number = first if k == 0 else splitmix64(first, k) >> 11
            if errand_of(number).task in self._tasks and self._split in ("all", split_of(number)):
                return number
        raise MageError(f"no household of split {self._split!r} with these tasks in {_TRIES} draws: allow more tasks")

    def check_instance(self, given: object) -> InstanceId:
        """Returns the number of a household, or the id of a game of the source, whatever its type of task."""
        if self._files is None:
            return super().check_instance(given)
        if not isinstance(given, str) or given not in self._files:
            raise ValueError(f"no such game: {given!r}. {near_matches(str(given), self._files)[:500]}")
        return given

    def start(self, instance: InstanceId) -> Moment:
        """Returns the start of a game."""
        game = self._load(instance).game
        return Moment(instance, game.start() if self._native else self._reference(instance, game))

    def _reference(self, instance: InstanceId, game: Game) -> TextWorldState:
        if self._files is not None:
            return TextWorldState(game, self._files[str(instance)], self._dialect)
        number = int(instance)
        return TextWorldState(game, written(household(number), number, self._dialect), "own")

    def _load(self, instance: InstanceId) -> Loaded:
        if self._files is None:
            return _made(int(instance), self._dialect)
        return load_game(self._files[str(instance)], self._dialect, self._quirks)

    # Play.

    def step(self, state: State, command: Command) -> Step:
        """Plays a command of :meth:`read`."""
        moment: Moment = state
        house = moment.house.copy()
        told = house.step(command.command)
        why = ""
        if self._explains and told == NOTHING_HAPPENS and isinstance(moment.house, House):
            why = reason(moment.house, command.command)
        return Step(Moment(moment.instance, house, command, why), float(house.won))

    def outcome(self, state: State) -> WorldOutcome | None:
        """Returns a win once the task is done; the rules know no loss."""
        return "win" if state.house.won else None

    def content(self, state: State) -> str:
        """Returns the intro, and where everything is."""
        game = self._load(state.instance).game
        return f"{state.house.text} {game.things} {game.first.inside}"

    # What the agent is shown.

    def facts(self, state: State) -> Facts:
        """Returns the feedback as ALFWorld gives it, the task, the last command, and the possible ones."""
        moment: Moment = state
        return {
            "feedback": moment.house.text,
            "task": moment.house.game.task,
            "command": moment.said.command,
            "answer": moment.said.answer,
            "possible": moment.house.text != NOTHING_HAPPENS,
            "why": moment.why,
            "admissible": tuple(moment.house.admissible()),
            "listed": self._listed,
        }

    def describe(self, facts: Facts) -> str:
        """Returns the feedback; after the first turn the task is said again."""
        parts = [facts["feedback"].rstrip("\n"), facts["why"]]
        if facts["command"]:
            parts.append(f"Your task is to: {facts['task']}")
        if facts["listed"]:
            parts.append("Possible commands: " + "; ".join(facts["admissible"]))
        return "\n".join(part for part in parts if part)

    def known(self, state: State) -> Facts:
        """Returns the type of task, how many steps the solver needs (−1: it finds no way), and the file's hash."""
        loaded = self._load(state.instance)
        return {
            "task_type": self.task_type(state.instance),
            "solver_steps": loaded.steps,
            "sha256": loaded.sha256,
        }

    # What the agent may answer.

    def names(self, state: State) -> tuple[str, ...]:
        """Returns the possible commands, sorted."""
        return tuple(state.house.admissible())

    def read(self, state: State, answer: str) -> Command | None:
        """Reads a command of the language, possible or not."""
        return read_answer(state.house.game, answer) if self._lenient else Said(answer)

    def task_type(self, instance: InstanceId) -> str:
        """Returns the type of task of an instance; empty if a file's folder does not say it."""
        return errand_of(int(instance)).task if self._files is None else task_type_of(str(instance))


WORLDS.register("alfworld", ALFWorld)


@lru_cache(maxsize=1024)
def _made(number: int, dialect: str) -> Loaded:
    return loaded(Game.from_layout(household(number), dialect))


def _check_any(split: str, tasks: frozenset[str]) -> None:
    if split != "all" and not tasks & (HELD_TASKS if split == "task_types" else TASKS["seen"]):
        raise ValueError(f"split={split!r} has none of these types of tasks: {', '.join(sorted(tasks))}")


def _check(name: str, value: Any, names: tuple[str, ...]) -> None:
    if value not in names:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, names))}, got {value!r}. {near_matches(str(value), names)}"
        )
