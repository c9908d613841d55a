"""The page of ALFWorld: its transcript is what the engine says. Run this file to write it anew."""

from __future__ import annotations

import re
from pathlib import Path

from mage_envs.worlds import pages
from mage_envs.worlds.alfworld import Game, household, solve

PAGE = Path(__file__).parents[3] / "docs" / "alfworld.md"
NUMBER = 12

_BLOCK = re.compile(r"(<!-- transcript -->\n).*?(<!-- end -->)", re.DOTALL)


def transcript() -> str:
    """Returns the solver's plan, played."""
    state = Game.from_layout(household(NUMBER)).start()
    lines = [state.text]
    for command in solve(state) or ():
        lines += ["", f"> {command}", state.step(command)]
    return "```\n" + "\n".join(lines) + "\n```\n"


def renewed(page: str) -> str:
    return _BLOCK.sub(lambda found: f"{found[1]}{transcript()}{found[2]}", page)


def test_the_transcript_of_the_page_is_what_the_engine_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert _BLOCK.search(page)
    assert renewed(page) == page
    assert pages.renewed(page, "alfworld") == page, "run python -m mage_envs.worlds.pages"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
