"""``benchmark play``: a person plays."""

from __future__ import annotations

import secrets
import sys
from typing import Annotated

import typer

from benchmarks.commands.console import app, out


@app.command()
def play(
    scenario: Annotated[str, typer.Argument(help="Name of a scenario; see `benchmark list scenarios`.")],
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

    found = SCENARIOS.get(scenario)
    if seat is not None and seat not in found.seats:
        raise typer.BadParameter(f"{scenario} is played from seats {found.seats}", param_hint="--seat")
    session = draw_session(found, episodes, secrets.randbelow(2**32) if seed is None else seed, opponent, seat)
    play_in_terminal(session, _say, _ask)


def _say(text: str) -> None:
    out.print(text, markup=False, soft_wrap=not out.is_terminal)  # A terminal would break lines inside words.


def _ask(prompt: str) -> str:
    answer = input(prompt)
    if not sys.stdin.isatty():
        out.print(answer, markup=False)  # A terminal shows what is typed; a pipe does not.
    return answer
