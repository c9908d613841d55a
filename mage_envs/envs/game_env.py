"""Games as Gymnasium environments: one agent in one seat, a hidden opponent in the others."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, ClassVar, get_args

import numpy as np
from gymnasium import spaces

from mage_envs.envs.actions import read_action
from mage_envs.envs.checks import check_choice, check_instances, check_known
from mage_envs.envs.meta_episode import Instance, MetaEpisodeEnv
from mage_envs.envs.spaces import array_space, text_space
from mage_envs.games import GameSpec, Position, View, load_game_spec, position_graph
from mage_envs.games.base import Outcome
from mage_envs.games.positions import CHANCE, SIMULTANEOUS
from mage_envs.opponents import Opponent, make_opponent, sample_index
from mage_envs.opponents.populations import PopulationLike, load_population
from mage_envs.text.messages import rules
from mage_envs.text.parser import ReplyKind

SEAT_ORDERS = ("alternate", "random")


class MetaGameEnv(MetaEpisodeEnv):
    """N episodes of a game in a row against one hidden opponent, drawn from a population.

    Args:
        game: Name of a game, or an OpenSpiel game string: ``"liars_dice(numdice=1)"``.
        episodes: N, in 1..100000.
        population: Who may come: a name such as ``"kuhn/train"``, one opponent spec such as
            ``"mcts(simulations=100)"``, or a mapping from specs to weights. None: the game's own.
        instance: ``"fresh"`` deals anew in every episode; ``"replay"`` repeats the chance events of the first.
        seat: The agent's seat: a number, ``"alternate"`` (first one drawn, then the next in each episode) or
            ``"random"`` (drawn for each episode).
        interface: ``"array"`` or ``"text"``.
        stop_on_success: Whether the first win ends the meta-episode.
        invalid_penalty: What an answer that cannot be played costs, in reward; at least 0.
        max_invalid: So many such answers in a row lose the episode.
        render_mode: ``"ansi"``, ``"human"`` or None.

    Observation (``array``): a dict of ``observation`` (float32, OpenSpiel's information-state tensor), ``action_mask``
    (int8, shape (actions,)), ``phase`` (0 play, 1 reflect), ``episode`` (0-based), ``seat``, ``last_action`` (the
    agent's own last played action, −1 before the first), ``last_reward`` (float32, shape (1,)), and, where the end of
    an episode shows something hidden, ``revealed`` (float32 in 0..1). Observation (``text``): the view in words.

    Action: an OpenSpiel action id (``array``) or a reply (``text``), such as ``"bet"`` or ``"<action>bet</action>"``.

    Reward: the agent's return by the rules, in the game's units (chips in poker; +1, 0, −1 for win, draw, loss).

    Reset options: ``opponent`` (a spec), ``seat`` (as above), ``instance`` (one id, or a list of N ids) fix what would
    be drawn. Same seed, same draws: first the opponent, then the seats, then the instances, all of them at the reset;
    fixing one leaves the others as they are.

    Attributes:
        game_spec: The game.
        population: Who may come.
        instance: ``"fresh"`` or ``"replay"``.
    """

    __slots__ = (
        "_cumulative", "_events", "_instance", "_instances", "_memories", "_opponent", "_opponents", "_others", "_paid",
        "_position", "_remembers", "_replay", "_root", "_seat_rule", "_seats", "_seats_known", "_turns",
    )  # fmt: skip

    option_names: ClassVar[tuple[str, ...]] = ("opponent", "seat", "instance")
    _view: View

    def __init__(
        self,
        game: str = "",
        *,
        episodes: int = 3,
        population: PopulationLike | None = None,
        instance: str = "fresh",
        seat: int | str = "alternate",
        interface: str = "array",
        stop_on_success: bool = False,
        invalid_penalty: float = 0.0,
        max_invalid: int = 3,
        render_mode: str | None = None,
        **unknown: object,
    ) -> None:
        """Makes the environment; see the class for the arguments.

        Raises:
            ValueError: An unknown name or parameter (near matches are listed), or a value out of range.
        """
        refuse_unknown(unknown, type(self))
        super().__init__(
            interface=interface,
            episodes=episodes,
            stop_on_success=stop_on_success,
            invalid_penalty=invalid_penalty,
            max_invalid=max_invalid,
            render_mode=render_mode,
        )
        check_choice("instance", instance, get_args(Instance))
        self.game_spec: GameSpec = load_game_spec(game)
        self._seat_rule, self._replay = self._check_seat(seat), instance == "replay"
        self.instance: Instance = "replay" if self._replay else "fresh"
        self._seats_known = False
        seats = range(self.game_spec.seats)
        self._others = seats[1:]
        self._turns = [[(first + episode) % len(seats) for episode in range(self.episodes)] for first in seats]
        self.population = load_population(
            self.game_spec.population if population is None else population, self.game_spec
        )
        self._opponents = [self._make(spec) for spec, _ in self.population.members]
        self._cumulative = list(accumulate(weight for _, weight in self.population.members))[:-1]
        self._root = position_graph(self.game_spec).root
        self._told["rules"] = rules(self.game_spec.rules, self.episodes, instance, stop_on_success=stop_on_success)
        if self._text:
            self.observation_space: spaces.Space[Any] = text_space()
            self.action_space: spaces.Space[Any] = text_space()
        else:
            self.observation_space = array_space(self.game_spec, self.episodes)
            self.action_space = spaces.Discrete(self.game_spec.actions)

    @property
    def seats(self) -> tuple[int, ...] | None:
        """The agent's seat in each episode of this meta-episode; None before a reset, or if each episode draws it."""
        return tuple(self._seats) if self._seats_known else None

    # Draws.

    def _draw(self, options: Mapping[str, Any]) -> None:
        """Draws the opponent, the seats and the instances: all of them, so that fixing one changes no other draw."""
        episodes = self.episodes
        draws = self._uniforms(1 + 2 * episodes)
        drawn = self._opponents[bisect(self._cumulative, draws[0])]
        rule = self._check_seat(options["seat"]) if "seat" in options else self._seat_rule
        self._seats, self._seats_known = self._order(rule, draws), rule != "random"
        if self._replay or episodes == 1:
            self._instances = [int(draws[1 + episodes] * 2**53)] * episodes
        else:
            self._instances = [int(u * 2**53) for u in draws[1 + episodes :]]
        if options:
            drawn = self._make(options["opponent"]) if "opponent" in options else drawn
            if "instance" in options:
                self._instances = check_instances(options["instance"], episodes, replay=self._replay)
        self._opponent, self._secret["opponent"], self._remembers = drawn
        self._memories = [None] * len(self._others)
        if self._remembers:
            self._memories = [self._opponent.start(self._rng) for _ in self._others]

    def _make(self, spec: str) -> tuple[Opponent, str, bool]:
        """Makes an opponent; with its name, and whether it has a memory that goes through the meta-episode."""
        opponent = make_opponent(spec, self.game_spec)
        kind = type(opponent)
        remembers = kind.start is not Opponent.start or kind.end_episode is not Opponent.end_episode
        return opponent, str(opponent.spec), remembers

    def _order(self, rule: int | str, draws: Sequence[float]) -> Sequence[int]:
        """Returns the agent's seat in each episode, by a rule; episode n's own draw is number n + 1."""
        seats = self.game_spec.seats
        if rule == "alternate":
            return self._turns[int(seats * draws[1])]
        if rule == "random":
            return [int(seats * u) for u in draws[1 : 1 + self.episodes]]
        return [int(rule)] * self.episodes

    def _check_seat(self, seat: Any) -> Any:
        seats = self.game_spec.seats
        order = isinstance(seat, str) and seat in SEAT_ORDERS
        number = isinstance(seat, int | np.integer) and not isinstance(seat, bool) and 0 <= seat < seats
        if not order and not number:
            raise ValueError(f"seat must be 0..{seats - 1}, 'alternate' or 'random', got {seat!r}")
        return seat

    # Play.

    def _begin(self, episode: int) -> None:
        self._seat = self._seats[episode]
        self._instance = self._secret["instance"] = self._instances[episode]
        self._events = 0
        self._paid = 0.0
        self._advance(self._root)

    def _read(self, action: Any) -> tuple[ReplyKind, int | None]:
        kind, move = read_action(self._view, action, text=self._text)
        return kind, None if move is None else self._view.moves[move]

    def _play(self, index: int) -> float:
        position = self._position
        self._last_action = self._view.legal[index]
        if position.player == SIMULTANEOUS:
            self._advance(position.child(self._joint(position, self._last_action)))
        else:
            self._advance(position.children[index] or position.follow(index))
        before, self._paid = self._paid, self._position.returns[self._seat]
        return self._paid - before

    def _collect(self) -> float:
        before, self._paid = self._paid, self._position.returns[self._seat]
        return self._paid - before

    def _advance(self, position: Position) -> None:
        """Plays the others and chance until the agent must act, or the episode is over."""
        seat = self._seat
        while (player := position.player) != seat:
            if player >= 0:
                index = self._decide(position.views[player])
                position = position.children[index] or position.follow(index)
            elif player == CHANCE:
                position = position.after_chance(self._instance, self._events)
                self._events += 1
            elif player == SIMULTANEOUS and not position.views[seat].legal:
                position = position.child(self._joint(position, 0))
            else:
                break
        self._position, self._view = position, position.views[seat]
        if self._remembers and self._view.terminal:
            self._teach(position)

    def _decide(self, view: View) -> int:
        """Asks an opponent. Returns the index of its choice among the legal actions."""
        other = view.seat - (view.seat > self._seat)
        distribution, self._memories[other] = self._opponent.policy(view, self._memories[other], self._rng)
        u = self._block.pop() if self._block else self._uniform()
        return int(u * len(distribution)) if distribution is view.uniform else sample_index(distribution, u, view)

    def _joint(self, position: Position, action: int) -> tuple[int, ...]:
        return tuple(
            action if view.seat == self._seat else view.legal[self._decide(view)] if view.legal else 0
            for view in position.views
        )

    def _teach(self, position: Position) -> None:
        for other, memory in enumerate(self._memories):
            view = position.view(other + (other >= self._seat))
            self._memories[other] = self._opponent.end_episode(view, memory)

    def _forfeit(self) -> float:
        if self._remembers:
            self._teach(self._position)
        return self.game_spec.worst_return - self._paid

    def _outcome(self) -> Outcome:
        return self.game_spec.outcome(self._position.returns, self._seat)


class GameEnv(MetaGameEnv):
    """One episode of a game against an opponent drawn from a population. See :class:`MetaGameEnv` for the arguments.

    ``episodes``, ``instance`` and ``stop_on_success`` belong to the meta-episode and are refused here.
    """

    __slots__ = ()

    def __init__(
        self,
        game: str = "",
        *,
        population: PopulationLike | None = None,
        seat: int | str = "alternate",
        interface: str = "array",
        invalid_penalty: float = 0.0,
        max_invalid: int = 3,
        render_mode: str | None = None,
        **unknown: object,
    ) -> None:
        """Makes the environment; see :class:`MetaGameEnv` for the arguments and errors."""
        refuse_unknown(unknown, type(self))
        super().__init__(
            game,
            episodes=1,
            population=population,
            seat=seat,
            interface=interface,
            invalid_penalty=invalid_penalty,
            max_invalid=max_invalid,
            render_mode=render_mode,
        )


def refuse_unknown(unknown: Mapping[str, object], env: type[Any]) -> None:
    """Refuses arguments that an environment does not take.

    Raises:
        ValueError: With near matches, or the id to use instead.
    """
    for name in unknown:
        if name in MetaGameEnv.__init__.__annotations__:
            raise ValueError(f"{name!r} belongs to the meta-episode: use the id with '-meta-' in it")
    check_known(unknown, env.__init__)
