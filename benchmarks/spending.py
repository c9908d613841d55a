"""What a meta-episode in progress has cost, told as its calls return: a limit of cost cannot wait for its end."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from benchmarks.attempt_log import LOGS
from benchmarks.files import replace_file
from benchmarks.pool import Tally
from benchmarks.records import Record, UsageRecord
from mage_agent.base import Agent, Usage
from mage_envs.errors import RecordError

UNFINISHED = "unfinished_cost.json"
"""In the folder of logs: US dollars for calls of meta-episodes that were cut off, and are in no record."""

_NOTHING = Tally()


class Meter:
    """Reads the usage of one meta-episode's agent, and says by how much it grew.

    What is told here serves limits and progress only. What a run has cost is what its records say.
    """

    def __init__(self) -> None:
        """Starts at nothing."""
        self._told = self._before = self._now = _NOTHING

    def begin(self) -> None:
        """The agent begins: what it said before is of another stretch, such as a donor's meta-episode in a control."""
        self._before, self._now = self._before.plus(self._now), _NOTHING

    def read(self, agent: Agent) -> Tally:
        """Asks the agent, who is a guest, for its usage since it began. Returns what is new."""
        try:
            usage: Any = agent.usage() if hasattr(agent, "usage") else None
            self._now = _spent(usage) if isinstance(usage, Usage) else self._now
        except Exception:  # noqa: BLE001 - the referee asks again, and writes down how it fails.
            return _NOTHING
        return self._news(self._before.plus(self._now))

    def end(self, record: Record) -> Tally:
        """Takes the record. Returns what is new, the finished meta-episode included."""
        spent = _NOTHING if record.usage is None else _spent(record.usage)
        return self._news(spent)._replace(done=1, bad=int(not record.scored), recorded=spent.cost)

    def _news(self, total: Tally) -> Tally:
        """Returns by how much a total is more than what was told; never less than nothing, for money spent is spent."""
        pairs = zip(total, self._told, strict=True)
        grown = Tally._make(0 if math.isinf(told) else max(0, found - told) for found, told in pairs)
        self._told = self._told.plus(grown)
        return grown


def _spent(usage: Usage | UsageRecord) -> Tally:
    """Returns what a usage came to; of infinite cost if it is unknown what its calls cost."""
    unknown = math.inf if usage.calls else 0.0
    tokens = (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
    return Tally(cost=unknown if usage.cost is None else usage.cost, calls=usage.calls, tokens=tokens)


def unfinished_cost(run: Path) -> float:
    """Returns what a run has spent on meta-episodes that were cut off, in US dollars, as far as attempts wrote it down.

    Raises:
        RecordError: The file says something else.
    """
    path = run / LOGS / UNFINISHED
    try:
        found = float(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return 0.0
    except (OSError, ValueError, TypeError) as error:
        raise RecordError(f"{path} should hold a number of dollars ({error}): mend or delete it") from error
    return found


def add_unfinished_cost(run: Path, spent: Tally) -> None:
    """Writes down what an attempt spent on meta-episodes that it did not finish."""
    dollars = spent.cost - spent.recorded
    if math.isfinite(dollars) and dollars > 0.0:
        replace_file(run / LOGS / UNFINISHED, json.dumps(unfinished_cost(run) + dollars).encode() + b"\n")
