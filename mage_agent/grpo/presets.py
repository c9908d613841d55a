"""Presets: methods and ablations, each as what it does otherwise than the defaults of :class:`TrainConfig`.

The four methods are those of MAGE's tables (arXiv 2603.03680). The defaults are ``mage`` itself, so that an ablation
is what is done otherwise. ``lamer`` is the ablation of the reward, too: the same loop with R(τ_n) in the
place of the difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mage_agent.grpo.about import Value
from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.config_files import check_names, read_toml
from mage_envs.errors import MageError, near_matches


class Preset(NamedTuple):
    """A named difference from the defaults.

    Attributes:
        summary: What it is, in a line.
        changes: Values by name of field.
    """

    summary: str
    changes: Mapping[str, Value]


_SINGLE: Mapping[str, Value] = {"episodes": 1, "group_size": 24, "objective": "single"}
"""Training on single episodes, with as many of them in a group as 8 meta-episodes of 3 have."""

PRESETS: Mapping[str, Preset] = {
    "grpo": Preset("GRPO on single episodes", {**_SINGLE, "estimator": "grpo", "normalisation": "mean_std"}),
    "gigpo": Preset("GiGPO on single episodes", _SINGLE),
    "lamer": Preset("LaMer: the reward of every episode counts", {"objective": "cumulative"}),
    "mage": Preset("MAGE: what an episode gains over the one before counts", {}),
    "mage-final": Preset("reward: only the last episode's counts", {"objective": "final"}),
    "mage-score": Preset("reward: the score, and not win or loss", {"reward": "score"}),
    "mage-mixed-groups": Preset("grouping: several opponents in a group, each compared with itself",
                                {"opponents": "mixed"}),
    "mage-no-opponent-key": Preset("grouping: several opponents in a group, compared with each other",
                                   {"opponents": "mixed", "grouping": "task"}),
    "mage-mean-std": Preset("normalisation: divided by the deviation, too", {"normalisation": "mean_std"}),
    "mage-no-steps": Preset("advantages of episodes only", {"step_weight": 0.0}),
    "mage-anchor-within": Preset("anchors: equal states within each episode", {"anchors": "within"}),
    "mage-balanced": Preset("population of Tic-Tac-Toe: half strong",
                            {"scenario": "paper/tictactoe_balanced", "beta": 0.1}),
    "mage-skewed": Preset("population of Tic-Tac-Toe: nine tenths strong",
                          {"scenario": "paper/tictactoe_skewed", "beta": 0.1}),
}  # fmt: skip


def preset(name: str) -> Preset:
    """Returns a preset.

    Raises:
        MageError: There is none of this name; near matches are listed.
    """
    if name not in PRESETS:
        raise MageError(f"there is no preset {name!r}. {near_matches(name, PRESETS)}")
    return PRESETS[name]


def resolve(name: str | None, path: Path | None, given: Mapping[str, Any]) -> TrainConfig:
    """Puts a configuration together: defaults, then the preset, then a file, then what is given.

    Args:
        name: The preset; None: the one that the file names, if it does.
        path: TOML file with fields, and perhaps ``preset``; None: there is none.
        given: Values by name of field, as the command line has them.

    Returns:
        The configuration.

    Raises:
        MageError: An unknown preset or field, or a value that is out of range; the message names the remedy.
    """
    check_names(given, "the command line")
    chosen, read = _read(name, path)
    changes = preset(chosen).changes if chosen else {}
    return TrainConfig(**{**changes, **read, **given})


def overruled(name: str | None, path: Path | None) -> list[str]:
    """Returns sentences that say which of a preset's values a file stands over, with another value.

    Args:
        name: As of :func:`resolve`.
        path: As of :func:`resolve`.
    """
    chosen, read = _read(name, path)
    changes = preset(chosen).changes if chosen else {}
    return [
        f"{path} stands over the preset {chosen}: {field} is {read[field]!r}, and not {value!r}"
        for field, value in changes.items()
        if field in read and read[field] != value
    ]


def _read(name: str | None, path: Path | None) -> tuple[str | None, dict[str, Any]]:
    """Returns the name of the preset, and what the file says otherwise."""
    read = {} if path is None else read_toml(path)
    named = read.pop("preset", None)
    if named is not None and not isinstance(named, str):
        raise MageError(f"{path}: preset = {named!r} is no name of a preset. {near_matches('', PRESETS)}")
    return name or named, read
