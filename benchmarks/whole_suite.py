"""What a row of MAGE's boards is of: a whole suite with seed 0, and a model where the agent asks one."""

from __future__ import annotations

from benchmarks.run_directory import Config
from benchmarks.suites.base import Suite

FAKE = "fake"


def fake_agents(config: Config) -> list[str]:
    """Returns the names of the agents whose model was the backend ``fake``: a script answered."""
    return [card.name for card in config.agents if card.sampling.get("backend") == FAKE]


def smaller_or_other(config: Config, suite: Suite) -> str:
    """Says how a run's panel differs from that of the whole suite with seed 0; empty if it does not.

    Args:
        config: What was played.
        suite: The suite.
    """
    size = config.meta_episodes
    said = [f"seed {config.seed}"] if config.seed else []
    if size is not None and any(part.meta_episodes != size for part in suite.parts):
        sizes = sorted({part.meta_episodes for part in suite.parts})
        said.append(f"{size} meta-episodes of each scenario instead of {' or '.join(map(str, sizes))}")
    if not said:
        return ""
    return (
        f"another panel than the boards' ({', '.join(said)}), never compared with theirs: a row of MAGE's boards is "
        "the whole suite with seed 0"
    )
