"""The script that CI runs on proposed rows: an honest proposal passes, and each way to cheat or to err does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from benchmarks.leaderboard import add_rows
from benchmarks.plan import make_plan
from benchmarks.rows import run_rows
from benchmarks.run_directory import MANIFEST, RECORDS
from benchmarks.runner import run
from benchmarks.suites import SUITES
from tests.benchmarks.fakes import ignore_progress

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".github" / "verify-submission.sh"
WORKFLOW = ROOT / ".github" / "workflows" / "verify-submission.yml"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="CI runs it on Linux, with GNU tools")


class Proposal:
    """Two checkouts, as CI has them: what is there, and what is proposed."""

    def __init__(self, folder: Path, played: Path, boards: Path) -> None:
        self.base, self.proposal, self.run = folder / "base", folder / "proposal", folder / "mine"
        self.elsewhere = folder / "elsewhere"
        for checkout in (self.base, self.proposal):
            shutil.copytree(
                ROOT / "leaderboards", checkout / "leaderboards", ignore=shutil.ignore_patterns(".*", "__*")
            )
        self.board = self.proposal / "leaderboards" / "quick.csv"
        shutil.copy(boards / "quick.csv", self.board)
        shutil.copytree(played, self.run)
        self.elsewhere.mkdir()

    def pack(self, name: str = "mine", inside: str = "mine") -> Path:
        (self.proposal / "submissions").mkdir(exist_ok=True)
        archive = self.proposal / "submissions" / f"{name}.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            for file in (MANIFEST, RECORDS):
                tar.add(self.run / file, f"{inside}/{file}")
        return archive

    def judge(self) -> tuple[int, str]:
        """Runs the script; returns its exit code and what it said."""
        path = os.pathsep.join([str(self.command()), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [SCRIPT, self.base, self.proposal], env=environment, cwd=self.elsewhere, capture_output=True, text=True
        )
        assert not list(self.elsewhere.iterdir())
        return done.returncode, done.stdout + done.stderr

    def command(self) -> Path:
        """Returns a folder with the command `benchmark` of this tree."""
        folder = self.base / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "benchmark").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m benchmarks.cli "$@" --jobs 1\n')
        (folder / "benchmark").chmod(0o755)
        return folder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run, and the board that it gives."""
    folder = tmp_path_factory.mktemp("submission")
    plan = make_plan(SUITES.get("quick"), ["random"], meta_episodes=4)
    directory = run(plan, folder / "mine", ignore_progress)
    shutil.copy(ROOT / "leaderboards" / "quick.csv", folder / "quick.csv")
    add_rows(folder / "quick.csv", run_rows(directory, plan.panel, directory.records().values(), verified=True))
    return directory.path, folder


@pytest.fixture
def proposal(played: tuple[Path, Path], tmp_path: Path) -> Proposal:
    return Proposal(tmp_path, *played)


def test_an_honest_proposal_passes_and_old_archives_are_not_judged_again(proposal: Proposal) -> None:
    archive = proposal.pack()
    old = proposal.base / "submissions" / "old.tar.gz"
    old.parent.mkdir()
    old.write_bytes(b"what was taken long ago")
    shutil.copy(old, archive.with_name("old.tar.gz"))
    code, said = proposal.judge()
    assert code == 0, said
    assert "1 runs verified; leaderboards/ is what they give" in said


def test_a_proposal_without_a_run_fails(proposal: Proposal) -> None:
    code, said = proposal.judge()
    assert code == 1
    assert "there is no new submissions/NAME.tar.gz" in said


def test_a_changed_record_fails(proposal: Proposal) -> None:
    records = proposal.run / RECORDS
    records.write_text(records.read_text().replace('"reward":-1.0', '"reward":1.0', 1))
    proposal.pack()
    code, said = proposal.judge()
    assert code == 1
    assert "recorded" in said


@pytest.mark.parametrize("change", ["another row", "a row more"])
def test_boards_that_the_run_does_not_give_fail(proposal: Proposal, change: str) -> None:
    proposal.pack()
    content = proposal.board.read_text()
    row = next(line for line in content.splitlines() if ",random,no," in line)
    changed = row.replace(",random,no,", ",my_agent,no,")
    proposal.board.write_text(content.replace(row, changed) if change == "another row" else f"{content}{changed}\n")
    code, said = proposal.judge()
    assert code == 1
    assert "leaderboards/ is not what the runs give" in said


def test_an_unfinished_run_fails(proposal: Proposal) -> None:
    records = proposal.run / RECORDS
    records.write_text("".join(records.read_text().splitlines(keepends=True)[:-1]))
    proposal.pack()
    code, said = proposal.judge()
    assert code == 2
    assert "1 meta-episodes are not played yet" in said


def test_no_path_leads_out_of_an_archive(proposal: Proposal) -> None:
    proposal.pack(inside=f"../../../../{proposal.elsewhere}")
    code, said = proposal.judge()
    assert code == 2
    assert "Member name contains '..'" in said


def test_a_link_in_an_archive_leads_nowhere(proposal: Proposal) -> None:
    with tarfile.open(proposal.pack(), "w:gz") as tar:
        link = tarfile.TarInfo(f"mine/{MANIFEST}")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
        tar.add(proposal.run / RECORDS, f"mine/{RECORDS}")
    code, said = proposal.judge()
    assert code == 2
    assert "manifest.json is damaged" in said
    assert "root:" not in said


def test_large_archives_are_for_a_person(proposal: Proposal) -> None:
    proposal.pack().write_bytes(b"\0" * (10 * 1024 * 1024 + 1))
    code, said = proposal.judge()
    assert code == 1
    assert "is larger than 10485760 bytes" in said


def test_the_workflow_runs_the_base_branch_on_the_proposal() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    assert "run: base/.github/verify-submission.sh base proposal" in text
    assert "run: python -m pip install ./base" in text
    assert "pull_request_target" not in text
    assert "contents: read" in text
    assert os.access(SCRIPT, os.X_OK)
