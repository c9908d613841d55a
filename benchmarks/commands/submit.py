"""``benchmark submit``: puts a verified run on a board."""

from __future__ import annotations

from typing import Annotated

import typer

from benchmarks.commands.console import Boards, Jobs, RunPath, app, err, out
from benchmarks.commands.verify import owed_meta_episodes, verified_run
from mage_envs.errors import RecordError


@app.command()
def submit(
    path: RunPath,
    jobs: Jobs = None,
    leaderboards: Boards = None,
    allow_fake: Annotated[
        bool, typer.Option("--allow-fake", help="Also rows of the backend `fake`, to try things out.")
    ] = False,
) -> None:
    """Verifies a run, then adds its rows to the leaderboard or replaces them there."""
    from benchmarks.leaderboard import add_rows, board_path, submit_folder
    from benchmarks.rows import run_rows
    from benchmarks.run_directory import load_run
    from benchmarks.whole_suite import fake_agents, smaller_or_other

    config = load_run(path).manifest.config
    if (fakes := fake_agents(config)) and not allow_fake:
        raise RecordError(
            f"{path}: no model answered {', '.join(fakes)}, but the backend fake: these rows would say nothing. "
            "--allow-fake, with a folder of your own by --leaderboards, writes them all the same"
        )
    folder = submit_folder(leaderboards)
    directory, panel = verified_run(path, jobs)
    if owed := owed_meta_episodes(directory, panel):
        raise RecordError(f"{path}: {owed}. Finish the run with --resume, then submit it")
    rows = run_rows(directory, panel, directory.stream(), verified=True)
    board = board_path(panel.suite.name, folder)
    made = "" if board.exists() else "created "
    count = add_rows(board, rows)
    out.print(f"{made}{board}: {len(rows)} rows of this run, {count} in all", markup=False, soft_wrap=True)
    if other := smaller_or_other(config, panel.suite):
        err.print(f"{path}: {other}", markup=False, soft_wrap=True)
