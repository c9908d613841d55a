"""A favourite action with a share."""

from __future__ import annotations

import numpy as np
import pytest

from mage_agent.policies import best_policy
from mage_envs.errors import SpecError
from mage_envs.games import load_game_spec
from mage_envs.opponents import make_opponent
from mage_envs.tabular.solve import bayes_adaptive_value
from tests.opponents.play import decision_views


@pytest.mark.parametrize(
    ("game", "action", "share", "expected"),
    [
        ("rock_paper_scissors", "paper", 0.8, (0.1, 0.8, 0.1)),
        ("rock_paper_scissors", 0, 0.5, (0.5, 0.25, 0.25)),
        ("kuhn_poker", "bet", 0.9, (0.1, 0.9)),
        ("kuhn_poker", "bet", 0, (1.0, 0.0)),
        ("kuhn_poker", "bet", 1, (0.0, 1.0)),
    ],
)
def test_the_favourite_has_its_share(game: str, action: str | int, share: float, expected: tuple[float, ...]) -> None:
    opponent = make_opponent(f"leaning(action={action}, share={share})", load_game_spec(game))
    for view in decision_views(game):
        distribution, _ = opponent.policy(view, None, np.random.default_rng(0))
        assert distribution == pytest.approx(expected)


def test_a_favourite_that_is_not_legal_leaves_chance() -> None:
    game = load_game_spec("tic_tac_toe")
    opponent = make_opponent("leaning(action=centre)", game)
    taken = [view for view in decision_views("tic_tac_toe") if 4 not in view.legal]
    assert taken
    assert all(opponent.policy(view, None, np.random.default_rng(0))[0] == view.uniform for view in taken)


@pytest.mark.parametrize("share", [-0.1, 1.1, "much"])
def test_a_share_is_a_probability(share: object) -> None:
    with pytest.raises(SpecError, match=r"share must be a number in 0\.0\.\.1\.0"):
        make_opponent(f"leaning(action=0, share={share})", load_game_spec("kuhn_poker"))


def test_what_it_is_worth_to_find_the_favourite() -> None:
    """Told: .8 - .1. After one throw the odds are 8:1:1, so that what beats it expects .66 - .17.

    After two equal ones (.66) they are 64:1:1 and it expects .668; after two others (.34) 8:8:1 and .288.
    """
    game = load_game_spec("rock_paper_scissors")
    policy = best_policy(game, "leaning(action=rock, share=0.8)", 0)
    assert set(policy.values()) == {1}
    value = bayes_adaptive_value("rock_paper_scissors", "rps/leaning", [0] * 3)
    assert value.per_episode[:2] == pytest.approx((0.0, 0.49))
    assert value.per_episode[2] == pytest.approx(0.66 * 0.668182 + 0.34 * 0.288235, abs=1e-5)
