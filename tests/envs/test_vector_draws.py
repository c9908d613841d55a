"""Environment i of a batch is, draw by draw, the single environment with the same seed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
from gymnasium.vector import AutoresetMode

from tests.conformance.cases import CASES, Case
from tests.envs.twins import Twins

BACKENDS = ("numpy", "numba")
SMALL = ("KuhnPoker", "TicTacToe", "RockPaperScissors", "kuhn_poker", "matrix_pd", "goofspiel", "repeated_game")


def small(case: Case) -> bool:
    return any(name in str(case) for name in SMALL)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "numba":
        pytest.importorskip("numba", reason="numba is not installed: pip install 'mage-envs[fast]'")
    return str(request.param)


def test_the_largest_compiled_game() -> None:
    """Both backends in one test: its tables take a while."""
    case = Case("mage/OpenSpiel-meta-v0", {"game": "liars_dice(numdice=1)"})
    for backend in BACKENDS if find_spec("numba") else ("numpy",):
        found = Twins(case, 9, AutoresetMode.NEXT_STEP, backend, invalid_penalty=0.25).play(70, seed=3)
        assert found["meta-episodes"] > 0


@pytest.mark.parametrize("seat", [1, "random", "alternate"])
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("case", [case for case in CASES if case.meta and small(case)], ids=str)
def test_every_way_to_play(case: Case, mode: AutoresetMode, seat: Any, backend: str) -> None:
    for kwargs in (
        {"episodes": 1, "invalid_penalty": 0.1},
        {"episodes": 3, "instance": "replay", "stop_on_success": True, "max_invalid": 1},
        {"episodes": 2, "stop_on_success": False},
    ):
        found = Twins(case, 5, mode, backend, seat=seat, **kwargs).play(30, seed=11)
        assert found["meta-episodes"] > 0
