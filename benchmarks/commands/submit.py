"""``benchmark submit``: puts a verified run on a board."""

from __future__ import annotations

from benchmarks.commands.console import Boards, Jobs, RunPath, app, out
from benchmarks.commands.verify import owed_meta_episodes, verified_run
from mage_envs.errors import RecordError


@app.command()
def submit(path: RunPath, jobs: Jobs = None, leaderboards: Boards = None) -> None:
    """Verifies a run, then adds its rows to the leaderboard or replaces them there."""
    from benchmarks.leaderboard import add_rows, board_path, submit_folder
    from benchmarks.rows import run_rows

    folder = submit_folder(leaderboards)
    directory, panel = verified_run(path, jobs)
    if owed := owed_meta_episodes(directory, panel):
        raise RecordError(f"{path}: {owed}. Finish the run with --resume, then submit it")
    rows = run_rows(directory, panel, directory.stream(), verified=True)
    board = board_path(panel.suite.name, folder)
    count = add_rows(board, rows)
    out.print(f"{board}: {len(rows)} rows of this run, {count} in all")
