"""What ``benchmark run`` says at its end: the rows, or why it ended early; and how to go on."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.commands.console import command_line, err, out
from benchmarks.termination import TERMINATED
from mage_agent.backends.base import FinalError
from mage_agent.model_flags import without_secrets
from mage_agent.plain_text import plain

if TYPE_CHECKING:
    from benchmarks.plan import Plan
    from benchmarks.progress import Teller
    from benchmarks.run_directory import RunDirectory
    from benchmarks.stopping import Reason, StoppedEarly

_THEN: Mapping[Reason, str] = {
    "errors": "Go on with",
    "cost": "Raise --cost-limit, and go on with",
    "unknown cost": "Leave --cost-limit out, and go on with",
}

_MENDED = (
    "The same requests would fail again: mend what the error names.\nAnother context, length of replies, memory or "
    "model is another run: start it anew, with another --out. If only a key, an address or the server was wrong, go on "
    "with"
)


def say_what_next(
    directory: RunDirectory, plan: Plan, teller: Teller, seconds: float, leaderboards: Path | None
) -> None:
    """Prints the rows of a run that is finished, and what can be done with it."""
    from benchmarks.report import print_run

    path, shard = str(directory.path), plan.manifest.shard
    teller.event("end", "", run=path, seconds=round(seconds, 3))
    if teller.style != "bar":
        return
    if shard is None:
        print_run(out, directory, plan.panel, directory.stream(), leaderboards)
    out.print(f"Run, in {seconds:.0f} s: {path}", markup=False, soft_wrap=True)
    if shard is None:
        _say_how_to_submit(directory, plan)
    else:
        merge = command_line("merge", "OUT", path, "OTHER_SHARDS…")
        out.print(f"Shard {shard[0]}/{shard[1]}. To join it with the others: {merge}", markup=False, soft_wrap=True)


def _say_how_to_submit(directory: RunDirectory, plan: Plan) -> None:
    from benchmarks.whole_suite import fake_agents, smaller_or_other

    config = directory.manifest.config
    if fake_agents(config):
        out.print("It is of no model, and for no board.")
        return
    if other := smaller_or_other(config, plan.panel.suite):
        out.print(f"{directory.path}: {other}", markup=False)
    out.print(f"To put it on the board: {command_line('submit', str(directory.path))}", markup=False, soft_wrap=True)


def say_how_to_go_on(path: Path, teller: Teller, code: int) -> None:
    """Says how a run goes on that was interrupted, and by what, which the exit code tells."""
    command, by = resume_command(path), " by SIGTERM" if code == TERMINATED else ""
    text = f"\ninterrupted{by}; nothing finished is lost. Go on with:\n  {command}{_key_again()}"
    _tell(teller, "interrupted", text, run=str(path), resume=command)


def say_why_it_stopped(path: Path, stopped: StoppedEarly, teller: Teller) -> None:
    """Says why a run stopped early, and how it goes on."""
    by_errors = stopped.reason == "errors"
    command = resume_command(path, *(("--retry", "error,timeout") if by_errors else ()))
    most = f"\nMost frequent error: {plain(stopped.error)}" if stopped.error else ""
    then = _MENDED if stopped.error.startswith(f"{FinalError.__name__}: ") else _THEN[stopped.reason]
    text = f"\nstopped: {stopped}{most}\nNothing finished is lost. {then}:\n  {command}{_key_again()}"
    facts = {"reason": stopped.reason, "message": str(stopped), "error": stopped.error}
    _tell(teller, "stopped", text, run=str(path), **facts, resume=command)


def resume_command(path: Path, *more: str) -> str:
    """Writes the command that goes on with a run: without secrets, and once."""
    words = [word for word in without_secrets(sys.argv[1:]) if word not in ("--resume", "--overwrite")]
    if more:
        words = _without(words, "--retry")
    if "--out" not in words and not any(word.startswith("--out=") for word in words):
        words += ["--out", str(path)]
    return command_line(*words, "--resume", *more)


def _tell(teller: Teller, name: str, text: str, **facts: str) -> None:
    """Tells of what a quiet run, too, does not keep to itself."""
    if teller.style == "json":
        teller.event(name, text, **facts)
    else:
        err.print(text, markup=False, soft_wrap=True)


def _without(words: list[str], option: str) -> list[str]:
    return [
        word
        for before, word in zip(["", *words], words, strict=False)
        if option not in (before, word) and not word.startswith(f"{option}=")
    ]


def _key_again() -> str:
    left_out = without_secrets(sys.argv[1:]) != sys.argv[1:]
    return "\nThe key is left out: give it again, or by --api-key-env." if left_out else ""
