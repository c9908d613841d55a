"""What of a memory fits a budget: never more, nothing less than could stay, always in order."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mage_agent.memory import Kind, Passage, fitting

KINDS: tuple[Kind, ...] = ("history", "reflection", "step")
ITEMS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 50)), max_size=12)


def parts(items: list[tuple[Kind, int]]) -> tuple[list[Passage], list[int]]:
    return [Passage(kind, str(place)) for place, (kind, _) in enumerate(items)], [cost for _, cost in items]


@given(ITEMS, st.integers(0, 300))
def test_it_is_never_over_the_budget_and_keeps_the_order(items: list[tuple[Kind, int]], budget: int) -> None:
    passages, costs = parts(items)
    kept = fitting(passages, costs, budget)
    places = [int(passage.text) for passage in kept]
    assert sum(costs[place] for place in places) <= budget
    assert places == sorted(places)
    if sum(costs) <= budget:
        assert list(kept) == passages


@given(ITEMS, st.integers(0, 300))
def test_no_more_goes_than_must_and_the_oldest_history_goes_first(items: list[tuple[Kind, int]], budget: int) -> None:
    passages, costs = parts(items)
    kept = {int(passage.text) for passage in fitting(passages, costs, budget)}
    order = sorted(range(len(items)), key=lambda place: (KINDS.index(items[place][0]), place))
    gone = [place for place in order if place not in kept]
    assert gone == order[: len(gone)]
    if gone:  # With the last one that went, it would not fit.
        assert sum(costs[place] for place in (*kept, gone[-1])) > budget


def test_by_example() -> None:
    passages: list[Any] = [Passage("history", "h1"), Passage("reflection", "r1"), Passage("history", "h2")]
    assert [p.text for p in fitting(passages, [10, 10, 10], 25)] == ["r1", "h2"]
    assert [p.text for p in fitting(passages, [10, 10, 10], 15)] == ["r1"]
    assert fitting(passages, [10, 10, 10], 9) == ()
