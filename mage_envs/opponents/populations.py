"""Populations: named, weighted, frozen sets of opponents, split into train and held-out.

A population is data: registering a new opponent changes none. Sources: the Kuhn and Tic-Tac-Toe ones follow the MAGE
paper (arXiv 2603.03680), whose "CFR" opponent in Kuhn poker is ``cfr_argmax``. The 43 roshambo bots are split by this
rule, applied once: sort the names without regard to case, hold out every third (14 bots), train on the others (29).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Literal, TypeAlias

import numpy as np

from mage_envs.errors import SpecError, UnknownNameError, UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.opponents import OPPONENTS, make_opponent
from mage_envs.registry import Registry
from mage_envs.spec_strings import Spec, parse_spec

Split: TypeAlias = Literal["train", "heldout", "any"]
Members: TypeAlias = tuple[tuple[str, float], ...]


_MAX_WEIGHT = 1e100


@dataclass(frozen=True)
class Population:
    """Opponents that may come, one a meta-episode.

    Attributes:
        name: Name in the registry, or the spec or specs it was made from.
        game: Name of the game, without parameters; ``""`` is any game.
        members: Opponent specs with weights, which are normalised to add up to 1.
        split: What it is for.
        summary: One sentence.
    """

    name: str
    game: str
    members: Members
    split: Split = "any"
    summary: str = ""

    def __post_init__(self) -> None:
        """Checks and normalises the weights.

        Raises:
            SpecError: No members, one twice, or a weight that is not positive and finite.
        """
        specs = [spec for spec, _ in self.members]
        if not specs:
            raise SpecError(f"population {self.name!r} is empty: give at least one opponent a positive weight")
        if len(set(specs)) < len(specs):
            raise SpecError(f"population {self.name!r} lists an opponent twice: {', '.join(specs)}")
        for spec, weight in self.members:
            _check_weight(spec, weight)
        total = math.fsum(float(weight) for _, weight in self.members)
        object.__setattr__(self, "members", tuple((spec, float(weight) / total) for spec, weight in self.members))

    def fits(self, game: GameSpec) -> bool:
        """Whether it is made for this game."""
        return self.game in ("", game.name, game.name.split("(")[0])


PopulationLike: TypeAlias = str | Spec | Population | Mapping[str, float]

POPULATIONS: Registry[Population] = Registry("population", package="mage_envs.opponents")
"""Opponent files may register populations here."""


def load_population(value: PopulationLike, game: GameSpec) -> Population:
    """Finds or makes a population for a game.

    Args:
        value: A name in ``POPULATIONS``, a population, the spec of one opponent, or a mapping from specs to weights.
        game: The game that its members shall play.

    Returns:
        The population.

    Raises:
        UnknownNameError: No such population or opponent; near matches are listed.
        SpecError: A spec or a weight is not well formed, or there are no members.
        UnsupportedGameError: The population, or a member, is for another game.
    """
    if isinstance(value, str) and value in POPULATIONS:
        value = POPULATIONS.get(value)
    if isinstance(value, Population):
        return _check_game(value, game)
    if isinstance(value, Mapping):
        members = tuple((_canonical(spec, game), weight) for spec, weight in value.items())
        return Population(" + ".join(spec for spec, _ in members), game.name, members)
    if not isinstance(value, str | Spec):
        raise SpecError("a population is a name, an opponent's spec or a mapping from specs to weights, "
                        f"not {type(value).__name__}")  # fmt: skip
    spec = _canonical(value, game)
    return Population(spec, game.name, ((spec, 1.0),))


def _check_game(population: Population, game: GameSpec) -> Population:
    if population.fits(game):
        return population
    fitting = [name for name in POPULATIONS if POPULATIONS.get(name).fits(game)]
    raise UnsupportedGameError(f"population {population.name!r} plays {population.game!r}, not {game.name!r}, "
                               f"which has {', '.join(fitting)}")  # fmt: skip


def _canonical(spec: object, game: GameSpec) -> str:
    parsed = spec if isinstance(spec, Spec) else parse_spec(spec)  # type: ignore[arg-type]
    if parsed.name in POPULATIONS:
        raise SpecError(f"{parsed.name!r} is a population, not an opponent: give its name alone, or list its members")
    if parsed.name not in OPPONENTS:
        raise UnknownNameError("population or opponent", parsed.name, {*POPULATIONS, *OPPONENTS})
    return str(make_opponent(parsed, game).spec)


def _check_weight(spec: str, weight: object) -> None:
    plain = weight.item() if isinstance(weight, np.generic) else weight
    if isinstance(plain, bool) or not isinstance(plain, int | float) or not 0.0 < plain <= _MAX_WEIGHT:
        raise SpecError(f"the weight of {spec!r} must be a positive, finite number up to {_MAX_WEIGHT:g}, "
                        f"got {weight!r:.40}")  # fmt: skip


def _equal(*specs: str, share: float = 1.0) -> Members:
    return tuple((spec, share / len(specs)) for spec in specs)


def _roshambo(names: str) -> Members:
    return _equal(*(f"roshambo(name={name})" for name in names.split()))


def _switching(*specs: str) -> Members:
    """Every ordered pair of two opponents, with every episode of ``_SWITCHES`` to change in."""
    pairs = permutations(specs, 2)
    return _equal(*(f"switching(a={a}, b={b}, at={at})" for a, b in pairs for at in _SWITCHES))


_SWITCHES = range(4, 12)
"""Of 16 episodes: four before the earliest switch, and four after the first one of the latest."""


_ROSHAMBO_TRAIN = """
actr_lag2_decay adddriftbot2 antiflatbot antirotnbot boom copybot driftbot flatbot3 freqbot2 granite halbot inocencio
marble markov5 mixed_strategy mod1bot peterbot phasenbott piedra predbot randbot robertot rotatebot russrocker4
sunCrazybot sunNervebot switchalot switchbot zq_move"""

_ROSHAMBO_HELDOUT = """
addshiftbot3 biopic debruijn81 foxtrotbot greenberg iocainebot markovbails multibot pibot r226bot rockbot shofar
sweetrock textbot"""


def _paper_tic_tac_toe(strong: float) -> Members:
    """MCTS-100 with a share of ``strong``, players with a habit and random play with the rest."""
    habits = ("random", *(f"pattern(order={name})" for name in ("corners", "centre", "edges", "rows")))
    return *_equal("mcts(simulations=100, uct_c=1.4)", share=strong), *_equal(*habits, share=1.0 - strong)


_ALL = (
    Population("generic", "", _equal("random", "first_legal"), "any", "for any game: random, and first legal action"),
    Population(
        "kuhn/train",
        "kuhn_poker",
        (("conservative", 0.3), ("aggressive", 0.3), ("intermediate", 0.4)),
        "train",
        "the three archetypes that the MAGE paper trains against, in its proportions",
    ),
    Population("kuhn/heldout", "kuhn_poker", _equal("cfr"), "heldout", "an equilibrium, sampled"),
    Population(
        "kuhn/paper_ood", "kuhn_poker", _equal("cfr_argmax"), "heldout", "what the MAGE paper calls CFR: no equilibrium"
    ),
    Population(
        "tictactoe/train",
        "tic_tac_toe",
        (
            *_equal("mcts(simulations=100)", share=0.5),
            *_equal(
                "random", *(f"pattern(order={name})" for name in ("corners", "centre", "edges", "rows")), share=0.5
            ),
        ),
        "train",
        "half MCTS-100, half preferred positions and random play, as the MAGE paper trains",
    ),
    Population("tictactoe/heldout", "tic_tac_toe", _equal("mcts(simulations=1000)"), "heldout", "MCTS-1000"),
    Population(
        "tictactoe/tables_train",
        "tic_tac_toe",
        (
            *_equal("mcts_table(simulations=100, runs=16)", share=0.5),
            *_equal(
                "random", *(f"pattern(order={name})" for name in ("corners", "centre", "edges", "rows")), share=0.5
            ),
        ),
        "train",
        "tictactoe/train with the table of MCTS-100 in the place of the search, for exact values",
    ),
    Population(
        "tictactoe/tables_heldout",
        "tic_tac_toe",
        _equal("mcts_table(simulations=1000, runs=16)"),
        "heldout",
        "the table of MCTS-1000, not the search, for exact values",
    ),
    Population(
        "tictactoe/patterns_heldout",
        "tic_tac_toe",
        _equal(*(f"pattern(order={name})" for name in ("columns", "diagonals", "spiral", "backwards"))),
        "heldout",
        "preferred positions in orders that tictactoe/train does not have",
    ),
    Population(
        "leduc/train",
        "leduc_poker",
        _equal("random", "constant(action=call)", "constant(action=raise)", "cfr(iterations=10)"),
        "train",
        "random, always calling, always raising, and an unfinished equilibrium",
    ),
    Population("leduc/heldout", "leduc_poker", _equal("cfr"), "heldout", "an equilibrium, sampled"),
    Population(
        "connect_four/train",
        "connect_four",
        (("mcts(simulations=100)", 0.5), ("win_or_block", 0.25), ("random", 0.25)),
        "train",
        "half MCTS-100, half one-move look-ahead and random play",
    ),
    Population("connect_four/heldout", "connect_four", _equal("mcts(simulations=1000)"), "heldout", "MCTS-1000"),
    Population("rps/train", "rock_paper_scissors", _roshambo(_ROSHAMBO_TRAIN), "train", "29 of the 43 roshambo bots"),
    Population("rps/heldout", "rock_paper_scissors", _roshambo(_ROSHAMBO_HELDOUT), "heldout", "the 14 other bots"),
    Population(
        "rps/leaning",
        "rock_paper_scissors",
        _equal(*(f"leaning(action={action}, share=0.8)" for action in ("rock", "paper", "scissors"))),
        "train",
        "a favourite throw, four times in five",
    ),
    Population(
        "kuhn/switching",
        "kuhn_poker",
        _switching("conservative", "aggressive", "intermediate"),
        "any",
        "one of the paper's archetypes, and from episode 5 to 12 on another one",
    ),
    Population(
        "rps/switching",
        "rock_paper_scissors",
        _switching("constant(action=rock)", "constant(action=paper)", "cycle", "mirror"),
        "any",
        "one habit (rock, paper, a cycle, the other's last throw), and from episode 5 to 12 on another one",
    ),
    Population(
        "tictactoe/paper",
        "tic_tac_toe",
        _equal("mcts(simulations=100, uct_c=1.4)"),
        "any",
        "what the MAGE paper tests against: MCTS-100 as its released code sets it",
    ),
    Population(
        "tictactoe/paper_ood",
        "tic_tac_toe",
        _equal("mcts(simulations=1000, uct_c=1.4)"),
        "heldout",
        "what the MAGE paper holds out: MCTS-1000",
    ),
    Population(
        "tictactoe/paper_balanced",
        "tic_tac_toe",
        _paper_tic_tac_toe(0.5),
        "any",
        "half MCTS-100, half preferred positions and random play: what the MAGE paper calls balanced",
    ),
    Population(
        "tictactoe/paper_skewed",
        "tic_tac_toe",
        _paper_tic_tac_toe(0.9),
        "any",
        "the same with nine tenths MCTS-100; the paper does not give the shares of its skewed population",
    ),
)

for _population in _ALL:
    POPULATIONS.register(_population.name, _population)
