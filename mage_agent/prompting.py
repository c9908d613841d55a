"""Prompts: what the agent adds to the environment's words. One builder for all games and worlds.

Rules, observations, names of actions and results are the environment's and stand in a prompt as they came. The rest is
here, as data: :class:`Templates`. A prompt is two messages: the role, the rules and how to answer (``system``); then
what is remembered, the recent steps where an observation does not tell them, and the observation (``user``).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from mage_agent.backends.base import Message
from mage_agent.memory import Mode, Passage
from mage_envs.text.parser import CUT_MARK, MAX_ANSWER, final_answer, visible

MAX_REMARK = 4000
"""Characters of a reflection that are kept."""

_NO_MORE_THAN_THOUGHTS = visible("<think>")
_REMARK = re.compile(r"<\s*(?:(/)\s*)?remark\s*>", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class Templates:
    """All words that a prompted agent adds, with places for the environment's. An empty one is not used.

    Attributes:
        system: Role and rules: ``{rules}``, and how to answer: ``{answer}``.
        act: How to answer with an action.
        memory: Before what is remembered: ``{passages}``.
        history: One episode that was kept as it went: ``{number}``, ``{text}``.
        reflection: One reflection that was kept: ``{number}``, ``{text}``.
        steps: Before the recent steps of this episode: ``{passages}``.
        step: One step: ``{observation}``, ``{answer}``.
        now: Before the observation: ``{observation}``.
        legal: The legal actions: ``{actions}``, one a line.
        legal_action: One of them: ``{name}``.
        reflect: How to answer with a reflection.
        ended: The episode that is over: ``{text}``.
        no_answer: What a step says where the reply held no answer.
    """

    system: str = (
        "You play. Your aim is as high a score as you can get, all episodes together. These are the rules.\n\n"
        "{rules}\n\n{answer}"
    )
    act: str = ""
    memory: str = "What you have kept from earlier episodes, the oldest first:\n\n{passages}"
    history: str = "Episode {number}, as it went:\n{text}"
    reflection: str = "What you wrote after episode {number}:\n{text}"
    steps: str = "This episode so far:\n\n{passages}"
    step: str = "{observation}\nYour answer: {answer}"
    now: str = "The situation now:\n{observation}"
    legal: str = "Your legal actions:\n{actions}"
    legal_action: str = "- {name}"
    reflect: str = ""
    ended: str = "The episode that has just ended:\n{text}"
    no_answer: str = "(none)"

    def used_with(self, mode: Mode) -> Templates:
        """Returns the templates without those that this memory never uses."""
        unused = {"history": "history" not in mode, "reflection": "reflection" not in mode}
        unused["reflect"] = unused["ended"] = unused["reflection"]
        unused["memory"] = mode == "none"
        return replace(self, **{name: "" for name, not_used in unused.items() if not_used})

    def hash(self) -> str:
        """Returns the SHA-256 of the templates that are used, in hexadecimal: it changes if, and only if, they do."""
        used = {name: text for name, text in asdict(self).items() if text}
        return hashlib.sha256(json.dumps(used, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


DIRECT = "How to answer: give your choice in tags, once, and nothing else, as in\n<action>your choice</action>"
REASONED = (
    "How to answer: first reason about the situation, what your opponent or the task is like, and what each choice may "
    "lead to. Then end with your choice, in tags and once, as in\n<action>your choice</action>"
)
REFLECT = (
    "An episode has ended, and another one follows. First reason about how it went: what you learnt about the opponent "
    "or the task, what went well or wrong, and what you will do next time. Then write what you want to remember, in at "
    "most 150 words, between <remark> and </remark>. In the episodes to come it is shown to you, word for word."
)


class Step(NamedTuple):
    """One decision of the agent: what it was shown, and its answer in a few words."""

    observation: str
    answer: str


def act_prompt(
    templates: Templates, rules: str, passages: Sequence[Passage], observation: str, legal: Sequence[str] = ()
) -> tuple[Message, ...]:
    """Builds the prompt of a decision.

    Args:
        templates: The agent's words.
        rules: The environment's rules.
        passages: What is remembered, and recent steps.
        observation: What the environment shows.
        legal: Names of the legal actions, if the prompt shall list them.
    """
    parts = [templates.now.format(observation=observation)]
    if legal:
        names = "\n".join(templates.legal_action.format(name=name) for name in legal)
        parts.append(templates.legal.format(actions=names))
    return prompt(templates, rules, templates.act, passages, parts)


def reflect_prompt(templates: Templates, rules: str, passages: Sequence[Passage], end: str) -> tuple[Message, ...]:
    """Builds the prompt of a reflection.

    Args:
        templates: The agent's words.
        rules: The environment's rules.
        passages: What is remembered, and the steps of the episode that has ended.
        end: Its last observation.
    """
    steps = [passage.text for passage in passages if passage.kind == "step"]
    ended = templates.ended.format(text="\n\n".join([*steps, end]))
    return prompt(templates, rules, templates.reflect, [p for p in passages if p.kind != "step"], [ended])


def prompt(
    templates: Templates, rules: str, answer: str, passages: Sequence[Passage], parts: Sequence[str]
) -> tuple[Message, ...]:
    """Builds any prompt.

    Args:
        templates: The agent's words.
        rules: The environment's rules.
        answer: How to answer.
        passages: What is remembered, and recent steps.
        parts: What follows them.
    """
    system = templates.system.format(rules=rules, answer=answer)
    return Message("system", system), Message("user", "\n\n".join([*_passages(templates, passages), *parts]))


def step_text(templates: Templates, step: Step) -> str:
    """Tells a step."""
    return templates.step.format(observation=step.observation, answer=step.answer or templates.no_answer)


def answer_in(reply: str) -> str:
    """Returns the answer in a reply in a few words, with its own letter case; empty if it has none, or several.

    >>> answer_in("The boots. <action> search[Red  Boots] </action>")
    'search[Red Boots]'
    """
    return " ".join(final_answer(reply).text.split())[:MAX_ANSWER]


def remark(reply: str) -> str:
    """Returns the reflection in a reply: what stands in the last ``<remark>…</remark>`` after the thoughts.

    Without the tag it is all that is visible; of one that does not close, what stands behind it. A reply that was cut
    inside its thoughts holds no reflection.

    >>> remark("<think>Hm.</think>It folded. <remark>It folds Jacks.</remark>")
    'It folds Jacks.'
    """
    said = visible(reply).removesuffix(CUT_MARK)
    if said == _NO_MORE_THAN_THOUGHTS:
        return ""
    whole = [text for _, text in between(said, _REMARK)]
    begun = [tag.end() for tag in _REMARK.finditer(said) if not tag[1]]
    found = whole[-1] if whole else said[begun[-1] :] if begun else said
    return found.strip()[:MAX_REMARK]


def between(said: str, tags: re.Pattern[str]) -> Iterator[tuple[re.Match[str], str]]:
    """Yields opening tags, each with what stands between it and its end.

    One pass: a model that repeats an opening tag for thousands of tokens must not cost time by the square.

    Args:
        said: A reply.
        tags: Matches both tags; its first group is found in closing ones only.
    """
    opened: re.Match[str] | None = None
    for tag in tags.finditer(said):
        if not tag[1]:
            opened = tag
        elif opened is not None:
            yield opened, said[opened.end() : tag.start()]
            opened = None


def _passages(templates: Templates, passages: Sequence[Passage]) -> list[str]:
    memory = "\n\n".join(passage.text for passage in passages if passage.kind != "step")
    steps = "\n\n".join(passage.text for passage in passages if passage.kind == "step")
    parts = [templates.memory.format(passages=memory)] if memory else []
    return [*parts, templates.steps.format(passages=steps)] if steps else parts
