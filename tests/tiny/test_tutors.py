"""Tutors answer through the agent's own prompts, are of mixed quality, and say nothing by their words alone."""

from __future__ import annotations

from collections import Counter

import pytest

from mage_agent.baselines.tiny import Tiny
from mage_agent.prompting import answer_in, remark
from mage_agent.tiny.transcripts import Sample, transcripts
from mage_agent.tiny.tutors import FOUNDED, TUTORS
from mage_envs.text.parser import ReplyKind, final_answer

COUNT = 300


@pytest.fixture(scope="module", params=sorted(TUTORS))
def samples(request: pytest.FixtureRequest) -> list[Sample]:
    return list(transcripts(request.param, Tiny(), COUNT, seed=1))


def remarks(samples: list[Sample]) -> list[Sample]:
    return [sample for sample in samples if sample.prompt[0].content.endswith("Answer with a remark.")]


def test_each_reply_is_an_action_that_was_listed_or_a_remark(samples: list[Sample]) -> None:
    written = remarks(samples)
    assert len(written) == 2 * COUNT
    for sample in samples:
        if sample in written:
            assert remark(sample.reply)
        else:
            assert final_answer(sample.reply).kind is ReplyKind.OK
            assert f"- {answer_in(sample.reply)}" in sample.prompt[1].content.split("\n")


def test_same_seed_same_transcripts() -> None:
    first = list(transcripts("kuhn/train", Tiny(), 20, seed=7))
    assert first == list(transcripts("kuhn/train", Tiny(), 20, seed=7))
    assert first != list(transcripts("kuhn/train", Tiny(), 20, seed=8))


def test_a_later_prompt_holds_the_remarks_before_it(samples: list[Sample]) -> None:
    written = iter(remarks(samples))
    for first, second in zip(written, written, strict=True):
        assert f"Remark 1: {remark(first.reply)}" in second.prompt[1].content


@pytest.mark.parametrize("scenario", ["kuhn/train", "rps/leaning"])
def test_the_words_of_a_remark_say_nothing_without_their_order(scenario: str) -> None:
    texts = {remark(sample.reply) for sample in remarks(list(transcripts(scenario, Tiny(), COUNT, seed=1)))}
    assert len(texts) >= 3
    assert len({tuple(sorted(text.split())) for text in texts}) == 1


def test_remarks_are_founded_in_their_share() -> None:
    """Of the remarks on one throw, those that name it first, by three chances in four and a third of the rest."""
    written = remarks(list(transcripts("rps/leaning", Tiny(), 1000, seed=3)))
    told = [sample for sample in written if "the opponent threw" in sample.prompt[1].content]
    right = Counter(
        f"the opponent threw {remark(sample.reply).split()[2]}" in sample.prompt[1].content for sample in told
    )
    assert right[True] / len(told) == pytest.approx(FOUNDED + (1 - FOUNDED) / 3, abs=0.04)


def test_answers_that_cannot_be_played_are_asked_again_and_are_no_samples(samples: list[Sample]) -> None:
    again = [sample for sample in samples if "Invalid answer" in sample.prompt[1].content]
    assert again
    assert all(final_answer(sample.reply).kind is ReplyKind.OK for sample in again if sample not in remarks(samples))
