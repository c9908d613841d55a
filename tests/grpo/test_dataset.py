"""Groups: exact shares of opponents and seats at any time, and members that differ in nothing else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.dataset import Quota, Row, make_dataset, make_rows, opponents_a_group, to_tasks
from mage_agent.grpo.samples import Task
from mage_envs.errors import MageError
from mage_envs.scenarios import SCENARIOS


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=6), st.integers(1, 60), st.integers(0, 9))
def test_every_prefix_has_its_shares(weights: list[float], count: int, seed: int) -> None:
    quota = Quota(dict(enumerate(weights)), np.random.default_rng(seed))
    drawn = Counter(quota.next() for _ in range(count))
    for choice, weight in enumerate(weights):
        assert abs(drawn[choice] - count * weight / sum(weights)) < len(weights)


def test_opponents_come_by_weight_and_seats_equally() -> None:
    rows = make_rows(["kuhn/train"], 60, seed=1)
    assert Counter(row["seat"] for row in rows) == {0: 30, 1: 30}
    weights = SCENARIOS.get("kuhn/train").make().unwrapped.population.members  # type: ignore[attr-defined]
    due = {(opponent, seat): round(30 * weight) for opponent, weight in weights for seat in (0, 1)}
    assert Counter((row["opponents"][0], row["seat"]) for row in rows) == due
    assert len({row["seed"] for row in rows}) == 60


def test_the_same_arguments_give_the_same_rows_and_another_seed_others() -> None:
    assert make_rows(["kuhn/train"], 9, seed=1) == make_rows(["kuhn/train"], 9, seed=1)
    assert make_rows(["kuhn/train"], 9, seed=1) != make_rows(["kuhn/train"], 9, seed=2)


def test_shares_replace_the_weights() -> None:
    rows = make_rows(["kuhn/train"], 40, seed=0, shares={"conservative": 3, "random": 1})
    assert Counter(row["opponents"][0] for row in rows) == {"conservative": 30, "random": 10}
    with pytest.raises(MageError, match="conservative"):
        make_rows(["kuhn/train"], 4, seed=0, shares={"conservativ": 1})


def test_mixed_groups_meet_several_opponents_with_the_same_deals() -> None:
    rows = make_rows(["kuhn/train"], 2, seed=0, mixed=3)
    tasks = to_tasks([row for row in rows for _ in range(6)])
    for start in (0, 6):
        members = tasks[start : start + 6]
        assert Counter(task.opponent for task in members) == dict.fromkeys(
            ("conservative", "aggressive", "intermediate"), 2
        )
        assert len({(task.scenario, task.seat, task.seed) for task in members}) == 1
        assert [task.member for task in members] == list(range(6))


def test_members_are_numbered_wherever_the_copies_of_a_row_are() -> None:
    one, other = Row(scenario="a", opponents=["x"], seat=0, seed=1), Row(scenario="a", opponents=["x"], seat=0, seed=2)
    tasks = to_tasks([one, other, other, one])
    assert [(task.seed, task.member) for task in tasks] == [(1, 0), (2, 0), (2, 1), (1, 1)]


def test_a_world_has_neither_opponents_nor_seats() -> None:
    (row,) = make_rows(["minesweeper/train"], 1, seed=0)
    assert to_tasks([row]) == [Task("minesweeper/train", None, None, row["seed"], 0)]
    for more in ({"mixed": 2}, {"shares": {"random": 1.0}}):
        with pytest.raises(ValueError, match="in a world"):
            make_rows(["minesweeper/train"], 1, seed=0, **more)  # type: ignore[arg-type]


def test_scenarios_take_turns() -> None:
    rows = make_rows([SCENARIOS.get("kuhn/train"), "minesweeper/train"], 8, seed=0)
    assert Counter(row["scenario"] for row in rows) == {"kuhn/train": 4, "minesweeper/train": 4}


@pytest.mark.parametrize(("scenarios", "groups", "mixed"), [([], 1, 1), (["kuhn/train"], 0, 1), (["kuhn/train"], 1, 0)])
def test_numbers_out_of_range_are_refused(scenarios: list[str], groups: int, mixed: int) -> None:
    with pytest.raises(ValueError, match="1 or more groups"):
        make_rows(scenarios, groups, 0, mixed=mixed)


def test_a_data_set_gives_its_rows_back() -> None:
    pytest.importorskip("datasets", reason="needs the extra train")
    for scenario in ("kuhn/train", "minesweeper/train"):
        assert list(make_dataset([scenario], 5, seed=3)) == list(make_rows([scenario], 5, seed=3))


def test_mixed_groups_need_several_opponents_and_two_members_for_each() -> None:
    mixed = TrainConfig(scenario="kuhn/train", opponents="mixed", group_size=4)
    assert opponents_a_group(mixed) == 2
    assert opponents_a_group(replace(mixed, opponents="stationary", group_size=2)) == 1
    for wrong in ({"group_size": 3}, {"population": "conservative"}, {"scenario": "sokoban/train"}):
        with pytest.raises(MageError, match='take opponents = "stationary"'):
            opponents_a_group(replace(mixed, **wrong))  # type: ignore[arg-type]
