"""The 43 Rock-Paper-Scissors bots of OpenSpiel: the 1999 RoShamBo competition's, and Greenberg, the winner of 2000.

Source: D. Billings, https://webdocs.cs.ualberta.ca/~darse/rsbpc.html; the population of arXiv 2303.03196. A
meta-episode is one match, whether its episodes have one throw or many. The bots were written for matches of 1,000
throws (greenberg writes past its arrays in a shorter one), so after 1,000 throws a new match begins, all forgotten.

The C++ bots keep a state and draw from the C library's ``random()``. Here a match is data, a seed and the throws so
far, and a bot is rebuilt by playing it over; the 64 last used are kept alive, so that a long match costs one step a
throw (8 to 33 µs). The slowest, greenberg, plays 1,000 throws over in 28 ms. ``rotatebot`` throws 0, 1, 2, 0, 1, 2 ...
"""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyspiel

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, View
from mage_envs.games.chance import splitmix64
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent, check_choice
from mage_envs.opponents.libc_random import LIBC_LOCK, PrivateRandom
from mage_envs.opponents.observed import is_rock_paper_scissors, throws_seen

MATCH_THROWS = int(pyspiel.ROSHAMBO_NUM_THROWS)
NAMES = tuple(sorted(pyspiel.roshambo_bot_names(), key=str.casefold))
MAX_ALIVE = 64

_SURE: tuple[Distribution, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Match(NamedTuple):
    """A match in progress: the seed of its random numbers, and a byte a throw, 3 × own + other's."""

    seed: int
    throws: bytes = b""


class Roshambo(Opponent):
    """One of the 43 bots, in a match that goes on over the episodes of a meta-episode."""

    summary = "a bot of the RoShamBo programming competitions, by name; the meta-episode is one match"
    plays = "Rock-Paper-Scissors"
    tabular = False

    def __init__(self, game: GameSpec, name: str) -> None:
        """Takes the bot.

        Args:
            game: Rock-Paper-Scissors, of any number of throws.
            name: A name in ``NAMES``.

        Raises:
            SpecError: No such bot; near matches are listed.
            UnsupportedGameError: Another game.
        """
        super().__init__(game)
        check_choice("name", name, NAMES)
        if not is_rock_paper_scissors(game):
            raise UnsupportedGameError(f"roshambo plays rock_paper_scissors only, not {game.name!r}; random plays any")
        self._name = name

    def start(self, rng: np.random.Generator) -> Match:
        """Draws the seed of the match."""
        return Match(int(rng.integers(2**32)))

    def policy(self, view: View, memory: Match, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Asks the bot."""
        return _SURE[bot_throw(self._name, _continued(memory, view))], memory

    def end_episode(self, view: View, memory: Match) -> Match:
        """Adds the throws of the episode to the match."""
        return _continued(memory, view)


def bot_throw(name: str, match: Match) -> int:
    """Returns what a bot throws next in a match. A function of its arguments, in any process.

    Args:
        name: A name in ``NAMES``.
        match: Fewer than ``MATCH_THROWS`` throws.

    Returns:
        0, 1 or 2: rock, paper or scissors.
    """
    with LIBC_LOCK:
        bot = _ALIVE.pop((name, match), None) or _play_on(name, match)
        _ALIVE[name, match] = bot
        if len(_ALIVE) > MAX_ALIVE:
            _ALIVE.popitem(last=False)
        return bot.throw


class _LiveBot:
    """A C++ bot that has decided on its next throw."""

    def __init__(self, name: str, seed: int) -> None:
        self._random = PrivateRandom(seed)
        self._state = _match_game().new_initial_state()
        with self._random:
            self._bot = pyspiel.make_roshambo_bot(0, name, MATCH_THROWS)
            self.throw = int(self._bot.step(self._state))

    def play(self, pair: int) -> None:
        self._state.apply_actions(list(divmod(pair, 3)))
        with self._random:
            self.throw = int(self._bot.step(self._state))


_ALIVE: OrderedDict[tuple[str, Match], _LiveBot] = OrderedDict()


def _play_on(name: str, match: Match) -> _LiveBot:
    """Moves a live bot on by one throw, or plays the match over."""
    seed, throws = match
    bot = _ALIVE.pop((name, Match(seed, throws[:-1])), None) if throws else None
    if bot is not None:
        bot.play(throws[-1])
        return bot
    bot = _LiveBot(name, seed)
    for pair in throws:
        bot.play(pair)
    return bot


def _continued(match: Match, view: View) -> Match:
    """Adds the throws that a view shows, and begins a new match whenever one is full."""
    seed, throws = match
    throws += bytes(3 * own + other for own, other in throws_seen(view))
    while len(throws) >= MATCH_THROWS:
        seed, throws = splitmix64(seed, 0) & 0xFFFFFFFF, throws[MATCH_THROWS:]
    return Match(seed, throws)


@lru_cache(maxsize=1)
def _match_game() -> Any:
    return pyspiel.load_game(f"repeated_game(stage_game=matrix_rps(),num_repetitions={MATCH_THROWS})")


OPPONENTS.register("roshambo", Roshambo)
