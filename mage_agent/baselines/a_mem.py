"""``a_mem``: notes with keywords, tags and links, which later notes can change.

Source: W. Xu et al., A-MEM, arXiv 2502.12110: the model writes a structured note, notes are linked, the arrival of one
may rewrite those that it is linked to, and those most similar to the situation are read, with their links.

Simplified: an episode gives one note; its text is its own description of the context; similarity is that of texts by
TF-IDF (:mod:`mage_agent.similarity`), no neural embedding; a note is linked to the ``links`` most similar earlier ones
with which it has anything in common, and the model is not asked whether; it can rewrite the texts of those, not their
keywords and tags.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from mage_agent.agents import AGENTS
from mage_agent.backends.base import Message
from mage_agent.language import BUDGET, Ended, LanguageAgent
from mage_agent.memory import Memory, Passage
from mage_agent.prompting import REASONED, Templates, between, prompt, reflect_prompt, remark
from mage_agent.similarity import most_similar, similarities
from mage_envs.opponents.base import check_range

MAX_WORDS = 200
"""Characters of a note's keywords, and of its tags."""

_REWRITTEN = re.compile(r"<(?:(/)note|note (\d{1,6}))>", re.IGNORECASE)

_NOTE = (
    "An episode has ended, and another one follows. First reason about what it showed: of the opponent or the task, of "
    "what went well or wrong. Then write a note for your memory, in at most 150 words, between <remark> and </remark>; "
    "after it, a few keywords between <keywords> and </keywords>, and a few tags that say what kind of note it is, "
    "between <tags> and </tags>. In later episodes you are shown the notes that fit the situation."
)
_EVOLVE = (
    "You have written a new note, and it is linked to older ones. Where it shows that an older note is wrong or can be "
    "said better, write that note anew, between <note NUMBER> and </note>. Leave out the notes that shall stay."
)


class Note(NamedTuple):
    """A note.

    Attributes:
        number: The episode that it was written after, from 1.
        text: What it says.
        keywords: Its keywords, with commas.
        tags: Its tags, with commas.
        links: Numbers of the notes that it is linked to.
    """

    number: int
    text: str
    keywords: str
    tags: str
    links: tuple[int, ...] = ()


@dataclass(frozen=True)
class NoteTemplates(Templates):
    """The words, with more: a note, how one is asked to rewrite notes, and before the new and the older ones."""

    memory: str = "Notes that you wrote after earlier episodes, the one that fits best last:\n\n{passages}"
    history: str = ""
    reflection: str = ""
    note: str = "Note {number}:\n{text}\nKeywords: {keywords}. Tags: {tags}."
    evolve: str = _EVOLVE
    new: str = "The new note:\n{text}"


class AMem(LanguageAgent):
    """A language model that reasons, writes linked notes, rewrites old ones, and reads those that fit."""

    name = "a_mem"
    sees: ClassVar[str] = "rules, own views, own notes that fit"
    keeps: ClassVar[str] = "notes"
    templates: ClassVar[NoteTemplates] = NoteTemplates(act=REASONED, reflect=_NOTE)

    def __init__(self, top: int = 3, links: int = 2, memory_budget: int = BUDGET) -> None:
        """Takes how many notes are read and linked, and how many tokens of them a prompt may hold.

        Args:
            top: Notes in a prompt before those that they are linked to, at most; 1 to 100.
            links: Older notes that a new one is linked to, at most; 0 to 100, and 0 rewrites none.
            memory_budget: Most tokens of memory in a prompt; the note that fits least is left out first.

        Raises:
            SpecError: One of them is out of range.
        """
        super().__init__("reflection", memory_budget)
        check_range("top", top, 1, 100)
        check_range("links", links, 0, 100)
        self._top, self._links = top, links

    def recall(self, observation: str, info: Mapping[str, Any]) -> Sequence[Passage]:
        """Returns the notes that fit, after those that they are linked to."""
        notes: tuple[Note, ...] = self.kept
        found = [notes[place] for place in most_similar(observation, [self._tell(note) for note in notes], self._top)]
        linked = {number for note in found for number in note.links} - {note.number for note in found}
        return self._passages([*(note for note in notes if note.number in linked), *found])

    async def learn(self, ended: Ended, passages: Sequence[Passage]) -> tuple[Memory, str]:
        """Writes a note, links it, and lets it change those that it is linked to."""
        rules, words = self.briefing.rules, self.templates
        said = await self.ask(lambda kept: reflect_prompt(words, rules, kept, ended.end), passages)
        note = Note(ended.number, remark(said), _tagged(said, "keywords"), _tagged(said, "tags"))
        older: tuple[Note, ...] = self.kept
        linked = self._alike(note, older)
        note = note._replace(links=tuple(other.number for other in linked))
        if linked:
            new = words.new.format(text=self._tell(note))

            def build(kept: Sequence[Passage]) -> tuple[Message, ...]:
                return prompt(words, rules, words.evolve, kept, [new])

            older = _rewritten(older, note.links, await self.ask(build, self._passages(linked)))
        return (*older, note), note.text

    def _alike(self, note: Note, older: Sequence[Note]) -> list[Note]:
        texts = [self._tell(other) for other in older]
        scores = similarities(self._tell(note), texts)
        places = most_similar(self._tell(note), texts, self._links)
        return [older[place] for place in sorted(places) if scores[place] > 0]

    def _tell(self, note: Note) -> str:
        words = self.templates
        said = note._replace(keywords=note.keywords or words.no_answer, tags=note.tags or words.no_answer)
        return words.note.format(**said._asdict())

    def _passages(self, notes: Sequence[Note]) -> list[Passage]:
        return [Passage("reflection", self._tell(note)) for note in notes]


def _tagged(said: str, tag: str) -> str:
    found = [text for _, text in between(said, re.compile(rf"<(/)?{tag}>", re.IGNORECASE))]
    return " ".join(found[-1].split())[:MAX_WORDS] if found else ""


def _rewritten(notes: tuple[Note, ...], linked: Sequence[int], said: str) -> tuple[Note, ...]:
    """Gives linked notes the texts that a reply has for them."""
    texts = {int(tag[2]): remark(text) for tag, text in between(said, _REWRITTEN)}
    return tuple(
        note._replace(text=texts[note.number]) if note.number in linked and texts.get(note.number) else note
        for note in notes
    )


AGENTS.register("a_mem", AMem)
