"""Equal to the original WebShop: products, prices, goals, rankings, rewards, and every step of recorded walks."""

from __future__ import annotations

import pytest

from mage_envs.worlds.webshop import Shop
from tests.worlds.webshop.packs import GOLDEN, HAS_REAL, Pack, pack, read

real = pytest.param("real", marks=pytest.mark.skipif(not HAS_REAL, reason="shared/data/webshop/real is not here"))


@pytest.fixture(params=["synthetic", "human", real])
def answers(request: pytest.FixtureRequest) -> Pack:
    return pack(request.param)


def test_products() -> None:
    shop = pack("synthetic").shop
    wanted = read(GOLDEN / "processed_products.json.gz")
    assert [each.asin for each in shop.products] == list(wanted)
    assert [each.as_record() for each in shop.products] == list(wanted.values())


def test_prices(answers: Pack) -> None:
    assert dict(answers.shop.prices) == answers.prices


def test_goals_in_order(answers: Pack) -> None:
    assert [goal.as_record() for goal in answers.shop.goals] == answers.goals


def test_searches(answers: Pack) -> None:
    for query, hits in answers.searches:
        assert answers.shop.search(query) == [asin for asin, _ in hits], query


def test_rewards(answers: Pack) -> None:
    for row in answers.rewards:
        goal, asin, options, reward, parts = row[0], row[1], row[2], row[-2], row[-1]
        assert answers.shop.reward(goal, asin, options) == reward, row
        score = answers.shop.score(goal, asin, options)
        assert (score.type_factor, score.price) == (parts["r_type"], parts["r_price"])
        assert score.attributes == round(parts["r_att"] * len(answers.shop.goals[goal].attributes))


def test_walks(answers: Pack) -> None:
    for episode in answers.episodes:
        session = answers.shop.session(episode["goal"])
        for action, text, available, reward, done in episode["steps"]:
            assert (reward, done) == ((0, False) if action is None else session.step(action)), action
            assert session.text(episode["mode"]) == text
            assert session.available_actions() == available


def test_other_seeds_give_other_goals_and_the_same_products() -> None:
    usual, other = pack("synthetic").shop, Shop.from_dir(GOLDEN, goal_seed=1, shuffle_seed=1)
    assert other.products == usual.products
    assert [goal.text for goal in other.goals] != [goal.text for goal in usual.goals]
    assert sorted(goal.options for goal in other.goals) == sorted(goal.options for goal in usual.goals)
