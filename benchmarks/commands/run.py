"""``benchmark run``: plays a suite."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from benchmarks.commands.console import Boards, Jobs, SuiteName, app, cpus, err
from benchmarks.commands.endings import say_how_to_go_on, say_what_next, say_why_it_stopped
from benchmarks.suites.base import MAX_META_EPISODES
from mage_agent.model_flags import ModelFlags, takes_model_flags
from mage_envs.errors import MageError

if TYPE_CHECKING:
    from benchmarks.records import Status
    from benchmarks.run_directory import Mode


@app.command()
@takes_model_flags
def run(
    flags: ModelFlags,
    suite: SuiteName,
    agent: Annotated[
        list[str] | None, typer.Option(help="Spec of an agent; can be repeated. Default: the suite's.")
    ] = None,
    meta_episodes: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_META_EPISODES, help="Meta-episodes of each scenario. Default: the suite's."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed is another panel.")] = 0,
    control: Annotated[str, typer.Option(help="Causal control under which the agents play.", metavar="NAME")] = "none",
    out_: Annotated[
        Path | None, typer.Option("--out", help="Run directory. Default: runs/SUITE-TIME.", metavar="DIR")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    retry: Annotated[
        str | None, typer.Option(help="With --resume: play these again; error, timeout, or both.", metavar="STATUS,…")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Delete the run in --out first.")] = False,
    shard: Annotated[
        str | None, typer.Option(help="Play part K of N of the panel; see `benchmark merge`.", metavar="K/N")
    ] = None,
    jobs: Jobs = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1, max=10_000, help="Meta-episodes in flight. Default: 64; --batch of a model in this process."
        ),
    ] = None,
    executor: Annotated[
        Literal["local", "ray"], typer.Option(help="local: this machine; ray: the Ray cluster that is running.")
    ] = "local",
    time_limit: Annotated[
        float | None, typer.Option(help="Wall limit of a meta-episode; past it: status timeout.", metavar="SECONDS")
    ] = None,
    max_error_rate: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=1.0, help="Stop past this share of errors. Default: 0.2 with --model.", metavar="SHARE"
        ),
    ] = None,
    cost_limit: Annotated[
        float | None, typer.Option(help="Stop when the run has cost that much; needs --prices.", metavar="USD")
    ] = None,
    no_preflight: Annotated[bool, typer.Option("--no-preflight", help="Do not try the model before the run.")] = False,
    calls: Annotated[bool, typer.Option("--calls", help="Keep raw prompts and replies, in calls.jsonl.zst.")] = False,
    progress: Annotated[
        Literal["bar", "quiet", "json"],
        typer.Option(help="quiet: nothing but errors; json: lines for machines, on standard error, and no board."),
    ] = "bar",
    leaderboards: Boards = None,
) -> None:
    """Plays a suite into a run directory, and prints its rows among those of the leaderboard."""
    if resume and (overwrite or out_ is None):
        raise typer.BadParameter("needs --out, and goes without --overwrite", param_hint="--resume")
    statuses, part = _statuses(retry, resume=resume), _shard(shard)
    from benchmarks.model_run import choose_cast, with_model, with_tried_model
    from benchmarks.plan import make_plan
    from benchmarks.progress import make_teller
    from benchmarks.run_directory import check_target
    from benchmarks.runner import Scheduling
    from benchmarks.runner import run as run_plan
    from benchmarks.shards import take_shard
    from benchmarks.stopping import StoppedEarly
    from benchmarks.suites import SUITES
    from benchmarks.termination import terminable

    begun = time.monotonic()
    here = cpus() if executor == "local" else None
    found = SUITES.get(suite)
    cast = choose_cast(agent or found.default_agents, flags, executor)
    try:
        limits = cast.limits(max_error_rate, cost_limit)
        flying = concurrency or cast.concurrency
        how = Scheduling(jobs or here, jobs or (here and 1), flying, executor, time_limit, statuses, calls, limits)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    plan = make_plan(
        found,
        cast.specs if agent else (),
        meta_episodes=meta_episodes,
        seed=seed,
        control=control,
        legal_actions_in_prompt=False if flags.hide_legal_actions else None,
        factory=cast.factory,
    )
    plan = with_model(take_shard(plan, *part) if part else plan, cast)
    if not plan.tasks:
        raise MageError("; ".join(plan.manifest.reasons) or f"shard {shard} is empty: the panel is too small for it")
    path = out_ or _new_folder(suite)
    mode: Mode = "resume" if resume else "overwrite" if overwrite else "new"
    check_target(path, plan.manifest, mode)
    teller = make_teller(cast.style(progress), "meta-episodes", err)
    with terminable() as exit_code:
        try:
            plan = plan if no_preflight else with_tried_model(plan, cast, teller, limits)
            count = len(plan.tasks)
            teller.event("start", f"{suite}: {count} meta-episodes into {path}", run=str(path), total=count)
            with teller:
                how = cast.schedule(how, on_terminal=sys.stdin.isatty())
                directory = run_plan(plan, path, teller, mode=mode, how=how, calls=teller.count)
        except KeyboardInterrupt:
            say_how_to_go_on(path, teller, exit_code())
            raise typer.Exit(exit_code()) from None
        except StoppedEarly as error:
            say_why_it_stopped(path, error, teller)
            raise typer.Exit(1) from None
    say_what_next(directory, plan, teller, time.monotonic() - begun, leaderboards)


def _statuses(retry: str | None, *, resume: bool) -> tuple[Status, ...]:
    """Reads ``--retry``."""
    known: tuple[Status, ...] = ("error", "timeout")
    if retry is None:
        return ()
    words = [word.strip() for word in retry.split(",")]
    if not resume or not set(words) <= set(known):
        raise typer.BadParameter("goes with --resume, and is error, timeout or error,timeout", param_hint="--retry")
    return tuple(status for status in known if status in words)


def _shard(shard: str | None) -> tuple[int, int] | None:
    """Reads ``--shard``."""
    if shard is None:
        return None
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", shard)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise typer.BadParameter("is K/N with 1 <= K <= N, such as 1/4", param_hint="--shard")
    return int(found[1]), int(found[2])


def _new_folder(suite: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    folders = (Path("runs") / f"{suite}-{stamp}{suffix}" for suffix in ("", *(f"-{n}" for n in range(2, 100))))
    return next(folder for folder in folders if not folder.exists())
