"""The table of docs/games.md is in step with the games. That its code runs: ``tests/test_docs.py``."""

from __future__ import annotations

from pathlib import Path

from mage_envs.games import GAMES, load_game_spec

PAGE = (Path(__file__).parents[2] / "docs" / "games.md").read_text(encoding="utf-8")


def test_page_tells_the_sizes_of_arrays() -> None:
    for spec in map(load_game_spec, GAMES):
        sizes = (spec.seats, spec.actions, spec.tensor_size, spec.reveal_size)
        assert f"| `{spec.name}` | {' | '.join(map(str, sizes))} | `{spec.population}` |" in PAGE
