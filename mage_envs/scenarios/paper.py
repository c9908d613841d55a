"""The games of the MAGE paper (arXiv 2603.03680) as its text and its released code play them.

Kuhn poker replays one deal in all episodes. The text trains and tests against three archetypes; the released script
tests against the arg-max of CFR from one seat. Of the deals, 2/3 can be won from seat 0 and 1/2 from seat 1 against
the arg-max; the published .656 (84 of 128) and .508 (65 of 128) are what these two bounds give. In Tic-Tac-Toe the
released code lets the agent begin.
"""

from __future__ import annotations

from mage_envs.scenarios import kuhn, tic_tac_toe
from mage_envs.scenarios.base import Scenario, register


def _kuhn(name: str, summary: str, population: str, *seats: int) -> Scenario:
    return Scenario(f"paper/{name}", kuhn.ENV_ID, summary, kuhn.UNIT, population, seats, instance="replay")


def _tic_tac_toe(name: str, summary: str, population: str) -> Scenario:
    return Scenario(f"paper/{name}", tic_tac_toe.ENV_ID, summary, tic_tac_toe.UNIT, population, (0,))


register(
    _kuhn("kuhn", "the three archetypes, one deal replayed", "kuhn/train", 0, 1),
    _kuhn("kuhn_argmax_first", "arg-max of CFR, one deal replayed, the agent acts first", "kuhn/paper_ood", 0),
    _kuhn("kuhn_argmax_second", "arg-max of CFR, one deal replayed, the agent acts second", "kuhn/paper_ood", 1),
    _kuhn("kuhn_cfr", "CFR itself, a sampled equilibrium, one deal replayed", "kuhn/heldout", 0, 1),
    _tic_tac_toe("tictactoe", "MCTS-100, the agent begins", "tictactoe/paper"),
    _tic_tac_toe("tictactoe_ood", "MCTS-1000, the agent begins", "tictactoe/paper_ood"),
    _tic_tac_toe("tictactoe_balanced", "half MCTS-100, half habits, the agent begins", "tictactoe/paper_balanced"),
    _tic_tac_toe("tictactoe_skewed", "nine tenths MCTS-100, else habits, the agent begins", "tictactoe/paper_skewed"),
)
