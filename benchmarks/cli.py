"""The command ``benchmark``. Modules that compute are imported by the commands that need them: help is quick."""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module
from typing import Annotated

import typer

from benchmarks import commands
from benchmarks.commands.console import app, err, out
from mage_envs.errors import MageError, VerificationError


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        out.print(f"benchmark {version('mage-envs')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Plays agents on fixed panels of meta-episodes, and keeps leaderboards."""


for _module in pkgutil.iter_modules(commands.__path__):
    import_module(f"{commands.__name__}.{_module.name}")


def main() -> None:
    """Entry point: an error of MAGE is one line on standard error and exit code 2, a failed verification 1."""
    try:
        app()
    except VerificationError as error:
        _fail(error, 1)
    except MageError as error:
        _fail(error, 2)
    except OSError as error:  # What a file system refuses is no bug: full, read-only, not yours.
        _fail(error, 2)


def _fail(error: MageError | OSError, code: int) -> None:
    err.print(f"benchmark: {error}", markup=False, soft_wrap=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
