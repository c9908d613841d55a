"""Compiled games say what OpenSpiel says: counted, walked side by side, kept on disk, refused when too large."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
import tracemalloc
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, PositionGraph, load_game_spec
from mage_envs.games.positions import CHANCE, SIMULTANEOUS, TERMINAL
from mage_envs.tabular import compiled as module
from mage_envs.tabular.compiled import CompiledGame, acting_seats, compile_game, compiled_game, fingerprint
from tests.games.walk import played_views

PUBLISHED = {
    "kuhn_poker": (58, 12),  # Kuhn 1950: 30 ways to end, 12 information sets
    "leduc_poker": (9457, 936),  # OpenSpiel: 936 information states; Southey et al. 2005 with suits
    "tic_tac_toe": (5478, 4520),
}

COUNTED = {
    "kuhn_poker(players=3)": (617, 48),
    "rock_paper_scissors": (1 + 3 + 9, 2),
    "rock_paper_scissors(throws=2)": (1 + 3 + 9 * (1 + 3 + 9), 2 * (1 + 9)),
    "matrix_pd": (1 + 2 + 4, 2),
    "matching_pennies_3p": (1 + 2 + 4 + 8, 3),
    "repeated_game(stage_game=matrix_pd(),num_repetitions=3)": (7 + 4 * 6 + 16 * 6, 2 * (1 + 4 + 16)),
    "liars_dice(numdice=1,dice_sides=3)": (1 + 3 + 9 * (2 * 2**6 - 1), 2 * 3 * 2**5),
    "liars_dice(numdice=1,dice_sides=4)": (1 + 4 + 16 * (2 * 2**8 - 1), 2 * 4 * 2**7),
    "connect_four(rows=3, columns=3, x_in_row=3)": (694, 505),
}
"""By hand. Liar's dice with s sides has 2s bids; each rising row of them may be doubted, but for the empty one. With
six sides that is 294,883 and 24,576, which takes too long to compile here."""

OTHERS = ("goofspiel(num_cards=3)", "nim(pile_sizes=1;2;3)", "coop_box_pushing(horizon=1)")

GAMES = (*PUBLISHED, *COUNTED, *OTHERS)


@pytest.mark.parametrize(("game", "counts"), [*PUBLISHED.items(), *COUNTED.items()])
def test_counts(game: str, counts: tuple[int, int]) -> None:
    found = compiled_game(game)
    assert (found.states, found.information_states) == counts


@pytest.mark.parametrize("game", GAMES)
def test_arrays_fit_each_other(game: str) -> None:
    found = compiled_game(game)
    spec, states, edges, views = found.spec, found.states, len(found.child), len(found.keys)
    inside = np.arange(states)
    assert found.first[0] == 0
    assert found.first[-1] == edges == len(found.action) == len(found.chance) == len(found.source)
    assert (found.child > found.source).all(), "parents come before children"
    level = np.searchsorted(found.levels, inside, side="right")
    assert (level[found.child] == level[found.source] + 1).all(), "every edge leads to the next level"
    assert found.levels[-1] == states
    into = np.bincount(found.child, minlength=states)
    assert into[0] == 0
    assert (into[1:] >= 1).all()
    assert spec.merge or (into[1:] == 1).all()
    assert found.parent[0] == -1
    assert (found.child[found.parent[1:]] == inside[1:]).all()
    sums = np.bincount(found.source, found.chance, states)
    assert sums[found.actor == CHANCE] == pytest.approx(1.0)
    assert (found.chance[found.actor[found.source] != CHANCE] == 1.0).all()
    assert (np.diff(found.first)[found.actor == TERMINAL] == 0).all()
    same = found.source[1:] == found.source[:-1]
    assert (np.diff(found.action)[same] > 0).all(), "ascending actions"
    assert ((found.information >= 0) == (found.actor >= 0)).all()
    moving = found.actor >= 0
    assert (found.view_seat[found.information[moving]] == found.actor[moving]).all()
    assert set(found.information[moving]) == set(range(found.information_states))
    shown = set(found.shown[found.shown >= 0])
    assert shown | set(found.information[moving]) == set(range(views))
    assert (found.shown[found.actor == TERMINAL] >= found.information_states).all()
    assert found.mask[: found.information_states].any(axis=1).all()
    assert not found.mask[found.information_states :].any()


@pytest.mark.parametrize("game", GAMES)
def test_walks_side_by_side_with_openspiel(game: str) -> None:
    """Random plays: the same actor, actions, chances and returns, and the views that environments show."""
    found, rng, every = compiled_game(game), np.random.default_rng(3), set[int]()
    for _ in range(12):
        state, position = 0, PositionGraph(found.spec).root
        while True:
            chosen: list[int] = []
            for seat in acting_seats(position) or (position.player,):
                edges = slice(int(found.first[state]), int(found.first[state + 1]))
                actions = found.action[edges].tolist()
                assert found.actor[state] == seat
                assert found.returns[state].tolist() == list(position.returns)
                if seat == CHANCE:
                    assert [*zip(actions, found.chance[edges].tolist(), strict=True)] == list(position.chance)
                elif seat >= 0:
                    number = int(found.information[state])
                    every.add(number)
                    check_view(found, number, position.view(seat), actions)
                if not chosen:
                    check_shown(found, state, position)
                if seat == TERMINAL:
                    break
                index = int(rng.integers(len(actions)))
                chosen.append(actions[index])
                state = int(found.child[edges.start + index])
            if position.player == TERMINAL:
                break
            joint = dict(zip(acting_seats(position), chosen, strict=False))
            together = tuple(joint.get(seat, 0) for seat in range(found.spec.seats))
            position = position.child(together if position.player == SIMULTANEOUS else chosen[0])
    assert every


def check_view(found: CompiledGame, number: int, view: Any, actions: list[int]) -> None:
    assert found.keys[number] == view.key
    assert found.index[view.seat][view.key] == number
    assert actions == list(view.legal)
    assert np.flatnonzero(found.mask[number]).tolist() == actions
    assert [found.move[number, action] for action in actions] == list(range(len(actions)))
    assert found.tensor[number].tobytes() == view.tensor.tobytes()
    assert number in found.of_seat(view.seat)
    assert found.text(number) == view.text
    assert found.view(number) == view
    assert found.view(number).names == view.names


def check_shown(found: CompiledGame, state: int, position: Any) -> None:
    """The seats that are asked see their view; at the end all do, with what is revealed."""
    assert found.position(state).state().history() == position.state().history() or found.spec.merge
    asked = range(found.spec.seats) if position.player == TERMINAL else acting_seats(position)
    for seat in range(found.spec.seats):
        number = int(found.shown[state, seat])
        assert (number >= 0) == (seat in asked)
        if number >= 0:
            view = position.view(seat)
            assert (found.view_seat[number], found.keys[number]) == (seat, view.key)
            assert found.text(number) == view.text
            assert found.tensor[number].tobytes() == view.tensor.tobytes()
            assert found.revealed[number].tobytes() == view.reveal_array.tobytes()


@pytest.mark.parametrize(
    "game", ["kuhn_poker", "tic_tac_toe", "rock_paper_scissors(throws=2)", "kuhn_poker(players=3)"]
)
def test_every_view_is_there_once(game: str) -> None:
    found = compiled_game(game)
    views = {(view.seat, view.terminal, view.key): view for view in played_views(game) if view.to_act or view.terminal}
    numbers = {(found.view_seat[n], n >= found.information_states, key): n for n, key in enumerate(found.keys)}
    assert numbers.keys() == views.keys()
    texts = set()
    for name, number in numbers.items():
        assert found.text(number) == views[name].text
        texts.add((name[0], name[1], found.text(number)))
    assert len(texts) == len(numbers), "distinct views, distinct texts"


def test_unrevealed_groups_views_that_differ_in_what_is_revealed() -> None:
    found = compiled_game("kuhn_poker")
    groups: dict[int, set[str]] = {}
    for number, key in enumerate(found.keys):
        groups.setdefault(int(found.unrevealed[number]), set()).add(key.split(" revealed")[0])
    assert all(len(keys) == 1 for keys in groups.values())
    assert len(groups) == len(
        {(found.view_seat[n], n >= 12, k.split(" revealed")[0]) for n, k in enumerate(found.keys)}
    )
    assert len(groups) < len(found.keys)
    board = compiled_game("connect_four(rows=3, columns=3, x_in_row=3)")
    assert len(set(board.unrevealed)) == len(board.keys)


def test_simultaneous_seats_move_one_after_the_other_without_knowing() -> None:
    found = compiled_game("rock_paper_scissors")
    assert found.actor.tolist() == [0] + [1] * 3 + [TERMINAL] * 9
    assert len(set(found.information[1:4])) == 1
    assert found.shown[0].tolist() == [0, 1]
    assert (found.shown[1:4] == -1).all()
    assert all(found.position(state) is found.position(0) for state in range(4))
    assert found.position(4 + 3 * 2 + 1).state().history() == [2, 1]
    assert found.returns[4 + 3 * 2 + 1].tolist() == [1.0, -1.0]
    assert found.levels.tolist() == [0, 1, 4, 13]


def test_ends_of_simultaneous_games_are_found_again() -> None:
    found = compiled_game("goofspiel(num_cards=3)")
    for state in np.flatnonzero(found.actor == TERMINAL)[::50]:
        assert found.position(int(state)).returns == tuple(found.returns[state])


def test_merged_boards_have_their_first_parent() -> None:
    found = compiled_game("tic_tac_toe")
    for state in range(0, found.states, 300):
        position = found.position(state)
        assert position.returns == tuple(found.returns[state])
        assert len(position.state().history()) == np.searchsorted(found.levels, state, side="right") - 1


@pytest.mark.parametrize(
    ("game", "limit", "message"),
    [
        (
            "connect_four",
            5000,
            "'connect_four' is too large for exact values: 5,001 states reached, the limit is 5,000",
        ),
        ("goofspiel(num_cards=8)", 2000, "2,001 states reached, the limit is 2,000"),
        ("chess", module.MAX_STATES, "up to 17,695 moves, the limit is 100"),
        ("rock_paper_scissors(throws=1000)", module.MAX_STATES, "up to 1,000 moves, the limit is 100"),
    ],
)
def test_too_large(game: str, limit: int, message: str) -> None:
    spec, start = load_game_spec(game), time.monotonic()
    with pytest.raises(UnsupportedGameError, match=message):
        compile_game(spec, limit)
    assert time.monotonic() - start < 5.0


def test_the_limit_itself_is_allowed() -> None:
    assert compile_game(load_game_spec("kuhn_poker"), 58).states == 58
    with pytest.raises(UnsupportedGameError, match="58 states reached, the limit is 57"):
        compile_game(load_game_spec("kuhn_poker"), 57)


def test_a_refusal_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = replace(load_game_spec("leduc_poker"))  # Another object, which nobody has compiled.
    made: list[GameSpec] = []

    def refuse(spec: GameSpec) -> CompiledGame:
        made.append(spec)
        raise UnsupportedGameError("too large")

    monkeypatch.setattr(module, "compile_game", refuse)
    monkeypatch.setenv("MAGE_CACHE", "off")
    for _ in range(3):
        with pytest.raises(UnsupportedGameError, match="too large"):
            compiled_game(spec)
    assert len(made) == 1


def test_a_refusal_is_kept_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It can take 20 seconds to find out; other processes need not."""
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path))
    small, made = compile_game, list[str]()
    monkeypatch.setattr(module, "compile_game", lambda spec: made.append(spec.name) or small(spec, 100))  # type: ignore[func-returns-value]
    refusals = [module._compiled.__wrapped__(load_game_spec("leduc_poker")) for _ in range(3)]
    assert made == ["leduc_poker"]
    assert len({str(refusal) for refusal in refusals}) == 1
    assert "the limit is 100" in str(refusals[2])
    assert all(isinstance(refusal, UnsupportedGameError) for refusal in refusals)


def test_memory_is_that_of_the_arrays_and_a_level() -> None:
    """What Python holds while Leduc poker is compiled, views and their words among it, and afterwards."""
    tracemalloc.start()
    found = compile_game(load_game_spec("leduc_poker"))
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    arrays = sum(getattr(found, field.name).nbytes for field in fields(found) if field.name not in ("spec", "keys"))
    assert now < 2 * arrays + 2_000_000
    assert peak < 16_000_000, "22 million with all views kept"


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The games that are compiled, in a cache of its own and with nothing remembered from before."""
    made: list[str] = []
    compiler = module.compile_game
    monkeypatch.setattr(module, "compile_game", lambda spec: made.append(spec.name) or compiler(spec))  # type: ignore[func-returns-value]
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path))
    return made


def anew(game: str = "kuhn_poker") -> CompiledGame:
    """As a new process would get it."""
    found = module._compiled.__wrapped__(load_game_spec(game))
    assert isinstance(found, CompiledGame)
    return found


def assert_equal(one: CompiledGame, other: CompiledGame) -> None:
    for field in fields(one):
        first, second = getattr(one, field.name), getattr(other, field.name)
        if isinstance(first, np.ndarray):
            assert first.dtype == second.dtype
            assert np.array_equal(first, second), field.name
        else:
            assert first == second


@pytest.mark.parametrize("game", ["kuhn_poker", "tic_tac_toe", "rock_paper_scissors", "matrix_pd"])
def test_from_disk_it_is_the_same(game: str, counted: list[str], tmp_path: Path) -> None:
    first, second = anew(game), anew(game)
    assert counted == [game]
    assert len(list(tmp_path.iterdir())) == 1
    assert_equal(first, second)
    assert second.index == first.index
    assert second.text(0) == first.text(0)


FIELDS = [field.name for field in fields(CompiledGame) if field.name != "spec"]


@pytest.mark.parametrize("name", FIELDS)
def test_a_file_without_an_array_is_made_again(
    name: str, counted: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = anew()
    (file,) = tmp_path.iterdir()
    arrays = dict(np.load(file))
    shorter = {**arrays, name: arrays[name][:-1]}
    for wrong in (
        {key: array for key, array in arrays.items() if key != name},
        shorter,
        {**arrays, "extra": arrays[name]},
    ):
        caplog.clear()
        np.savez(file, **wrong)
        with caplog.at_level(logging.WARNING):
            assert_equal(anew(), first)
        assert "damaged and will be written anew" in caplog.text
        assert_equal(anew(), first)
    assert len(counted) == 4


def test_a_damaged_file_is_made_again(counted: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = anew()
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for content in (b"", whole[:1000], whole[:5000] + b"?" + whole[5001:]):
        file.write_bytes(content)
        assert_equal(anew(), first)
        assert file.read_bytes() == whole
    assert len(counted) == 4
    assert caplog.text.count("will be written anew") == 3


def test_off_keeps_nothing(counted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAGE_CACHE", "off")
    anew()
    anew()
    assert len(counted) == 2
    assert not list(tmp_path.iterdir())


def test_fingerprints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other names, versions, words or code: another key. A game that is typed in has none."""
    kuhn = load_game_spec("kuhn_poker")
    source = "def describe(facts):\n    return 'v{}'\n"
    file = tmp_path / "words_of_mine.py"
    monkeypatch.syspath_prepend(tmp_path)
    file.write_text(source.format(1))
    import words_of_mine  # type: ignore[import-not-found]

    mine = replace(kuhn, describe=words_of_mine.describe)
    keys = [fingerprint(kuhn), fingerprint(mine), fingerprint(load_game_spec("leduc_poker"))]
    keys += [fingerprint(replace(kuhn, merge=True)), fingerprint(replace(kuhn, name="kuhn"))]
    file.write_text(source.format(2))
    keys.append(fingerprint(mine))
    monkeypatch.setattr(module, "version", lambda package: "0")
    keys.append(fingerprint(kuhn))
    assert None not in keys
    assert len(set(keys)) == len(keys)
    file.unlink()
    assert fingerprint(mine) is None
    typed: dict[str, Any] = {}
    exec("def describe(facts):\n    return 'typed in'", typed)
    assert fingerprint(replace(kuhn, describe=typed["describe"])) is None
    assert fingerprint(replace(kuhn, describe=repr)) is None, "a function without a file"


def test_a_game_that_is_typed_in_is_not_kept(tmp_path: Path) -> None:
    code = (
        "from dataclasses import replace\n"
        "from mage_envs.games import load_game_spec\n"
        "from mage_envs.tabular.compiled import compiled_game\n"
        "kuhn = load_game_spec('kuhn_poker')\n"
        "print(compiled_game(replace(kuhn, describe=lambda facts: str(facts['seat']))).states)"
    )
    env = {**os.environ, "MAGE_CACHE": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    for command in ([sys.executable, "-c", code], [sys.executable, "-"]):
        given = code if command[-1] == "-" else None
        done = subprocess.run(command, env=env, input=given, capture_output=True, text=True, check=True)
        assert done.stdout == "58\n"
    assert not list(tmp_path.iterdir())
