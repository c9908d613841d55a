"""What agents and rows are called where a person reads it, and where a long name is broken into lines."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.text import Text

from benchmarks.rows import Row
from mage_agent.agents import AGENTS
from mage_envs.errors import SpecError
from mage_envs.opponents import OPPONENTS
from mage_envs.spec_strings import Spec, parse_spec

_OURS = ("mage_agent.", "mage_envs.")
_JOINTS = re.compile(r"(?<=[(=+/,_-])")
_LEAST = 10
_HASH = 8


def short_name(agent: str) -> str:
    """Writes an agent's spec without the parameters that have their default value.

    An agent that is not part of MAGE keeps its whole spec: a command that does not know its file could not shorten it.

    >>> short_name("mcts(simulations=1000, uct_c=2.0, rollouts=1)")
    'mcts(simulations=1000)'
    """
    try:
        spec = parse_spec(agent)
    except SpecError:
        return agent  # Not one of ours: a name that someone chose.
    factory = _factory(spec.name)
    if factory is None:
        return agent
    parameters = inspect.signature(factory).parameters
    changed = [(key, x) for key, x in spec.kwargs if key not in parameters or parameters[key].default != x]
    return str(Spec(spec.name, spec.args, tuple(changed)))


def memory_note(row: Row) -> str:
    """Returns the memory of a row's agent; empty if it has none, or its short name says it."""
    memory = row["memory"]
    return "" if memory == "none" or memory in short_name(row["agent"]) else memory


def control_note(row: Row) -> str:
    """Returns the causal control of a row; empty if it was played as it is."""
    return "" if row["control"] == "none" else row["control"]


def row_label(row: Row) -> str:
    """Names a row: its agent, and what else sets it apart."""
    return _label(row, row["model"])


def row_labels(rows: Sequence[Row]) -> list[str]:
    """Names the rows of one scenario and panel, so that no two have the same name if the rows tell them apart.

    The model is left out where all have the same; revision and prompts are said where nothing else differs.
    """
    models = len({row["model"] for row in rows if row["model"]}) > 1
    labels = [_label(row, row["model"] if models else "") for row in rows]
    for column in ("revision", "prompt_hash"):
        count = Counter(labels)
        labels = [
            f"{label} [{row[column][:_HASH]}]" if count[label] > 1 and row[column] else label
            for label, row in zip(labels, rows, strict=True)
        ]
    return labels


def broken(text: str, width: int) -> list[str]:
    """Breaks a name into lines: between words if it can be, else behind ``( = + / , _ -``, else anywhere.

    >>> broken('react(memory="history+reflection") [qwen]', 24)
    ['react(memory="history+', 'reflection") [qwen]']

    Args:
        text: The name.
        width: Characters in a line, at least 1.
    """
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if len(joined) <= width:
            lines[-1] = joined
            continue
        lines += [""] if lines[-1] else []
        for part in _JOINTS.split(word):
            lines += [""] if lines[-1] and len(lines[-1] + part) > width else []
            lines[-1] += part
            while len(lines[-1]) > width:
                lines[-1:] = [lines[-1][:width], lines[-1][width:]]
    return lines


class Name:
    """A name in a cell of a table in a terminal."""

    def __init__(self, text: str) -> None:
        """Takes the name; brackets in it are no markup."""
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yields its lines."""
        yield Text("\n".join(broken(self._text, options.max_width)))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Returns how narrow and how wide it can be."""
        return Measurement(min(_LEAST, len(self._text)), len(self._text))


def _label(row: Row, model: str) -> str:
    also = (model, memory_note(row), control_note(row))
    label = " ".join([short_name(row["agent"]), *(f"[{text}]" for text in also if text)])
    return label + (" (oracle)" if row["oracle"] == "yes" else "")


def _factory(name: str) -> Callable[..., Any] | None:
    for registry in (AGENTS, OPPONENTS):
        if name in registry:
            factory: Callable[..., Any] = registry.get(name)
            return factory if factory.__module__.startswith(_OURS) else None
    return None
