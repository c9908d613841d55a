"""What is logged of the meta-episodes of a rollout: scores of the first and the last episode, for each opponent."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from mage_agent.grpo.samples import Played, Task

_NOT_SAFE = re.compile(r"[^A-Za-z0-9.\-]+")


def label(task: Task) -> str:
    """Returns a name for who is met, or for the world, that every logger takes.

    >>> label(Task("tic_tac_toe/train", "mcts(simulations=100)", 0, 7, 0))
    'mcts_simulations_100'
    """
    return _NOT_SAFE.sub("_", task.opponent or task.scenario).strip("_")


def rollout_metrics(played: Sequence[Played]) -> Mapping[str, float]:
    """Returns the metrics of a rollout by name.

    Args:
        played: The meta-episodes of all processes.

    Returns:
        ``score/first`` and ``score/last``: mean score of the first and of the last episode that was played (the Nth,
        unless a win ended the meta-episode early), and the same for each opponent, ``score/first/<opponent>``;
        ``rate/invalid``: share of the replies in phase play that could not be played; ``rate/cut``: share of all
        replies that the limit of tokens cut; ``length/play``, ``length/reflect``: mean tokens of a reply; ``rows``,
        ``meta_episodes``. What nothing is known of is left out.
    """
    found: dict[str, list[float]] = defaultdict(list)
    for one in played:
        if one.endings:
            for name, ending in (("first", one.endings[0]), ("last", one.endings[-1])):
                found[f"score/{name}"].append(ending.score)
                found[f"score/{name}/{label(one.task)}"].append(ending.score)
        for turn in one.turns:
            found[f"length/{turn.phase}"].append(len(turn.completion_ids))
            found["rate/cut"].append(turn.cut)
            if turn.phase == "play":
                found["rate/invalid"].append(not turn.valid)
    means = {name: float(np.mean(values)) for name, values in sorted(found.items())}
    return {**means, "rows": float(sum(len(one.turns) for one in played)), "meta_episodes": float(len(played))}
