"""Similarity of texts: what is like what, whatever the order, and nothing random."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mage_agent.similarity import most_similar, similarities

TEXTS = st.lists(st.text(st.sampled_from("ab .\n"), max_size=12), max_size=6)


@given(TEXTS, st.text(st.sampled_from("ab .\n"), max_size=12))
def test_it_is_between_0_and_1_and_a_text_is_most_like_itself(texts: list[str], query: str) -> None:
    found = similarities(query, [*texts, query])
    assert found.shape == (len(texts) + 1,)
    assert ((found >= 0) & (found <= 1)).all()
    assert found[-1] >= found.max() - 1e-9
    if query.split():
        assert abs(found[-1] - 1) < 1e-9


@given(TEXTS, st.integers(0, 8))
def test_the_most_similar_come_last_and_of_equals_the_newest(texts: list[str], count: int) -> None:
    places = most_similar("a b", texts, count)
    scores = similarities("a b", texts).round(12)
    assert len(places) == min(count, len(texts)) == len(set(places))
    assert scores[places].tolist() == sorted(scores[places].tolist())
    assert all((scores[a], a) < (scores[b], b) for a, b in itertools.pairwise(places))


def test_boards_of_the_same_marks_are_told_apart() -> None:
    boards = ["r1 X . .\nr2 . O .", "r1 . X .\nr2 O . ."]
    assert np.argmax(similarities(boards[0], boards)) == 0
    assert similarities(boards[0], boards)[1] < 0.9


def test_nothing_is_like_nothing() -> None:
    assert similarities("", []).shape == (0,)
    assert similarities("a", ["", "b"]).tolist() == [0, 0]
