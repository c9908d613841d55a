"""What there is to play: the tables of ``benchmark list``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from rich.box import SIMPLE_HEAD
from rich.table import Table

from benchmarks.suites import SUITES
from mage_agent.agents import agent_rows, first_line
from mage_agent.backend_rows import backend_rows
from mage_envs.games import GAMES
from mage_envs.opponents import OPPONENTS
from mage_envs.opponents.populations import POPULATIONS
from mage_envs.scenarios import SCENARIOS
from mage_envs.spec_strings import usage
from mage_envs.worlds import WORLDS

MOST_MEMBERS = 30
"""Of a population with more members, the first three are listed."""


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
    return _table("agents (and every opponent)", ("oracle", "what it does"), agent_rows())


def backends() -> Table:
    """Lists what can answer the agents that ask a language model."""
    return _table("backends, for agents that ask a language model", ("what it is",), backend_rows())


def opponents() -> Table:
    """Lists the opponents."""
    return _table("opponents", ("what it does",), _opponents())


def populations() -> Table:
    """Lists the populations with the weights of their members."""
    found = (POPULATIONS.get(name) for name in POPULATIONS)
    return _table("populations", ("members (weight)",), ((p.name, _members(p.members)) for p in found))


def games() -> Table:
    """Lists the games."""
    found = ((name, f"mage/{GAMES.get(name)().title}-meta-v0") for name in GAMES)
    return _table("games (and any of OpenSpiel's, through mage/OpenSpiel-meta-v0)", ("environment",), found)


def worlds() -> Table:
    """Lists the worlds."""
    found = ((name, f"mage/{WORLDS.get(name).title}-meta-v0") for name in WORLDS)
    return _table("worlds", ("environment",), found)


TABLES: dict[str, Callable[[], Table]] = {
    "suites": suites,
    "scenarios": scenarios,
    "agents": agents,
    "backends": backends,
    "opponents": opponents,
    "populations": populations,
    "games": games,
    "worlds": worlds,
}


def _table(title: str, columns: Iterable[str], rows: Iterable[tuple[str, ...]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False, expand=True)
    table.add_column("name", overflow="fold", no_wrap=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _opponents() -> Iterator[tuple[str, str]]:
    for name in OPPONENTS:
        factory = OPPONENTS.get(name)
        yield usage(name, partial(factory, None)), str(getattr(factory, "summary", "") or first_line(factory))


def _members(members: Sequence[tuple[str, float]]) -> str:
    weights = {weight for _, weight in members}
    if len(weights) == 1 < len(members):
        few = len(members) <= MOST_MEMBERS
        shown = [spec for spec, _ in members] if few else [*(spec for spec, _ in members[:3]), "…"]
        return f"{', '.join(shown)} (1/{len(members)} each)"
    return ", ".join(f"{spec} ({weight:g})" for spec, weight in members)
