"""What an agent carries from one episode into the next, so that others can look at it and exchange it.

The causal controls (``benchmark run --control``) play an agent with its memory taken away, shuffled or exchanged. They
need no more of it than this protocol: a value to get and set, and what shuffling means for it.

A prompted agent keeps :class:`Kept` episodes, as its mode says (the four modes are LaMer's ablation, arXiv 2512.16848),
and shows them in its prompts as :class:`Passage` objects. What does not fit is left out by :func:`fitting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, cast, get_args

import numpy as np

from mage_agent.base import Agent
from mage_envs.opponents.base import check_choice

Memory: TypeAlias = Any
"""An immutable, picklable value; of an agent that writes, text."""

Mode: TypeAlias = Literal["none", "history", "reflection", "history+reflection"]
"""What a prompted agent keeps of an episode: nothing, how it went, what it wrote about it, or both."""
MODES: tuple[Mode, ...] = get_args(Mode)

Kind: TypeAlias = Literal["history", "reflection", "step"]
"""What a passage of a prompt is: what was kept of earlier episodes, or a step of this one."""
_DROPPED: tuple[Kind, ...] = get_args(Kind)
"""The kinds in the order in which they are left out."""

Item = TypeVar("Item")


class Kept(NamedTuple):
    """What is kept of one episode.

    Attributes:
        number: The episode, from 1.
        history: How it went, in words; empty if that is not kept.
        reflection: What the agent wrote about it; empty if it wrote nothing.
    """

    number: int
    history: str = ""
    reflection: str = ""


class Passage(NamedTuple):
    """A part of a prompt that is left out if it does not fit."""

    kind: Kind
    text: str


class MemoryAgent(Agent, Protocol):
    """An agent whose memory can be looked at and exchanged, as the causal controls of ``benchmark run --control`` do.

    Between two episodes, after :meth:`reflect` and before the next :meth:`act`, ``memory`` is all that the agent
    carries over. Setting it there to what the same agent held at another such moment, in any meta-episode of the same
    game, makes it go on from that. None says that the agent has no memory.
    """

    @property
    def memory(self) -> Memory:
        """What it carries over."""

    @memory.setter
    def memory(self, memory: Memory) -> None:
        """Puts another memory in its place."""

    def shuffled(self, memory: Memory, rng: np.random.Generator) -> Memory:
        """Returns a memory of the same parts with its meaning gone; of a text, :func:`shuffled_words`."""


def shuffled_words(text: str, rng: np.random.Generator) -> str:
    """Puts the words of a text in a random order, one space between two.

    >>> from mage_agent.base import agent_generator
    >>> shuffled_words("it never bluffs", agent_generator(1))
    'it bluffs never'
    """
    return " ".join(rng.permutation(text.split()).tolist())


def shifted(values: tuple[Item, ...], rng: np.random.Generator) -> tuple[Item, ...]:
    """Moves values round by a drawn number of places, so that none of two or more stays where it was.

    >>> from mage_agent.base import agent_generator
    >>> shifted((0.9, 0.1), agent_generator(1))
    (0.1, 0.9)
    """
    places = int(rng.integers(1, len(values))) if len(values) > 1 else 0
    return values[places:] + values[:places]


def shuffled_parts(memory: Any, rng: np.random.Generator) -> Any:
    """Shuffles the words of every text in a memory of tuples; all else stays as it is.

    >>> from mage_agent.base import agent_generator
    >>> shuffled_parts((Kept(1, reflection="it never bluffs"),), agent_generator(1))
    (Kept(number=1, history='', reflection='it bluffs never'),)
    """
    if isinstance(memory, str):
        return shuffled_words(memory, rng)
    if not isinstance(memory, tuple):
        return memory
    parts = [shuffled_parts(part, rng) for part in memory]
    return type(memory)(*parts) if hasattr(memory, "_fields") else tuple(parts)


def check_mode(memory: str, modes: Sequence[Mode] = MODES) -> Mode:
    """Refuses a memory that is none of the modes.

    Raises:
        SpecError: The message lists near matches.
    """
    return cast(Mode, check_choice("memory", memory, modes))


def fitting(passages: Sequence[Passage], costs: Sequence[int], budget: int) -> tuple[Passage, ...]:
    """Leaves passages out until the rest costs no more than the budget.

    The oldest history goes first, then the oldest reflections, then the oldest steps of the present episode; no more go
    than must in this order.

    Args:
        passages: Each kind with its oldest first.
        costs: What each costs, in tokens, at least 0.
        budget: Tokens that there is room for.

    Returns:
        What stays, in the same order.
    """
    excess = sum(costs) - budget
    dropped: set[int] = set()
    for place in sorted(range(len(passages)), key=lambda place: (_DROPPED.index(passages[place].kind), place)):
        if excess <= 0:
            break
        excess -= costs[place]
        dropped.add(place)
    return tuple(passage for place, passage in enumerate(passages) if place not in dropped)
