"""``benchmark compare`` and ``benchmark power`` as a person meets them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tests.benchmarks.test_cli import Terminal

SMALL = ("--meta-episodes", "8", "--jobs", "1")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Terminal:
    monkeypatch.chdir(tmp_path)
    return Terminal(monkeypatch, capsys)


@pytest.fixture
def two_runs(terminal: Terminal) -> Terminal:
    assert terminal("run", "quick", "--agent", "random", "--agent", "first_legal", *SMALL, "--out", "a").code == 0
    assert terminal("run", "quick", "--agent", "random", *SMALL, "--seed", "1", "--out", "b").code == 0
    return terminal


def test_compare(two_runs: Terminal) -> None:
    said = two_runs("compare", "a", "--scenario", "kuhn/train", "--csv", "c.csv")
    assert said.code == 0, said.err
    assert "random − first_legal" in said.out
    assert len(re.findall(r"  (episode [123]|total|gain) .* (tie|first|second) *$", said.out, re.MULTILINE)) == 5
    assert "corrected for the 5" in " ".join(said.out.split())
    assert max(map(len, said.out.splitlines())) <= 100
    assert len(list(csv.DictReader(Path("c.csv").read_text(encoding="utf-8").splitlines()))) == 5
    said = two_runs("compare", "a", "a", "--agent", "random", "--measure", "pass", "--scenario", "kuhn/train")
    assert re.search(r"pass@3 +\+0\.000 ±\.000 +0:0 +1 +1 +1  tie", said.out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compare", "a", "b"), r"different panels.*seed \(0 and 1\)"),
        (("compare", "b"), "one agent only, random"),
        (("compare", "a", "--agent", "randon"), "Did you mean 'random'"),
        (("compare", "a", "--scenario", "kuhn/trian"), "Did you mean 'kuhn/train'"),
        (("compare", "a", "--csv", "no/c.csv"), "no folder no"),
        (("compare", "c"), "is no run directory"),
    ],
)
def test_mistakes_are_one_clear_line(two_runs: Terminal, arguments: tuple[str, ...], message: str) -> None:
    said = two_runs(*arguments)
    assert said.code == 2
    assert re.search(message, said.err)
    assert "Traceback" not in said.err


def test_power_of_a_rate(terminal: Terminal) -> None:
    said = terminal("power", "--rate", ".602", "--half-width", ".05")
    assert said.out == "a rate of 0.602 to within ±0.05 (95 %): 369 meta-episodes\n"


def test_power_of_a_run(two_runs: Terminal) -> None:
    said = two_runs("power", "a", "--half-width", ".5", "--difference", "1", "--scenario", "kuhn/train")
    assert said.code == 0, said.err
    assert re.search(r"^random +episode 3 +\S+ ±\S+ +±0\.5 +[\d,]+ *$", said.out, re.MULTILINE)
    assert re.search(r"^random − first_legal +episode 3 +\S+ ±\S+ +detect 1 +[\d,]+ *$", said.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("power", "--half-width", ".1"), "a run directory, or a rate"),
        (("power", "r", "--rate", ".5"), "one of the two"),
        (("power", "r"), "add a wish: --half-width or --difference"),
        (("power", "--rate", ".5"), "add a wish"),
        (("power", "--rate", "1.5", "--half-width", ".1"), "between 0 and 1"),
        (("power", "r", "--half-width", "0"), "above 0"),
    ],
)
def test_mistakes_in_power_name_the_remedy(terminal: Terminal, arguments: tuple[str, ...], message: str) -> None:
    said = terminal(*arguments)
    assert said.code == 2
    assert re.search(message, said.err)
