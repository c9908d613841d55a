"""Where games come from: ALFWorld's own folders, or any folder or file. Nothing is read before a world asks for it.

ALFWorld keeps its games in ``$ALFWORLD_DATA/json_2.1.1/<split>/<task>/<trial>/game.tw-pddl``; without the variable in
``~/.cache/alfworld``. A game's id is the path of its folder: ``"valid_unseen/pick_heat_then_place_…/trial_T2019…"``.
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from mage_envs.errors import LevelError
from mage_envs.worlds.alfworld.game import Game
from mage_envs.worlds.alfworld.solver import solve

PROCEDURAL = "procedural"
VARIABLE = "ALFWORLD_DATA"
SPLITS = ("train", "valid_train", "valid_seen", "valid_unseen")
"""The folders of ALFWorld: ``valid_unseen`` is in rooms that no other has."""

GAME_FILE = "game.tw-pddl"

_UNFIT = ("movable", "Sliced")
"""Games with these in their path are played by nobody: ALFWorld itself leaves them out."""

_SOLVABLE = re.compile(rb'"solvable"\s*:\s*(true|false)')
_TAIL = 4096


class Loaded(NamedTuple):
    """A game, and what is proven of it.

    Attributes:
        game: The game.
        steps: How many steps the solver needs; −1 if it finds no way.
        sha256: Of the file, in hexadecimal; empty if there is none.
    """

    game: Game
    steps: int
    sha256: str


def data_folder(data_dir: str) -> Path:
    """Returns where ALFWorld's data is: the argument, else ``$ALFWORLD_DATA``, else ``~/.cache/alfworld``."""
    named = data_dir or os.environ.get(VARIABLE, "")
    return Path(named).expanduser() if named else Path.home() / ".cache" / "alfworld"


def find_games(source: str, data_dir: str) -> dict[str, Path]:
    """Returns the games of a source by id, in the order of the ids.

    Args:
        source: One of :data:`SPLITS`, or a path of a folder or a game file.
        data_dir: See :func:`data_folder`; of no matter if the source is a path.

    Raises:
        LevelError: There is nothing; the message says where it was looked for and how to fetch it.
    """
    return _found(source, data_folder(data_dir))


@lru_cache(maxsize=16)
def _found(source: str, root: Path) -> dict[str, Path]:
    if source in SPLITS:
        return _of_split(source, root)
    path = Path(source).expanduser()
    if path.is_file():
        return {path.parent.name or path.stem: path}
    found = _below(path, path)
    if not found:
        raise LevelError(
            f"no ALFWorld games ({GAME_FILE}) at {str(path)!r}: source is {PROCEDURAL!r}, one of "
            f"{', '.join(map(repr, SPLITS))}, or a folder or file that holds games"
        )
    return found


@lru_cache(maxsize=1024)
def load_game(path: Path, dialect: str, quirks: str) -> Loaded:
    """Loads a game of :func:`find_games`, once for all who play it."""
    return loaded(Game.from_file(path, dialect, quirks), file_hash(path))


def file_hash(path: Path) -> str:
    """Returns the SHA-256 of a file in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def loaded(game: Game, sha256: str = "") -> Loaded:
    """Solves a game."""
    plan = solve(game.start())
    return Loaded(game, -1 if plan is None else len(plan), sha256)


def task_type_of(identity: str) -> str:
    """Returns the type of task in a game's id, as ALFWorld's folders name it; empty if there is none.

    >>> task_type_of("valid_seen/pick_cool_then_place_in_recep-Mug-None-Desk-3/trial_T2019")
    'pick_cool_then_place_in_recep'
    """
    folders = [part for part in identity.split("/") if "-" in part]
    return folders[0].partition("-")[0] if folders else ""


def _of_split(split: str, root: Path) -> dict[str, Path]:
    versions = sorted(folder for folder in root.glob("json_2.1.*") if (folder / split).is_dir())
    found = _below(versions[0] / split, versions[0]) if versions else {}
    if not found:
        raise LevelError(
            f"the ALFWorld games {split!r} are not at {str(root / 'json_2.1.1' / split)!r}: fetch them with "
            f"'pip install alfworld && alfworld-download --data-dir {root}', name another folder by data_dir= or "
            f"$ALFWORLD_DATA, or use source={PROCEDURAL!r}, which needs no data"
        )
    return found


def _below(folder: Path, base: Path) -> dict[str, Path]:
    found = {}
    for file in sorted(folder.rglob(GAME_FILE)):
        identity = file.parent.relative_to(base).as_posix()
        if not any(word in identity for word in _UNFIT) and _is_solvable(file):
            found[file.parent.name if identity == "." else identity] = file
    return found


def _is_solvable(file: Path) -> bool:
    """Whether a file says that its game can be won; it says so near its end."""
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - _TAIL))
        said = _SOLVABLE.findall(opened.read())
    if not said:
        said = _SOLVABLE.findall(file.read_bytes())
    return not said or said[-1] == b"true"
