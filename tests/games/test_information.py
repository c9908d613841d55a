"""A view tells all that its seat may know, and nothing more."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest

from mage_envs.games import Position, PositionGraph, View, load_game_spec, position_graph
from mage_envs.games.positions import CHANCE, TERMINAL
from mage_envs.text.parser import ReplyKind, parse_reply
from tests.games.walk import SMALL_GAMES, all_positions, played_views

INFORMATION_SETS = {
    "kuhn_poker": 12,  # Kuhn 1950
    "leduc_poker": 936,  # OpenSpiel: suits can be seen
    "tic_tac_toe": 4520,  # 5,478 boards less 958 that end the game
    "rock_paper_scissors": 2,
    "rock_paper_scissors(throws=3)": 2 * (1 + 9 + 81),
    "liars_dice(numdice=1,dice_sides=3)": 2 * 3 * 2**5,  # seat's die, and any rising row of 6 bids, split by who moves
}


@pytest.mark.parametrize("game", INFORMATION_SETS)
def test_number_of_information_sets(game: str) -> None:
    assert len({view for view in played_views(game) if view.to_act}) == INFORMATION_SETS[game]


def test_tic_tac_toe_boards() -> None:
    boards = list(all_positions("tic_tac_toe"))
    ends = [board.returns for board in boards if board.player == TERMINAL]
    assert len(boards) == 5478
    assert [ends.count(returns) for returns in [(1.0, -1.0), (-1.0, 1.0), (0.0, 0.0)]] == [626, 316, 16]


def test_connect_four_boards() -> None:
    """Tromp's counts (OEIS A212693), ply by ply."""
    ply, counts = {PositionGraph(load_game_spec("connect_four"), limit=10**5).root}, []
    for _ in range(6):
        counts.append(len(ply))
        ply = {position.child(action) for position in ply for action in position.view(position.player).legal}
    assert counts == [1, 7, 49, 238, 1120, 4263]


def test_board_games_have_one_key_a_board() -> None:
    for position in all_positions("tic_tac_toe"):
        assert position.view(0).key == position.view(1).key
        assert (position.view(0).tensor == position.view(1).tensor).all()


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_distinct_information_sets_read_differently_and_equal_ones_the_same(game: str) -> None:
    texts: dict[tuple[int, str], str] = {}
    keys: dict[tuple[int, str], str] = {}
    for view in played_views(game):
        assert texts.setdefault((view.seat, view.key), view.text) == view.text
        assert keys.setdefault((view.seat, view.text), view.key) == view.key
    assert len(texts) == len(keys)


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_equal_views_offer_the_same(game: str) -> None:
    seen: dict[View, tuple[Any, ...]] = {}
    for view in played_views(game):
        offer = (view.legal, view.names, view.spellings, view.facts, view.mask.tolist(), view.tensor.tolist())
        assert seen.setdefault(view, offer) == offer


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", "tic_tac_toe", "rock_paper_scissors(throws=3)"])
@pytest.mark.parametrize("terminal", [False, True])
def test_distinct_information_sets_have_distinct_arrays(game: str, terminal: bool) -> None:
    """sotetsuk/pgx#1302: Kuhn observations that collide. The terminal flag is told besides the array."""
    arrays: dict[tuple[int, bytes], str] = {}
    for view in played_views(game):
        if view.terminal == terminal and (terminal or view.to_act):
            array = view.tensor.tobytes() + view.reveal_array.tobytes()
            assert arrays.setdefault((view.seat, array), view.key) == view.key


HIDDEN = ["kuhn_poker", "leduc_poker", "liars_dice(numdice=1,dice_sides=3)"]


@pytest.mark.parametrize("game", HIDDEN)
def test_hidden_card_does_not_leak(game: str) -> None:
    """Another card in the opponent's hand changes nothing that the seat can see before a showdown."""
    compared = 0
    for position in all_positions(game):
        for seat in (0, 1):
            seen = _everything(position.view(seat))
            for twin in _twins(position, owner=1 - seat):
                assert _everything(twin.view(seat)) == seen
                compared += 1
    assert compared > 50


def _twins(position: Position, owner: int) -> list[Position]:
    """The same play with each other card that the owner could hold; none after a showdown, which shows the card."""
    history = position.state().history()
    if len(history) < 2 or (position.player == TERMINAL and not _ended_by_a_fold(position)):
        return []
    root = position_graph(position.spec).root
    plays = ([card if at == owner else action for at, action in enumerate(history)] for card, _ in root.chance)
    twins = [_replay(root, actions) for actions in plays if actions != history]
    return [twin for twin in twins if twin is not None]


def _replay(position: Position, actions: list[int]) -> Position | None:
    for action in actions:
        dealt = position.player == CHANCE
        possible = [outcome for outcome, _ in position.chance] if dealt else position.view(position.player).legal
        if action not in possible:
            return None
        position = position.child(action)
    return position


def _ended_by_a_fold(position: Position) -> bool:
    return position.spec.name.endswith("poker") and not position.view(0).revealed


def _everything(view: View) -> tuple[Hashable, ...]:
    arrays = (view.tensor.tobytes(), view.mask.tobytes(), view.reveal_array.tobytes())
    return (view.key, view.text, view.names, tuple(view.spellings.items()), view.legal, view.to_act, *arrays)


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_every_spelling_parses_back_to_its_action(game: str) -> None:
    for view in {view for view in played_views(game) if view.to_act}:
        spelled = [fold_all(view, action) for action in view.legal]
        assert sum(map(len, spelled)) == len(set().union(*spelled)) == len(view.spellings)
        for action, name in zip(view.legal, view.names, strict=True):
            for spelling in view.spec.words(view.facts, action):
                for reply in (spelling, f" {spelling.upper()} ", f"<think>no</think><action>{spelling}</action>"):
                    parsed = parse_reply(reply, view.spellings)
                    assert (parsed.kind, parsed.action) == (ReplyKind.OK, action)
            assert name == view.spec.words(view.facts, action)[0]


def fold_all(view: View, action: int) -> set[str]:
    return {spelling for spelling, meant in view.spellings.items() if meant == action}
