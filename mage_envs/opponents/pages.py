"""The tables of ``docs/opponents.md``, rendered from the registries. ``python -m mage_envs.opponents.pages`` renews it.

In the page a table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``; the words around it are written by
hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import cast

from mage_envs.opponents.base import OPPONENTS, Opponent
from mage_envs.opponents.populations import POPULATIONS
from mage_envs.opponents.roshambo import NAMES
from mage_envs.opponents.tic_tac_toe import ORDERS
from mage_envs.spec_strings import usage

PAGE = Path(__file__).parents[2] / "docs" / "opponents.md"

_TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def opponent_table() -> str:
    """Lists every opponent with its parameters and their defaults."""
    rows = []
    for name in OPPONENTS:
        factory = OPPONENTS.get(name)
        opponent = cast(type[Opponent], factory)
        table = "yes" if opponent.tabular else "no"
        rows.append((f"`{usage(name, partial(factory, None))}`", opponent.plays, table, opponent.summary))
    return _markdown(("spec", "plays", "table", "what it does"), rows)


def population_table() -> str:
    """Lists every population with its members."""
    rows = []
    for name in POPULATIONS:
        population = POPULATIONS.get(name)
        members = [f"{weight:.3g} `{spec}`" for spec, weight in population.members]
        listed = ", ".join(members if len(members) <= 8 else [*members[:3], f"… {len(members)} in all"])
        rows.append((f"`{name}`", population.split, population.summary, listed))
    return _markdown(("name", "split", "what it is", "members"), rows)


def renewed(page: str) -> str:
    """Returns a page with its tables rendered anew."""
    tables = {
        "opponents": opponent_table(),
        "populations": population_table(),
        "orders": _markdown(("order", "cells"), [(f"`{key}`", " ".join(map(str, ORDERS[key]))) for key in ORDERS]),
        "roshambo": ", ".join(f"`{name}`" for name in NAMES) + "\n",
    }
    return _TABLE.sub(lambda found: f"{found[1]}{tables[found[2]]}{found[3]}", page)


def _markdown(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
