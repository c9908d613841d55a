"""The command ``mage-agent``: lists the agents, and shows one at play. ``benchmark run`` is what plays a suite."""

from __future__ import annotations

import secrets
import sys
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from mage_agent.console import err, out
from mage_agent.grpo.ablate_command import ablate
from mage_agent.grpo.command import presets, train
from mage_agent.model_flags import ModelFlags, takes_model_flags
from mage_agent.models_command import models
from mage_envs.errors import MageError

INTERRUPTED = 130

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


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
    """Agents that play meta-episodes: scripted ones, and prompted ones that ask a language model."""


@app.command("list")
def list_() -> None:
    """Lists the agents, and what can answer those that ask a model."""
    from mage_agent.agents import agent_rows
    from mage_agent.backend_rows import backend_rows

    table = Table(box=SIMPLE_HEAD, pad_edge=False, expand=True)
    table.add_column("agent", overflow="fold")
    table.add_column("oracle", no_wrap=True)
    table.add_column("what it does")
    for row in agent_rows():
        table.add_row(*row)
    out.print(table)
    backends = Table(box=SIMPLE_HEAD, pad_edge=False, expand=True)
    backends.add_column("backend", no_wrap=True)
    backends.add_column("what it is")
    for name, summary in backend_rows():
        backends.add_row(name, summary)
    out.print(backends)
    out.print(
        "Every opponent plays as an agent, too: benchmark list opponents. To play: benchmark run quick --agent SPEC"
    )


@app.command()
@takes_model_flags
def chat(
    flags: ModelFlags,
    scenario: Annotated[
        str, typer.Option(help="What is played; see `benchmark list scenarios`.", metavar="NAME")
    ] = "kuhn/train",
    agent: Annotated[str, typer.Option(help="Spec of a language agent.", metavar="SPEC")] = "zero_shot",
    episodes: Annotated[int, typer.Option(min=1, max=1000, help="Episodes in the meta-episode.", metavar="N")] = 3,
    seat: Annotated[int | None, typer.Option(min=0, help="The agent's seat. Default: drawn.", metavar="N")] = None,
    opponent: Annotated[str | None, typer.Option(help="Spec of the opponent. Default: drawn.", metavar="SPEC")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Repeats a meta-episode. Default: drawn.", metavar="N")
    ] = None,
) -> None:
    """Shows one meta-episode of a language agent live: prompts, replies, how they were read, results, cost."""
    import asyncio

    from mage_agent.agents import make_agent
    from mage_agent.chat import Shown
    from mage_agent.chat import chat as play
    from mage_agent.language import LanguageAgent
    from mage_agent.spec_parameters import with_parameters
    from mage_envs.scenarios import SCENARIOS

    found = SCENARIOS.get(scenario)
    (spec,) = with_parameters([agent], flags.parameters())
    player = make_agent(spec, flags.settings())
    if not isinstance(player, LanguageAgent):
        raise MageError(f"{player.name} asks no model: to play yourself or see scripted agents, use `benchmark`")
    options = {name: value for name, value in (("opponent", opponent), ("seat", seat)) if value is not None}
    seed = secrets.randbelow(2**32) if seed is None else seed
    try:
        asyncio.run(
            play(
                found,
                player,
                Shown(out),
                episodes=episodes,
                seed=seed,
                options=options,
                legal_actions=not flags.hide_legal_actions,
            )
        )
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


app.command()(train)
app.command()(presets)
app.command()(ablate)
app.add_typer(models, name="models")


def main() -> None:
    """Entry point: an error is one line on standard error and exit code 2."""
    try:
        app()
    except (MageError, OSError) as error:
        _fail(error)
    except ValueError as error:  # What an environment says of its options.
        _fail(error)


def _fail(error: Exception) -> None:
    err.print(f"mage-agent: {error}", markup=False, soft_wrap=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
