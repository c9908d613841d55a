"""The models that come with the package: which there are, which one a game is played with, and how they are asked."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

from mage_agent.backends.local_files import fingerprint
from mage_agent.model_settings import ModelSettings, Sampling

AUTO = "auto"
START = "start"
CHECKPOINTS = (START, "kuhn", "rps")
CHOICES = (AUTO, *CHECKPOINTS)

TRAINED_ON = {"kuhn_poker": "kuhn", "rock_paper_scissors": "rps"}
"""Games by their names without parameters."""

SAMPLING = Sampling(temperature=1.0, top_p=1.0, max_tokens=32)
"""As in training, where replies are drawn as the model says."""

FOLDER = Path(str(files("mage_agent.tiny"))) / "checkpoints"


def checkpoint_for(game: str) -> str:
    """Returns the checkpoint that plays a game.

    >>> checkpoint_for("rock_paper_scissors(throws=10)"), checkpoint_for("chess")
    ('rps', 'start')
    """
    return TRAINED_ON.get(game.split("(")[0], START)


def settings_for(checkpoint: str) -> ModelSettings:
    """Returns how a checkpoint is asked: on the CPU, where so small a model is as fast as anywhere."""
    return ModelSettings("transformers", str(FOLDER / checkpoint), sampling=SAMPLING, device="cpu", batch=64)


@cache
def revision(checkpoint: str) -> str:
    """Returns the fingerprint of a checkpoint; of ``auto``, one over all of them."""
    if checkpoint != AUTO:
        return fingerprint(FOLDER / checkpoint)
    return hashlib.sha256("".join(map(revision, CHECKPOINTS)).encode()).hexdigest()[:16]
