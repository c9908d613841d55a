"""``benchmark play``: a person plays."""

from __future__ import annotations

import secrets
import sys
from typing import Annotated

import typer

from benchmarks.commands.console import app, out


@app.command()
def play(
    scenario: Annotated[
        str, typer.Argument(help="Name of a scenario, see `benchmark list scenarios`; or of a suite, with --scenario.")
    ],
    within: Annotated[
        str | None, typer.Option("--scenario", help="Of a suite: its first scenario whose name begins so.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, max=1000, help="Episodes in the meta-episode.")] = 3,
    seat: Annotated[int | None, typer.Option(min=0, help="Your seat. Default: drawn.")] = None,
    opponent: Annotated[
        str | None, typer.Option(help="Spec of the opponent. Default: drawn from the population.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeats a meta-episode. Default: drawn.")] = None,
) -> None:
    """Lets you play a meta-episode, and compares your score with the reference."""
    from benchmarks.human import draw_session, play_in_terminal
    from mage_envs.scenarios import SCENARIOS

    found = SCENARIOS.get(scenario if within is None else _of_suite(scenario, within))
    if seat is not None and seat not in found.seats:
        raise typer.BadParameter(f"{scenario} is played from seats {found.seats}", param_hint="--seat")
    session = draw_session(found, episodes, secrets.randbelow(2**32) if seed is None else seed, opponent, seat)
    play_in_terminal(session, _say, _ask)


def _of_suite(suite: str, beginning: str) -> str:
    """Returns the name of a suite's first scenario that begins so."""
    from benchmarks.suites import SUITES
    from mage_envs.errors import UnknownNameError

    names = [part.scenario.name for part in SUITES.get(suite).parts]
    found = next((name for name in names if name.startswith(beginning)), None)
    if found is None:
        raise UnknownNameError("scenario", beginning, names)
    return found


def _say(text: str) -> None:
    out.print(text, markup=False, soft_wrap=not out.is_terminal)  # A terminal would break lines inside words.


def _ask(prompt: str) -> str:
    answer = input(prompt)
    if not sys.stdin.isatty():
        out.print(answer, markup=False)  # A terminal shows what is typed; a pipe does not.
    return answer
