"""The code blocks of docs/games.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "games.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", BLOCKS)
def test_block_runs(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block, "docs/games.md", "exec"), {})


def test_page_tells_the_sizes_of_arrays() -> None:
    from mage_envs.games import GAMES, load_game_spec

    for spec in map(load_game_spec, GAMES):
        sizes = (spec.seats, spec.actions, spec.tensor_size, spec.reveal_size)
        assert f"| `{spec.name}` | {' | '.join(map(str, sizes))} | `{spec.population}` |" in PAGE
