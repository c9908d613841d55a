"""Language models that know the exact best answer, and say it: what they know comes from the text of a prompt alone.

All that they are told beside it is who plays, by the seed in ``Request.draw``, as an oracle is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from benchmarks.panels import Entry, Panel
from mage_agent.backends.base import Request
from mage_agent.base import Briefing
from mage_agent.baselines.bayes_optimal import BayesOptimal
from mage_agent.policies import best_policy
from mage_envs.games import GameSpec, Position, View, load_game_spec, position_graph
from mage_envs.games.positions import CHANCE, SIMULTANEOUS, TERMINAL
from mage_envs.opponents.populations import load_population
from mage_envs.tabular.compiled import compiled_game

SITUATION = re.compile(r"The situation now:\n(?:Episode \d+ of \d+\. )?You are seat (\d+)\.\n(.*)", re.DOTALL)
ENDED = re.compile(r"The episode that has just ended:\nEpisode (\d+) of \d+\. You are seat (\d+)\.\n(.*)\n"
                   r"The episode is over: .*, score ([+-]\d+)\.", re.DOTALL)  # fmt: skip
WEIGHTS = re.compile(r"weights: ([\d.e -]+)\.")


class Decision(NamedTuple):
    """What a seat chose, and where."""

    view: View
    action: int


@lru_cache
def views(game: str) -> Mapping[tuple[int, str], tuple[View, Decision | None]]:
    """Returns each view by the seat and its text, with the seat's own last decision before it."""
    return dict(_views(position_graph(load_game_spec(game)).root, (None,) * load_game_spec(game).seats))


def _views(
    position: Position, last: tuple[Decision | None, ...]
) -> Iterator[tuple[tuple[int, str], tuple[View, Decision | None]]]:
    seats = range(position.spec.seats)
    shown = [position.view(seat) for seat in seats]
    yield from (((seat, shown[seat].text), (shown[seat], last[seat])) for seat in seats if position.player != CHANCE)
    if position.player == TERMINAL:
        return
    if position.player == SIMULTANEOUS:
        raise NotImplementedError("games in which seats act at once have no use for this here")
    moves = [action for action, _ in position.chance] if position.player == CHANCE else shown[position.player].legal
    for action in moves:
        now = list(last)
        if position.player != CHANCE:
            now[position.player] = Decision(shown[position.player], action)
        yield from _views(position.child(action), tuple(now))


@lru_cache
def names_of_best(game: str, opponent: str, seat: int) -> Mapping[str, str]:
    """Returns the name of the best response to an opponent by the text of a view."""
    spec = load_game_spec(game)
    policy, found = best_policy(spec, opponent, seat), {}
    for view in asked(spec, seat):
        if view.key in policy:
            found[view.text] = view.names[view.legal.index(policy[view.key])]
    return found


@lru_cache
def asked(spec: GameSpec, seat: int) -> tuple[View, ...]:
    """Returns every view at which a seat can be asked."""
    game = compiled_game(spec)
    return tuple(game.view(int(number)) for number in game.of_seat(seat))


def say(view_names: tuple[str, ...], choice: str) -> str:
    """Answers as a thinking model might: all other actions are in its thoughts, tagged, and in its prose."""
    others = [name for name in view_names if name != choice]
    thoughts = "".join(f"Perhaps <action>{name}</action>? " for name in others)
    return f"<think>{thoughts}</think>I will not {' nor '.join(others)}.\n<action>{choice.upper()}</action>"


class Perfect:
    """Plays the best response. Pickles no more than it is: a script for the fake backend."""

    def __init__(self, panel: Panel, games: Mapping[str, str]) -> None:
        """Takes what is played, and the game of each scenario."""
        self._entries: dict[str, Entry] = {str(entry.agent_seed): entry for entry in panel.entries}
        self._games = games

    def __call__(self, request: Request) -> str:
        entry = self._entries[request.draw.split("/")[0]]
        text = request.messages[-1].content
        situation = SITUATION.search(text)
        if situation is None:
            return "<think>Nothing.</think><remark>It is as I was told.</remark>"
        seat, shown = int(situation[1]), situation[2].rpartition("\n\nYour legal actions:\n")
        assert seat == entry.seat
        names = tuple(line.removeprefix("- ") for line in shown[2].splitlines())
        return say(names, names_of_best(self._games[entry.scenario], str(entry.opponent), seat)[shown[0]])


class Adaptive:
    """Plays the Bayes-adaptive optimum of Kuhn poker. What it believes it must write down and read again."""

    def __init__(self, panel: Panel, population: str, episodes: int) -> None:
        """Takes what is played, and against whom; the opponent stays hidden from it, too."""
        self._seats = {str(entry.agent_seed): entry.seat for entry in panel.entries}
        self._game = load_game_spec("kuhn_poker")
        self._members = load_population(population, self._game).members
        self._episodes = episodes

    def __call__(self, request: Request) -> str:
        seat, text = self._seats[request.draw.split("/")[0]], request.messages[-1].content
        player = BayesOptimal()
        seats = (seat,) * self._episodes
        player.begin(Briefing(self._game, "", self._episodes, self._members, 0, seats=seats, instance="fresh"))
        if written := WEIGHTS.findall(text):
            player.memory = tuple(map(float, written[-1].split()))
        situation = SITUATION.search(text)
        if situation is None:
            return self._remark(player, text)
        shown = situation[2].partition("\n\nYour legal actions:\n")[0]
        view, _ = views("kuhn_poker")[seat, shown]
        episode = int(re.findall(r"Episode (\d+) of", text)[-1]) - 1
        return say(view.names, view.names[view.legal.index(player.act(shown, {"view": view, "episode": episode}))])

    def _remark(self, player: BayesOptimal, text: str) -> str:
        ended = ENDED.search(text)
        assert ended is not None
        view, last = views("kuhn_poker")[int(ended[2]), ended[3]]
        assert last is not None
        info: dict[str, Any] = {"view": last.view, "episode": int(ended[1]) - 1}
        # It knows what it did: its own moves are in the view.
        model = player._model(info["episode"], last.view)
        decision = int(model.tree.rows.searchsorted(model.tree.game.index[last.view.seat][last.view.key]))
        player._sequence = int(model.tree.first[decision]) + last.view.legal.index(last.action)
        player.reflect("", {**info, "view": view, "episode_result": {"reward": float(ended[4])}})
        weights = " ".join(map(repr, player.memory))
        return f"<think>weights: 9 9 9.</think>What I believe: <remark>weights: {weights}.</remark>"
