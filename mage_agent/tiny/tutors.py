"""The scripted tutors whose transcripts the tiny model is cloned from: what they answer, and what they write.

They are of mixed quality on purpose, so that there is something to learn: of the decisions some follow what the last
remark says, some are an equilibrium's and some random; of the remarks some are well founded and some are made up. A
remark names all the possibilities, in their order, so that its words alone, without their order, say nothing.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from mage_agent.base import Briefing, agent_generator
from mage_agent.policies import best_policy, equilibrium_strategy
from mage_envs.games import GameSpec, View
from mage_envs.games.rock_paper_scissors import THROWS
from mage_envs.opponents import make_opponent
from mage_envs.tabular.belief import OpponentBelief
from mage_envs.tabular.results import FloatArray

TREMBLING = 1e-3
FOUNDED = 0.75
"""Share of the remarks that say what was seen."""


class Mix(NamedTuple):
    """How often a tutor's meta-episodes are of which kind; what is left is random play."""

    follows: float
    equilibrium: float


class Tutor(Protocol):
    """Answers decisions by action names, and writes remarks."""

    def begin(self, briefing: Briefing) -> None:
        """Starts a meta-episode."""

    def act(self, view: View) -> str:
        """Returns the name of an action."""

    def remark(self, view: View) -> str:
        """Returns what is written about an episode that ended in this view."""


class KuhnTutor:
    """Plays the best response to the kind of opponent that its last remark puts first."""

    mix = Mix(follows=0.75, equilibrium=0.1)

    def begin(self, briefing: Briefing) -> None:
        """Draws what kind of meta-episode it is."""
        self._rng = agent_generator(briefing.seed)
        self._game, self._population = briefing.game, briefing.population
        self._kind = _draw(self._rng, self.mix)
        self._belief = self._fresh()
        self._order = self._ordered(self._belief.weights)

    def act(self, view: View) -> str:
        """Follows the remark, plays the equilibrium, or anything."""
        self._belief.see(view)
        if self._kind == "follows":
            action = best_policy(self._game, self._order[0], view.seat, TREMBLING)[view.key]
        else:
            action = _other(self._kind, self._game, view, self._rng)
        self._belief.act(view, action)
        return view.names[view.legal.index(action)]

    def remark(self, view: View) -> str:
        """Orders the kinds by how likely they are; or at random."""
        if view.terminal:
            self._belief.see(view)
        else:  # The episode was forfeited, and tells no more than it did before.
            weights, self._belief = self._belief.weights, self._fresh()
            self._belief.weights = weights
        founded = self._rng.random() < FOUNDED
        self._order = self._ordered(self._belief.weights if founded else np.ones(len(self._belief.weights)))
        first, *others = self._order
        return " ".join(["it seems", first, *(f"and not {other}" for other in others)])

    def _fresh(self) -> OpponentBelief:
        return OpponentBelief(self._game, self._population, TREMBLING)

    def _ordered(self, weights: FloatArray) -> list[str]:
        ranks = np.lexsort((self._rng.random(len(weights)), -np.round(weights, 6)))
        return [self._belief.opponents[rank] for rank in ranks]


class ThrowTutor:
    """Throws what beats the throw that its last remark puts first."""

    mix = Mix(follows=0.4, equilibrium=0.0)

    def begin(self, briefing: Briefing) -> None:
        """Draws what kind of meta-episode it is."""
        self._rng = agent_generator(briefing.seed)
        self._game = briefing.game
        self._kind = _draw(self._rng, self.mix)
        self._expected = int(self._rng.integers(3))

    def act(self, view: View) -> str:
        """Follows the remark, or throws anything."""
        if self._kind == "follows":
            return THROWS[(self._expected + 1) % 3]
        return THROWS[_other(self._kind, self._game, view, self._rng)]

    def remark(self, view: View) -> str:
        """Says what the other threw last; or anything."""
        founded = self._rng.random() < FOUNDED and view.terminal
        self._expected = THROWS.index(view.facts["pairs"][-1][1]) if founded else int(self._rng.integers(3))
        first, *others = [THROWS[(self._expected + step) % 3] for step in range(3)]
        return " ".join(["it threw", first, *(f"and not {other}" for other in others)])


class BoardTutor:
    """Plays perfectly or at random, and says who had the first move and how it ended."""

    mix = Mix(follows=0.0, equilibrium=0.6)

    def begin(self, briefing: Briefing) -> None:
        """Draws what kind of meta-episode it is."""
        self._rng = agent_generator(briefing.seed)
        self._game = briefing.game
        self._kind = _draw(self._rng, self.mix)

    def act(self, view: View) -> str:
        """Plays the equilibrium, or anything."""
        action = _other(self._kind, self._game, view, self._rng)
        return view.names[view.legal.index(action)]

    def remark(self, view: View) -> str:
        """Says who won."""
        winner = view.facts["winner"]
        result = "nobody won" if winner is None else "I won" if winner == view.seat else "it won"
        return f"{'I' if view.seat == 0 else 'it'} moved first and {result}"


def _draw(rng: np.random.Generator, mix: Mix) -> str:
    number = rng.random()
    if number < mix.follows:
        return "follows"
    return "equilibrium" if number < mix.follows + mix.equilibrium else "random"


def _other(kind: str, game: GameSpec, view: View, rng: np.random.Generator) -> int:
    spec = equilibrium_strategy(game) if kind == "equilibrium" else "random"
    distribution, _ = make_opponent(spec, game).policy(view, None, rng)
    return int(view.legal[rng.choice(len(view.legal), p=distribution)])


TUTORS: dict[str, type[Tutor]] = {
    "kuhn/train": KuhnTutor,
    "rps/leaning": ThrowTutor,
    "tictactoe/train": BoardTutor,
}
"""Who teaches which scenario."""
