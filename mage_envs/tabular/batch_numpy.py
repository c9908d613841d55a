"""The arithmetic of a batch in NumPy: work on all environments at once, on those that still need it.

What stands in one line of ``mage_envs.envs.meta_episode`` is one array operation here, in the same order.
"""

from __future__ import annotations

import numpy as np

from mage_envs.games.chance import splitmix64
from mage_envs.games.positions import TERMINAL
from mage_envs.tabular.batch_arrays import ALTERNATE, OVER, PLAY, RANDOM, REFLECT, Rules, Shown, State
from mage_envs.tabular.batch_tables import Array, Tables
from mage_envs.tabular.streams import draw as draw_numbers
from mage_envs.tabular.streams import draw_words

PARALLEL = False


def draw(tables: Tables, rules: Rules, state: State, rows: Array, order: int) -> None:
    """Draws opponent, seats and instances of new meta-episodes."""
    env = state.records
    env["seed"][rows] = -1
    env["opponent"][rows] = np.searchsorted(tables.cumulative, draw_numbers(state.streams, rows), side="right")
    for episode in range(rules.episodes):
        u = draw_numbers(state.streams, rows)
        if order == RANDOM or (order == ALTERNATE and episode == 0):
            state.seats[rows, episode] = (rules.seats * u).astype(np.int8)
        elif order == ALTERNATE:
            state.seats[rows, episode] = (state.seats[rows, episode - 1] + 1) % rules.seats
        else:
            state.seats[rows, episode] = order
    for episode in range(rules.episodes):
        u = draw_numbers(state.streams, rows)
        drawn = (u * 2**53).astype(np.int64)
        state.instances[rows, episode] = state.instances[rows, 0] if rules.replay and episode else drawn


def begin(tables: Tables, state: State, rows: Array) -> None:
    """Begins the first episode of new meta-episodes."""
    env = state.records
    env["last_action"][rows] = -1
    env["last_reward"][rows] = 0.0
    _start(tables, state, rows, 0)


def step(tables: Tables, rules: Rules, state: State, actions: Array, shown: Shown) -> None:
    """Plays an action of each environment, starts those anew that are over, and shows them all."""
    env = state.records
    shown.reward[:] = 0.0
    for array in (shown.refused, shown.terminated, shown.ended, shown.forfeit, shown.outcome):
        array[:] = 0
    status, over = env["status"].copy(), tables.node["actor"][env["state"]] == TERMINAL
    new, reflecting = np.flatnonzero(status == OVER), np.flatnonzero(status == REFLECT)
    if len(new):
        draw(tables, rules, state, new, rules.order)
        begin(tables, state, new)
    _start(tables, state, reflecting, env["episode"][reflecting] + 1)
    _decide(tables, rules, state, np.flatnonzero((status == PLAY) & ~over), actions, shown)
    # Where the others ended an episode before the agent could act, this step tells.
    unasked = np.concatenate([reflecting, np.flatnonzero((status == PLAY) & over)])
    _collect(tables, rules, env, unasked[tables.node["actor"][env["state"][unasked]] == TERMINAL], shown)
    env["last_reward"][:] = shown.reward
    for name in ("score", "length", "invalid"):
        getattr(shown, name)[:] = np.where(shown.ended, env[name], 0)
    show(tables, state, np.arange(len(status)), shown)


def show(tables: Tables, state: State, rows: Array, shown: Shown) -> None:
    """Writes down what environments show, apart from what the last step did."""
    env = state.records
    status, view, episode = env["status"][rows], env["seen"][rows], env["episode"][rows]
    shown.action_mask[rows] = tables.mask[np.where(status == PLAY, view, len(tables.choices) + (status == OVER))]
    shown.phase[rows] = status == REFLECT
    shown.episode[rows], shown.seen[rows] = episode, view
    for name in ("seat", "instance", "opponent", "seed", "last_action"):
        getattr(shown, name)[rows] = env[name][rows]
    shown.last_reward[rows, 0] = env["last_reward"][rows] + 0.0  # Never −0.


def sample(tables: Tables, state: State, key: int, actions: Array) -> None:
    """Chooses a legal action in phase play, any action otherwise; number i by output i of SplitMix64."""
    env = state.records
    words = splitmix64(np.full(len(env), key, np.uint64), np.arange(len(env), dtype=np.uint64))
    choices = np.where(env["status"] == PLAY, tables.choices[env["seen"]], 0)
    free = choices == 0
    size = np.where(free, tables.mask.shape[1], choices)
    index = ((words >> 32) * size.astype(np.uint64) >> 32).astype(np.int64)
    actions[:] = np.where(free, index, tables.legal[env["seen"], np.where(free, 0, index)])


# Episodes.


def _start(tables: Tables, state: State, rows: Array, episode: Array | int) -> None:
    env = state.records
    for name in ("status", "state", "events", "length", "invalid", "row"):
        env[name][rows] = 0
    env["paid"][rows] = env["score"][rows] = 0.0
    env["episode"][rows] = episode
    env["seat"][rows] = state.seats[rows, episode]
    env["instance"][rows] = state.instances[rows, episode]
    _advance(tables, state, rows)


def _end(rules: Rules, env: Array, rows: Array, outcome: Array, shown: Shown) -> None:
    shown.ended[rows] = True
    shown.outcome[rows] = outcome
    last = env["episode"][rows] + 1 == rules.episodes
    if rules.stop_on_success:
        last |= outcome > 0
    env["status"][rows] = np.where(last, OVER, REFLECT)
    shown.terminated[rows] = last


def _collect(tables: Tables, rules: Rules, env: Array, rows: Array, shown: Shown) -> None:
    """Gives the rewards of what has been played, and ends the episodes that are over."""
    at, seats = env["state"][rows], env["seat"][rows]
    returns = tables.returns[at, seats]
    reward = returns - env["paid"][rows]
    env["paid"][rows] = returns
    env["score"][rows] += reward
    shown.reward[rows] = reward
    over = tables.node["actor"][at] == TERMINAL
    _end(rules, env, rows[over], tables.outcome[at[over], seats[over]], shown)


def _decide(tables: Tables, rules: Rules, state: State, rows: Array, actions: Array, shown: Shown) -> None:
    """Plays the agent's decisions; those that cannot be played are counted, and lose after too many in a row."""
    env = state.records
    chosen = actions[rows]
    known = (chosen >= 0) & (chosen < tables.move.shape[1])
    index = np.where(known, tables.move[env["seen"][rows], np.where(known, chosen, 0)], -1)
    played = index >= 0
    _refuse(rules, env, rows[~played], shown)
    rows, index = rows[played], index[played]
    env["row"][rows] = 0
    env["length"][rows] += 1
    env["last_action"][rows] = chosen[played]
    _follow(tables, state, rows, index)
    _advance(tables, state, rows)
    _collect(tables, rules, env, rows, shown)


def _refuse(rules: Rules, env: Array, rows: Array, shown: Shown) -> None:
    env["invalid"][rows] += 1
    env["row"][rows] += 1
    reward = np.full(len(rows), 0.0 - rules.penalty)
    forfeit = env["row"][rows] >= rules.max_invalid
    reward[forfeit] += rules.worst - env["paid"][rows[forfeit]]
    env["score"][rows] += reward
    shown.reward[rows] = reward
    shown.refused[rows] = True
    shown.forfeit[rows] = forfeit
    lost = rows[forfeit]
    _end(rules, env, lost, np.full(len(lost), -1, np.int8), shown)


# Play.


def _follow(tables: Tables, state: State, rows: Array, index: Array) -> None:
    """Plays the agent's action when its turn comes: where seats choose at once, those before it choose first."""
    env = state.records
    before = rows
    while len(before := before[tables.node["actor"][env["state"][before]] != env["seat"][before]]):
        _choose(tables, env, before, draw_words(state.streams, before))
    env["state"][rows] = tables.child[tables.node["first"][env["state"][rows]] + index]


def _advance(tables: Tables, state: State, rows: Array) -> None:
    """Plays the others and chance until the agent must act, or the episode is over."""
    env = state.records
    while len(rows):
        view = tables.shown[env["state"][rows], env["seat"][rows]]
        env["seen"][rows[view >= 0]] = view[view >= 0]
        rows = rows[view < 0]
        chance = tables.node["actor"][env["state"][rows]] < 0
        words = np.empty(len(rows), np.uint64)
        words[chance] = _next_events(env, rows[chance])
        words[~chance] = draw_words(state.streams, rows[~chance])
        _choose(tables, env, rows, words)


def _choose(tables: Tables, env: Array, rows: Array, words: Array) -> None:
    """Lets chance or the opponent choose, by a number: counts the cuts that it has reached."""
    at, who, m = env["state"][rows], env["opponent"][rows], (words >> 11).astype(np.int64)
    edge, last = tables.node["first"][at].astype(np.int64), tables.node["last"][at]
    left = np.flatnonzero(edge < last)
    while len(left):
        left = left[m[left] >= tables.cut[who[left], edge[left]]]
        edge[left] += 1
        left = left[edge[left] < last[left]]
    env["state"][rows] = tables.child[edge]


def _next_events(env: Array, rows: Array) -> Array:
    words: Array = splitmix64(env["instance"][rows].astype(np.uint64), env["events"][rows].astype(np.uint64))
    env["events"][rows] += 1
    return words
