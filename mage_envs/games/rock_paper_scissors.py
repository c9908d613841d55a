"""Rock-Paper-Scissors, one throw or a match of several. Optimal play is uniform and gives both seats 0.

Over OpenSpiel's ``matrix_rps``, or ``repeated_game`` on it for more than one throw; actions 0, 1, 2 are rock, paper,
scissors. OpenSpiel's tensor of a single throw does not show what was thrown, so that is in ``reveal_array``. The
tensor of a match is six numbers a throw, **the latest throw first**: seat 0's throw, then seat 1's, each one-hot; all
zero for throws to come. Every past throw can be read from it, at the end too, so a match reveals nothing more. Which
half is one's own the seat must know (``info["seat"]``, or one's last action): the tensor is the same for both seats.

A match is the Random-Bots population's setting when it has 1,000 throws (Lanctot et al., arXiv 2303.03196).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from mage_envs.errors import SpecError
from mage_envs.games import GAMES
from mage_envs.games.base import NOTHING, Facts, GameSpec, WorkedExample

THROWS = ("rock", "paper", "scissors")
RESULTS = ("draw", "win", "loss")
MAX_THROWS = 1000

LEGEND = "Throws so far, your letter first (R rock, P paper, S scissors)"

RULES = """\
Rock-Paper-Scissors, two players. Both throw at the same time: "rock", "paper" or "scissors".
Rock beats scissors, scissors beats paper, paper beats rock; equal throws are a draw.
A throw counts +1 for a win, 0 for a draw, -1 for a loss. {match}"""


@lru_cache(maxsize=64, typed=True)
def rock_paper_scissors(throws: int = 1) -> GameSpec:
    """Returns the spec of a match.

    Args:
        throws: Throws in a match, 1..1000.

    Raises:
        SpecError: Another type or range.
    """
    if isinstance(throws, bool) or not isinstance(throws, int) or not 1 <= throws <= MAX_THROWS:
        raise SpecError(f"throws must be an integer in 1..{MAX_THROWS}, got {throws!r}")
    single = throws == 1
    match = "There is one throw." if single else f"A match has {throws} throws; the result is their sum."
    return GameSpec(
        name="rock_paper_scissors" if single else f"rock_paper_scissors(throws={throws})",
        title="RockPaperScissors",
        openspiel="matrix_rps" if single else _repeated(throws),
        rules=RULES.format(match=match),
        facts=lambda state, seat: _facts(state, seat, throws),
        revealed=_revealed if single else lambda state, seat: NOTHING,
        describe=_describe,
        words=lambda facts, action: (THROWS[action],),
        vocabulary=frozenset(THROWS),
        population="rps/train",
        remember=min(50_000, 500_000 // throws),  # A position is as large as the match is long.
        reveal_size=len(THROWS) if single else 0,
        reveal_array=_reveal_array if single else lambda facts: (),
        examples=_examples(throws),
    )


def _repeated(throws: int) -> str:
    # With recall below the length, OpenSpiel's observation forgets the first throws.
    return f"repeated_game(stage_game=matrix_rps(),num_repetitions={throws},recall={throws})"


def _facts(state: Any, seat: int, throws: int) -> Facts:
    history = state.history()
    pairs = tuple(
        (THROWS[own], THROWS[other]) for own, other in zip(history[seat::2], history[1 - seat :: 2], strict=True)
    )
    return {"seat": seat, "throws": throws, "pairs": pairs}


def _revealed(state: Any, seat: int) -> Facts:
    return {"opponent_throw": THROWS[state.history()[1 - seat]]}


def _describe(facts: Facts) -> str:
    pairs, throws = facts["pairs"], facts["throws"]
    results = [_result(own, other) for own, other in pairs]
    head = "All throws are made." if len(pairs) == throws else f"Throw {len(pairs) + 1} of {throws}."
    if not pairs:
        return f"{head} Nothing has been thrown yet."
    if throws == 1:
        return f"You threw {pairs[0][0]}, the opponent threw {pairs[0][1]}: a {results[0]} for you."
    told = " ".join(own[0].upper() + other[0].upper() for own, other in pairs)  # 1,000 throws must fit into a text.
    won, lost, drawn = (results.count(result) for result in ("win", "loss", "draw"))
    return f"{head}\n{LEGEND}: {told}.\nYou won {won}, lost {lost}, drew {drawn}."


def _result(own: str, other: str) -> str:
    return RESULTS[(THROWS.index(own) - THROWS.index(other)) % len(THROWS)]


def _reveal_array(facts: Facts) -> tuple[float, ...]:
    return tuple(float(throw == facts["opponent_throw"]) for throw in THROWS)


def _examples(throws: int) -> tuple[WorkedExample, ...]:
    rest, more = (0, 0) * (throws - 1), " Rock against rock from then on." if throws > 1 else ""
    return (
        WorkedExample((0, 2, *rest), (1.0, -1.0), f"Seat 0's rock beats seat 1's scissors.{more}"),
        WorkedExample((0, 1, *rest), (-1.0, 1.0), f"Seat 1's paper beats seat 0's rock.{more}"),
        WorkedExample((2, 2, *rest), (0.0, 0.0), f"Scissors against scissors is a draw.{more}"),
    )


GAMES.register("rock_paper_scissors", rock_paper_scissors)
