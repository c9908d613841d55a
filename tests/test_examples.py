"""The examples run, and learn what they say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def learner() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tabular_learner", EXAMPLES / "tabular_learner.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_two_updates_of_the_tabular_learner(learner: ModuleType) -> None:
    learner.ENVIRONMENTS = 16
    value = np.zeros((60**3, 2))
    assert np.isfinite(learner.play(value, 20, explore=1.0, seed=0))
    assert np.count_nonzero(value) > 2


def test_the_tabular_learner_reaches_most_of_the_gain(learner: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """Issue 3: above 80 % of the Bayes-adaptive gain; an eighth of the example's steps is enough."""
    share = learner.main(500)
    assert 0.8 < share < 1.02
    assert "Bayes-adaptive 0.505" in capsys.readouterr().out
