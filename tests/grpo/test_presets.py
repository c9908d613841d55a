"""Presets: what each changes, and what stands over what."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from mage_agent.grpo.config import DEFAULTS
from mage_agent.grpo.presets import PRESETS, overruled, preset, resolve
from mage_envs.errors import MageError


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_short_difference(name: str) -> None:
    changes = preset(name).changes
    assert len(changes) <= 5
    config = asdict(resolve(name, None, {}))
    assert {key: value for key, value in config.items() if value != DEFAULTS[key]} == changes
    assert resolve(name, None, {}).played


def test_no_two_presets_are_the_same() -> None:
    assert len({resolve(name, None, {}).sha256 for name in PRESETS}) == len(PRESETS)


def test_the_four_methods() -> None:
    mage, lamer, gigpo, grpo = (resolve(name, None, {}) for name in ("mage", "lamer", "gigpo", "grpo"))
    assert (mage.objective, mage.estimator, mage.normalisation) == ("differential", "gigpo", "mean")
    assert (mage.anchors, mage.grouping, mage.opponents) == ("across", "opponent", "stationary")
    assert (mage.gamma_traj, mage.gamma_step, mage.step_weight) == (0.6, 0.95, 1.0)
    assert lamer.objective == "cumulative"
    for single in (gigpo, grpo):
        assert (single.episodes, single.group_size, single.objective) == (1, 24, "single")
        assert single.episodes * single.group_size == mage.episodes * mage.group_size
    assert (gigpo.estimator, grpo.estimator) == ("gigpo", "grpo")


@pytest.mark.parametrize("name", [name for name in PRESETS if name.startswith("mage-")])
def test_an_ablation_is_mage_with_one_thing_otherwise(name: str) -> None:
    assert set(PRESETS[name].changes) - {"beta"} in (
        {"objective"}, {"reward"}, {"opponents"}, {"opponents", "grouping"}, {"normalisation"}, {"step_weight"},
        {"anchors"}, {"scenario"},
    )  # fmt: skip


def test_a_file_stands_over_a_preset_and_the_command_line_over_both(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('preset = "lamer"\ngamma_traj = 0.5\nsteps = 7\n')
    config = resolve(None, path, {"steps": 9})
    assert (config.objective, config.gamma_traj, config.steps) == ("cumulative", 0.5, 9)
    config = resolve("gigpo", path, {})
    assert (config.objective, config.gamma_traj, config.steps, config.episodes) == ("single", 0.5, 7, 1)


def test_wrong_names(tmp_path: Path) -> None:
    with pytest.raises(MageError, match=r"there is no preset 'mag'. Did you mean 'mage'"):
        resolve("mag", None, {})
    with pytest.raises(MageError, match=r"the command line: there is no field 'gama_traj'. Did you mean 'gamma_traj'"):
        resolve(None, None, {"gama_traj": 1})
    path = tmp_path / "config.toml"
    path.write_text("preset = 3\n")
    with pytest.raises(MageError, match=r"preset = 3 is no name of a preset. Known: gigpo, grpo"):
        resolve(None, path, {})


def test_a_file_that_stands_over_a_preset_is_said_to(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('preset = "gigpo"\ngroup_size = 8\nepisodes = 1\nsteps = 3\n')
    assert overruled(None, path) == [f"{path} stands over the preset gigpo: group_size is 8, and not 24"]
    assert overruled("lamer", path) == []
    assert overruled("gigpo", None) == overruled(None, None) == []
