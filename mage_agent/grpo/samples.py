"""What training passes around: which meta-episode is played, what each turn of it was, and how its episodes ended.

Plain data without torch: rollouts make it, credit and advantages are computed from it, the trainer turns it to tensors.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Phase: TypeAlias = Literal["play", "reflect"]


class Task(NamedTuple):
    """One meta-episode to be played. Those of a group differ in nothing but ``member`` (and the opponent, if mixed).

    Attributes:
        scenario: Name of the scenario.
        opponent: Spec of the hidden opponent; None in a world.
        seat: The seat, as the environment's reset option takes it; None in a world.
        seed: Seed of the environment: it decides all instances of the meta-episode.
        member: Which of the group it is, from 0: seeds the agent and names its draws.
    """

    scenario: str
    opponent: str | None
    seat: int | None
    seed: int
    member: int


class Turn(NamedTuple):
    """One reply of the model: one sample of training.

    Attributes:
        prompt_ids: Token ids of the prompt, as the model read them.
        completion_ids: Token ids of the reply, as the model wrote them, the end token included if it came.
        logprobs: Log-probability of each completion token under the policy that sampled; None if it was not told.
        cut: Whether the limit of tokens cut the reply.
        phase: Whether it answers a decision or writes a reflection.
        episode: Which episode, from 0. A reflection belongs to the episode that has just ended.
        reward: What the environment paid for the step that this reply led to, with neither penalty nor shaping; 0 for a
            reflection, and for a reply that could not be played.
        valid: Whether the reply could be played. A reflection is valid unless it was cut or empty.
        anchor: Names the state that was decided in: equal for equal states of any meta-episode of a group.
    """

    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    logprobs: tuple[float, ...] | None
    cut: bool
    phase: Phase
    episode: int
    reward: float
    valid: bool
    anchor: str


class Ending(NamedTuple):
    """How an episode ended.

    Attributes:
        score: Its score, in the scenario's unit.
        outcome: ``"win"``, ``"draw"`` or ``"loss"``.
        decisions: The agent's decisions.
        invalid: Replies that could not be played.
    """

    score: float
    outcome: str
    decisions: int
    invalid: int


class Played(NamedTuple):
    """A meta-episode that was played.

    Attributes:
        task: What was asked for.
        turns: All turns, in order.
        endings: One for each episode that was played: fewer than N if the first win ended it.
    """

    task: Task
    turns: tuple[Turn, ...]
    endings: tuple[Ending, ...]
