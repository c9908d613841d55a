"""Films meta-episodes: a record is replayed, as ``benchmark verify`` does it, and every view of the agent is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium as gym

from benchmarks.pool import DONE, Tally, Worker, one_by_one
from benchmarks.records import Action, EpisodeRecord, Record
from benchmarks.site.output import write_data
from benchmarks.suites import Suite
from benchmarks.verification import replay
from mage_envs.envs.actions import read_action, read_command
from mage_envs.text.messages import REASONS
from mage_envs.text.parser import final_answer
from mage_envs.worlds import WorldView

Json: TypeAlias = dict[str, Any]
Line: TypeAlias = int | list[int | str]

MAX_SAID = 4_000
"""Characters of an answer, a reflection or an error that the page shows."""


@dataclass(frozen=True)
class Reel:
    """The replays of one row of a board.

    Attributes:
        name: Name of the data file.
        head: What the page says above them.
        records: What to film, at least one, in the order of the panel.
    """

    name: str
    head: Mapping[str, Any]
    records: Sequence[Record]

    @property
    def summary(self) -> list[Json]:
        """What a list of the replays says of each."""
        return [
            {
                "number": record.number,
                "status": record.status,
                "results": [[episode.outcome, episode.reward] for episode in record.episodes],
            }
            for record in self.records
        ]


@dataclass(frozen=True)
class FilmSetup:
    """Makes a worker that films reels, one data file each. Pickles."""

    folder: Path
    suites: Mapping[str, Suite]
    reels: Sequence[Reel]

    def __call__(self) -> Worker:
        """Makes the worker; environments are made when they are first needed."""
        cameras: dict[tuple[str, str, str], Camera] = {}

        def work(number: int) -> Tally:
            reel = self.reels[number]
            films = []
            for record in reel.records:
                key = (reel.head["suite"], record.scenario, record.interface)
                if key not in cameras:
                    cameras[key] = self._camera(*key)
                films.append(film(cameras[key], record))
            write_data(self.folder, reel.name, {**reel.head, "rules": cameras[key].rules, "replays": films})
            return DONE

        return one_by_one(work)

    def _camera(self, suite: str, scenario: str, interface: str) -> Camera:
        parts = {part.scenario.name: part.scenario for part in self.suites[suite].parts}
        return Camera(self.suites[suite].make_env(parts[scenario], interface))


class Camera(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps what the agent sees and does.

    Attributes:
        rules: The rules that the environment gave last.
        episodes: For each episode its frames; see :func:`film`.
    """

    def __init__(self, env: Any) -> None:
        """Watches an environment."""
        super().__init__(env)
        self.rules = ""
        self.episodes: list[list[Json]] = []
        self._phase = ""
        self._view: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts a new film."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.rules = info["rules"]
        self.episodes = [[{"text": info["view"].text}]]
        self._look(info)
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Takes a frame of what the action led to."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self._phase == "reflect":
            self.episodes.append([{"text": info["view"].text}])
        elif not self._view.terminal:  # Else the others had ended the episode, and nobody had asked the agent.
            self.episodes[-1].append(_frame(self._view, action, float(reward), info["view"]))
        self._look(info)
        return observation, reward, terminated, truncated, info

    def _look(self, info: Mapping[str, Any]) -> None:
        self._phase, self._view = info["phase"], info["view"]


def film(camera: Camera, record: Record) -> Json:
    """Replays a record.

    Args:
        camera: On the environment of the record's scenario, with the record's interface.
        record: The record. Of one without a score the finished episodes are shown.

    Returns:
        JSON values for the page. A frame has ``text``, the view in words as :func:`difference` writes it, and,
        unless it is the first of its episode, ``move``, the action that led to it; ``said``, if the agent's
        answer was longer; ``refused``, why the answer was not played; ``reward``, if there was one.

    Raises:
        VerificationError: Something else comes out than is recorded.
    """
    replay(camera, record)
    return {
        "number": record.number,
        "status": record.status,
        "error": _cut(record.error or ""),
        "opponent": record.opponent or "",
        "described": record.described,
        "seed": record.seed,
        "episodes": [
            _episode(episode, frames) for episode, frames in zip(record.episodes, camera.episodes, strict=False)
        ],
    }


def _episode(episode: EpisodeRecord, frames: Sequence[Json]) -> Json:
    reflection = episode.reflection if isinstance(episode.reflection, str) else ""
    return {
        "frames": _differences(frames),
        "seat": episode.seat,
        "instance": episode.instance,
        "reward": episode.reward,
        "outcome": episode.outcome,
        "forfeit": episode.forfeit,
        "reflection": _cut(reflection.strip()),
    }


def difference(before: str, after: str) -> list[Line]:
    r"""Says a text by what differs from the one before: most views repeat nearly all of the last one.

    Returns:
        For each line of ``after``: 0 if ``before`` has the same line in its place; or how much of the start and of the
        end of that line is kept, in UTF-16 units, in which browsers count, and what stands between. Lines that
        ``before`` has not are empty there.

    >>> difference("Throw 2.\nPR PP so far", "Throw 3.\nPR PP RS so far\nhalf way")
    [[6, 1, '3'], [6, 6, 'RS '], [0, 0, 'half way']]
    """
    pairs = zip_longest(after.split("\n"), before.split("\n"), fillvalue="")
    return [_line(old, new) for new, old in islice(pairs, after.count("\n") + 1)]


def _line(before: str, after: str) -> Line:
    if before == after:
        return 0
    start = _in_common(before, after)
    end = _in_common(before[start:][::-1], after[start:][::-1])
    tail = len(after) - end
    return [_units(after[:start]), _units(after[tail:]), after[start:tail]]


def _in_common(one: str, other: str) -> int:
    """Returns how many characters two texts begin with together."""
    differs = (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differs, min(len(one), len(other)))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _differences(frames: Sequence[Json]) -> list[Json]:
    texts = ["", *(frame["text"] for frame in frames)]
    return [{**frame, "text": difference(*pair)} for frame, pair in zip(frames, pairwise(texts), strict=True)]


def _frame(view: Any, action: Action, reward: float, after: Any) -> Json:
    read = read_command if isinstance(view, WorldView) else read_action
    kind, move = read(view, action, text=isinstance(action, str))
    if isinstance(move, int):
        name = view.names[view.legal.index(move)]
    else:  # What a world read itself has the name that the agent gave it: several moves, a search.
        name = str(action) if move is None else final_answer(str(action)).text
    frame: Json = {"text": after.text, "move": _cut(name)}
    if isinstance(action, str) and action != name and move is not None:
        frame["said"] = _cut(action)
    if move is None:
        frame["refused"] = REASONS[kind]
    if reward:
        frame["reward"] = reward
    return frame


def _cut(text: str) -> str:
    left = len(text) - MAX_SAID
    return f"{text[:MAX_SAID]} … ({left} more characters)" if left > 0 else text
