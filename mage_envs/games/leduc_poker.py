"""Leduc poker: six cards, two rounds of bets, one public card. Optimal play gives seat 0 −0.0856 chips a hand.

Source: F. Southey et al., "Bayes' bluff: opponent modelling in poker", UAI 2005. Over OpenSpiel's ``leduc_poker``:
action 0 folds, 1 calls (checks), 2 raises (bets). A history begins with the cards of seats 0 and 1; the public card
comes between the rounds. Cards 0 to 5 are J, J, Q, Q, K, K, spades before hearts. The suit of a card has no value, but
it is on the card, so that the game has 936 information sets (288 if suits could not be seen).
"""

from __future__ import annotations

from typing import Any

from mage_envs.games import GAMES
from mage_envs.games.base import NOTHING, Facts, GameSpec, WorkedExample

CARDS = tuple(f"{rank} of {suit}" for rank in "JQK" for suit in ("spades", "hearts"))
MOVES = ("fold", "call", "raise")
ANTE, RAISES = 1, (2, 4)
DEALER = -1

RULES = """\
Leduc poker, two players. The deck has six cards: J (lowest), Q and K (highest), each of spades and of hearts.
Each player pays an ante of 1 chip and gets one card, which the other player does not see.
There are two rounds of betting, and seat 0 acts first in both. Between them one public card is dealt.
"raise" puts in what the opponent has more, and then 2 chips (in round 1) or 4 chips (in round 2) on top. The first
raise of a round is a bet; a round has at most two raises. "call" puts in what the opponent has more; if that is
nothing, it is a check. "fold" gives the hand up; you can fold only when the opponent has put in more.
A round ends when a bet or raise is called, or both players check.
After round 2 comes the showdown: a player whose card has the rank of the public card wins, else the higher rank wins;
equal ranks share the pot. Suits have no value. A player who folds loses, and no cards are shown.
The result of a hand is the number of chips won or lost, at most 13."""


def _facts(state: Any, seat: int) -> Facts:
    steps = [(int(step.player), int(step.action)) for step in state.full_history()]
    dealt = [action for player, action in steps if player == DEALER]
    deals = [index for index, (player, _) in enumerate(steps) if player == DEALER]
    turn = deals[2] if len(deals) > 2 else len(steps)
    return {
        "seat": seat,
        "card": CARDS[dealt[seat]] if len(dealt) > seat else "",
        "public": CARDS[dealt[2]] if len(dealt) > 2 else "",
        "rounds": (tuple(steps[2:turn]), tuple(steps[turn + 1 :])),
        "over": state.is_terminal(),
    }


def _revealed(state: Any, seat: int) -> Facts:
    history = state.history()
    return NOTHING if history[-1] == MOVES.index("fold") else {"opponent_card": CARDS[history[1 - seat]]}


def _describe(facts: Facts) -> str:
    chips = [ANTE, ANTE]
    lines = [f"Your card: {facts['card'] or 'not dealt yet'}."]
    for number, moves in enumerate(facts["rounds"]):
        if number and facts["public"]:
            lines.append(f"Public card: {facts['public']}.")
        if number == 0 or facts["public"]:
            told = [_play(facts["seat"], chips, RAISES[number], *move) for move in moves]
            lines.append(f"Round {number + 1}: {', '.join(told) or 'no moves yet'}.")
    lines.append(f"In the pot: {chips[facts['seat']]} from you, {chips[1 - facts['seat']]} from the opponent.")
    if "opponent_card" in facts:
        lines.append(f"Showdown: the opponent had {facts['opponent_card']}.")
    elif facts["over"]:
        lines.append("No showdown: the cards stay hidden.")
    return "\n".join(lines)


def _play(seat: int, chips: list[int], size: int, mover: int, action: int) -> str:
    """Tells a move and puts its chips into the pot."""
    meaning = _meaning(chips[1 - mover] - chips[mover], action)
    if action > 0:
        chips[mover] = chips[1 - mover] + (size if MOVES[action] == "raise" else 0)
    return f"you {meaning}" if mover == seat else f"the opponent {meaning}s"


def _meaning(owed: int, action: int) -> str:
    """Names a move by what it does: with nothing owed, a call is a check and a raise is a bet."""
    if owed == 0 and action > 0:
        return "check" if MOVES[action] == "call" else "bet"
    return MOVES[action]


def _words(facts: Facts, action: int) -> tuple[str, ...]:
    moves = facts["rounds"][1] if facts["public"] else facts["rounds"][0]
    owed = any(MOVES[move] == "raise" for _, move in moves)
    alias = {"call": "check", "raise": "bet"}.get(MOVES[action])
    return (MOVES[action],) if owed or alias is None else (MOVES[action], alias)


def _reveal_array(facts: Facts) -> tuple[float, ...]:
    return tuple(float(card == facts["opponent_card"]) for card in CARDS)


SPEC = GameSpec(
    name="leduc_poker",
    title="LeducPoker",
    openspiel="leduc_poker",
    rules=RULES,
    facts=_facts,
    revealed=_revealed,
    describe=_describe,
    words=_words,
    vocabulary=frozenset({*MOVES, "check", "bet"}),
    population="leduc/train",
    reveal_size=len(CARDS),
    reveal_array=_reveal_array,
    examples=(
        WorkedExample(
            (4, 2, 2, 1, 3, 1, 1),
            (-3.0, 3.0),
            "Seat 0 bets K, seat 1 calls with Q. The public card is Q: both check, the pair of Q wins 3.",
        ),
        WorkedExample((0, 4, 1, 2, 0), (-1.0, 1.0), "Seat 0 checks J, seat 1 bets K, seat 0 folds: no card is shown."),
        WorkedExample(
            (2, 3, 1, 1, 5, 2, 2, 1),
            (0.0, 0.0),
            "Q against Q: checks in round 1, a bet, a raise and a call in round 2. The pot is shared.",
        ),
        WorkedExample(
            (4, 0, 2, 2, 1, 5, 2, 2, 1),
            (13.0, -13.0),
            "Seat 0 has K and the public card is K; two raises and a call in both rounds win the most.",
        ),
    ),
)


GAMES.register("leduc_poker", lambda: SPEC)
