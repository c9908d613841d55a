"""``benchmark list``: what there is."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from benchmarks.commands.console import app, out


class Kind(StrEnum):
    """What ``benchmark list`` can list."""

    SUITES = "suites"
    SCENARIOS = "scenarios"
    AGENTS = "agents"
    BACKENDS = "backends"
    OPPONENTS = "opponents"
    POPULATIONS = "populations"
    GAMES = "games"
    WORLDS = "worlds"


@app.command("list")
def list_(kind: Annotated[Kind | None, typer.Argument(help="List only these.")] = None) -> None:
    """Lists suites, scenarios, agents, backends, opponents, populations and games."""
    from benchmarks.listing import TABLES

    for name, table in TABLES.items():
        if kind is None or kind.value == name:
            out.print(table())
