"""A strategy from a file, and what can be wrong with the file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mage_envs.errors import MageError, SpecError
from mage_envs.games import load_game_spec
from mage_envs.opponents import Opponent, make_opponent
from tests.opponents.play import decision_views

GAME = load_game_spec("kuhn_poker")
VIEWS = {view.key: view for view in decision_views("kuhn_poker")}
RNG = np.random.default_rng(0)


def written(folder: Path, text: str) -> Opponent:
    path = folder / "table.json"
    path.write_text(text, encoding="utf-8")
    return make_opponent(f'tabular(path="{path}")', GAME)


@pytest.mark.parametrize("name", ["cfr", "aggressive", "random"])
def test_a_written_strategy_plays_the_same(tmp_path: Path, name: str) -> None:
    opponent = make_opponent(name, GAME)
    table = {key: dict(zip(view.names, opponent.policy(view, None, RNG)[0], strict=True))
             for key, view in VIEWS.items()}  # fmt: skip
    read = written(tmp_path, json.dumps(table))
    assert read.tabular
    for view in VIEWS.values():
        assert read.policy(view, None, RNG) == opponent.policy(view, None, RNG)


def test_actions_are_names_or_ids_and_may_be_left_out(tmp_path: Path) -> None:
    read = written(tmp_path, '{"0": {"check": 0.25, "BET": 0.75}, "1": {"0": 0.5, "1": 0.5}, "0b": {"fold": 1}}')
    assert read.policy(VIEWS["0"], None, RNG)[0] == (0.25, 0.75)
    assert read.policy(VIEWS["1"], None, RNG)[0] == (0.5, 0.5)
    assert read.policy(VIEWS["0b"], None, RNG)[0] == (1.0, 0.0)
    assert "3 states, sha256" in read.describe()


def test_boards_are_keys_too(tmp_path: Path) -> None:
    path = tmp_path / "opening.json"
    path.write_text(json.dumps({"...\n...\n...": {"centre": 1.0}}), encoding="utf-8")
    game = load_game_spec("tic_tac_toe")
    root = next(view for view in decision_views("tic_tac_toe") if len(view.legal) == 9)
    distribution, _ = make_opponent(f'tabular("{path}")', game).policy(root, None, RNG)
    assert distribution[4] == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"0": {"pass": 0.7}}', "entry '0'.*add up to 1, they add up to 0.7"),
        ('{"0": {"pass": 0.7, "bet": 0.4}}', "they add up to 1.1"),
        ('{"0": {"pass": -0.5, "bet": 1.5}}', r"'pass' must be a number in 0\.\.1, got -0.5"),
        ('{"0": {"pass": NaN}}', "got nan"),
        ('{"0": {"pass": "1"}}', "got '1'"),
        ('{"0": {"pass": true}}', "got True"),
        ('{"0": {}}', "they add up to 0"),
        ('{"0": 1}', "must map actions to probabilities"),
        ('{"0": {"pass": 1}, "0": {"bet": 1}}', "'0' stands there twice"),
        ("[]", "must be a JSON object"),
        ("{}", "must be a JSON object"),
        ('{"0": {"pass"', "is no JSON.*line 1"),
        ("", "is no JSON"),
    ],
)
def test_a_bad_file_is_named_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError, match=f"table.json.*{message}"):
        written(tmp_path, text)


def test_a_missing_file_is_named_with_the_folder(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"nowhere\.json.*No such file.*relative to"):
        make_opponent("tabular(nowhere.json)", GAME)
    with pytest.raises(SpecError, match="path must be the quoted name"):
        make_opponent("tabular(3)", GAME)


def test_what_does_not_fit_the_game_is_told_when_it_is_met(tmp_path: Path) -> None:
    read = written(tmp_path, '{"0": {"bett": 1.0}, "1": {"7": 1.0}}')
    with pytest.raises(MageError, match=r"entry '0': 'bett' is not legal there\. Did you mean 'bet'"):
        read.policy(VIEWS["0"], None, RNG)
    with pytest.raises(MageError, match="'7' is not legal there"):
        read.policy(VIEWS["1"], None, RNG)
    with pytest.raises(MageError, match="no entry for '2pb' of 'kuhn_poker'; it has 2, such as '0'"):
        read.policy(VIEWS["2pb"], None, RNG)
