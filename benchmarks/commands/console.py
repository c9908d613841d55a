"""What all commands share: the application, its output, common options, and how to write a command to be pasted."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.pool import MAX_JOBS

WIDTH = min(100, shutil.get_terminal_size((100, 24)).columns)

app = typer.Typer(
    help="Plays agents on fixed panels of meta-episodes, and keeps leaderboards.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
out = Console(width=WIDTH, highlight=False)
err = Console(width=WIDTH, highlight=False, stderr=True)

RunPath = Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN")]
SuiteName = Annotated[str, typer.Argument(help="Name of a suite; see `benchmark list suites`.")]
Jobs = Annotated[int | None, typer.Option(min=1, max=MAX_JOBS, help="Worker processes. Default: one a CPU.")]
Boards = Annotated[
    Path | None, typer.Option("--leaderboards", help="Folder of leaderboards. Default: ./leaderboards.", metavar="DIR")
]


def command_line(*words: str) -> str:
    """Writes a command that works when it is pasted: by the name on the path, or by what was started now."""
    here = sys.argv[0]
    found = shutil.which("benchmark")
    if found and Path(found).exists() and Path(here).exists() and Path(found).samefile(here):
        return shlex.join(["benchmark", *words])
    return shlex.join([*(["python"] if here.endswith(".py") else []), here, *words])


def cpus() -> int:
    """Returns how many worker processes there are by default."""
    return min(MAX_JOBS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
