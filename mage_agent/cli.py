"""The command ``mage-agent``. It lists the agents; ``benchmark run SUITE --agent SPEC`` is what plays them."""

from __future__ import annotations

import shutil
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

WIDTH = min(100, shutil.get_terminal_size((100, 24)).columns)

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
out = Console(width=WIDTH, highlight=False)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        out.print(f"mage-agent {version('mage-envs')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Agents that play meta-episodes. Scripted ones so far: prompted and trained agents have no command yet."""


@app.command("list")
def list_() -> None:
    """Lists the agents."""
    from mage_agent.agents import agent_rows

    table = Table(box=SIMPLE_HEAD, pad_edge=False, expand=True)
    table.add_column("agent", overflow="fold")
    table.add_column("oracle", no_wrap=True)
    table.add_column("what it does")
    for row in agent_rows():
        table.add_row(*row)
    out.print(table)
    out.print(
        "Every opponent plays as an agent, too: benchmark list opponents. To play: benchmark run quick --agent SPEC"
    )


def main() -> None:
    """Entry point."""
    app()


if __name__ == "__main__":
    main()
