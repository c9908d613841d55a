"""From a reply to a move: every kind of reply, and no move that nobody made."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_envs.text.parser import MAX_ANSWER, ReplyKind, parse_reply

SPELLINGS = {"pass": 0, "check": 0, "bet": 1, "column 1": 2}
VOCABULARY = frozenset({"pass", "bet", "check", "call", "fold", "column 1", "column 9"})

REPLIES = [
    # The whole reply is an answer.
    ("bet", ReplyKind.OK, 1),
    ("  BET\n", ReplyKind.OK, 1),
    ("Column   1", ReplyKind.OK, 2),
    # A tagged answer is final, whatever else is said.
    ("<action>bet</action>", ReplyKind.OK, 1),
    ("I could pass, or bet. <ACTION> Check </Action> Done.", ReplyKind.OK, 0),
    ("<action>\nbet\n</action>", ReplyKind.OK, 1),
    ("<action>bet</action> <action> BET </action>", ReplyKind.OK, 1),
    ("bet <action>fold</action>", ReplyKind.ILLEGAL, None),
    ("I bet. <action>dance</action>", ReplyKind.UNPARSABLE, None),
    ("bet <action></action>", ReplyKind.EMPTY, None),
    # Several answers.
    ("<action>bet</action><action>pass</action>", ReplyKind.AMBIGUOUS, None),
    ("<action>bet</action><action></action>", ReplyKind.AMBIGUOUS, None),
    ("<action>bet<action>bet</action>", ReplyKind.UNPARSABLE, None),
    # Prose is never searched.
    ("I bet", ReplyKind.UNPARSABLE, None),
    ("bet or pass", ReplyKind.UNPARSABLE, None),
    ("An error occurred while calling the model.", ReplyKind.UNPARSABLE, None),
    ("0", ReplyKind.UNPARSABLE, None),
    ("bet</action>", ReplyKind.UNPARSABLE, None),
    # A name that exists, but not now.
    ("fold", ReplyKind.ILLEGAL, None),
    ("<action>Column 9</action>", ReplyKind.ILLEGAL, None),
    # Nothing.
    ("", ReplyKind.EMPTY, None),
    (" \n\t", ReplyKind.EMPTY, None),
    ("<think>bet</think>", ReplyKind.EMPTY, None),
    # Thoughts: a full pair; the end only, as templates that put <think> into the prompt leave it; the start only.
    ("<think>bet? <action>bet</action></think><action>pass</action>", ReplyKind.OK, 0),
    ("<think>bet</think>\n\npass", ReplyKind.OK, 0),
    ("<action>bet</action> no </think> <action>pass</action>", ReplyKind.OK, 0),
    ("I think: bet</think>pass", ReplyKind.OK, 0),
    ("<think>I should <action>bet</action>", ReplyKind.TRUNCATED, None),
    ("<THINK> bet", ReplyKind.TRUNCATED, None),
    ("<think>a</think><think>b</think>bet", ReplyKind.OK, 1),
    ("<think>a <think> b</think> c</think>bet", ReplyKind.OK, 1),
    ("<think>a</think>My <think> block is over. <action>bet</action>", ReplyKind.TRUNCATED, None),
    ("<think>a</think><action>bet</action> (after </think>)", ReplyKind.UNPARSABLE, None),
    ("\u0130\u0130\u0130<think>bet</think>pass", ReplyKind.OK, 0),  # Two characters each in lower case.
    ("<think>\u0130\u0130\u0130</think>pass", ReplyKind.OK, 0),
    # An answer that was cut short.
    ("<action>be", ReplyKind.TRUNCATED, None),
    ("<action>bet</action> Or rather <action>pass", ReplyKind.TRUNCATED, None),
    ("<think>a</think><action>bet", ReplyKind.TRUNCATED, None),
]


@pytest.mark.parametrize(("reply", "kind", "action"), REPLIES)
def test_reply(reply: str, kind: ReplyKind, action: int | None) -> None:
    parsed = parse_reply(reply, SPELLINGS, VOCABULARY)
    assert (parsed.kind, parsed.action) == (kind, action)
    assert parsed.answer == " ".join(parsed.answer.casefold().split())


def test_every_kind_is_tested() -> None:
    assert {kind for _, kind, _ in REPLIES} == set(ReplyKind)


def test_answer_is_kept_for_the_record_and_cut() -> None:
    assert parse_reply("<action> DANCE  now</action>", SPELLINGS).answer == "dance now"
    assert len(parse_reply("x" * 10_000, SPELLINGS).answer) == MAX_ANSWER


PIECES = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<action>",
        "</action>",
        "bet",
        "pass",
        "fold",
        " ",
        "\n",
        "I could ",
        "<",
        ">",
        "İ",
        "ß",
        "\ud800",
    ]
)
REPLY = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))


@given(REPLY)
def test_no_reply_raises_and_only_ok_is_a_move(reply: str) -> None:
    parsed = parse_reply(reply, SPELLINGS, VOCABULARY)
    assert (parsed.action is not None) == (parsed.kind is ReplyKind.OK)
    assert parsed.action is None or SPELLINGS[parsed.answer] == parsed.action


@given(REPLY)
def test_a_move_is_the_last_thing_tagged_or_the_whole_answer(reply: str) -> None:
    """No ghost moves: a played answer stands alone after the thoughts, or alone between the tags."""
    parsed = parse_reply(reply, SPELLINGS, VOCABULARY)
    if parsed.kind is ReplyKind.OK:
        said = reply.rpartition("</think>")[2]
        tagged = said.rpartition("<action>")[2].partition("</action>")[0]
        assert " ".join(tagged.casefold().split()) == parsed.answer


@given(st.text(alphabet=st.characters(exclude_characters="<>")), st.sampled_from(["fold", "dance", ""]))
def test_a_rejected_answer_is_not_replaced_by_one_in_the_reasoning(prose: str, answer: str) -> None:
    """Kaggle/kaggle-environments#1192: 7,477 moves that no model made."""
    reply = f"{prose} bet <action>{answer}</action> I said: bet\nbet\npass"
    assert parse_reply(reply, SPELLINGS, VOCABULARY).action is None


def test_a_model_stuck_on_a_tag_costs_no_time() -> None:
    start = time.process_time()
    for tag in ("<action>", "<think>", "</think>", "<action></action>"):
        parse_reply(tag * 50_000, SPELLINGS)
    assert time.process_time() - start < 5.0
