"""Board files: nothing lost with several writers, nothing that a spreadsheet would compute, ranks that say ties."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

import leaderboards
from benchmarks import tables
from benchmarks.columns import COUNTS, INTERVAL, KEY, PER_EPISODE, REFUSED, describe_columns, header, is_text
from benchmarks.leaderboard import add_rows, board_path, boards, read_board, row_key, submit_folder, write_board
from benchmarks.names import Name, broken, row_label, row_labels, short_name
from benchmarks.panels import make_panel
from benchmarks.ranking import places, ranks
from benchmarks.referee import play
from benchmarks.rows import Row
from benchmarks.suites import SUITES
from benchmarks.tables import board, merge
from mage_agent.agents import AGENTS, make_agent
from mage_envs.errors import RecordError
from tests.benchmarks.fakes import FORKSERVER

README = Path(leaderboards.__file__).parent / "README.md"


def row(agent: str = "random", score: float | None = 0.0, half: float = 0.1, **more: str) -> Row:
    found = dict.fromkeys(header(1), "") | {
        "suite": "quick",
        "suite_version": "1",
        "panel": "abc",
        "scenario": "kuhn/train",
        "episodes": "1",
        "agent": agent,
        "oracle": "no",
        "memory": "none",
        "control": "none",
        **{column.name: "0" for column in (*COUNTS, *REFUSED)},
        "n_expected": "4",
        "n_scored": "4",
    }
    if score is not None:
        found |= {"score_1": f"{score:g}", "score_1_low": f"{score - half:g}", "score_1_high": f"{score + half:g}"}
    return found | more


def test_the_readme_describes_every_column() -> None:
    assert describe_columns() in README.read_text(encoding="utf-8"), (
        "write the output of python -c 'from benchmarks.columns import *; print(describe_columns())' into "
        "leaderboards/README.md"
    )


def test_boards_read_back_as_written(tmp_path: Path) -> None:
    path = tmp_path / "quick.csv"
    rows = [row("random", -0.5), row("mcts(simulations=100)", suite_version="2")]
    assert add_rows(path, rows) == 2
    assert sorted(read_board(path), key=row_key) == sorted(rows, key=row_key)
    assert read_board(tmp_path / "none.csv") == []


def test_the_same_rows_are_the_same_file() -> None:
    rows = [row("a"), row("b"), row("c", suite_version="2")]
    assert write_board(rows) == write_board(rows[::-1])


def test_a_row_with_the_same_key_is_replaced_and_others_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "quick.csv"
    add_rows(
        path, [row("a"), row("b"), row("a", memory="x"), row("a", suite_version="2"), row("a", control="no_memory")]
    )
    assert add_rows(path, [row("a", 1.0)]) == 5
    scores = {tuple(found[name] for name in KEY[1:]): found["score_1"] for found in read_board(path)}
    assert sorted(scores.values()) == ["0", "0", "0", "0", "1"]
    assert scores[row_key(row("a"))[1:]] == "1"


@pytest.mark.parametrize(
    "name",
    [
        "=HYPERLINK(1)",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "'quoted",
        'a"b,c',
        "new\nline",
        "mcts(100)",
        "é",
        "＝1",
        "＋1",
        "－1",
        "＠x",
    ],
)
def test_no_cell_is_a_formula_and_names_read_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / "quick.csv"
    add_rows(path, [row(name, -0.25, model=name)])
    with path.open(newline="") as stream:
        cells = next(iter(csv.DictReader(stream)))
    assert cells["agent"][0] not in "=+-@\t\r\n＝＋－＠"
    assert cells["score_1"] == "-0.25"
    found = read_board(path)[0]
    assert (found["agent"], found["model"]) == (name, name)


def test_every_column_is_text_or_computed() -> None:
    numbers = {f"{column.name}_1{end}" for column in PER_EPISODE for end in ("", "_low", "_high")}
    assert not any(is_text(name) for name in numbers | {column.name for column in (*COUNTS, *REFUSED)})
    assert all(is_text(name) for name in KEY)


def _submit(path: Path, writer: int) -> None:
    for number in range(10):
        add_rows(path, [row(f"agent{writer}_{number}")])


def test_two_writers_lose_no_row(tmp_path: Path) -> None:
    path = tmp_path / "quick.csv"
    with ProcessPoolExecutor(2, FORKSERVER) as pool:
        for done in [pool.submit(_submit, path, writer) for writer in range(2)]:
            done.result()
    assert len(read_board(path)) == 20


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no column 'suite'"),
        ("a,b\n1,2\n", "no column 'suite'"),
        (",".join(KEY) + "\n", "no column 'unit'"),
        (",".join(header(1)) + "\nquick,1\n", r"csv:2: this line"),
        (write_board([row("a"), row("b", n_scored="x")]), r"csv:3: 'x' is no value of the column 'n_scored'"),
        (write_board([row("a", suite_version="1")]).replace("quick,1,", "quick,one,"), "'suite_version'"),
        (write_board([row("a")]).replace(",1\r\n", ",0\r\n").replace("kuhn/train,,1", "kuhn/train,,0"), "'episodes'"),
        (write_board([row("a", score_1="abc")]), "'abc' is no value of the column 'score_1'"),
        (write_board([row("a", gain="inf")]), "'inf' is no value of the column 'gain'"),
        (write_board([row("a")]).replace("score_1,", "score_one,"), "unknown column 'score_one'"),
        ('"a', "is no leaderboard"),
        ("\udcff\udcfe", "is no leaderboard"),
    ],
)
def test_files_that_are_no_board(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "quick.csv"
    path.write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(RecordError, match=message):
        read_board(path)


def test_where_boards_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert board_path("quick", None).parent == README.parent
    with pytest.raises(RecordError, match="--leaderboards"):
        submit_folder(None)
    assert submit_folder(Path("new/boards")).is_dir()
    Path("leaderboards").mkdir()
    assert submit_folder(None) == Path("leaderboards")
    Path("leaderboards/quick.csv").touch()
    assert board_path("quick", None) == Path("leaderboards/quick.csv")
    assert board_path("quick", Path("new")) == Path("new/quick.csv")


def test_published_numbers_are_no_board() -> None:
    names = [path.name for path in boards(README.parent)]
    assert "quick.csv" in names
    assert "paper.csv" not in names
    assert (README.parent / "paper.csv").exists()


@pytest.mark.parametrize("name", ["../quick", "/etc/quick", "a/b", "..", ".hidden", "", "a\\b", "a\n"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordError, match="has no board"):
        board_path(name, tmp_path)
    with pytest.raises(RecordError, match="has no board"):
        board_path(name, None)
    assert board_path("paper-table1", tmp_path) == tmp_path / "paper-table1.csv"


def test_overlapping_intervals_share_a_place() -> None:
    rows = [row("a", 1.0), row("b", 0.9), row("c", 0.75), row("d", 0.0)]
    assert [str(place) for place in places(rows)] == ["1-2", "1-3", "2-3", "4"]
    assert ranks(rows) == [1, 1, 2, 4]


def passed(agent: str, share: float, half: float = 0.1) -> Row:
    ends = {f"pass_1{end}": f"{x:g}" for end, x in zip(INTERVAL, (share, share - half, share + half), strict=True)}
    return row(agent, None, **ends)


def test_where_the_first_win_ends_it_rows_are_ranked_and_shown_by_pass() -> None:
    rows = [passed("a", 0.9), passed("b", 0.75), passed("c", 0.5)]
    assert [str(place) for place in places(rows)] == ["1-2", "1-2", "3"]
    told = io.StringIO()
    Console(width=100, file=told).print(board(rows[::-1]))
    assert "pass@1" in told.getvalue()
    assert "share won by episode n" in told.getvalue()
    assert re.search("1-2 a .* 0.900 ±.100.*1-2 b .* 0.750 ±.100.*  3 c ", told.getvalue(), re.DOTALL)


def test_a_control_is_named_on_the_board() -> None:
    assert (
        row_label(row("a", control="no_memory", model="m", memory="none", oracle="yes")) == "a [m] [no_memory] (oracle)"
    )
    assert row_label(row("a")) == "a"


@pytest.mark.parametrize(
    ("agent", "memory", "label"),
    [
        ('react(memory="history+reflection", memory_budget=4096)', "history+reflection",
         'react(memory="history+reflection") [m]'),
        ("reflexion(memory=reflection, memory_budget=4096, keep=3)", "reflection", "reflexion [m] [reflection]"),
        ("history(memory=history, memory_budget=16384)", "history", "history [m]"),
    ],
)  # fmt: skip
def test_a_label_says_nothing_twice(agent: str, memory: str, label: str) -> None:
    assert row_label(row(agent, model="m", memory=memory)) == label


def test_labels_of_a_board_say_what_differs() -> None:
    same = {"model": "m", "memory": "reflection"}
    rows = [row("reflexion", **same), row("reflexion", **same, control="no_memory"), row("random")]
    assert row_labels(rows) == ["reflexion [reflection]", "reflexion [reflection] [no_memory]", "random"]
    rows = [row("react", model="m", revision=f"{k}" * 40) for k in (1, 2)] + [row("react", model="n")]
    assert row_labels(rows) == ["react [m] [11111111]", "react [m] [22222222]", "react [n]"]


def test_a_row_under_a_control_has_no_place() -> None:
    assert ranks([row("a", 1.0), row("a", 2.0, control="no_memory"), row("b", 0.5)]) == [1, None, 2]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (24, ['react(memory="history+', 'reflection")', "[Qwen/Qwen3-8B-Instruct]"]),
        (18, ["react(memory=", '"history+', 'reflection")', "[Qwen/Qwen3-8B-", "Instruct]"]),
        (80, ['react(memory="history+reflection") [Qwen/Qwen3-8B-Instruct]']),
    ],
)
def test_long_names_break_at_their_joints(width: int, lines: list[str]) -> None:
    told = io.StringIO()
    table = Table.grid()
    table.add_column(width=width)
    table.add_row(Name('react(memory="history+reflection") [Qwen/Qwen3-8B-Instruct]'))
    Console(width=width, file=told).print(table)
    assert [line.rstrip() for line in told.getvalue().splitlines()] == lines


@given(st.text(alphabet="ab (=+[]/", max_size=60), st.integers(1, 20))
def test_lines_of_a_name_hold_all_of_it_and_fit(text: str, width: int) -> None:
    lines = broken(text, width)
    assert max(map(len, lines)) <= width
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 9)), min_size=1, max_size=12))
def test_rows_share_a_place_if_they_cannot_be_told_apart(ends: list[tuple[int, int]]) -> None:
    """And a row that is better beyond doubt has both the better best and the better worst place."""
    found = places([row(f"{k}", score, half) for k, (score, half) in enumerate(ends)])
    for place, (score, half) in zip(found, ends, strict=True):
        assert place is not None
        assert 1 <= place.best <= place.worst <= len(ends)
        for other, (score2, half2) in zip(found, ends, strict=True):
            assert other is not None
            if score - half > score2 + half2:
                assert (place.best, place.worst) < (other.best, other.worst)
                assert place.worst < other.worst or place.best < other.best
            elif abs(score - score2) <= half + half2:
                assert max(place.best, other.best) <= min(place.worst, other.worst)


def test_oracles_and_incomplete_rows_have_no_place_and_push_nobody_down() -> None:
    rows = [row("oracle", 9.0, oracle="yes"), row("lucky", 8.0, n_scored="3"), row("a", 1.0), row("none", None)]
    assert ranks(rows) == [None, None, 1, 1]


def test_a_runs_row_takes_the_place_of_the_boards_and_other_panels_stay_away() -> None:
    own = [row("a", 1.0)]
    rows = merge(own, [row("a", 0.0), row("b", 0.0), row("c", 0.0, panel="other")])
    assert [(found["agent"], found["score_1"]) for found in rows] == [("a", "1"), ("b", "0")]


def test_short_names_leave_defaults_out() -> None:
    assert short_name("random") == "random"
    assert short_name("mcts(simulations=77, uct_c=2.0, rollouts=1)") == "mcts(simulations=77)"
    assert short_name("somebody_elses(x=1)") == "somebody_elses(x=1)"


def test_an_agent_of_a_file_of_ones_own_has_one_name_whoever_knows_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def win_stay(start: int = -1) -> None:
        """An agent."""

    monkeypatch.setattr(AGENTS, "_items", {name: AGENTS.get(name) for name in AGENTS})
    before = short_name("win_stay(start=-1)")
    AGENTS.register("win_stay", win_stay)  # type: ignore[arg-type]
    assert short_name("win_stay(start=-1)") == before == "win_stay(start=-1)"


BOARDS = [name for name in SUITES if (README.parent / f"{name}.csv").exists()]
"""Suites with a committed board; ``quick`` always has one."""


def test_committed_boards_are_whole() -> None:
    assert "quick" in BOARDS
    for name in BOARDS:
        path = README.parent / f"{name}.csv"
        rows = read_board(path)
        assert rows, f"{path} is missing or empty"
        assert write_board(rows) == path.read_text(encoding="utf-8")
        assert {found["verified"] for found in rows} == {"yes"}


def test_the_boards_of_this_version_are_on_this_versions_panel() -> None:
    """A suite whose panel changed (a population, a scenario, the protocol) needs a new version."""
    for name in BOARDS:
        suite = SUITES.get(name)
        panels = {found["panel"] for found in read_board(README.parent / f"{name}.csv")
                  if found["suite_version"] == str(suite.version)}  # fmt: skip
        assert panels == {make_panel(suite).hash}


@pytest.mark.parametrize(
    ("name", "scenario", "agent"),
    [
        ("quick", "kuhn/train", "random"),
        ("quick", "kuhn/train", "thompson"),
        ("worlds", "minesweeper/5x5", "random"),
        ("worlds", "sokoban/one_box", "sokoban_explorer"),
        ("worlds", "webshop/test", "webshop_explorer(looks=3)"),
        ("worlds", "alfworld/rooms", "alfworld_seeker(remember=true)"),
    ],
)
def test_whoever_plays_the_panel_again_gets_the_same_hash(name: str, scenario: str, agent: str) -> None:
    """Also a guard: whatever changes what is played needs a new version of the suite, and new rows."""
    suite = SUITES.get(name)
    played = next(part.scenario for part in suite.parts if part.scenario.name == scenario)
    env, player, digest = suite.make_env(played, "array"), make_agent(agent), hashlib.sha256()
    for entry in make_panel(suite).by_scenario[scenario]:
        digest.update(play(env, player, entry).line() + b"\n")
    rows = {(found["suite_version"], found["scenario"], found["agent"]): found
            for found in read_board(README.parent / f"{name}.csv")}  # fmt: skip
    row = rows[str(suite.version), scenario, agent]
    assert row["run"] == digest.hexdigest()


@pytest.mark.parametrize("width", [60, 80, 100])
def test_boards_fit_the_terminal_and_name_agents_in_one_piece(width: int) -> None:
    names = ["best_response", "equilibrium", "thompson", "mcts(sims=9)"]
    rows = [
        row(name, episodes="3", **{f"score_{n}{end}": "-0.5" for n in (1, 3) for end in INTERVAL}) for name in names
    ]
    for found in rows:
        found |= {name: found.get(name, "") for name in header(3)}
    told = io.StringIO()
    Console(width=width, file=told).print(board(rows, width=width))
    assert max(map(len, told.getvalue().splitlines())) <= width
    assert all(f" {name} " in told.getvalue() for name in names)
    assert "-0.500 ±" in told.getvalue()


def test_a_board_names_bounds_as_such() -> None:
    bounds = {"adaptive_low": "2.515", "adaptive_low_error": "0.0014", "adaptive_high": "2.588"}
    told = io.StringIO()
    Console(width=100, file=told).print(board([row("a", **bounds)]))
    assert "bounds, no value: the best adaptive total is +2.515 (standard error 0.001) or more" in told.getvalue()
    assert "exact: best adaptive" not in told.getvalue()


@pytest.mark.parametrize("name", ["=cmd()", 'a,b"c', "[bold]x", "[/]", "naïve ✓", "a b(c", "", "org/model-7B"])
def test_any_name_can_stand_on_a_board(tmp_path: Path, name: str) -> None:
    path = tmp_path / "quick.csv"
    assert add_rows(path, [row(name)]) == add_rows(path, [row(name)]) == 1
    (found,) = read_board(path)
    told = io.StringIO()
    Console(width=100, file=told).print(board([found]))
    assert found["agent"] == name
    assert name in told.getvalue()


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        ("0.2812", "0.2532", "0.3092", "+0.281 ±.028"),
        ("-1.5", "-2.75", "-0.25", "-1.50 ±1.25"),
        ("-12.34", "-24.34", "-0.34", "-12.3 ±12.0"),
        ("1.5", "", "", "+1.500"),
        ("", "", "", ""),
    ],
)  # fmt: skip
def test_a_cell_of_the_board_is_never_wider_than_its_column(value: str, low: str, high: str, text: str) -> None:
    shown = tables._with_interval({"x": value, "x_low": low, "x_high": high}, "x")
    assert shown == text
    assert len(shown) <= 12


def test_what_went_wrong_is_said_below_a_board_where_anything_did() -> None:
    def said(*rows: Row) -> str:
        told = io.StringIO()
        Console(width=100, file=told).print(board(rows, width=100))
        return told.getvalue()

    fine = row("a")
    assert "not played" not in said(fine)
    assert "shortened" not in said(fine)
    wrong = row("b", model="m", n_illegal="2", n_empty="13")
    assert "\nb [m]: answers not played: 2 illegal, 13 empty\n" in said(fine, wrong)
    assert said(fine, wrong).count("answers") == 1
    assert "\nc: prompts with shortened memory: 7\n" in said(row("c", n_memory_truncated="7"))
    assert "d: answers not played: 1 truncated; prompts with shortened memory: 1" in said(
        row("d", n_truncated="1", n_memory_truncated="1")
    )


@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens", "cost"])
def test_what_was_paid_is_a_number_or_empty(tmp_path: Path, name: str) -> None:
    path = tmp_path / "quick.csv"
    add_rows(path, [row("a", **{name: "12"}), row("b")])
    assert {found[name] for found in read_board(path)} == {"12", ""}
    path.write_text(write_board([row("a", **{name: "=1"})]))
    with pytest.raises(RecordError, match=f"no value of the column '{name}'"):
        read_board(path)
