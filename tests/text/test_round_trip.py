"""Every legal action of every reachable state, as a player is shown it, comes back as the same action."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from mage_envs.games import PositionGraph, View, load_game_spec
from mage_envs.games.positions import TERMINAL
from mage_envs.text.parser import ReplyKind, parse_reply, visible
from tests.games.walk import SMALL_GAMES, played_views, random_walk

MENUS = {
    **dict.fromkeys(SMALL_GAMES, 1),
    "leduc_poker": 3,
    "liars_dice(numdice=1,dice_sides=3)": 7,
    "tic_tac_toe": 2**9 - 1,
    "connect_four(rows=3,columns=3,x_in_row=3)": 2**3 - 1,
}
"""Games that are small enough to see every view of them, and how many different sets of legal actions they have."""
SAMPLED = ("connect_four", "goofspiel(num_cards=4)", "matrix_pd", "nim", "blotto")
WALKS = 60

WRITTEN: tuple[Callable[[str], str], ...] = (
    str,
    str.upper,
    str.title,
    "\n {} \t".format,
    "<action>{}</action>".format,
    "<ACTION>\n  {}\n</ACTION>".format,
    "< action >{}</ action >".format,
    lambda name: f"<action>{name.replace(' ', '   ').upper()}</action>",
    lambda name: f"<action>{name.swapcase()}</action>",
    "```\n<action>{}</action>\n```".format,
    "**My move:** <action>{}</action>.".format,
    "I will not {0}, or <b>maybe</b> I will.\n<action>{0}</action>\nSo: {0}".format,
    "<action>{0}</action> I repeat: <action>{0}</action>".format,
    "<think>Not <action>{0} now</action>, but</think>\n\n{0}".format,
    "<think>{0}? <action>no</action></think><think>yes</think> <action>{0}</action>".format,
    "of course <action>never</action></think><action>{}</action>".format,
)
"""Ways in which a model may write an answer."""


def check(view: View) -> None:
    """Sees that each name, however it is written, is its own action."""
    for action, name in zip(view.legal, view.names, strict=True):
        for write in WRITTEN:
            reply = write(name)
            parsed = parse_reply(reply, view.spellings, view.spec.vocabulary)
            assert (parsed.kind, parsed.action) == (ReplyKind.OK, action), reply
            assert parse_reply(visible(reply), view.spellings, view.spec.vocabulary) == parsed
        assert parse_reply(f"<action>{name}", view.spellings).kind is ReplyKind.TRUNCATED
        assert parse_reply(visible(name, cut=True), view.spellings).kind is ReplyKind.TRUNCATED
        cut = visible(f"<action>{name}</action> because", cut=True)
        assert parse_reply(cut, view.spellings).kind is ReplyKind.TRUNCATED


def _check_each_menu_once(views: Iterator[View]) -> int:
    """Checks all views; those that show the same names are one case. Returns how many cases there were."""
    seen = set[tuple[str, tuple[int, ...], tuple[str, ...]]]()
    for view in views:
        menu = (view.spec.name, view.legal, view.names)
        if view.to_act and menu not in seen:
            seen.add(menu)
            check(view)
    return len(seen)


@pytest.mark.parametrize("game", MENUS)
def test_every_action_of_every_state_survives(game: str) -> None:
    assert _check_each_menu_once(played_views(game)) == MENUS[game]


@pytest.mark.parametrize("game", SAMPLED)
def test_actions_of_sampled_states_survive(game: str) -> None:
    graph = PositionGraph(load_game_spec(game))
    seeds = np.random.default_rng(0).integers(2**31, size=WALKS)
    views = (
        position.view(seat)
        for seed in seeds.tolist()
        for position in random_walk(graph, seed)
        if position.player != TERMINAL
        for seat in range(position.spec.seats)
    )
    assert _check_each_menu_once(views) >= 1
