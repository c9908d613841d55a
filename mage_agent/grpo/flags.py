"""The fields of a training configuration as options of a command, in the words and ranges that the dataclass has."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from mage_agent.grpo.about import Value
from mage_agent.grpo.config import ABOUT, DEFAULTS, TYPES, choices


def flag(name: str) -> str:
    """Returns how a field is written on the command line: ``--learning-rate``."""
    return "--" + name.replace("_", "-")


def takes_train_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the fields of :class:`TrainConfig` as options; it gets those that were used as ``given``."""
    own = inspect.signature(command, eval_str=True).parameters.values()

    @functools.wraps(command)
    def with_flags(**values: Any) -> None:
        given = {name: value for name in DEFAULTS if (value := values.pop(name)) is not None}
        command(**values, given=given)

    kept = [found.replace(kind=inspect.Parameter.KEYWORD_ONLY) for found in own if found.name != "given"]
    with_flags.__signature__ = inspect.Signature([*kept, *map(_parameter, DEFAULTS)])  # type: ignore[attr-defined]
    with_flags.__annotations__ = {}
    return with_flags


def in_words(given: Mapping[str, Value]) -> list[str]:
    """Writes fields as a command line has them.

    >>> in_words({"steps": 10, "trust_remote_code": False})
    ['--steps 10', '--no-trust-remote-code']
    """
    words = []
    for name, value in given.items():
        if isinstance(value, bool):
            words.append(flag(name) if value else "--no-" + flag(name)[2:])
        else:
            words.append(f"{flag(name)} {value}")
    return words


def _parameter(name: str) -> inspect.Parameter:
    about, wanted = ABOUT[name], TYPES[name]
    text = f"{about.text}{_default(DEFAULTS[name])}"
    names, metavar = [flag(name)], _METAVARS.get(wanted, "TEXT")
    if wanted is bool:
        names, metavar = [f"{flag(name)}/--no-{flag(name)[2:]}"], ""
    elif words := choices(name):
        wanted, metavar = str, "|".join(words)
    option = typer.Option(*names, help=text, metavar=metavar, rich_help_panel=about.part, show_default=False)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[wanted | None, option]
    )


_METAVARS = {int: "N", float: "X"}


def _default(value: Value) -> str:
    if value == "":
        return ""
    return f" Default: {value if not isinstance(value, bool) else 'yes' if value else 'no'}."
