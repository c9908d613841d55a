"""Tables for papers: what stands in which cell, what is bold and marked, and files that other programs can read."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from benchmarks.columns import INTERVAL, header
from benchmarks.leaderboard import write_board
from benchmarks.paper import TABLE_1
from benchmarks.rows import Row
from benchmarks.sources import read_sources
from benchmarks.table_data import TableData, episode_tables, methods_table
from benchmarks.table_formats import Format, render
from mage_envs.errors import MageError, RecordError, UnknownNameError
from tests.benchmarks.test_cli import Terminal
from tests.benchmarks.test_leaderboard import row

NASTY = ["=cmd()", 'a,b"c', "a|b", "a & b % $x_y {z} ~^\\", "[bold]x", "*", "<b>&amp;", "naïve ✓", "line\nend"]


def result(agent: str, scenario: str = "paper/kuhn", share: float = 0.5, half: float = 0.1, **more: str) -> Row:
    found = dict.fromkeys(header(3), "") | row(agent, None, scenario=scenario) | {"episodes": "3"}
    for name, value in (("score_1", 2 * share), ("pass_1", share / 2), ("pass_3", share)):
        found |= {
            f"{name}{end}": f"{x:g}" for end, x in zip(INTERVAL, (value, value - half, value + half), strict=True)
        }
    return found | more


def cells(table: TableData) -> dict[tuple[str, str], float | None]:
    return {
        (line.head[-1], column): cell.estimate.value
        for block in table.blocks
        for line in block
        for column, cell in zip(table.columns, line.cells, strict=True)
        if cell.estimate.value is not None
    }


def bold(table: TableData) -> set[str]:
    return {line.head[-1] for block in table.blocks for line in block if any(cell.best for cell in line.cells)}


def test_methods_by_environments() -> None:
    rows = [result("a", share=0.4), result("b", share=0.6), result("a", "paper/tictactoe", 0.7)]
    table = methods_table(rows)
    assert table.columns == ("paper/kuhn", "paper/tictactoe")
    assert cells(table) == {("a", "paper/kuhn"): 0.4, ("b", "paper/kuhn"): 0.6, ("a", "paper/tictactoe"): 0.7}
    assert table.title.startswith("pass@3")


def test_a_tie_for_the_best_is_bold_as_a_whole() -> None:
    assert bold(methods_table([result("a", share=0.8), result("b", share=0.65), result("c", share=0.5)])) == {"a", "b"}
    assert bold(methods_table([result("a", share=0.8)])) == set()  # Better than whom?


def test_oracles_and_incomplete_rows_are_shown_and_not_compared() -> None:
    rows = [result("a"), result("b"), result("god", share=0.9, oracle="yes"), result("lucky", share=0.9, n_scored="3")]
    table = methods_table(rows)
    assert bold(table) == {"a", "b"}
    assert [line.head[0] for line in table.blocks[0]] == ["a", "b", "lucky", "god (oracle)"]
    assert any(note.startswith("!") for note in table.notes)
    assert "0.900! [0.800, 1.000]" in render([table], "md")


def test_published_rows_stand_beside_ours_marked_and_are_compared_among_themselves_only() -> None:
    rows = [result("a", share=0.2), result("b", share=0.3), result("a", "quick/other", 0.2)]
    table = methods_table(rows, reported=True)
    assert table.columns == ("paper/kuhn", "quick/other", "Tic-Tac-Toe", "ALFWorld", "Sokoban", "WebShop")
    found = cells(table)
    assert found["MAGE †", "paper/kuhn"] == 84 / 128
    assert found["ReAct †", "ALFWorld"] == 30 / 128
    assert ("MAGE †", "quick/other") not in found
    assert {"a", "b"} < bold(table)
    assert {line.status for line in table.blocks[1]} == {"reported"}
    assert any(note.startswith("†") and "2603.03680" in note for note in table.notes)


def test_published_numbers_of_three_episodes_stand_by_no_other_number_of_episodes() -> None:
    ten = dict.fromkeys(header(10), "") | result("a") | {"episodes": "10", "pass_10": "0.5"}
    table = methods_table([ten], reported=True)
    assert table.columns[:2] == ("paper/kuhn pass@10", "Kuhn poker pass@3")
    assert cells(table)["MAGE †", "Kuhn poker pass@3"] == 84 / 128


def test_published_held_out_numbers_stand_by_the_held_out_scenario() -> None:
    found = cells(methods_table([result("a", "paper/kuhn_argmax_second")], reported=True))
    assert found["MAGE †", "paper/kuhn_argmax_second"] == 65 / 128
    assert found["MAGE †", "Kuhn poker"] == 84 / 128


def test_the_papers_table_alone_is_whole() -> None:
    table = methods_table([], reported=True)
    assert len(cells(table)) == 40
    for method, values in TABLE_1.items():
        shown = [cells(table)[f"{method} †", column] for column in table.columns]
        assert shown == pytest.approx(values, abs=0.00051)
    kuhn = [line.cells[0].best for line in table.blocks[0]]
    assert all(kuhn)  # Nobody is better than anybody at Kuhn poker.


def test_panels_are_not_mixed_unasked() -> None:
    rows = [result("a"), result("a", panel="def", n_expected="9", n_scored="9")]
    with pytest.raises(MageError, match=r"paper/kuhn comes on two panels.*panel abc, 4 each.*panel def, 9 each.*--mix"):
        methods_table(rows)
    with pytest.raises(MageError, match="two panels"):
        episode_tables(rows)
    assert methods_table(rows, mix=True).columns == ("paper/kuhn (panel abc)", "paper/kuhn (panel def)")
    assert len(episode_tables(rows, mix=True)) == 2


def test_rows_of_one_name_are_told_apart() -> None:
    rows = [result("a", share=0.4, revision="v1"), result("a", share=0.6, revision="v2"), result("b")]
    assert [line.head[0] for line in methods_table(rows).blocks[0]] == ["a [v1]", "a [v2]", "b"]


def test_nothing_to_show() -> None:
    with pytest.raises(MageError, match="no rows"):
        methods_table([])
    with pytest.raises(MageError, match="no rows"):
        episode_tables([])


def test_by_episode_with_places_and_exact_values() -> None:
    scores = {"score_2": "0.1", "score_3": "0.5", "score_3_low": "0.4", "score_3_high": "0.6", "gain": "-0.5"}
    exact = {"random": "-0.25", "adaptive_1": "0.1", "adaptive_2": "0.2", "adaptive_3": "0.3"}
    rows = [result("a", **exact), result("b", **exact, **scores)]
    (table,) = episode_tables([found | ({} if found["agent"] == "b" else {"score_3": "0.1", "score_3_low": "0",
                                        "score_3_high": "0.2"}) for found in rows])  # fmt: skip
    assert table.columns == ("ep. 1", "ep. 2", "ep. 3", "gain", "norm.", "regret")
    assert [line.head for line in table.blocks[0]] == [("1", "b"), ("2", "a")]
    assert cells(table)["b", "gain"] == -0.5
    assert [line.head[1] for line in table.blocks[1]] == ["exact: uniform random play", "exact: best adaptive play"]
    assert [cell.estimate.value for cell in table.blocks[1][1].cells] == [0.1, 0.2, 0.3, None, None, None]


def test_by_episode_where_the_first_win_ends_it() -> None:
    (table,) = episode_tables([result("a"), result("b", share=0.9)])
    assert table.columns == ("pass@1", "pass@2", "pass@3")
    assert [line.head for line in table.blocks[0]] == [("1", "b"), ("2", "a")]


@pytest.mark.parametrize("agent", NASTY)
def test_every_name_stands_in_one_cell_of_markdown(agent: str) -> None:
    text = render([methods_table([result(agent), result("b")])], "md")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 4
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {3}


@pytest.mark.parametrize("agent", NASTY)
def test_csv_reads_back_and_no_cell_is_a_formula(agent: str) -> None:
    rows = list(csv.reader(io.StringIO(render([methods_table([result(agent), result("b")], reported=True)], "csv"))))
    assert rows[0][:5] == ["method", "status", "paper/kuhn", "paper/kuhn low", "paper/kuhn high"]
    assert rows[1] == [("'" if agent[0] == "=" else "") + agent, "ours", "0.5", "0.4", "0.6", *[""] * 12]
    assert rows[3][:2] == ["ReAct †", "reported"]
    assert {len(line) for line in rows} == {17}


class Page(HTMLParser):
    """Collects the text of cells, and whatever would load something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [tag] if tag in ("link", "script", "img") or any(k in ("src", "href") for k, _ in attrs) else []
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


@pytest.mark.parametrize("agent", NASTY)
def test_html_shows_every_name_and_loads_nothing(agent: str) -> None:
    page = Page(render([methods_table([result(agent), result("b")])], "html"))
    assert page.loads == []
    assert page.rows[1][0] == agent
    assert page.rows[1][1].strip() == "0.500 [0.400, 0.600]"


def test_latex_has_as_many_cells_as_columns_and_escapes_names() -> None:
    text = render([methods_table([result(agent) for agent in NASTY], reported=True)], "latex")
    body = text.split(r"\toprule")[1].split(r"\bottomrule")[0]
    lines = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(lines) == 1 + len(NASTY) + len(TABLE_1)
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {5}
    assert r"a \& b \% \$x\_y \{z\} \textasciitilde{}\textasciicircum{}\textbackslash{}" in body
    assert r"\textbf{.656} {\scriptsize [.570, .733]}" in body
    assert "    {}[bold]x &" in body
    assert text.count(r"\begin{") == text.count(r"\end{")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_latex_compiles(tmp_path: Path) -> None:
    names = [name for name in NASTY if "✓" not in name]  # The one character that T1 fonts lack.
    rows = [result(name) for name in names]
    tables = [methods_table(rows, reported=True), *episode_tables(rows)]
    packages = r"\usepackage[T1]{fontenc}\usepackage{booktabs,graphicx}"
    document = rf"\documentclass{{article}}{packages}\begin{{document}}{render(tables, 'latex')}\end{{document}}"
    (tmp_path / "t.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_sources(tmp_path: Path) -> None:
    board = tmp_path / "quick.csv"
    board.write_text(write_board([row("a", 1.0), row("b", 0.5, suite_version="2")]), encoding="utf-8")
    found = read_sources([str(board), "quick", "paper"], tmp_path)
    assert sorted(r["agent"] for r in found.rows) == ["a", "b"]
    assert found.reported
    assert [r["agent"] for r in read_sources(["quick"], tmp_path).rows] == ["a"]  # The present version only.
    other = tmp_path / "mine.csv"
    other.write_text(write_board([row("a", 9.0)]), encoding="utf-8")
    assert read_sources([str(other), str(board)]).rows[0]["score_1"] == "9"


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("quik", UnknownNameError, "Did you mean 'quick'"),
        ("no/run", RecordError, "no manifest.json"),
        ("none.csv", RecordError, "there is no file none.csv"),
        ("quick", RecordError, "has no rows of version 1"),
    ],
)
def test_sources_that_are_none(tmp_path: Path, name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_sources([name], tmp_path)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Terminal:
    monkeypatch.chdir(tmp_path)
    return Terminal(monkeypatch, capsys)


@pytest.mark.parametrize("form", ["md", "latex", "csv", "html"])
def test_the_command(terminal: Terminal, form: Format) -> None:
    assert terminal("run", "quick", "--agent", "random", "--meta-episodes", "4", "--jobs", "1", "--out", "r").code == 0
    said = terminal("table", "r", "paper", "--format", form)
    assert said.code == 0, said.err
    assert "kuhn/train" in said.out
    assert "A-MEM" in said.out
    assert terminal("table", "r", "--format", form, "--layout", "episodes", "--out", f"t.{form}").code == 0
    assert "gain" in Path(f"t.{form}").read_text(encoding="utf-8")
    mixed = terminal("table", "r", "quick")
    assert (mixed.code, "two panels" in mixed.err) == (2, True)
    assert terminal("table", "r", "--out", "no/t.md").code == 2
