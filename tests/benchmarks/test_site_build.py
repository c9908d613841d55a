"""The files of the site, without a browser: what is chosen, filmed, merged and written, and where to."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks import cli
from benchmarks.columns import REFUSED
from benchmarks.leaderboard import PUBLISHED, add_rows, boards, read_board
from benchmarks.panels import Entry, make_panel
from benchmarks.plan import make_plan
from benchmarks.rows import run_rows
from benchmarks.run_directory import RECORDS, load_run
from benchmarks.runner import run
from benchmarks.site.build import build_site
from benchmarks.site.choice import FAILED, Chooser, spread
from benchmarks.site.film import MAX_SAID, Camera, difference, film
from benchmarks.site.output import MARKER, prepare_folder, safe_name, write_data
from benchmarks.site.page_data import Line, make_boards, page
from benchmarks.suites import SUITES
from benchmarks.verification import rebuild_panel
from mage_envs.errors import MageError, RecordError, VerificationError
from tests.benchmarks.fakes import KUHN, episode, ignore_progress, record
from tests.benchmarks.site_material import AGENTS, HOSTILE, NAMES, PWN, SIZE, SUITE, play, register, write_hostile_board

ROOT = Path(__file__).parents[2]
STATIC = [Path(str(file)) for file in (files("benchmarks.site") / "static").iterdir()]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the run ``run``, the boards ``boards`` and the site ``site`` that was built from both."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SUITES, "_items", {name: SUITES.get(name) for name in SUITES})
        register()
        play(folder / "run")
        write_hostile_board(folder / "boards")
        build_site(folder / "site", [folder / "run"], leaderboards=folder / "boards", replays=4)
        yield folder


def data(folder: Path, name: str) -> Any:
    """Reads a data file as the page gets it."""
    found = re.fullmatch(
        r"MAGE\.put\((\"[a-z0-9-]+\"), (.*)\);\n", (folder / "site" / "data" / f"{name}.js").read_text()
    )
    assert found
    assert json.loads(found[1]) == name
    return json.loads(found[2])


def row_of(folder: Path, agent: str) -> dict[str, Any]:
    told = data(folder, "boards")["boards"]
    return next(row for board in told for row in board["rows"] if row["agent"] == agent)


def reel_of(folder: Path, agent: str) -> dict[str, Any]:
    reel: dict[str, Any] = data(folder, row_of(folder, agent)["reel"])
    return reel


# What is chosen.


def test_the_choice_is_spread_over_opponents_and_takes_both_seats_of_a_deal() -> None:
    panel = make_panel(SUITE, meta_episodes=60)
    entries = panel.by_scenario[KUHN.name]
    chosen = [entries[number] for number in spread(entries, 12)]
    assert set(Counter(entry.opponent for entry in chosen).values()) == {4}
    assert Counter(entry.seat for entry in chosen) == {0: 6, 1: 6}
    assert len({(entry.opponent, entry.seed) for entry in chosen}) == 6
    assert spread(entries, 1000) == set(range(60))
    assert spread(entries, 12) == spread(tuple(entries), 12)


def test_a_rare_opponent_is_shown() -> None:
    entries = [Entry("s", number, "rare" if number == 90 else "common", 0, 0) for number in range(100)]
    assert 90 in spread(entries, 2)


def test_the_first_that_did_not_end_well_are_shown_besides() -> None:
    panel = make_panel(SUITE, meta_episodes=60)
    records = [record(number, status="forfeit" if number > 20 else "ok") for number in range(60)]
    chooser = Chooser(panel, 4)
    assert list(chooser.watch(records)) == records
    numbers = [found.number for found in chooser.chosen["test/kuhn", "random"]]
    assert len(numbers) == 4 + FAILED
    assert numbers[4:] == [21, 22, 23]
    nothing = Chooser(panel, 0)
    assert len(list(nothing.watch(records))) == 60
    assert nothing.chosen == {}


# What is filmed.


def test_a_film_shows_every_view_and_every_answer(made: Path) -> None:
    replay = reel_of(made, "writer")["replays"][0]
    (written,) = [found for found in load_run(made / "run").records().values() if found.key == ("writer", KUHN.name, 0)]
    assert (replay["seed"], replay["opponent"], replay["status"]) == (written.seed, written.opponent, "ok")
    for shown, played in zip(replay["episodes"], written.episodes, strict=True):
        first, *others = shown["frames"]
        assert first["text"][0][:2] == [0, 0]
        assert first["text"][0][2].startswith("Your card:")
        assert len(others) == len(played.actions)
        assert [frame["said"] for frame in others] == list(played.actions)
        assert {frame["move"] for frame in others} == {"bet"}
        assert "refused" not in str(others)
        assert sum(frame.get("reward", 0) for frame in others) == shown["reward"] == played.reward
    assert replay["episodes"][0]["reflection"] == "line one\nline two ✓ ?"
    assert replay["episodes"][2]["reflection"] == ""


def test_an_answer_that_was_not_played_says_why(made: Path) -> None:
    illegal = reel_of(made, "illegal")["replays"][0]
    frames = illegal["episodes"][0]["frames"]
    assert [frame["move"] for frame in frames[1:]] == ["99"] * 3
    assert all("not legal now" in frame["refused"] for frame in frames[1:])
    assert (illegal["status"], illegal["episodes"][0]["forfeit"]) == ("forfeit", True)
    hostile = reel_of(made, HOSTILE)["replays"][0]["episodes"][0]["frames"]
    assert hostile[1]["move"] == PWN
    assert "not the name of an action" in hostile[1]["refused"]
    assert hostile[2]["move"] == "bet"
    assert "refused" not in hostile[2]


def test_a_failed_meta_episode_is_shown_as_far_as_it_got(made: Path) -> None:
    failed = next(replay for replay in reel_of(made, "failing_at_seat_1")["replays"] if replay["status"] == "error")
    assert len(failed["episodes"]) == 1
    assert "the server is gone" in failed["error"]


def test_reflections_of_array_agents_are_no_text(made: Path) -> None:
    assert {
        episode["reflection"] for replay in reel_of(made, "random")["replays"] for episode in replay["episodes"]
    } == {""}


def test_endless_answers_are_cut(made: Path) -> None:
    found = next(r for r in load_run(made / "run").records().values() if r.agent == "writer")
    first = found.episodes[0]
    longer = first.model_copy(update={"reflection": "x" * (MAX_SAID + 7)})
    shown = film(
        Camera(SUITE.make_env(KUHN, "text")), found.model_copy(update={"episodes": (longer, *found.episodes[1:])})
    )
    assert shown["episodes"][0]["reflection"].endswith("x … (7 more characters)")


def test_what_does_not_replay_is_not_shown(made: Path, tmp_path: Path) -> None:
    touched = shutil.copytree(made / "run", tmp_path / "run")
    first, *others = (touched / RECORDS).read_text().splitlines(keepends=True)
    changed = json.loads(first)
    changed["episodes"][0]["reward"] = 9.0
    (touched / RECORDS).write_text("".join([json.dumps(changed) + "\n", *others]))
    with pytest.raises(VerificationError, match=r"reward 9\.0 recorded"):
        build_site(tmp_path / "site", [touched], leaderboards=made / "boards", replays=4)


TEXTS = (
    "",
    "new",
    "aXa",
    "aa",
    "aaa",
    "🂡 and 🂢",
    "🂡 and 🂣 and 🂢",
    "🂡",
    "🂢",
    "a\nb\nc",
    "a\n\nc",
    "a\nb",
    "\n",
    "b\nc\n",
)


@pytest.mark.parametrize("before", TEXTS)
@pytest.mark.parametrize("after", TEXTS)
def test_a_text_is_said_by_what_differs(before: str, after: str) -> None:
    lines = [line.encode("utf-16-le") for line in before.split("\n")]
    shown = []
    for index, line in enumerate(difference(before, after)):
        old = lines[index] if index < len(lines) else b""
        if isinstance(line, int):
            shown.append(old.decode("utf-16-le"))
        else:
            start, end, between = line
            shown.append(
                (old[: 2 * start] + between.encode("utf-16-le") + old[len(old) - 2 * end :]).decode("utf-16-le")
            )
    assert "\n".join(shown) == after


def test_long_games_leave_room_for_fewer() -> None:
    long = [episode().model_copy(update={"actions": (0,) * 900})]
    chooser = Chooser(make_panel(SUITE, meta_episodes=60), 12)
    records = [record(number, *long, status="forfeit" if number == 50 else "ok") for number in range(60)]
    assert len(list(chooser.watch(records))) == 60
    shown = [found.number for found in chooser.picked("test/kuhn", "random")]
    assert len(shown) == 5
    assert shown == sorted(shown)
    assert 50 in shown
    endless = record(0, episode().model_copy(update={"actions": (0,) * 9000}))
    chooser = Chooser(make_panel(SUITE, meta_episodes=60), 12)
    assert list(chooser.watch([endless])) == chooser.picked("test/kuhn", "random") == [endless]
    assert chooser.picked("test/kuhn", "nobody") == []


# What is on the boards.


def test_rows_are_placed_as_in_the_terminal(made: Path) -> None:
    strange, kuhn = data(made, "boards")["boards"]
    assert [row["place"] for row in strange["rows"]] == [[place, place] for place in range(1, len(NAMES) + 1)]
    assert [row["scores"][1][0] for row in strange["rows"]] == [6, 5, 4, 3, 2, 1, 0]
    complete = [row["complete"] for row in kuhn["rows"]]
    assert complete == sorted(complete, reverse=True)
    assert [row["place"] is None for row in kuhn["rows"]] == [not whole for whole in complete]
    assert {row["agent"]: row["n"] for row in kuhn["rows"]} == {
        **dict.fromkeys(AGENTS, SIZE), "failing_at_seat_1": SIZE // 2, HOSTILE: SIZE // 2,
    }  # fmt: skip
    assert kuhn["lines"]["ceiling"] == pytest.approx(0.275, abs=0.01)
    assert len(kuhn["lines"]["adaptive"]) == 3


def test_a_boards_row_of_the_same_records_keeps_its_verification(made: Path, tmp_path: Path) -> None:
    played = load_run(made / "run")
    panel = rebuild_panel(played.manifest.config)
    rows = run_rows(played, panel, played.records().values(), verified=True)
    other = rows[1] | {"run": "0" * 64}
    add_rows(tmp_path / "test.csv", [rows[0], other])
    build_site(tmp_path / "site", [made / "run"], leaderboards=tmp_path, replays=1)
    (board,) = data(tmp_path, "boards")["boards"]
    told = {row["agent"]: found for row, found in zip(board["rows"], data(tmp_path, board["name"]), strict=True)}
    assert told["random"]["facts"]["verified"] == "yes"
    assert told["writer"]["facts"]["verified"] == "no"
    assert told["writer"]["facts"]["run"] == rows[1]["run"]
    assert len(told["random"]["replays"]) == len(told["writer"]["replays"]) == 1


def test_kinds_of_invalid_answers_are_told_where_there_were_any(made: Path) -> None:
    board = data(made, "boards")["boards"][1]
    told = {row["agent"]: found for row, found in zip(board["rows"], data(made, board["name"]), strict=True)}
    kinds = {name: {key for key in found["facts"] if key in {c.name for c in REFUSED}} for name, found in told.items()}
    assert kinds == {
        **{name: set() for name in ("random", "writer", "failing_at_seat_1")},
        "illegal": {"n_illegal"},
        HOSTILE: {"n_unparsable"},
    }
    assert int(told["illegal"]["facts"]["n_illegal"]) == SIZE * 3 * 3  # Three in a row lose each of three episodes.


def test_newest_versions_and_the_order_of_the_suite_come_first(made: Path) -> None:
    rows = read_board(ROOT / "leaderboards" / "quick.csv")
    old = [row | {"suite_version": "1"} for row in rows]
    new = [row | {"suite_version": "2"} for row in rows]
    told = page(make_boards(map(Line, [*old, *new])))["boards"]
    shown = [(board["version"], board["scenario"]) for board in told]
    names = [part.scenario.name for part in SUITES.get("quick").parts]
    assert shown == [(version, name) for version in (2, 1) for name in names]


def test_the_committed_boards_and_the_published_numbers_are_shown(tmp_path: Path) -> None:
    folder = ROOT / "leaderboards"
    built = build_site(tmp_path / "site", leaderboards=folder, replays=0)
    told = data(tmp_path, "boards")
    rows = [row for path in boards(folder) for row in read_board(path)]
    assert built.rows == sum(len(board["rows"]) for board in told["boards"]) == len(rows) > 0
    assert len({board["name"] for board in told["boards"]}) == len(told["boards"])
    assert told["published"] == list(csv.reader((folder / PUBLISHED).read_text(encoding="utf-8").splitlines()))


# What is written, and where.


@pytest.mark.parametrize("name", [*NAMES, "", ".", "..", "/etc/passwd", PWN])
def test_no_name_leads_out_of_its_folder(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]{12,60}", safe_name("kuhn/train", name))
    assert re.fullmatch(r"[a-z0-9-]{12,60}", safe_name(name))


def test_names_that_look_alike_have_files_of_their_own() -> None:
    names = ["a/b", "a.b", "A/b", "a", "a/", "x" * 99, "x" * 100]
    assert len({safe_name(name) for name in names}) == len(names)
    assert safe_name("a", "b") != safe_name("a-b")


def test_all_files_are_where_they_belong(made: Path) -> None:
    site = made / "site"
    assert {path.name for path in site.iterdir()} == {"index.html", "assets", "data", MARKER}
    assert {path.suffix for path in (site / "data").iterdir()} == {".js"}
    assert sorted(path.name for path in made.iterdir()) == ["boards", "run", "site"]


def test_data_can_be_read_as_a_script_wherever_it_stands(made: Path, tmp_path: Path) -> None:
    for path in (made / "site" / "data").iterdir():
        content = path.read_bytes()
        assert content.isascii()
        assert b"<" not in content
    (tmp_path / "data").mkdir()
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_data(tmp_path, "x", float("nan"))


def test_a_site_is_built_anew_and_foreign_folders_are_left_alone(made: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_site(site, leaderboards=made / "boards", replays=0)
    (site / "data" / "stale.js").write_text("")
    (site / "CNAME").write_text("example.org")
    before = (site / "data" / "boards.js").read_bytes()
    build_site(site, leaderboards=made / "boards", replays=0)
    assert not (site / "data" / "stale.js").exists()
    assert (site / "CNAME").exists()
    assert (site / "data" / "boards.js").read_bytes() == before
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "data").write_text("years of work")
    with pytest.raises(RecordError, match="holds no site"):
        prepare_folder(tmp_path / "thesis")
    assert (tmp_path / "thesis" / "data").read_text() == "years of work"
    with pytest.raises(RecordError, match="cannot write"):
        prepare_folder(tmp_path / "thesis" / "data" / "below_a_file")


def test_nothing_to_show_is_said(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="nothing to show"):
        build_site(tmp_path / "site", leaderboards=tmp_path, replays=0)
    with pytest.raises(RecordError, match="no folder of leaderboards"):
        build_site(tmp_path / "site", leaderboards=tmp_path / "none", replays=0)
    with pytest.raises(MageError, match="no run directory"):
        build_site(tmp_path / "site", [tmp_path], leaderboards=tmp_path, replays=0)
    assert not (tmp_path / "site").exists()


def test_workers_write_the_same_site(made: Path, tmp_path: Path) -> None:
    played = run(make_plan(SUITES.get("quick"), ["random"], meta_episodes=4), tmp_path / "run", ignore_progress).path
    contents = []
    for jobs in (1, 2):
        build_site(tmp_path / f"{jobs}", [played], leaderboards=made / "boards", replays=3, jobs=jobs)
        contents.append({file.name: file.read_bytes() for file in (tmp_path / f"{jobs}" / "data").iterdir()})
    assert contents[0] == contents[1]


FOREIGN = re.compile(r"https?:|//[a-z]+\.|@import|url\(|fetch\(|XMLHttp")
UNSAFE = re.compile(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(")


def test_the_page_asks_nobody_and_makes_no_html_of_text() -> None:
    for path in STATIC:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not FOREIGN.search(text), path.name
        assert not UNSAFE.search(text), path.name
        assert 'type="module"' not in text


def test_the_command_says_what_to_open(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    done = runner.invoke(cli.app, ["site", "--leaderboards", str(made / "boards")])
    assert re.fullmatch(rf"site/index\.html: {len(NAMES)} rows, 0 replays, in \d+ s\n", done.stdout)
    assert isinstance(runner.invoke(cli.app, ["site", "no_run"]).exception, RecordError)
