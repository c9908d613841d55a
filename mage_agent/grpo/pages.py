"""The tables of ``docs/training.md``, made of presets and fields. ``python -m mage_agent.grpo.pages`` renews them.

In the page a table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``; the words around it are written by
hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from mage_agent.grpo.about import toml_value
from mage_agent.grpo.config import ABOUT, DEFAULTS, TYPES, choices
from mage_agent.grpo.presets import PRESETS

PAGE = Path(__file__).parents[2] / "docs" / "training.md"

_TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def preset_table() -> str:
    """Lists every preset with what it changes."""
    rows = []
    for name, preset in PRESETS.items():
        changes = ", ".join(f"`{field} = {toml_value(value)}`" for field, value in preset.changes.items())
        rows.append((f"`{name}`", preset.summary, changes or "nothing"))
    return _markdown(("preset", "what it is", "otherwise than the defaults"), rows)


def field_tables() -> str:
    """Lists every field, a table for each part."""
    text = ""
    for part in dict.fromkeys(about.part for about in ABOUT.values()):
        rows = [
            (f"`{name}`", _allowed(name), f"`{toml_value(DEFAULTS[name])}`", about.text)
            for name, about in ABOUT.items()
            if about.part == part
        ]
        text += f"\n### {part}\n\n{_markdown(('field', 'may be', 'default', 'what it is'), rows)}"
    return text + "\n"


def renewed(page: str) -> str:
    """Returns a page with its tables rendered anew."""
    tables = {"presets": preset_table(), "fields": field_tables()}
    return _TABLE.sub(lambda found: f"{found[1]}{tables[found[2]]}{found[3]}", page)


def _allowed(name: str) -> str:
    if words := choices(name):
        return ", ".join(f"`{word}`" for word in words)
    if TYPES[name] in (int, float):
        return ABOUT[name].span()
    return "yes or no" if TYPES[name] is bool else "text"


def _markdown(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
