"""A state: a handful of integers beside the game that it belongs to. Copied in a microsecond."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mage_envs.worlds.alfworld.commands import possible, read
from mage_envs.worlds.alfworld.goal import Tree
from mage_envs.worlds.alfworld.rules import RULES
from mage_envs.worlds.alfworld.words import NOTHING_HAPPENS, intro

if TYPE_CHECKING:
    from mage_envs.worlds.alfworld.game import Game

_QUIET = frozenset({"look", "inventory", "help", "examine receptacle", "examine thing"})
"""Rules that change nothing."""


class State:
    """Where a game stands.

    Attributes:
        game: The game, shared.
        text: What the player was told last: the intro at the start, else the feedback.
        here: Index of the place of the player.
        held: Index of the thing that is held; −1 if none is.
        opened: The receptacles that are open, as a set.
        inside: For each receptacle, the things in or on it.
        taken: For each receptacle, the things that were taken from it and are not back.
        lying: For each place, the things at it.
        clean: Things that were cleaned.
        hot: Things that are hot.
        cool: Things that are cool.
        sliced: Things that were sliced.
        toggled: Things that were used.
        won: Whether the goal is reached.
    """

    __slots__ = (
        "clean", "cool", "game", "held", "here", "hot", "inside", "lying", "opened", "sliced", "taken", "text",
        "toggled", "won",
    )  # fmt: skip

    def __init__(self, game: Game) -> None:
        """Makes the first state of a game."""
        first = game.first
        self.game, self.here, self.held, self.opened = game, first.here, first.held, first.opened
        self.inside, self.lying = first.inside, first.lying
        self.taken: tuple[int, ...] = (0,) * len(first.inside)
        flags = first.flags
        self.clean, self.hot, self.cool = flags["clean"], flags["hot"], flags["cool"]
        self.sliced, self.toggled = flags["sliced"], flags["toggled"]
        self.text = intro(game, self)
        self.won = reached(game.goal, self)

    def step(self, command: str) -> str:
        """Carries out a command.

        Args:
            command: Any string. One that is not possible changes nothing: ``"Nothing happens."``.

        Returns:
            The feedback, which is also :attr:`text`.
        """
        act = read(self.game, command)
        told = None if act is None else RULES[act.rule](self, *act.named)
        self.text = NOTHING_HAPPENS if told is None else told
        if act is not None and told is not None and act.rule not in _QUIET:
            self.won = reached(self.game.goal, self)
        return self.text

    def admissible(self) -> list[str]:
        """Returns the commands that are possible, sorted."""
        return possible(self)

    def copy(self) -> State:
        """Returns a state that goes on by itself."""
        twin = State.__new__(State)
        twin.game, twin.text, twin.won = self.game, self.text, self.won
        twin.here, twin.held, twin.opened = self.here, self.held, self.opened
        twin.inside, twin.taken, twin.lying = self.inside, self.taken, self.lying
        twin.clean, twin.hot, twin.cool = self.clean, self.hot, self.cool
        twin.sliced, twin.toggled = self.sliced, self.toggled
        return twin

    def __eq__(self, other: object) -> bool:
        """Whether the other state is of the same game, and nothing differs."""
        if not isinstance(other, State):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        """Hashes by where things are."""
        return hash((self.here, self.held, self.opened, self.inside, self.text))


def reached(tree: Tree, state: State) -> bool:
    """Returns whether a goal holds in a state."""
    if isinstance(tree, bool):
        return tree
    head, *parts = tree
    if head == "and":
        return all(reached(part, state) for part in parts)  # type: ignore[arg-type]
    if head == "or":
        return any(reached(part, state) for part in parts)  # type: ignore[arg-type]
    if head == "not":
        return not reached(parts[0], state)  # type: ignore[arg-type]
    return _atom(str(head), parts, state)


def _atom(head: str, parts: list[object], state: State) -> bool:
    which = parts[0]
    assert isinstance(which, int)
    if head == "in":
        receptacle = parts[1]
        assert isinstance(receptacle, int)
        return bool(state.inside[receptacle] >> which & 1)
    if head == "held":
        return state.held == which
    if head == "here":
        return state.here == which
    things: int = getattr(state, head)
    return bool(things >> which & 1)
