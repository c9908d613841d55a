"""Prompts: what is in them, in which order, and what their hash is of; reflections as they are read."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_agent.backends.fake import listed_actions
from mage_agent.memory import MODES, Mode, Passage
from mage_agent.prompting import (
    MAX_REMARK,
    REASONED,
    REFLECT,
    Step,
    Templates,
    act_prompt,
    answer_in,
    between,
    reflect_prompt,
    remark,
    step_text,
)
from mage_envs.text.parser import ReplyKind, parse_reply
from tests.games.walk import SMALL_GAMES, played_views

WORDS = Templates(act=REASONED, reflect=REFLECT)
PASSAGES = (Passage("history", "It went so."), Passage("reflection", "It bluffs."), Passage("step", "I went north."))


def test_a_prompt_has_rules_then_memory_then_steps_then_the_observation_then_the_legal_actions() -> None:
    system, user = act_prompt(WORDS, "RULES {x}", PASSAGES, "Your card: {J}.", ["pass", "bet {2}"])
    assert (system.role, user.role) == ("system", "user")
    assert "RULES {x}" in system.content
    assert system.content.endswith(REASONED)
    order = ["It went so.", "It bluffs.", "This episode so far", "I went north.", "Your card: {J}.", "- bet {2}"]
    assert sorted(order, key=user.content.index) == order


def test_what_there_is_not_is_not_spoken_of() -> None:
    _, user = act_prompt(WORDS, "", (), "Your card: J.")
    assert user.content == "The situation now:\nYour card: J."


def test_the_system_message_is_the_same_for_all_decisions_so_that_servers_need_not_read_it_again() -> None:
    first, second = act_prompt(WORDS, "R", (), "a"), act_prompt(WORDS, "R", PASSAGES, "b", ["x"])
    assert first[0] == second[0]


def test_a_reflection_is_asked_for_with_the_whole_episode() -> None:
    steps = [Passage("step", step_text(WORDS, step)) for step in (Step("A wall.", "north"), Step("A door.", ""))]
    system, user = reflect_prompt(WORDS, "RULES", [*PASSAGES[:2], *steps], "You won.")
    assert "RULES" in system.content
    assert system.content.endswith(REFLECT)
    assert user.content.index("It bluffs.") < user.content.index("The episode that has just ended:")
    assert user.content.endswith(
        "The episode that has just ended:\nA wall.\nYour answer: north\n\nA door.\nYour answer: (none)\n\nYou won."
    )
    assert "This episode so far" not in user.content


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_every_legal_action_of_a_prompt_is_read_as_itself(game: str) -> None:
    seen = 0
    for view in {(view.text, view.names): view for view in played_views(game) if view.legal}.values():
        listed = listed_actions(act_prompt(WORDS, view.spec.rules, PASSAGES, view.text, view.names))
        assert tuple(listed) == view.names
        for action, name in zip(view.legal, listed, strict=True):
            reply = parse_reply(f"<think>{listed}</think><action>{name}</action>", view.spellings, view.spec.vocabulary)
            assert (reply.kind, reply.action) == (ReplyKind.OK, action)
            seen += 1
    assert seen


def test_the_hash_changes_if_and_only_if_a_template_that_is_used_changes() -> None:
    for mode in MODES:
        words = WORDS.used_with(mode)
        assert words.hash() == Templates(act=REASONED, reflect=REFLECT).used_with(mode).hash()
        for field in fields(Templates):
            changed = replace(WORDS, **{field.name: getattr(WORDS, field.name) + " "}).used_with(mode)
            assert (changed.hash() != words.hash()) == bool(getattr(words, field.name)), field.name


@pytest.mark.parametrize(
    ("mode", "unused"),
    [
        ("none", {"memory", "history", "reflection", "reflect", "ended"}),
        ("history", {"reflection", "reflect", "ended"}),
        ("reflection", {"history"}),
        ("history+reflection", set()),
    ],
)
def test_a_memory_uses_the_templates_that_it_needs(mode: Mode, unused: set[str]) -> None:
    used = WORDS.used_with(mode)
    assert {field.name for field in fields(Templates) if not getattr(used, field.name)} == unused


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("<remark>It folds.</remark>", "It folds."),
        ("<think><remark>draft</remark></think>So: <REMARK >\nIt folds.\n</remark > Good.", "It folds."),
        ("<remark>one</remark> or better <remark>two</remark>", "two"),
        ("I write it into <remark> tags: <remark>It folds.</remark>", "It folds."),
        ("It folds.", "It folds."),
        ("Thoughts</think>It folds.", "It folds."),
        ("Well, <remark>It folds Ja", "It folds Ja"),
        ("<remark>one</remark> <remark>It fol", "one"),
        ("It folds<cut>", "It folds"),
        ("<think>endless", ""),
        ("", ""),
        ("<remark></remark>", ""),
        ("closed only</remark>", "closed only</remark>"),
    ],
)
def test_a_reflection_is_what_stands_in_the_last_remark(reply: str, read: str) -> None:
    assert remark(reply) == read


@given(st.lists(st.sampled_from(["<remark>", "</remark>", "<think>", "</think>", "a", " ", "<cut>", "\ud800"])))
def test_reading_a_reflection_never_fails_and_is_bounded(parts: list[str]) -> None:
    found = remark("".join(parts) * 300)
    assert len(found) <= MAX_REMARK
    assert found == found.strip()


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Hm. <action> Bet\n now </action>", "Bet now"),
        ("<action>a</action><action>b</action>", ""),
        ("x" * 500, "x" * 200),
    ],
)
def test_an_answer_is_told_in_a_few_words(reply: str, answer: str) -> None:
    assert answer_in(reply) == answer
    assert step_text(WORDS, Step("o", answer)).endswith(answer or "(none)")


def test_what_stands_between_tags_is_found_in_one_pass() -> None:
    note = re.compile(r"<(?:(/)note|note (\d))>")
    said = "<note 1>a<note 2>b</note> c </note> <note 3></note><note 4>d"
    assert [(tag[2], text) for tag, text in between(said, note)] == [("2", "b"), ("3", "")]
    assert list(between("<note 1>" * 50_000, note)) == []
