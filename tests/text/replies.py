"""Random and adversarial replies: thoughts, drafts, tags that are nearly tags, letters that are nearly letters."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from mage_envs.text.parser import CUT_MARK

NAMES = ("bet", "pass", "CHECK", "Column  1", "fold", "call", "column 9", "kick", "É", "é", "dance", "", "bet.")
LOOKALIKES = (
    "\u212aic\u212a",  # Kelvin signs
    "pa\u017f\u017f",  # long s
    "paß",
    "\uff42\uff45\uff54",  # full width
    "b\u0435t",  # Cyrillic e
    "be\u200bt",
    "\ufeffbet",
    "be\u00adt",
    "e\u0301",  # é in two characters
    "bet\u00a0",
    "column\u30001",
    "column1",
    "İ",
    "**bet**",
    "`bet`",
    "0",
)
OPEN = ("<action>", "<ACTION>", "< action >", "<action\n>", "<Action>")
CLOSE = ("</action>", "</ACTION>", "</ action>", "< / action >", "</action >")
NEARLY = (
    "<action type='x'>",
    "<action/>",
    "<action />",
    "</action x>",
    "<acton>",
    "<actions>",
    "<act\u0131on>",
    "<action\u00a0>",
    "[action]",
    "&lt;action&gt;",
    "<action",
    "action>",
    "<",
    ">",
    "</",
    "```",
    "<remark>",
)
THOUGHTS = ("<think>", "</think>", "<THINK>", "</Think >", "< / think>", "<think x>", "<thin\u212a>", "<thinking>")
PROSE = ("I could ", " no, ", "\n", " ", "\t", "bet or pass", " is my answer", "\x00", "\ud800", "\U0001f600", "\x1c")
MARKS = (CUT_MARK, CUT_MARK.upper(), CUT_MARK + " ")

PIECES = np.array(
    (*NAMES, *NAMES, *LOOKALIKES, *OPEN, *OPEN, *CLOSE, *CLOSE, *NEARLY, *THOUGHTS, *PROSE, *MARKS), object
)
FRAMES = (
    "{t}{o}{n}{c}",
    "{o}{n}{c}{p}{o}{m}{c}",
    "{t}{p}{o}{n}{c}{t}{o}{m}{c}{p}",
    "{n}{t}{m}",
    "{p}{n}",
    "{n}",
    "{t}{n}",
    "{o}{n}{p}",
    "{t}{p}{n}{x}{m}{c}",
    "{x}{n}{c}{o}{m}{c}",
    "```\n{o}{n}{c}\n```{x}",
    "{o}{n}{c}{x}",
    "{n}{x}",
)
"""What replies look like: t thoughts, o and c the tags, n and m names, p prose, x whatever."""
_SLOTS = {
    "t": ("", "", *THOUGHTS, "<think>bet? <action>bet</action></think>", "<think>pass", "pass</think>"),
    "o": OPEN,
    "c": CLOSE,
    "n": (*NAMES, *NAMES, *LOOKALIKES),
    "m": (*NAMES, *LOOKALIKES),
    "p": PROSE,
    "x": (*NEARLY, *THOUGHTS, *MARKS, *PROSE, "", ""),
}


def replies(count: int, rng: np.random.Generator) -> Iterator[str]:
    """Yields replies, a multiple of 1,000: half of them nearly good, then pieces in any order, then noise."""
    for _ in range(-(-count // 1_000)):
        framed = rng.integers(len(FRAMES), size=500)
        picks = {slot: rng.integers(len(words), size=500).tolist() for slot, words in _SLOTS.items()}
        for index, frame in enumerate(framed.tolist()):
            yield FRAMES[frame].format_map({slot: _SLOTS[slot][pick[index]] for slot, pick in picks.items()})
        lengths = rng.integers(1, 12, size=400)
        pieces, start = PIECES[rng.integers(PIECES.size, size=lengths.sum())].tolist(), 0
        for length in lengths.tolist():
            yield "".join(pieces[start : start + length])
            start += length
        for codes in rng.integers(sys.maxunicode + 1, size=(50, 9)).tolist():
            yield "".join(map(chr, codes))
        for codes in rng.integers(128, size=(50, 20)).tolist():
            yield f"<action>{''.join(map(chr, codes))}</action>"
