"""Prices: a table that the user writes, and nothing that could be mistaken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mage_agent.model_settings import Price
from mage_agent.prices import price_of
from mage_envs.errors import MageError

GOOD = '[models."org/model-1.5"]\nprompt = 0.15\ncompletion = 1\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "prices.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_price(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    assert price_of(path, "org/model-1.5") == Price(0.15, 1.0)
    assert price_of(path, "org/model-1") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[models", "is not TOML"),
        ("", r"stand under \[models"),
        (GOOD + "[other]\n", r"stand under \[models"),
        ('models = "free"\n', r"stand under \[models"),
        ('[models."m"]\nprompt = 1\n', "must have prompt and completion"),
        (GOOD + "cached = 1\n", "must have prompt and completion"),
        ("[models]\nm = 3\n", "must have prompt and completion"),
        (GOOD.replace("= 1\n", "= -1\n"), "completion is -1, but must be a number"),
        (GOOD.replace("= 1\n", "= nan\n"), "completion is nan"),
        (GOOD.replace("= 1\n", "= inf\n"), "completion is inf"),
        (GOOD.replace("= 1\n", "= true\n"), "completion is True"),
        (GOOD.replace("= 1\n", '= "1 $"\n'), "completion is '1 \\$'"),
    ],
)
def test_what_is_no_table_of_prices(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(MageError, match=words):
        price_of(written(tmp_path, text), "m")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(MageError, match="cannot read prices"):
        price_of(tmp_path / "none.toml", "m")
