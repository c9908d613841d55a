"""The arithmetic of a batch in numba: one loop over environments, each of which goes through its step by itself.

What :mod:`~mage_envs.tabular.batch_numpy` does with arrays stands here as it stands in ``mage_envs.envs.meta_episode``
and ``game_env``. ``env`` is the record of one environment. All of it runs without Python's lock, and environments have
nothing in common that is written: threads may step them side by side, and a process that has used this can fork.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mage_envs.games.positions import TERMINAL
from mage_envs.tabular.batch_arrays import ALTERNATE, OVER, PLAY, RANDOM, REFLECT, Rules, Shown, State
from mage_envs.tabular.batch_tables import Array, Tables
from mage_envs.tabular.numba_numbers import (
    advanced,
    compiled,
    inlined,
    next_word,
    output,
    splitmix64,
    to_uniform,
)

PARALLEL = True


@compiled
def draw(tables: Tables, rules: Rules, state: State, rows: Array, order: int) -> None:
    """Draws opponent, seats and instances of new meta-episodes."""
    for i in rows:
        _draw(tables, rules, state, i, order)


@compiled
def begin(tables: Tables, state: State, rows: Array) -> None:
    """Begins the first episode of new meta-episodes."""
    for i in rows:
        _begin(tables, state, i)


@compiled
def show(tables: Tables, state: State, rows: Array, shown: Shown) -> None:
    """Writes down what environments show, apart from what the last step did."""
    for i in rows:
        _show(tables, state.records[i], i, shown)


@compiled
def step(tables: Tables, rules: Rules, state: State, actions: Array, shown: Shown) -> None:
    """Plays an action of each environment, starts those anew that are over, and shows them all."""
    for flags in (shown.refused, shown.terminated, shown.ended, shown.forfeit):
        flags[:] = False
    shown.score[:] = 0.0
    shown.outcome[:] = 0
    shown.length[:] = 0
    shown.invalid[:] = 0
    for i in range(len(actions)):
        env = state.records[i]
        status = env.status
        if status == OVER:
            _draw(tables, rules, state, i, rules.order)
            _begin(tables, state, i)
            reward = 0.0
        elif status == PLAY and tables.node[env.state].actor != TERMINAL:
            reward = _decide(tables, rules, env, i, actions[i], shown)
        else:
            if status == REFLECT:
                _start(tables, state, i, env.episode + 1)
            # Where the others ended an episode before the agent could act, this step tells.
            over = tables.node[env.state].actor == TERMINAL
            reward = _collect(tables, rules, env, i, shown) if over else 0.0
        shown.reward[i] = env.last_reward = reward
        _show(tables, env, i, shown)


@compiled
def sample(tables: Tables, state: State, key: int, actions: Array) -> None:
    """Chooses a legal action in phase play, any action otherwise; number i by output i of SplitMix64."""
    for i in range(len(actions)):
        env = state.records[i]
        choices = tables.choices[env.seen] if env.status == PLAY else 0
        high = splitmix64(np.uint64(key), np.uint64(i)) >> np.uint64(32)
        size = choices if choices else tables.mask.shape[1]
        index = np.int64((high * np.uint64(size)) >> np.uint64(32))
        actions[i] = tables.legal[env.seen, index] if choices else index


@inlined
def _draw(tables: Tables, rules: Rules, state: State, i: int, order: int) -> None:
    env = state.records[i]
    more_high, more_low = env.increment_high, env.increment_low
    high, low = advanced(env.high, env.low, more_high, more_low)
    u = to_uniform(output(high, low))
    opponent = 0
    for weight in tables.cumulative:
        opponent += u >= weight
    env.opponent, env.seed = opponent, -1
    seat = order
    for episode in range(rules.episodes):
        high, low = advanced(high, low, more_high, more_low)
        if order == RANDOM or (order == ALTERNATE and episode == 0):
            seat = int(rules.seats * to_uniform(output(high, low)))
        elif order == ALTERNATE:
            seat = seat + 1 if seat + 1 < rules.seats else 0
        state.seats[i, episode] = seat
    instance = np.int64(0)
    for episode in range(rules.episodes):
        high, low = advanced(high, low, more_high, more_low)
        if episode == 0 or not rules.replay:
            instance = np.int64(to_uniform(output(high, low)) * 2.0**53)
        state.instances[i, episode] = instance
    env.high, env.low = high, low


@inlined
def _begin(tables: Tables, state: State, i: int) -> None:
    state.records[i].last_action = -1
    state.records[i].last_reward = 0.0
    _start(tables, state, i, 0)


@inlined
def _show(tables: Tables, env: Any, i: int, shown: Shown) -> None:
    status = env.status
    row = env.seen if status == PLAY else np.uint32(len(tables.choices) + (status == OVER))
    for action in range(tables.mask.shape[1]):
        shown.action_mask[i, action] = tables.mask[row, action]
    shown.phase[i] = status == REFLECT
    shown.episode[i] = env.episode
    shown.seat[i] = env.seat
    shown.last_action[i] = env.last_action
    shown.last_reward[i, 0] = env.last_reward + 0.0  # Never −0.
    shown.seen[i] = env.seen
    shown.instance[i] = env.instance
    shown.opponent[i] = env.opponent
    shown.seed[i] = env.seed


# Episodes.


@inlined
def _start(tables: Tables, state: State, i: int, episode: int) -> None:
    env = state.records[i]
    env.status, env.episode = PLAY, episode
    env.seat, env.instance = state.seats[i, episode], state.instances[i, episode]
    env.length = env.invalid = env.row = 0
    env.paid = env.score = 0.0
    at = np.uint32(0)
    for event in range(tables.opening):
        at = _follow(tables, env, at, splitmix64(np.uint64(env.instance), np.uint64(event)))
    env.events = tables.opening
    _advance(tables, env, at)


@inlined
def _end(rules: Rules, env: Any, i: int, outcome: int, shown: Shown) -> None:
    last = env.episode + 1 == rules.episodes or (rules.stop_on_success and outcome > 0)
    env.status = OVER if last else REFLECT
    shown.ended[i], shown.terminated[i] = True, last
    shown.score[i], shown.outcome[i] = env.score, outcome
    shown.length[i], shown.invalid[i] = env.length, env.invalid


@inlined
def _collect(tables: Tables, rules: Rules, env: Any, i: int, shown: Shown) -> Any:
    """Gives the reward of what has been played, and ends the episode if it is over."""
    returns = tables.returns[env.state, env.seat]
    reward = returns - env.paid
    env.paid = returns
    env.score += reward
    if tables.node[env.state].actor == TERMINAL:
        _end(rules, env, i, tables.outcome[env.state, env.seat], shown)
    return reward


@inlined
def _decide(tables: Tables, rules: Rules, env: Any, i: int, action: int, shown: Shown) -> Any:
    """Plays the agent's decision; what cannot be played is counted, and loses after too many in a row."""
    index = -1
    if 0 <= action < tables.move.shape[1]:
        index = tables.move[env.seen, action]
    if index < 0:
        return _refuse(rules, env, i, shown)
    env.row = 0
    env.length += 1
    env.last_action = action
    at = env.state
    while tables.node[at].actor != env.seat:  # Where seats choose at once, those before the agent's choose first.
        at = _follow(tables, env, at, next_word(env))
    _advance(tables, env, tables.child[np.uint64(tables.node[at].first) + np.uint64(index)])
    return _collect(tables, rules, env, i, shown)


@inlined
def _refuse(rules: Rules, env: Any, i: int, shown: Shown) -> Any:
    env.invalid += 1
    env.row += 1
    shown.refused[i] = True
    reward = 0.0 - rules.penalty
    forfeit = env.row >= rules.max_invalid
    if forfeit:
        reward += rules.worst - env.paid
    env.score += reward
    if forfeit:
        shown.forfeit[i] = True
        _end(rules, env, i, -1, shown)
    return reward


# Play.


@inlined
def _advance(tables: Tables, env: Any, at: np.uint32) -> None:
    """Plays the others and chance until the agent must act, or the episode is over."""
    view = tables.shown[at, env.seat]
    while view < 0:
        word = _next_event(env) if tables.node[at].actor < 0 else next_word(env)
        at = _follow(tables, env, at, word)
        view = tables.shown[at, env.seat]
    env.state, env.seen = at, view


@inlined
def _follow(tables: Tables, env: Any, at: np.uint32, word: np.uint64) -> Any:
    """Lets chance or the opponent choose, by a number: counts the cuts that it has reached."""
    m, node = np.int64(word >> np.uint64(11)), tables.node[at]
    edge = np.uint64(node.first)
    for other in range(edge, np.uint64(node.last)):
        edge += np.uint64(m >= tables.cut[env.opponent, other])
    return tables.child[edge]


@inlined
def _next_event(env: Any) -> Any:
    event = env.events
    env.events = event + 1
    return splitmix64(np.uint64(env.instance), np.uint64(event))
