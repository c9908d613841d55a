"""What there is to play: the tables of ``benchmark list``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from benchmarks.suites import SUITES
from mage_agent.agents import AGENTS
from mage_envs.games import GAMES
from mage_envs.opponents import OPPONENTS
from mage_envs.opponents.populations import POPULATIONS
from mage_envs.registry import Registry
from mage_envs.scenarios import SCENARIOS


def suites() -> Table:
    """Lists the suites."""
    found = (SUITES.get(name) for name in SUITES)
    return _table(
        "suites",
        ("version", "scenarios", "what it is"),
        ((s.name, str(s.version), ", ".join(part.scenario.name for part in s.parts), s.summary) for s in found),
    )


def scenarios() -> Table:
    """Lists the scenarios."""
    found = (SCENARIOS.get(name) for name in SCENARIOS)
    return _table("scenarios", ("environment", "against"), ((s.name, s.env_id, s.summary) for s in found))


def agents() -> Table:
    """Lists the agents. Every opponent is one, too."""
    return _table("agents (and every opponent)", ("what it does",), _factories(AGENTS, skip=0))


def opponents() -> Table:
    """Lists the opponents."""
    return _table("opponents", ("what it does",), _factories(OPPONENTS, skip=1))


def populations() -> Table:
    """Lists the populations with the weights of their members."""
    found = (POPULATIONS.get(name) for name in POPULATIONS)
    return _table("populations", ("members (weight)",), ((p.name, _members(p.members)) for p in found))


def games() -> Table:
    """Lists the games."""
    found = ((name, f"mage/{GAMES.get(name)().title}-meta-v0") for name in GAMES)
    return _table("games (and any of OpenSpiel's, through mage/OpenSpiel-meta-v0)", ("environment",), found)


TABLES: dict[str, Callable[[], Table]] = {
    "suites": suites,
    "scenarios": scenarios,
    "agents": agents,
    "opponents": opponents,
    "populations": populations,
    "games": games,
}


def _table(title: str, columns: Iterable[str], rows: Iterable[tuple[str, ...]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False, expand=True)
    table.add_column("name", overflow="fold", no_wrap=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _factories(registry: Registry[Any], skip: int) -> Iterator[tuple[str, str]]:
    for name in registry:
        factory = registry.get(name)
        summary = getattr(factory, "summary", None) or inspect.getdoc(factory) or ""
        yield _usage(name, factory, skip), str(summary).split("\n", maxsplit=1)[0].replace("``", "")


def _usage(name: str, factory: Callable[..., object], skip: int) -> str:
    parameters = list(inspect.signature(factory).parameters.values())[skip:]
    shown = [p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters]
    return f"{name}({', '.join(shown)})" if shown else name


def _members(members: Sequence[tuple[str, float]]) -> str:
    weights = {weight for _, weight in members}
    if len(weights) == 1 < len(members):
        return f"{', '.join(spec for spec, _ in members)} (1/{len(members)} each)"
    return ", ".join(f"{spec} ({weight:g})" for spec, weight in members)
