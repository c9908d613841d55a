"""The command line as a person meets it: outputs within 100 columns, one clear line for each mistake."""

from __future__ import annotations

import csv
import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import cli, listing
from benchmarks.commands import play
from benchmarks.leaderboard import read_board
from benchmarks.plan import make_plan
from benchmarks.run_directory import RECORDS
from benchmarks.suites import SUITES
from benchmarks.whole_suite import smaller_or_other
from mage_envs.scenarios import SCENARIOS

SMALL = ("--agent", "random", "--meta-episodes", "4", "--jobs", "1")


class Said(tuple[int, str, str]):
    """Exit code, standard output, standard error."""

    code = property(lambda self: self[0])
    out = property(lambda self: self[1])
    err = property(lambda self: self[2])


class Terminal:
    """Runs the command in this process."""

    def __init__(self, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self.patch, self.capture = patch, capture

    def __call__(self, *arguments: str | Path, typed: str = "") -> Said:
        self.patch.setattr(sys, "argv", ["benchmark", *map(str, arguments)])
        self.patch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as caught:
            cli.main()
        out, err = self.capture.readouterr()
        return Said((int(caught.value.code or 0), out, err))


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Terminal:
    monkeypatch.chdir(tmp_path)
    return Terminal(monkeypatch, capsys)


def test_list_shows_all_there_is(benchmark: Terminal) -> None:
    said = benchmark("list")
    assert said.code == 0
    for name in (
        "quick",
        "kuhn/train",
        "thompson",
        "mcts(simulations",
        "rps/heldout",
        "kuhn_poker",
        "mage/KuhnPoker-meta-v0",
    ):
        assert name in said.out
    assert max(map(len, said.out.splitlines())) <= 100
    assert "thompson" not in benchmark("list", "suites").out
    assert re.search(r"best_response +yes ", benchmark("list", "agents").out)


@pytest.mark.parametrize("width", [60, 80])
def test_lists_fit_narrow_terminals(width: int) -> None:
    told = io.StringIO()
    Console(width=width, file=told).print(listing.scenarios())
    assert max(map(len, told.getvalue().splitlines())) <= width
    words = set(told.getvalue().split())
    for name in SCENARIOS:
        assert words >= set(SCENARIOS.get(name).summary.split())


def test_run_show_verify_submit(benchmark: Terminal) -> None:
    said = benchmark("run", "quick", *SMALL, "--out", "r")
    assert said.code == 0, said.err
    assert "> 1 random" in said.out
    assert "benchmark submit r" in said.out
    assert max(map(len, said.out.splitlines())) <= 100
    assert benchmark("show", "r").out.count("> 1 random") == 4
    assert benchmark("verify", "r", "--jobs", "1").out == "r: verified\n"
    said = benchmark("submit", "r", "--jobs", "1", "--leaderboards", "boards")
    assert said.out == "created boards/quick.csv: 4 rows of this run, 4 in all\n"
    assert said.err.endswith(
        "r: another panel than the boards' (4 meta-episodes of each scenario instead of 2000), never compared with "
        "theirs: a row of MAGE's boards is the whole suite with seed 0\n"
    )
    assert {row["verified"] for row in read_board(Path("boards/quick.csv"))} == {"yes"}
    said = benchmark("submit", "r", "--jobs", "1", "--leaderboards", "boards")
    assert said.out == "boards/quick.csv: 4 rows of this run, 4 in all\n"
    assert "random" in benchmark("show", "quick", "--leaderboards", "boards").out


def test_ceilings_need_no_run(benchmark: Terminal) -> None:
    said = benchmark("ceilings", "quick", "--csv", "values.csv")
    assert said.code == 0, said.err
    for name in ("kuhn/train", "kuhn/heldout", "tictactoe/train", "tictactoe/heldout", "no table", "any"):
        assert name in said.out
    assert max(map(len, said.out.splitlines())) <= 100
    assert "values.csv: 480 rows" in said.out
    assert os.listdir() == ["values.csv"]
    rows = csv.DictReader(Path("values.csv").read_text(encoding="utf-8").splitlines())
    told = {(row["opponent"], row["seat"]): float(row["value"]) for row in rows
            if (row["scenario"], row["episode"], row["kind"]) == ("kuhn/train", "1", "told")}  # fmt: skip
    assert told["aggressive", "0"] == pytest.approx(1 / 3)
    assert told["any", "1"] == pytest.approx(0.3 / 3 + 0.3 / 3 + 0.4 / 6)


def test_ceilings_for_another_number_of_episodes(benchmark: Terminal) -> None:
    said = benchmark("ceilings", "quick", "--scenario", "kuhn/train", "--episodes", "5")
    assert said.code == 0
    assert "N = 5" in said.out
    assert "ep. 5" in said.out
    assert "kuhn/heldout" not in said.out


def test_ctrl_c_ends_ceilings(benchmark: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.ceiling_report.seat_yardsticks", interrupt)
    said = benchmark("ceilings", "quick", "--csv", "values.csv")
    assert (said.code, said.err) == (130, "\ninterrupted; no file was written\n")
    assert os.listdir() == []


def test_a_runs_rows_stand_among_those_of_the_board(benchmark: Terminal) -> None:
    benchmark("run", "quick", *SMALL, "--out", "a")
    benchmark("submit", "a", "--jobs", "1", "--leaderboards", "boards")
    said = benchmark("run", "quick", "--agent", "first_legal", *SMALL[2:], "--out", "b", "--leaderboards", "boards")
    assert said.code == 0
    assert said.out.count("first_legal") == 4
    assert said.out.count("random") == 4
    marks = [line for line in said.out.splitlines() if re.match(r"^ > ", line)]
    assert len(marks) == 4
    other = benchmark("run", "quick", *SMALL, "--seed", "1", "--out", "c", "--leaderboards", "boards")
    assert "4 rows of the board are of other panels" in " ".join(other.out.split())


def test_a_tampered_run_is_named_and_not_submitted(benchmark: Terminal) -> None:
    benchmark("run", "quick", *SMALL, "--out", "r")
    path = Path("r") / RECORDS
    path.write_text(path.read_text().replace('"reward":-1.0', '"reward":1.0', 1))
    said = benchmark("verify", "r", "--jobs", "1")
    assert said.code == 1
    assert re.search(r"^benchmark: random / .*: reward 1\.0 recorded, -1\.0 replayed$", said.err, re.MULTILINE)
    assert benchmark("submit", "r", "--jobs", "1", "--leaderboards", "boards").code == 1
    assert not Path("boards/quick.csv").exists()


def test_show_keeps_the_good_lines_of_a_damaged_file(benchmark: Terminal) -> None:
    benchmark("run", "quick", *SMALL, "--out", "r")
    path = Path("r") / RECORDS
    path.write_bytes(b"?" + path.read_bytes())
    said = benchmark("show", "r")
    assert said.code == 2
    assert "meta_episodes.jsonl:1: damaged" in said.err
    assert "3!" in said.out


def test_a_run_that_is_not_finished_is_shown_and_not_submitted(benchmark: Terminal) -> None:
    benchmark("run", "quick", *SMALL, "--out", "r")
    (Path("r") / RECORDS).unlink()
    said = benchmark("show", "r")
    assert (said.code, said.out.count("0!")) == (0, 4)
    said = benchmark("verify", "r", "--jobs", "1")
    assert said.out == "r: verified, as far as it goes: 16 meta-episodes are not played yet\n"
    said = benchmark("submit", "r", "--jobs", "1", "--leaderboards", "boards")
    assert said.code == 2
    assert "benchmark: r: 16 meta-episodes are not played yet. Finish the run with --resume" in said.err
    assert not Path("boards/quick.csv").exists()


def test_what_the_file_system_refuses_is_one_line(benchmark: Terminal) -> None:
    benchmark("run", "quick", *SMALL, "--out", "r")
    Path("boards/.quick.csv.lock").mkdir(parents=True)
    said = benchmark("submit", "r", "--jobs", "1", "--leaderboards", "boards")
    assert said.code == 2
    assert re.search(r"^benchmark: .*quick\.csv\.lock", said.err, re.MULTILINE)
    assert "Traceback" not in said.err


def test_a_folder_of_boards_that_is_not_there_is_to_be_named(benchmark: Terminal) -> None:
    benchmark("run", "quick", *SMALL, "--out", "r")
    said = benchmark("submit", "r", "--jobs", "1")
    assert said.code == 2
    assert "there is no folder leaderboards here: go to a MAGE checkout, or name any by --leaderboards DIR" in said.err


def test_rows_of_the_fake_backend_go_on_a_board_only_if_that_is_wanted(benchmark: Terminal) -> None:
    fake = ("--backend", "fake", "--model", "first")
    said = benchmark("run", "quick", "--agent", "zero_shot", *SMALL[2:], *fake, "--out", "r")
    assert said.out.endswith("It is of no model, and for no board.\n")
    said = benchmark("submit", "r", "--jobs", "1", "--leaderboards", "boards")
    assert (said.code, Path("boards").exists()) == (2, False)
    assert "no model answered zero_shot(memory=none, memory_budget=4096), but the backend fake" in said.err
    said = benchmark("submit", "r", "--jobs", "1", "--leaderboards", "boards", "--allow-fake")
    assert said.out == "created boards/quick.csv: 4 rows of this run, 4 in all\n"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, ""),
        ({"meta_episodes": 2000}, ""),
        ({"seed": 3}, "(seed 3), never compared"),
        ({"seed": 3, "meta_episodes": 4}, "(seed 3, 4 meta-episodes of each scenario instead of 2000)"),
    ],
)
def test_a_row_of_the_boards_is_the_whole_suite_with_seed_0(more: dict[str, int], words: str) -> None:
    suite = SUITES.get("quick")
    config = make_plan(suite, ["random"], meta_episodes=1).manifest.config
    found = smaller_or_other(config.model_copy(update={"seed": 0, "meta_episodes": None, **more}), suite)
    assert words in found
    assert bool(words) == bool(found)


def test_why_an_agent_cannot_play_under_a_control_is_said_once(benchmark: Terminal) -> None:
    model = ("--agent", "zero_shot", "--backend", "fake", "--model", "first", "--control", "no_memory")
    said = benchmark("run", "quick", *SMALL[2:], *model, "--out", "r")
    assert said.code == 2
    assert said.err.count("zero_shot") == 1
    assert "cannot play kuhn/train, kuhn/heldout, tictactoe/train, tictactoe/heldout: it carries no memory" in said.err
    assert said.err.endswith("Give it one: --memory history\n")


def test_agents_that_cannot_play_are_listed(benchmark: Terminal) -> None:
    said = benchmark("run", "quick", "--agent", "minimax", *SMALL[2:], "--out", "r")
    assert said.code == 0
    assert "cannot play kuhn/train" in said.out
    assert said.out.count("> 1 minimax") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "quik"), r"unknown suite 'quik'\. Did you mean 'quick'\?"),
        (("run", "quick", "--agent", "thomson"), r"unknown agent 'thomson'\. Did you mean 'thompson'"),
        (
            ("run", "quick", "--agent", "mcts(simulatoins=3)"),
            "has no parameter 'simulatoins'. Did you mean 'simulations'",
        ),
        (("run", "quick", "--agent", "mcts(simulations=-1)", *SMALL[2:]), "simulations must be"),
        (("run", "quick", "--agent", "mcts(("), "bad spec"),
        (
            ("run", "quick", "--agent", "roshambo(name=rockbot)"),
            "rockbot. cannot play kuhn/train, kuhn/heldout: roshambo plays",
        ),
        (("play", "kuhn/trian"), r"unknown scenario 'kuhn/trian'\. Did you mean 'kuhn/train'"),
        (("play", "worlds", "--scenario", "sokobn"), "Did you mean 'sokoban/"),
        (("play", "kuhn/train", "--opponent", "agressive"), "Did you mean 'aggressive'"),
        (("show", "quik"), "unknown suite 'quik'"),
        (("ceilings", "quik"), r"unknown suite 'quik'\. Did you mean 'quick'\?"),
        (("ceilings", "quick", "--scenario", "kuhn/trian"), "'kuhn/trian'. Did you mean 'kuhn/train'"),
        (("ceilings", "quick", "--csv", "no/such.csv"), "there is no folder no"),
        (("show", "."), "is no run directory"),
        (("verify", "nowhere"), "nowhere is no run directory"),
        (("submit", "nowhere"), "nowhere is no run directory"),
    ],
)
def test_mistakes_are_one_clear_line(benchmark: Terminal, arguments: tuple[str, ...], message: str) -> None:
    said = benchmark(*arguments)
    assert said.code == 2
    assert re.search(message, said.err)
    assert said.err.startswith("benchmark: ")
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "quick", "--meta-episodes", "0"), "than or equal to 1"),
        (("run", "quick", "--jobs", "0"), "than or equal to 1"),
        (("run", "quick", "--seed", "-1"), "than or equal to 0"),
        (("run", "quick", "--resume"), "--out"),
        (("run", "quick", "--resume", "--overwrite", "--out", "r"), "--overwrite"),
        (("run", "quick", "--nonsense"), "--nonsense"),
        (("play", "kuhn/train", "--seat", "7"), "seats"),
        (("ceilings", "quick", "--episodes", "0"), "than or equal to 1"),
        (("list", "things"), "things"),
    ],
)
def test_options_out_of_range_say_the_range(benchmark: Terminal, arguments: tuple[str, ...], message: str) -> None:
    said = benchmark(*arguments)
    assert said.code == 2
    assert message in " ".join(re.sub("[│╭╮╰╯─]", " ", said.err).split())
    assert not Path("runs").exists()


def test_a_full_folder_needs_a_decision(benchmark: Terminal) -> None:
    assert benchmark("run", "quick", *SMALL, "--out", "r").code == 0
    assert "is not empty" in benchmark("run", "quick", *SMALL, "--out", "r").err
    assert benchmark("run", "quick", *SMALL, "--out", "r", "--resume").code == 0
    assert benchmark("run", "quick", *SMALL, "--out", "r", "--overwrite").code == 0


def test_runs_go_to_a_folder_of_their_own(benchmark: Terminal) -> None:
    benchmark("run", "quick", *SMALL)
    benchmark("run", "quick", *SMALL)
    assert len(list(Path("runs").iterdir())) == 2


def test_ctrl_c_says_how_to_go_on(benchmark: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.runner.run_tasks", interrupt)
    said = benchmark("run", "quick", *SMALL, "--out", "my run")
    assert said.code == 130
    assert "benchmark run quick --agent random --meta-episodes 4 --jobs 1 --out 'my run' --resume" in said.err


def test_ctrl_c_with_workers_ends_cleanly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.cli", "run", "quick", "--jobs", "2", "--out", str(tmp_path / "r")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stderr is not None
        process.stderr.readline()  # "quick: 11200 meta-episodes into …": from here on Ctrl-C is expected.
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Go on with" in err
    assert b"Traceback" not in err


def test_version(benchmark: Terminal) -> None:
    assert re.fullmatch(r"benchmark \d+\.\d+\.\d+\n", benchmark("--version").out)


def test_help_does_not_load_what_computes() -> None:
    code = (
        "import sys; sys.argv = ['benchmark', '--help']\n"
        "from benchmarks import cli\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('pandas', 'scipy', 'statsmodels', 'torch') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_play_with_typing_errors(benchmark: Terminal) -> None:
    typed = "\nfold please\nBET\nbet\nbet\n" + "\nbet\nbet\nbet\n" * 2
    said = benchmark("play", "kuhn/train", "--opponent", "aggressive", "--seat", "0", "--seed", "1", typed=typed)
    assert said.code == 0
    assert "Kuhn poker, two players" in said.out
    assert "Your answer was empty" in said.out
    assert "You can: " in said.out
    assert "Episode 3 of 3" in said.out
    assert "the best response to this opponent +0.333" in said.out
    assert "Your opponent was aggressive. Seed 1." in said.out


def test_play_finds_a_scenario_of_a_suite(benchmark: Terminal) -> None:
    said = benchmark("play", "worlds", "--scenario", "webshop", "--seed", "5", typed="")
    assert said.code == 0
    assert "You are a shopper in a web shop." in said.out


def test_play_ends_cleanly_without_input(benchmark: Terminal) -> None:
    said = benchmark("play", "tictactoe/train", "--seed", "5", typed="")
    assert said.code == 0
    assert "left unfinished" in said.out
    assert "No episode was played to its end." in said.out
    assert "Traceback" not in said.err


def test_play_breaks_lines_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(play, "out", Console(file=shown, width=20, force_terminal=True, highlight=False))
    play._say("You play 3 episodes against [one] opponent.\n  x")
    assert shown.getvalue() == "You play 3 episodes \nagainst [one] \nopponent.\n  x\n"


def test_play_repeats_by_seed(benchmark: Terminal) -> None:
    first, second = (benchmark("play", "kuhn/train", "--seed", "8", typed="pass\n" * 9).out for _ in range(2))
    assert first == second
