"""How a run tells how far it is: a bar for people, lines for machines, or nothing."""

from __future__ import annotations

import io
import json
import time

import pytest
from rich.console import Console

from benchmarks import progress
from benchmarks.pool import Tally
from benchmarks.progress import Bar, JsonLines, PlainLines, make_teller


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def told(style: progress.Style, width: int = 100) -> tuple[io.StringIO, progress.Teller]:
    file = io.StringIO()
    return file, make_teller(
        style, "meta-episodes", Console(file=file, width=width, force_terminal=style == "bar", color_system=None)
    )


def test_json_lines_have_rate_errors_and_time_left() -> None:
    file, clock = io.StringIO(), Clock()
    teller = JsonLines("meta-episodes", Console(file=file), clock)
    teller.event("start", "words", run="runs/x", total=100)
    for now, done in ((0.0, 20), (2.0, 60), (4.0, 100)):
        clock.now = now
        teller(done, 100, 3)
        teller.show()
    first, _, *lines = [json.loads(line) for line in file.getvalue().splitlines()]
    assert first == {"event": "start", "run": "runs/x", "total": 100}
    assert [(line["done"], line["rate"], line["left_s"]) for line in lines] == [
        (20, 0.0, None),
        (60, 20.0, 2.0),  # What was there before this attempt is no part of its rate.
        (100, 20.0, 0.0),
    ]
    assert {(line["event"], line["counts"], line["total"], line["errors"]) for line in lines} == {
        ("progress", "meta-episodes", 100, 3)
    }


def test_lines_come_also_while_nothing_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JsonLines, "seconds", 0.01)
    file, teller = told("json")
    with teller:
        teller(0, 10)
        while file.getvalue().count("\n") < 5:
            time.sleep(0.01)
    assert {json.loads(line)["done"] for line in file.getvalue().splitlines()} == {0}


def test_quiet_says_nothing() -> None:
    file, teller = told("quiet")
    with teller:
        teller.event("start", "words", run="runs/x")
        teller(1, 2, 1)
    assert file.getvalue() == ""


@pytest.mark.parametrize("width", [80, 100])
def test_the_bar_fits_and_tells_errors(width: int) -> None:
    file, teller = told("bar", width)
    with teller:
        teller.event("start", "quick: 4000 meta-episodes", run="runs/x")
        teller(0, 4000, 0)
        teller(4000, 4000, 17)
    last = file.getvalue().splitlines()[-2].split("\r")[-1]
    assert "quick: 4000 meta-episodes" in file.getvalue()
    assert "17 errors" in last
    assert "4000/4000" in last
    assert "left" in last


def shown(kind: type[Bar] | type[PlainLines], *told: tuple[float, int]) -> str:
    """Returns the last line after (seconds, done) of 64."""
    file, clock = io.StringIO(), Clock()
    terminal = kind is Bar
    teller = kind("meta-episodes", Console(file=file, width=100, force_terminal=terminal, color_system=None), clock)
    for clock.now, done in told:
        teller(done, 64)
        teller.show()
    if isinstance(teller, Bar):
        with teller:
            pass
        return file.getvalue().splitlines()[-2].split("\r")[-1]
    return file.getvalue().splitlines()[-1]


@pytest.mark.parametrize("kind", [Bar, PlainLines])
def test_the_time_left_is_what_remains_at_the_rate_so_far(kind: type[Bar] | type[PlainLines]) -> None:
    begun: tuple[tuple[float, int], ...] = ((0.0, 0), (9.0, 1), (18.0, 2))
    assert "left ?" in shown(kind, *begun[:1])
    assert "0.11/s" in shown(kind, *begun)
    assert "left 0:09:18" in shown(kind, *begun)
    assert "left 0:18:36" in shown(kind, *begun, (36.0, 2))  # It grows while nothing ends.
    assert "left 0:00:00" in shown(kind, *begun, (36.0, 64))


def test_off_a_terminal_a_plain_line_comes_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlainLines, "seconds", 0.01)
    file = io.StringIO()
    teller = make_teller("bar", "meta-episodes", Console(file=file, width=80))
    with teller:
        teller.event("start", "quick: 40 meta-episodes", run="runs/x")
        teller(0, 40)
        teller.count(Tally(calls=1200, tokens=34567))
        while file.getvalue().count("\n") < 3:
            time.sleep(0.01)
        teller(40, 40, 2)
    assert PlainLines.style == "bar"
    first, second, *_, last = file.getvalue().splitlines()
    assert first == "quick: 40 meta-episodes"
    assert second == "meta-episodes 0/40, 0/s, 1,200 calls, 34,567 tokens, 0:00:00 so far, left ?"
    assert last.startswith("meta-episodes 40/40, 2 errors, ")
    assert "\x1b" not in file.getvalue()
