"""A person plays a meta-episode in the terminal. Typing errors are asked again and cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmarks.ceilings import opponent_yardsticks
from benchmarks.panels import Entry
from benchmarks.records import EpisodeRecord
from benchmarks.referee import drive, start
from mage_agent.person import Ask, Person, Say
from mage_envs.scenarios import Scenario


class Session(NamedTuple):
    """How a person plays.

    Attributes:
        scenario: The scenario.
        episodes: N.
        opponent: Spec of the opponent; None in a world.
        seat: The person's seat.
        seed: Seed of the environment.
    """

    scenario: Scenario
    episodes: int
    opponent: str | None
    seat: int
    seed: int


def draw_session(scenario: Scenario, episodes: int, seed: int, opponent: str | None, seat: int | None) -> Session:
    """Draws what is not given, as the environment draws it."""
    env = scenario.make(interface="text", episodes=episodes)
    _, info = env.reset(seed=seed)
    drawn = info["privileged"]["opponent"] or None  # Nobody else plays in a world.
    return Session(scenario, episodes, opponent or drawn, info["seat"] if seat is None else seat, seed)


def play_in_terminal(session: Session, say: Say, ask: Ask) -> bool:
    """Plays a meta-episode.

    Args:
        session: What to play.
        say: Shows a text.
        ask: Shows a prompt and returns the answer; raises EOFError when there are no more answers.

    Returns:
        Whether the meta-episode was played to its end.
    """
    env = session.scenario.make(interface="text", episodes=session.episodes)
    finished: list[EpisodeRecord] = []
    first = start(env, Entry(session.scenario.name, 0, session.opponent, session.seat, session.seed))
    say(first[1]["rules"])
    try:
        last = drive(env, first, Person(say, ask), finished)
    except EOFError:
        say("\nNo more input: the meta-episode is left unfinished.")
    else:
        say(f"\n{last}")
    say(_summary(session, finished, env))
    return len(finished) == session.episodes


def _summary(session: Session, finished: Sequence[EpisodeRecord], env: Any) -> str:
    lines = ["", f"Score, in {session.scenario.unit}:" if finished else "No episode was played to its end."]
    lines += [
        f"  episode {number}: {episode.reward:+g} ({episode.outcome})" for number, episode in enumerate(finished, 1)
    ]
    if finished:
        mean = sum(episode.reward for episode in finished) / len(finished)
        lines.append(f"  mean:      {mean:+.3f}")
    if session.opponent is not None:
        game = env.unwrapped.game_spec
        equilibrium, told = opponent_yardsticks(game, session.opponent, session.seat)
        lines += [] if equilibrium is None else [f"Equilibrium play expects {equilibrium:+.3f} an episode,"]
        lines += [] if told is None else [f"the best response to this opponent {told:+.3f}."]
        if told is None:
            lines.append("There is no exact reference against this opponent.")
        lines.append(f"Your opponent was {session.opponent}. Seed {session.seed}.")
    return "\n".join(lines)
