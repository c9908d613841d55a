"""What an agent carries from one episode into the next, so that others can look at it and exchange it.

The causal controls (``benchmark run --control``) play an agent with its memory taken away, shuffled or exchanged. They
need no more of it than this protocol: a value to get and set, and what shuffling means for it.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from mage_agent.base import Agent

Memory: TypeAlias = Any
"""An immutable, picklable value; of an agent that writes, text."""

Item = TypeVar("Item")


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
