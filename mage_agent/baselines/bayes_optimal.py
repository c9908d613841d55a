"""``bayes_optimal``: plays the best policy there is for an agent that knows the population and not who came.

It is the policy behind :func:`~mage_envs.tabular.solve.bayes_adaptive_value`, so that its expected score of each
episode is ``bayes_adaptive_value(...).per_episode``: on Kuhn poker, seat 0, against conservative, aggressive and
intermediate with equal weights and showdowns revealed, 1/18 chips in the first of three episodes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.memory import shifted
from mage_envs.envs.meta_episode import Instance
from mage_envs.games import GameSpec, View
from mage_envs.tabular.bayes import AdaptivePlan, SeatModel, adaptive_plan
from mage_envs.tabular.results import FloatArray

_log = logging.getLogger(__name__)


class Setting(NamedTuple):
    """What decides the best policy: all that the agent knows."""

    game: GameSpec
    population: tuple[tuple[str, float], ...]
    seats: tuple[int, ...]
    instance: Instance


class BayesOptimal:
    """Plays the exact Bayes-adaptive optimum: told the population, seats and instances, never the opponent.

    It is an oracle because nothing is learned about how to learn: the best answer to everything that can happen was
    computed before from the opponents' tables. No agent that is not told the opponent has a higher expected total,
    which is what it maximises: not the first episode, nor the last. It reckons with all N episodes, also where a win
    ends the meta-episode early.

    Of a finished episode it uses the terminal view, its own score and what it did. If no member of the population can
    have played that episode (an opponent from outside), the episode says nothing about which of them it is: the belief
    stays, :attr:`surprises` counts it, and the first one of a meta-episode is logged as a warning, unless the
    belief was put there from outside. Where no member lets it get to, it plays the legal action with the lowest id.
    """

    name = "bayes_optimal"
    oracle = True
    interface = "array"

    def __init__(self) -> None:
        """Has no parameters."""
        self.surprises = 0
        self._setting: Setting
        self._belief: FloatArray
        self._sequence = 0
        self._own = True

    def begin(self, briefing: Briefing) -> None:
        """Computes the policy, or finds it computed, and starts from the population's weights.

        Raises:
            ValueError: The briefing lacks the population, the seats or what the instances are.
            UnsupportedGameError: An opponent has no behaviour table, the game is too large, or there are too many
                beliefs.
        """
        self._setting = _setting(briefing)
        self._belief = _plan(self._setting).prior
        self._sequence, self.surprises, self._own = 0, 0, True

    @property
    def memory(self) -> tuple[float, ...]:
        """The probability of each type: of each opponent or, where instances are replayed, opponent and deal."""
        return tuple(self._belief.tolist())

    @memory.setter
    def memory(self, memory: tuple[float, ...]) -> None:
        self._belief, self._own = np.array(memory), False

    def shuffled(self, memory: tuple[float, ...], rng: np.random.Generator) -> tuple[float, ...]:
        """Gives every opponent the probability of another; what is known of the deal stays with it."""
        rows = np.array(memory).reshape(len(_plan(self._setting).opponents), -1)
        order = shifted(tuple(range(len(rows))), rng)
        return tuple(rows[np.array(order)].ravel().tolist())

    @property
    def belief(self) -> dict[str, float]:
        """The probability of each opponent, from the episodes that have ended."""
        opponents = _plan(self._setting).opponents
        weights = self._belief.reshape(len(opponents), -1).sum(axis=1)
        return dict(zip(opponents, weights.tolist(), strict=True))

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Looks the action up."""
        view: View = info["view"]
        if not view.legal:  # The others ended the first episode before this seat could act.
            return 0
        episode = info["episode"]
        tree = self._model(episode, view).tree
        decision = np.searchsorted(tree.rows, tree.game.index[view.seat][view.key])
        index = int(_plan(self._setting).node(episode, self._belief).choice[decision])
        self._sequence = int(tree.first[decision]) + index
        return view.legal[index]

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Updates the belief by what was seen of the episode. The free action is 0."""
        episode, view, score = info["episode"], info["view"], info["episode_result"]["reward"]
        model = self._model(episode, view)
        signal = model.signal(self._sequence, _terminal_views(model)[view.key], score)
        self._sequence = 0
        if signal is None or not self._belief @ model.seen[:, signal]:
            self._wonder(episode)
        else:
            self._belief = _plan(self._setting).posterior(episode, self._belief, signal)
        return 0

    def _model(self, episode: int, view: View) -> SeatModel:
        model = _plan(self._setting).episodes[episode]
        if view.seat != model.tree.seat:
            raise ValueError(
                f"briefing.seats has seat {model.tree.seat} in episode {episode}, but it is played from seat "
                f"{view.seat}: put the environment's own seats there"
            )
        return model

    def _wonder(self, episode: int) -> None:
        if not self.surprises and self._own:
            _log.warning(
                "no opponent of the population (%s) can have played episode %d: the belief stays as it was",
                ", ".join(self.belief),
                episode,
            )
        self.surprises += 1


def _setting(briefing: Briefing) -> Setting:
    """Takes from a briefing what the agent may know.

    Raises:
        UnsupportedGameError: A world is played.
        ValueError: Something is missing.
    """
    game = briefing.game
    if not briefing.population:
        raise ValueError("bayes_optimal needs the population: put specs and weights in briefing.population")
    if briefing.seats is None:
        raise ValueError(
            "bayes_optimal needs to know its seat in each episode: put them in briefing.seats. Environments with "
            "seat='random' draw them one by one: take a fixed seat or seat='alternate'"
        )
    if briefing.instance is None:
        raise ValueError("bayes_optimal needs to know the instances: put 'fresh' or 'replay' in briefing.instance")
    if len(briefing.seats) != briefing.episodes:
        raise ValueError(f"briefing.seats has {len(briefing.seats)} seats for {briefing.episodes} episodes")
    return Setting(game, briefing.population, briefing.seats, briefing.instance)


@lru_cache(maxsize=8)
def _plan(setting: Setting) -> AdaptivePlan:
    """Returns the policy, computed once per process: the agent itself stays small enough to be sent between them."""
    return adaptive_plan(setting.game, dict(setting.population), setting.seats, setting.instance)


@lru_cache(maxsize=16)
def _terminal_views(model: SeatModel) -> dict[str, int]:
    """Returns the number of each terminal view of the model's seat, by its key."""
    game = model.tree.game
    return {game.keys[number]: int(number) for number in np.unique(game.shown[model.tree.ends, model.tree.seat])}


AGENTS.register("bayes_optimal", BayesOptimal)
