"""The Bayes-adaptive value: the known numbers, and brute force over two episodes."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import lru_cache
from itertools import product

import pytest

from mage_envs.errors import UnsupportedGameError
from mage_envs.opponents.populations import POPULATIONS
from mage_envs.tabular import bayes
from mage_envs.tabular.solve import bayes_adaptive_value, best_response_value
from tests.tabular import kuhn_by_hand as by_hand

EQUAL = {"conservative": 1.0, "aggressive": 1.0, "intermediate": 1.0}
PAPER = {"conservative": 0.3, "aggressive": 0.3, "intermediate": 0.4}
EXACT = 1e-12


@pytest.mark.parametrize(
    ("seat", "per_episode", "total"),
    [
        (0, ("1/18",), "1/18"),
        (0, ("1/18", "5/27", "25/108"), "17/36"),
        (1, ("1/6",), "1/6"),
        (1, ("1/6", "2/9", "20/81"), "103/162"),
    ],
)
def test_known_values_of_kuhn(seat: int, per_episode: tuple[str, ...], total: str) -> None:
    """Totals: issue 3, "check yourself"; equal weights, fresh deals, showdown not revealed."""
    value = bayes_adaptive_value("kuhn_poker", EQUAL, [seat] * len(per_episode), "fresh", reveal_showdown=False)
    assert value.total == pytest.approx(float(Fraction(total)), abs=EXACT)
    assert value.per_episode == pytest.approx([float(Fraction(part)) for part in per_episode], abs=EXACT)


@pytest.mark.parametrize("reveal", [False, True])
@pytest.mark.parametrize("instance", ["fresh", "replay"])
@pytest.mark.parametrize("seats", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_brute_force_over_two_episodes(seats: tuple[int, int], instance: str, reveal: bool) -> None:
    value = bayes_adaptive_value("kuhn_poker", PAPER, seats, instance, reveal)
    assert value.total == pytest.approx(float(_brute_force(seats, instance, reveal)), abs=EXACT)


def _brute_force(seats: tuple[int, int], instance: str, reveal: bool) -> Fraction:
    """Tries all 64 plans for the first episode and, after each thing seen, all 64 for the second."""
    first, second = seats
    prior = {name: Fraction(weight).limit_denominator(10) for name, weight in PAPER.items()}
    deals = tuple(sorted({end.history[:2] for end in by_hand.ends()})) if instance == "replay" else ((),)
    worth = _values_by_deal(second, deals)
    best = Fraction(-100)
    for plan in by_hand.plans(first):
        now = Fraction(0)
        seen: dict[object, dict[object, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
        for end, opponent in product(by_hand.ends(), PAPER):
            weight = prior[opponent] * by_hand.weight(end, plan, opponent, first)
            if not weight:
                continue
            now += weight * by_hand.score(end, first)
            kind = (opponent, end.history[: len(deals[0])])
            seen[by_hand.signal(end, plan, first, reveal)][kind] += weight
        later = sum(
            max(sum(weight * table[kind] for kind, weight in kinds.items()) for table in worth)
            for kinds in seen.values()
        )
        best = max(best, now + later)
    return best


@lru_cache(maxsize=4)
def _values_by_deal(seat: int, deals: tuple[tuple[int, ...], ...]) -> list[dict[object, Fraction]]:
    """For each plan of a seat: its expected score, given opponent and deal (an empty deal: any)."""
    tables = []
    for plan, opponent, deal in product(by_hand.plans(seat), PAPER, deals):
        if (opponent, deal) == (next(iter(PAPER)), deals[0]):
            tables.append({})
        fitting = [end for end in by_hand.ends() if end.history[: len(deal)] == deal]
        scores = (by_hand.weight(end, plan, opponent, seat) * by_hand.score(end, seat) for end in fitting)
        tables[-1][opponent, deal] = sum(scores, Fraction(0)) * (6 if deal else 1)
    return tables


@pytest.mark.parametrize("opponent", [*EQUAL, "random"])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_single_opponent_leaves_nothing_to_learn(opponent: str, seat: int) -> None:
    value = bayes_adaptive_value("kuhn_poker", {opponent: 5.0}, [seat] * 3)
    assert value.per_episode == pytest.approx([best_response_value("kuhn_poker", opponent, seat)] * 3, abs=EXACT)


def test_knowing_more_is_worth_more() -> None:
    told = sum(weight * best_response_value("kuhn_poker", name, 0) for name, weight in PAPER.items())
    values = [
        bayes_adaptive_value("kuhn_poker", PAPER, [0] * 5, "fresh", reveal_showdown=reveal) for reveal in (False, True)
    ]
    assert values[0].total < values[1].total < 5 * told
    assert values[1].per_episode[-1] < told


def test_deterministic_opponents_on_a_replayed_deal_give_each_deal_its_best() -> None:
    """From the second episode on, nothing more is to be learned with these weights."""
    value = bayes_adaptive_value("kuhn_poker", EQUAL, [0] * 4, "replay")
    assert value.per_episode == pytest.approx([1 / 18, 4 / 9, 4 / 9, 4 / 9], abs=EXACT)


def test_weights_are_normalised_and_zero_weights_do_not_count() -> None:
    seats = [0, 1, 0]
    value = bayes_adaptive_value("kuhn_poker", EQUAL, seats)
    scaled = {name: 7.0 for name in EQUAL}
    assert bayes_adaptive_value("kuhn_poker", {**scaled, "random": 0.0}, seats).total == pytest.approx(value.total)


def test_simultaneous_game() -> None:
    """Rock (``first_legal``) or the uniform player: paper wins the first half the time, and tells them apart enough."""
    value = bayes_adaptive_value("matrix_rps", {"first_legal": 1.0, "random": 1.0}, [0, 1])
    assert value.per_episode == pytest.approx((0.5, 0.5), abs=EXACT)


def test_leduc_is_within_reach() -> None:
    population = {"random": 1.0, "first_legal": 1.0}
    value = bayes_adaptive_value("leduc_poker", population, [0, 1, 0])
    assert value.per_episode[0] == pytest.approx(1.4, abs=1e-9)
    told = [sum(best_response_value("leduc_poker", name, seat) for name in population) / 2 for seat in (0, 1, 0)]
    assert value.total < sum(told)


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="instance must be 'fresh' or 'replay'"):
        bayes_adaptive_value("kuhn_poker", EQUAL, [0], "same")
    with pytest.raises(ValueError, match="seats must name"):
        bayes_adaptive_value("kuhn_poker", EQUAL, [])
    for weights in ({}, {"random": 0.0}, {"random": -1.0, "first_legal": 2.0}, {"random": float("nan")}):
        with pytest.raises(ValueError, match="weights of 0 or more"):
            bayes_adaptive_value("kuhn_poker", weights, [0])
    monkeypatch.setattr(bayes, "MAX_BELIEFS", 3)
    bayes._plan.cache_clear()
    with pytest.raises(UnsupportedGameError, match="more than 3 beliefs"):
        bayes_adaptive_value("kuhn_poker", EQUAL, [0, 0])


def test_a_population_can_be_named() -> None:
    by_name = bayes_adaptive_value("kuhn_poker", "kuhn/train", [0, 1])
    assert by_name == bayes_adaptive_value("kuhn_poker", dict(POPULATIONS.get("kuhn/train").members), [0, 1])


@pytest.mark.parametrize("instance", ["fresh", "replay"])
@pytest.mark.parametrize("seats", [(0, 0, 0), (1, 0)])
def test_the_parts_by_opponent_add_up(seats: tuple[int, ...], instance: str) -> None:
    value = bayes_adaptive_value("kuhn_poker", PAPER, seats, instance)
    for episode, expected in enumerate(value.per_episode):
        parts = [PAPER[name] * scores[episode] for name, scores in value.per_opponent.items()]
        assert sum(parts) == pytest.approx(expected, abs=EXACT)
    for name, scores in value.per_opponent.items():
        if instance == "fresh":
            told = [best_response_value("kuhn_poker", name, seat) for seat in seats]
            assert all(score <= best + EXACT for score, best in zip(scores, told, strict=True))


def test_the_first_episode_by_opponent() -> None:
    """The best response to the mixture beats only the intermediate player, by 1/6 (three times the mean of 1/18)."""
    value = bayes_adaptive_value("kuhn_poker", EQUAL, [0], reveal_showdown=False)
    scores = {name: parts[0] for name, parts in value.per_opponent.items()}
    assert scores == pytest.approx({"conservative": 0, "aggressive": 0, "intermediate": 1 / 6})


def test_what_was_solved_can_be_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is on the solution, not on the questions that are asked of it later."""
    bayes._plan.cache_clear()
    plan = bayes.adaptive_plan("kuhn_poker", PAPER, [0, 0, 0])
    monkeypatch.setattr(bayes, "MAX_BELIEFS", plan._rated)
    bayes._plan.cache_clear()
    again = bayes.adaptive_plan("kuhn_poker", PAPER, [0, 0, 0])
    assert again.per_opponent() == plan.per_opponent()
    monkeypatch.setattr(bayes, "MAX_BELIEFS", plan._rated - 1)
    bayes._plan.cache_clear()
    with pytest.raises(UnsupportedGameError, match="beliefs for 3 episodes"):
        bayes.adaptive_plan("kuhn_poker", PAPER, [0, 0, 0])


def test_boards_have_bounds_only() -> None:
    with pytest.raises(UnsupportedGameError, match=r"merges all ways to a board.*adaptive_bounds\(\) has bounds"):
        bayes_adaptive_value("tic_tac_toe", "random", [0])
