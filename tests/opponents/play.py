"""Plays opponents for the tests, as an environment would: it keeps the memory and samples with its own generator."""

from __future__ import annotations

import hashlib
import itertools
import pickle
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import PositionGraph, View, load_game_spec
from mage_envs.games.positions import CHANCE, SIMULTANEOUS, TERMINAL
from mage_envs.opponents import OPPONENTS, Opponent, make_opponent, sample_index

SMALL_GAMES = (
    "kuhn_poker",
    "leduc_poker",
    "tic_tac_toe",
    "rock_paper_scissors",
    "rock_paper_scissors(throws=2)",
    "matrix_pd",
    "goofspiel(num_cards=3)",
    "kuhn_poker(players=3)",
)

EXAMPLES = {
    "cfr": "cfr(iterations=20)",
    "cfr_argmax": "cfr_argmax(iterations=20)",
    "constant": "constant(action=0)",
    "leaning": "leaning(action=0)",
    "ismcts": "ismcts(simulations=5)",
    "mcts": "mcts(simulations=20)",
    "mcts_table": "mcts_table(simulations=20, runs=2)",
    "pattern": 'pattern(order="4 0 8")',
    "roshambo": "roshambo(name=shofar)",
    "switching": "switching(a=constant(action=0), b=mirror, at=2)",
}
"""Parameters for opponents that need some, and cheaper ones for those that search; others run with their defaults."""

NEED_A_FILE = ("tabular",)


def opponents_for(game: str) -> list[Opponent]:
    """Every registered opponent that plays a game."""
    spec, found = load_game_spec(game), []
    for name in OPPONENTS:
        if name not in NEED_A_FILE:
            try:
                found.append(make_opponent(EXAMPLES.get(name, name), spec))
            except UnsupportedGameError:
                continue
    return found


@lru_cache(maxsize=32)
def decision_views(game: str) -> tuple[View, ...]:
    """Every view of a small game at which its seat must choose, each once."""
    root = PositionGraph(load_game_spec(game), limit=10**6).root
    views: dict[View, None] = {}
    waiting, seen = [root], {root}
    while waiting:
        position = waiting.pop()
        if position.player == TERMINAL:
            continue
        if position.player == CHANCE:
            moves: list[Any] = [action for action, _ in position.chance]
        else:
            seats = range(position.spec.seats) if position.player == SIMULTANEOUS else [position.player]
            views.update({position.view(seat): None for seat in seats})
            choices = [position.view(seat).legal for seat in seats]
            moves = list(itertools.product(*choices)) if position.player == SIMULTANEOUS else list(choices[0])
        new = [child for child in map(position.child, moves) if child not in seen]
        seen.update(new)
        waiting += new
    return tuple(views)


def meta_episode(game: str, spec: str, seed: int, episodes: int = 4, through_pickle: bool = False) -> Iterator[str]:
    """Plays one opponent in all seats but one, which plays at random and moves up a seat an episode.

    Yields a line a decision, so that callers can interleave meta-episodes.
    """
    game_spec = load_game_spec(game)
    opponent, rng = make_opponent(spec, game_spec), np.random.default_rng(seed)
    memories = [opponent.start(rng) for _ in range(game_spec.seats - 1)]
    root = PositionGraph(game_spec).root
    for episode in range(episodes):
        agent, position, events = episode % game_spec.seats, root, 0
        while position.player != TERMINAL:
            if position.player == CHANCE:
                position, events = position.after_chance(seed + episode, events), events + 1
                continue
            seats = range(game_spec.seats) if position.player == SIMULTANEOUS else [position.player]
            actions = []
            for seat in seats:
                view = position.view(seat)
                distribution = view.uniform
                other = seat - (seat > agent)
                if seat != agent:
                    distribution, memories[other] = opponent.policy(view, memories[other], rng)
                if through_pickle:
                    memories = pickle.loads(pickle.dumps(memories))
                actions.append(view.legal[sample_index(distribution, rng.random(), view)])
                yield f"{episode} {seat} {view.key!r} {distribution} {actions[-1]}"
            position = position.child(tuple(actions) if position.player == SIMULTANEOUS else actions[0])
        for other, memory in enumerate(memories):
            memories[other] = opponent.end_episode(position.view(other + (other >= agent)), memory)
        hash(tuple(memories))  # Only immutable values hash.


def digest(game: str, spec: str, seed: int = 0) -> str:
    """A short name for everything that happens in a meta-episode."""
    return hashlib.sha256("\n".join(meta_episode(game, spec, seed)).encode()).hexdigest()[:16]


def all_digests() -> dict[str, str]:
    """The digest of a meta-episode for every opponent of every small game."""
    return {
        f"{game}: {opponent.spec}": digest(game, str(opponent.spec))
        for game in SMALL_GAMES
        for opponent in opponents_for(game)
    }


if __name__ == "__main__":
    import json
    import sys

    json.dump(all_digests(), sys.stdout)
