"""The configuration of a training run: ranges, words, TOML, hash."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tomllib
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_agent.grpo.advantages import CreditRule
from mage_agent.grpo.config import ABOUT, DEFAULTS, TYPES, TrainConfig, choices
from mage_agent.grpo.config_files import read_toml
from mage_agent.grpo.credit import OBJECTIVES
from mage_envs.errors import MageError, UnknownNameError


def test_defaults_are_the_paper() -> None:
    config = TrainConfig()
    assert (config.episodes, config.group_size, config.learning_rate) == (3, 8, 1e-6)
    assert (config.gamma_step, config.gamma_traj, config.step_weight) == (0.95, 0.6, 1.0)
    assert (config.temperature, config.top_p, config.top_k) == (0.7, 0.8, 20)


def test_every_field_says_what_it_is_and_may_be() -> None:
    for name, about in ABOUT.items():
        assert about.text.endswith("."), name
        assert "|" not in about.text, name
        if TYPES[name] in (int, float):
            assert about.low < about.high < float("inf"), name
        else:
            assert TYPES[name] in (str, bool) or choices(name), name


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"top_p": 0}, "top_p = 0.0 is out of range: it is above 0, at most 1. Of sampling. 1: off."),
        ({"episodes": 0}, "episodes = 0 is out of range: it is 1 to 1,000. N, episodes in a meta-episode."),
        ({"learning_rate": float("nan")}, "learning_rate = nan is out of range"),
        ({"beta": float("inf")}, "beta = inf is out of range"),
        ({"group_size": 1}, "group_size = 1 is out of range: it is 2 to"),
        (
            {"objective": "difference"},
            "is none of cumulative, differential, final, single. Did you mean 'differential'",
        ),
        ({"objective": 3}, "objective = 3 is none of"),
        ({"episodes": True}, "episodes = True is not a whole number, as 3 is."),
        ({"episodes": 3.0}, "episodes = 3.0 is not a whole number"),
        ({"beta": "0.1"}, "beta = '0.1' is not a number"),
        ({"legal_actions": 1}, "legal_actions = 1 is not true or false"),
        ({"model": None}, "model = None is not text"),
        ({"mini_batches": 3}, "does not divide groups * group_size = 16 * 8"),
        ({"mini_batches": 4, "save_every": 6}, "take a multiple of 4"),
        ({"log_every": 3, "save_every": 10}, "take a multiple of log_every, which is 3"),
        ({"warmup_steps": 5}, 'take "constant_with_warmup", or warmup_steps = 0'),
    ],
)
def test_what_is_wrong_is_refused_with_the_remedy(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(MageError) as refused:
        TrainConfig(**wrong)
    assert said in str(refused.value)


def test_a_whole_number_is_a_number() -> None:
    config = TrainConfig(beta=1)
    assert type(config.beta) is float
    assert config.sha256 == TrainConfig(beta=1.0).sha256


def test_the_hash_is_that_of_the_text_and_of_nothing_else(tmp_path: Path) -> None:
    config = TrainConfig(model="./model", lora_rank=8)
    assert config.sha256 == hashlib.sha256(config.toml().encode()).hexdigest()
    assert config.sha256 == TrainConfig(**asdict(config)).sha256
    for name, value in asdict(config).items():
        if isinstance(value, bool):
            assert replace(config, **{name: not value}).sha256 != config.sha256  # type: ignore[arg-type]
    path = tmp_path / "config.toml"
    path.write_text(config.toml(), encoding="utf-8")
    assert TrainConfig(**read_toml(path)) == config


def test_another_process_has_the_same_hash() -> None:
    code = "from mage_agent.grpo.config import TrainConfig; print(TrainConfig(model='é').sha256)"
    said = subprocess.run([sys.executable, "-X", "utf8", "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == TrainConfig(model="é").sha256


@given(text=st.text(st.characters(exclude_categories=["Cs"])), number=st.floats(0, 1e3))
def test_any_text_and_number_comes_back_from_toml(text: str, number: float) -> None:
    config = TrainConfig(model=text, beta=number)
    assert TrainConfig(**tomllib.loads(config.toml())) == config


def test_a_file_may_write_dashes_and_must_name_fields(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("learning-rate = 1e-4\n")
    assert read_toml(path) == {"learning_rate": 1e-4}
    path.write_text("learning-rate = 1e-4\nlearning_rate = 1e-5\n")
    with pytest.raises(MageError, match="says learning_rate twice"):
        read_toml(path)
    path.write_text("learnin_rate = 1e-4\n")
    with pytest.raises(MageError, match=r"there is no field 'learnin_rate'. Did you mean 'learning_rate'"):
        read_toml(path)
    path.write_text("learning_rate\n")
    with pytest.raises(MageError, match="is not TOML"):
        read_toml(path)
    with pytest.raises(MageError, match="cannot read"):
        read_toml(tmp_path / "none.toml")


def test_another_population() -> None:
    assert TrainConfig().played.population == "kuhn/train"
    assert TrainConfig(population="kuhn/heldout").played.population == "kuhn/heldout"
    with pytest.raises(MageError, match="nobody else plays in sokoban/train: leave population out"):
        _ = TrainConfig(scenario="sokoban/train", population="kuhn/train").played
    with pytest.raises(UnknownNameError, match="kuhn/train"):
        _ = TrainConfig(scenario="kuhn/trian").played


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, mage_agent.grpo.presets, mage_agent.cli; "
        "print({name for name in ('torch', 'trl', 'transformers', 'peft', 'datasets') if name in sys.modules})"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_every_default_is_allowed() -> None:
    assert asdict(TrainConfig()) == dict(DEFAULTS)


def test_a_file_of_ones_own_adds_a_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OBJECTIVES, "_items", dict(OBJECTIVES._items))
    path = tmp_path / "mine.py"
    path.write_text(
        "from mage_agent.grpo.credit import OBJECTIVES, Objective\n"
        "OBJECTIVES.register('halved', Objective(lambda rewards: rewards / 2))\n"
    )
    with pytest.raises(MageError, match="objective = 'halved' is none of"):
        TrainConfig(objective="halved")
    config = TrainConfig(objective="halved", rules=str(path))
    assert config.rule.objective == "halved"
    assert TrainConfig(**asdict(config)) == config
    path.with_name("bad.py").write_text("1 / 0")
    with pytest.raises(MageError, match="cannot be run: ZeroDivisionError"):
        TrainConfig(rules=str(path.with_name("bad.py")))
    with pytest.raises(MageError, match="cannot be run: FileNotFoundError"):
        TrainConfig(rules=str(path.with_name("none.py")))


def test_the_rule_has_the_fields_of_the_same_names() -> None:
    config = TrainConfig(gamma_step=0.5, max_completion=7, estimator="grpo", normalisation="mean_std")
    assert all(getattr(config, each.name) == getattr(config.rule, each.name) for each in fields(CreditRule))
    assert CreditRule(max_completion=1024) == TrainConfig().rule
