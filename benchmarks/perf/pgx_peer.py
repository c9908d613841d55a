"""Moves a second of pgx (JAX on this machine's processor), in an interpreter that has it.

Run: ``python benchmarks/perf/pgx_peer.py``; ``python -m benchmarks.perf.vector`` runs it. Prints one JSON object: for
each game and batch the moves a second of the best round. A step is pgx's own, with its auto-reset wrapper, vectorised
and compiled, in ``lax.scan``; the actions are uniformly random legal ones, drawn inside; the whole last state is
returned, so that no observation can be left out.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

GAMES = ("kuhn_poker", "tic_tac_toe")
BATCHES = (1_024, 8_192)
ROUNDS = 60
MOVES = 400_000


def rate(game: str, batch: int) -> float:
    """Returns the moves a second of all environments together, in the best round."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(game)  # type: ignore[arg-type, unused-ignore]
    init, step = jax.vmap(env.init), jax.vmap(auto_reset(env.step, env.init))
    length = max(1, MOVES // batch)

    def advance(carry: Any, _: Any) -> Any:
        state, key = carry
        key, choice, renewal = jax.random.split(key, 3)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        action = jax.random.categorical(choice, logits, axis=-1)
        return (step(state, action, jax.random.split(renewal, batch)), key), state.rewards.sum()

    play = jax.jit(lambda state, key: jax.lax.scan(advance, (state, key), None, length=length))

    key = jax.random.PRNGKey(0)
    state = jax.jit(init)(jax.random.split(key, batch))
    (state, key), _ = jax.block_until_ready(play(state, key))
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        (state, key), _ = jax.block_until_ready(play(state, key))
        best = min(best, time.perf_counter() - begun)
    return batch * length / best


def main() -> None:
    """Measures and prints."""
    found = {game: {str(batch): rate(game, batch) for batch in BATCHES} for game in GAMES}
    sys.stdout.write(json.dumps({"version": version("pgx"), "moves_per_s": found}) + "\n")


if __name__ == "__main__":
    main()
