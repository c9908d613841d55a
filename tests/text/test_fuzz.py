"""A million replies, random and adversarial: none raises, and none is a move that a slow second reader does not see.

``python -m tests.text.test_fuzz 1000000`` reads any number.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mage_envs.text.parser import ReplyKind, parse_reply, visible
from tests.text import reference
from tests.text.reference import SPELLINGS, VOCABULARY
from tests.text.replies import PIECES, replies

COUNT = 1_000_000
REPLY = st.one_of(
    st.text(), st.lists(st.one_of(st.sampled_from(PIECES.tolist()), st.text(max_size=3)), max_size=12).map("".join)
)


def read(count: int, rng: np.random.Generator) -> Counter[str]:
    """Reads replies with both readers. Returns how often each kind came; raises if they differ."""
    found = Counter[str]()
    for reply in replies(count, rng):
        parsed = parse_reply(reply, SPELLINGS, VOCABULARY)
        kind = parsed.kind.value
        assert (kind, parsed.action) == reference.read(reply), reply
        found[kind] += 1
    return found


def test_two_readers_agree_on_a_million_replies() -> None:
    found = read(COUNT, np.random.default_rng(5))
    assert found.total() == COUNT
    assert all(found[kind.value] > COUNT / 200 for kind in ReplyKind)  # Each kind was tried in earnest.


@given(REPLY)
def test_no_reply_raises_and_no_move_is_a_ghost(reply: str) -> None:
    parsed = parse_reply(reply, SPELLINGS, VOCABULARY)
    assert (parsed.kind is ReplyKind.OK) == (parsed.action is not None)
    assert parsed.action == reference.read(reply)[1]


@given(REPLY)
def test_what_is_visible_reads_as_the_reply_does(reply: str) -> None:
    said = visible(reply)
    assert parse_reply(said, SPELLINGS, VOCABULARY) == parse_reply(reply, SPELLINGS, VOCABULARY)
    assert visible(said) == said
    cut = visible(reply, cut=True)
    assert visible(cut) == visible(cut, cut=True) == visible(said, cut=True) == cut


@given(REPLY)
def test_a_reply_that_was_cut_is_never_a_move(reply: str) -> None:
    assert parse_reply(visible(reply, cut=True), SPELLINGS, VOCABULARY).kind is ReplyKind.TRUNCATED


if __name__ == "__main__":
    sys.stdout.write(f"{dict(read(int(sys.argv[1]), np.random.default_rng()))}\n")
