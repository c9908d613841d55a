"""Agents that learn from what they saw: habits are found and punished, and changes are noticed."""

from __future__ import annotations

import numpy as np
import pytest

from mage_agent.agents import make_agent
from mage_agent.baselines.change_point import strategies
from mage_envs.errors import SpecError, UnsupportedGameError
from tests.agents.loop import make, play
from tests.agents.test_agents import briefing

ROCKS = "rock_paper_scissors(throws=10)"


def scores(agent: str, count: int, title: str = "KuhnPoker", **arguments: object) -> np.ndarray:
    env, player = make(title, **arguments), make_agent(agent)
    return np.array([play(player, env, seed) for seed in range(count)])


def test_markov_beats_a_cycle_once_it_has_seen_each_step() -> None:
    found = scores("markov", 20, "RockPaperScissors", game=ROCKS, population="cycle", episodes=3, seat=0)
    assert found[:, 1].min() >= 9
    assert found[:, 2].min() == 10
    assert 0 < found[:, 0].mean() < 9


def test_markov_forgets_what_has_changed() -> None:
    """The other throws paper for ten episodes, then rock. Old counts that fade are outweighed sooner."""
    spec = "switching(a=constant(action=paper), b=constant(action=rock), at=10)"
    more = {"game": ROCKS, "population": spec, "episodes": 14, "seat": 0}
    fading = scores("markov(order=0, decay=0.9)", 5, "RockPaperScissors", **more)
    keeping = scores("markov(order=0, decay=1.0)", 5, "RockPaperScissors", **more)
    assert fading[:, :10].min(initial=10, where=np.arange(10) > 0) == 10
    assert fading[:, 12:].min() == 10
    assert keeping[:, 12:].max() == -10


def test_markov_asks_shorter_contexts_where_long_ones_are_new() -> None:
    found = scores("markov(order=8)", 5, "RockPaperScissors", game=ROCKS, population="constant(action=rock)", seat=0)
    assert found[:, 1:].min() == 10


def test_markov_plays_rock_paper_scissors_only() -> None:
    with pytest.raises(UnsupportedGameError, match="markov plays rock_paper_scissors only, not 'kuhn_poker'"):
        make_agent("markov").begin(briefing("kuhn_poker"))
    for spec in ("markov(order=9)", "markov(decay=0)", "change_point(hazard=1.5)"):
        with pytest.raises(SpecError, match="must be"):
            make_agent(spec)


def test_recall_repeats_what_won() -> None:
    """Against a fixed order of cells a first win can be repeated move by move."""
    found = scores("recall", 60, "TicTacToe", population="pattern(order=rows)", episodes=8, seat=0)
    for row in found:
        won = np.flatnonzero(row == 1)
        assert not won.size or row[won[0] :].min() == 1
    assert (found[:, -1] == 1).mean() > (found[:, 0] == 1).mean() + 0.2


def test_recall_plays_as_its_base_where_it_knows_nothing() -> None:
    found = scores("recall(base=minimax)", 20, "TicTacToe", population="random", episodes=1)
    assert found.min() >= 0
    with pytest.raises(UnsupportedGameError, match="minimax"):
        make_agent("recall(base=minimax)").begin(briefing("kuhn_poker"))


def test_change_point_takes_switching_opponents_apart() -> None:
    population = (
        ("switching(a=aggressive, b=conservative, at=4)", 0.5),
        ("switching(a=conservative, b=cfr, at=4)", 0.5),
    )
    assert dict(strategies(population)) == {"aggressive": 0.25, "conservative": 0.5, "cfr": 0.25}


def test_change_point_finds_out_who_came_and_who_comes_then() -> None:
    """Before the switch it knows the opponent; after it, who reckons with a change loses less."""
    more = {"population": "kuhn/switching", "episodes": 16, "seat": 0}
    ready, rigid = (scores(f"change_point(hazard={h})", 600, **more)[:, 12:].mean() for h in (0.1, 0.0))
    assert ready > rigid + 0.05


def test_change_point_without_hazard_is_thompson() -> None:
    for seed in range(20):
        env = make(population="kuhn/train")
        assert play(make_agent("change_point(hazard=0.0)"), env, seed) == play(make_agent("thompson"), env, seed)
