"""``minesweeper_logic``: how well it plays, and that its memory alone makes it better on replayed boards."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy.stats import binomtest

from mage_agent.agents import make_agent
from mage_agent.base import Briefing, agent_generator
from mage_agent.baselines.minesweeper_logic import MineSweeperLogic, Remembered
from mage_envs.errors import SpecError, UnsupportedGameError
from mage_envs.scenarios import SCENARIOS
from mage_envs.worlds import WorldView, load_world
from mage_envs.worlds.minesweeper import Board, MineSweeper, Play, Setting, Sweep, win_probability
from tests.agents.test_agents import briefing


def brief(env: gym.Env[Any, Any], seed: int) -> Briefing:
    inner: Any = env.unwrapped
    return Briefing(inner.world, "", inner.episodes, (), seed, None, None, inner.instance)


def play(agent: Any, env: gym.Env[Any, Any], seed: int, **options: Any) -> list[float]:
    """Returns the score of each episode."""
    observation, info = env.reset(seed=seed, options=options)
    agent.begin(brief(env, seed))
    scores, over = [], False
    while not over:
        choose = agent.reflect if info["phase"] == "reflect" else agent.act
        observation, _, over, truncated, info = env.step(choose(observation, info))
        over = over or truncated
        if "episode_result" in info:
            assert info["episode_result"]["invalid"] == 0
            scores.append(info["episode_result"]["reward"])
    return scores


def curve(spec: str, scenario: str, count: int = 150, **more: Any) -> tuple[np.ndarray, list[tuple[float, float]]]:
    """Returns the share of boards won in each episode, and its 95 % interval (Clopper and Pearson)."""
    env, agent = SCENARIOS.get(scenario).make(episodes=3, **more), make_agent(spec)
    scores = np.array([play(agent, env, seed) for seed in range(count)])
    bounds = [binomtest(int(won), count).proportion_ci() for won in scores.sum(0)]
    return scores.mean(0), [(bound.low, bound.high) for bound in bounds]


def won(world: MineSweeper, agent: MineSweeperLogic, placements: list[int]) -> int:
    """Returns how many boards a player who acts alike in like situations wins."""
    agent.begin(Briefing(world, "", 1, (), 0))
    chosen: dict[str, int] = {}
    count = 0
    for mines in placements:
        state = Sweep(Play(Board.of(world.grid, mines)))
        while world.outcome(state) is None:
            key = world.key(state)
            if key not in chosen:
                chosen[key] = agent.act(None, {"view": WorldView(world, state, 0, 99)})
            state = world.step(state, chosen[key]).state
        count += world.outcome(state) == "win"
    return count


@pytest.mark.parametrize(("rows", "mines", "expected"), [(6, 3, 6427), (5, 3, 1784)])
def test_how_many_of_all_boards_it_wins(rows: int, mines: int, expected: int) -> None:
    world = load_world(f"minesweeper(rows={rows}, columns={rows}, mines={mines})")
    assert isinstance(world, MineSweeper)
    every = [sum(1 << cell for cell in chosen) for chosen in combinations(range(rows * rows), mines)]
    agent = make_agent("minesweeper_logic")
    assert isinstance(agent, MineSweeperLogic)
    assert won(world, agent, every) == expected


def test_exact_guesses_are_optimal() -> None:
    """Where every situation is small enough, it wins what optimal play wins."""
    world = load_world("minesweeper(rows=4, columns=4, mines=3)")
    assert isinstance(world, MineSweeper)
    every = [sum(1 << cell for cell in chosen) for chosen in combinations(range(16), 3)]
    agent = make_agent("minesweeper_logic(exact=560)")
    assert isinstance(agent, MineSweeperLogic)
    assert won(world, agent, every) == 560 * win_probability(Setting(4, 4, 3)) == 400


@pytest.mark.parametrize("scenario", ["minesweeper/test", "minesweeper/5x5"])
def test_with_a_memory_it_gets_better_from_episode_to_episode(scenario: str) -> None:
    shares, bounds = curve("minesweeper_logic(remember=true)", scenario)
    assert bounds[0][1] < bounds[1][0]
    assert bounds[0][1] < bounds[2][0]
    assert shares[1] == shares[2] == 1.0


def test_without_a_memory_it_stays_as_it_is() -> None:
    shares, _ = curve("minesweeper_logic", "minesweeper/5x5")
    assert shares[0] == shares[1] == shares[2] < 0.9


def test_what_it_remembers_is_of_no_use_on_fresh_boards() -> None:
    shares, bounds = curve("minesweeper_logic(remember=true)", "minesweeper/5x5", instance="fresh")
    assert bounds[2][0] < shares[0] < bounds[2][1]
    assert shares.max() < 0.95


@pytest.mark.parametrize("first_click", ["safe", "zero", "given"])
def test_it_begins_in_the_same_way_where_the_first_cell_moves_mines(first_click: str) -> None:
    env = gym.make("mage/MineSweeper-meta-v0", mines=8, first_click=first_click, episodes=3)
    agent = make_agent("minesweeper_logic(remember=true)")
    scores = np.array([play(agent, env, seed) for seed in range(40)])
    assert scores[:, 0].mean() < 0.9
    assert scores[:, 1:].min() == 1


def test_no_guess_boards_are_won_every_time() -> None:
    shares, _ = curve("minesweeper_logic", "minesweeper/no_guess", 10)
    assert shares.tolist() == [1, 1, 1]


def test_a_memory_of_another_board_is_found_out() -> None:
    """As the causal controls exchange and shuffle it."""
    env = SCENARIOS.get("minesweeper/test").make(episodes=2)
    agent = make_agent("minesweeper_logic(remember=true)")
    assert isinstance(agent, MineSweeperLogic)
    other = Remembered(0, (1, 2, 3), tuple(c for c in range(36) if c not in (1, 2, 3)))
    shuffled = agent.shuffled(other, agent_generator(3))
    assert shuffled is not None
    assert len(shuffled.mined) == 3
    assert shuffled.mined != other.mined
    assert sorted((*shuffled.mined, *shuffled.free)) == list(range(36))
    losses = 0
    for seed in range(40):
        observation, info = env.reset(seed=seed)
        agent.begin(brief(env, seed))
        agent.memory = other
        while info["phase"] == "play":
            observation, _, _, _, info = env.step(agent.act(observation, info))
        losses += info["episode_result"]["outcome"] == "loss"
    assert 0 < losses < 12  # As without a memory: it fits no number that comes up, and is given up.


def test_it_says_what_it_has_no_memory_of() -> None:
    agent = make_agent("minesweeper_logic")
    assert isinstance(agent, MineSweeperLogic)
    assert agent.memory is None
    assert agent.shuffled(None, agent_generator(1)) is None


def test_the_turn_limit_shows_no_mines_but_what_is_open_is_kept() -> None:
    env = gym.make("mage/MineSweeper-meta-v0", turns=1, mines=10, first_click="safe", episodes=2)
    observation, info = env.reset(seed=2)
    agent = make_agent("minesweeper_logic(remember=true)")
    assert isinstance(agent, MineSweeperLogic)
    agent.begin(brief(env, 2))
    observation, _, _, _, info = env.step(agent.act(observation, info))
    assert info["episode_result"]["truncated"]
    agent.reflect(observation, info)
    shown = info["view"].facts["shown"]
    assert agent.memory == Remembered(0, (), tuple(cell for cell, number in enumerate(shown) if number >= 0))


@pytest.mark.parametrize(
    ("spec", "board"),
    [
        ("minesweeper_logic", {"rows": 30, "columns": 30, "mines": 150}),  # Two placements left, on 154 hidden cells.
        ("minesweeper_logic(exact=5000)", {"rows": 12, "columns": 12, "mines": 143}),
    ],
    ids=["mines", "cells"],
)
def test_it_plays_on_where_optimal_guesses_are_too_many(spec: str, board: dict[str, int]) -> None:
    env = gym.make("mage/MineSweeper-meta-v0", episodes=1, **board)
    assert len(play(make_agent(spec), env, 1)) == 1


def test_what_it_cannot_play_is_refused() -> None:
    for spec in ("minesweeper_logic(exact=-1)", "minesweeper_logic(exact=9999)", "minesweeper_logic(remember=3)"):
        with pytest.raises(SpecError, match="exact"):
            make_agent(spec)
    with pytest.raises(UnsupportedGameError, match="kuhn_poker"):
        make_agent("minesweeper_logic").begin(briefing("kuhn_poker"))
    with pytest.raises(UnsupportedGameError, match="plays MineSweeper, not Sokoban"):
        make_agent("minesweeper_logic").begin(Briefing(load_world("sokoban"), "", 1, (), 0))
