"""From a reply to a move: every kind of reply, and no move that nobody made."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_envs.games import fold
from mage_envs.text.parser import CUT_MARK, MAX_ANSWER, ReplyKind, parse_reply, visible
from tests.text import reference
from tests.text.reference import SPELLINGS, VOCABULARY

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
    ("<action>bet</acton>", ReplyKind.TRUNCATED, None),
    # A reply that was stopped at the limit of tokens: only a whole answer in tags counts.
    (CUT_MARK, ReplyKind.TRUNCATED, None),
    (f"bet{CUT_MARK}", ReplyKind.TRUNCATED, None),
    (f"I would bet{CUT_MARK}", ReplyKind.TRUNCATED, None),
    (f"<action>bet{CUT_MARK}", ReplyKind.TRUNCATED, None),
    (f"<action>bet</action> because{CUT_MARK}", ReplyKind.TRUNCATED, None),
    (f"<think>a</think>{CUT_MARK}", ReplyKind.TRUNCATED, None),
    (f"bet{CUT_MARK} I mean", ReplyKind.UNPARSABLE, None),
    # Tags are forgiven white space and letter case.
    ("<action >bet</action >", ReplyKind.OK, 1),
    ("< action>bet< / Action >", ReplyKind.OK, 1),
    ("<action>bet</action> no: < action >pass</action>", ReplyKind.AMBIGUOUS, None),
    ("<think >bet</ think >pass", ReplyKind.OK, 0),
    ("```xml\n<action>bet</action>\n```", ReplyKind.OK, 1),
    ("**<action>bet</action>**", ReplyKind.OK, 1),
    # Attributes may mean anything: such a tag is an answer, and no spelling.
    ('<action type="draft">bet</action>', ReplyKind.UNPARSABLE, None),
    ('<action>bet</action><action type="final">pass</action>', ReplyKind.AMBIGUOUS, None),
    ('<action type="draft">bet</action><action>bet</action>', ReplyKind.AMBIGUOUS, None),
    ('<action name="bet"/>', ReplyKind.UNPARSABLE, None),
    ("<action/>", ReplyKind.UNPARSABLE, None),
    ('<action type="draft">bet', ReplyKind.TRUNCATED, None),
    # What is spelled otherwise is no tag.
    ("<acton>bet</acton>", ReplyKind.UNPARSABLE, None),
    ("<acton>pass</acton> <action>bet</action>", ReplyKind.OK, 1),
    ("[action]bet[/action]", ReplyKind.UNPARSABLE, None),
    ("&lt;action&gt;bet&lt;/action&gt;", ReplyKind.UNPARSABLE, None),
    ("<act\u0131on>bet</act\u0131on>", ReplyKind.UNPARSABLE, None),  # Dotless i: a capital I in Turkish only.
    ("<thin\u212a>bet</thin\u212a>pass", ReplyKind.UNPARSABLE, None),  # The Kelvin sign is no k.
    # A closing tag that nothing opened is prose.
    ("pass</action> <action>bet</action></action>", ReplyKind.OK, 1),
    # Marks around an untagged answer are not forgiven.
    ("bet.", ReplyKind.UNPARSABLE, None),
    ('"bet"', ReplyKind.UNPARSABLE, None),
    ("**bet**", ReplyKind.UNPARSABLE, None),
    ("<action>`bet`</action>", ReplyKind.UNPARSABLE, None),
    # Letter case is forgiven; other characters are other characters.
    ("<action>BET</action>", ReplyKind.OK, 1),
    ("\u212aIC\u212a", ReplyKind.UNPARSABLE, None),
    ("pa\u017f\u017f", ReplyKind.UNPARSABLE, None),
    ("pa\u00df", ReplyKind.UNPARSABLE, None),
    ("PA\u1e9e", ReplyKind.UNPARSABLE, None),
    ("\uff22\uff25\uff34", ReplyKind.UNPARSABLE, None),
    ("b\u0435t", ReplyKind.UNPARSABLE, None),
    ("\u00c9", ReplyKind.OK, 4),
    ("E\u0301", ReplyKind.UNPARSABLE, None),
    # White space is forgiven where there is some; it is never added, and what has no width is no white space.
    ("\u00a0column\u3000\u2028 1", ReplyKind.OK, 2),
    ("column1", ReplyKind.UNPARSABLE, None),
    ("b et", ReplyKind.UNPARSABLE, None),
    ("be\u200bt", ReplyKind.UNPARSABLE, None),
    ("\ufeffbet", ReplyKind.UNPARSABLE, None),
    ("\u200b", ReplyKind.UNPARSABLE, None),
]

VISIBLE = [
    ("<think>long</think> bet", False, " bet"),
    ("long</think>bet", False, "bet"),
    ("<think>a</think>b<think>c", False, "<think>"),
    ("< THINK >long", False, "<think>"),
    ("<think>long", True, "<think>"),
    ("", False, ""),
    ("", True, CUT_MARK),
    ("<think>long</think>be", True, f"be{CUT_MARK}"),
    (f"be{CUT_MARK}", True, f"be{CUT_MARK}"),
    ("I <action>bet</action> as", True, f"I <action>bet</action> as{CUT_MARK}"),
    ("I <action>bet</action> or <action>pa", True, f"I <action>bet</action> or <action>pa{CUT_MARK}"),
]


@pytest.mark.parametrize(("reply", "cut", "expected"), VISIBLE)
def test_visible(reply: str, cut: bool, expected: str) -> None:
    assert visible(reply, cut=cut) == expected


@pytest.mark.parametrize(("reply", "kind", "action"), REPLIES)
def test_reply(reply: str, kind: ReplyKind, action: int | None) -> None:
    parsed = parse_reply(reply, SPELLINGS, VOCABULARY)
    assert (parsed.kind, parsed.action) == (kind, action)
    assert parsed.answer == fold(parsed.answer)
    assert (kind.value, action) == reference.read(reply)


def test_every_kind_is_tested() -> None:
    assert {kind for _, kind, _ in REPLIES} == set(ReplyKind)


def test_answer_is_kept_for_the_record_and_cut() -> None:
    assert parse_reply("<action> DANCE  now</action>", SPELLINGS).answer == "dance now"
    assert len(parse_reply("x" * 10_000, SPELLINGS).answer) == MAX_ANSWER


@given(st.text(alphabet=st.characters(exclude_characters="<>")), st.sampled_from(["fold", "dance", ""]))
def test_a_rejected_answer_is_not_replaced_by_one_in_the_reasoning(prose: str, answer: str) -> None:
    """Kaggle/kaggle-environments#1192: 7,477 moves that no model made."""
    reply = f"{prose} bet <action>{answer}</action> I said: bet\nbet\npass"
    assert parse_reply(reply, SPELLINGS, VOCABULARY).action is None


def test_a_model_stuck_on_a_tag_costs_no_time() -> None:
    start = time.process_time()
    for tag in ("<action>", "<think>", "</think>", "<action></action>", "<", "<action ", "< ", "É", "/"):
        for reply in (tag * 50_000, f"<{tag * 50_000}", f"<{' ' * 50_000}{tag}", f"< /{' ' * 50_000}{tag}"):
            parse_reply(reply, SPELLINGS)
            visible(reply, cut=True)
    assert time.process_time() - start < 5.0
