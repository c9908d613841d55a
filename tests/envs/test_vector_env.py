"""The vector environment: Gymnasium's interface, seeds, masks, copies, errors."""

from __future__ import annotations

import gc
import multiprocessing
import random
import subprocess
import sys
import threading
import tracemalloc
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers.vector import DictInfoToList, NormalizeReward, RecordEpisodeStatistics

from mage_envs.errors import MageError, UnsupportedGameError
from mage_envs.tabular import backends

KUHN, TICTACTOE = "mage/KuhnPoker-meta-v0", "mage/TicTacToe-meta-v0"


def make(count: int = 4, id: str = KUHN, **kwargs: Any) -> Any:
    return gym.make_vec(id, num_envs=count, vectorization_mode="vector_entry_point", **kwargs)


def play(env: Any, steps: int, **reset: Any) -> list[Any]:
    """Plays random legal actions; returns all that came back, as plain lists."""
    rng = np.random.default_rng(0)
    found = [plain(env.reset(**reset))]
    for _ in range(steps):
        found.append(plain(env.step(env.unwrapped.sample_actions(rng))))
    return found


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, tuple) else value.tolist()


# Gymnasium.


def test_it_is_a_vector_environment() -> None:
    env = make(5)
    assert isinstance(env, VectorEnv)
    assert env.num_envs == 5
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert env.spec.id == KUHN
    assert env.action_space == gym.spaces.MultiDiscrete([2] * 5)
    single = gym.make(KUHN)
    assert env.single_observation_space == single.observation_space
    assert env.single_action_space == single.action_space
    observation, _ = env.reset(seed=0)
    assert observation in env.observation_space
    assert gym.make_vec(env.spec).reset(seed=0)[0]["seat"].tolist() == observation["seat"].tolist()
    env.action_space.seed(0)
    for _ in range(20):
        observation, rewards, terminated, truncated, infos = env.step(env.action_space.sample())
        assert observation in env.observation_space
        assert [array.dtype for array in (rewards, terminated, truncated)] == [np.float64, np.bool_, np.bool_]
    assert infos["action_mask"] is observation["action_mask"]


def test_gymnasium_makes_it_unless_another_mode_is_named() -> None:
    assert type(gym.make_vec(KUHN, num_envs=2)) is type(make(2))
    assert isinstance(gym.make_vec(KUHN, num_envs=2, vectorization_mode="sync"), gym.vector.SyncVectorEnv)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_statistics_of_meta_episodes(mode: AutoresetMode) -> None:
    env = RecordEpisodeStatistics(make(6, autoreset_mode=mode, population="random"))
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    returns, running, over = [], np.zeros(6), np.zeros(6, np.bool_)
    for _ in range(60):
        _, rewards, terminated, _, infos = env.step(env.unwrapped.sample_actions(rng))
        running += rewards
        if terminated.any():
            assert infos["_episode"].tolist() == terminated.tolist()
            assert np.allclose(infos["episode"]["r"][terminated], running[terminated])
            returns += running[terminated].tolist()
        over = terminated
        running[over] = 0.0
    assert env.episode_count == len(returns) > 30


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_other_wrappers(mode: AutoresetMode) -> None:
    env = DictInfoToList(NormalizeReward(make(3, autoreset_mode=mode, invalid_penalty=0.5)))
    assert env.reset(seed=0)[1][2]["privileged"]["seed"] == 2
    seen = set()
    for _ in range(40):
        _, _, _, _, infos = env.step(np.zeros(3, np.int64))
        assert all(isinstance(info["view"], np.int32) for info in infos)
        seen |= {name for info in infos for name in info}
    assert "episode_result" in seen
    assert ("final_obs" in seen) == (mode is AutoresetMode.SAME_STEP)


def test_infos_hold_arrays_only() -> None:
    env = make(7, autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=0)
    rng = np.random.default_rng(0)

    def leaves(value: Any) -> Any:
        return [leaf for part in value.values() for leaf in leaves(part)] if isinstance(value, dict) else [value]

    seen = set()
    for _ in range(20):
        infos = env.step(env.sample_actions(rng))[4]
        seen |= infos.keys()
        assert all(isinstance(leaf, np.ndarray) and len(leaf) == 7 and leaf.dtype != object for leaf in leaves(infos))
    assert seen >= {"episode_result", "final_obs", "final_info"}


@pytest.mark.parametrize("value", ["NextStep", "SameStep", "Disabled"])
def test_autoreset_modes_by_name(value: str) -> None:
    assert make(autoreset_mode=value).metadata["autoreset_mode"] is AutoresetMode(value)
    with pytest.raises(ValueError, match="NextStep"):
        make(autoreset_mode=value.upper())


# Seeds.


def test_a_seed_is_one_for_each() -> None:
    first, *others = (make(3).reset(seed=seed)[1]["privileged"] for seed in (5, np.int64(5), [5, 6, 7], (5, 6, 7)))
    assert first["seed"].tolist() == [5, 6, 7]
    assert len(set(first["instance"].tolist())) == 3
    assert all(
        plain(other) == plain(first) for other in (*others, make(3).reset(seed=np.arange(5, 8))[1]["privileged"])
    )


def test_one_seed_for_all_makes_one_instance() -> None:
    privileged = make(100).reset(seed=[9] * 100)[1]["privileged"]
    assert len(set(privileged["instance"].tolist())) == len(set(privileged["opponent"].tolist())) == 1


def test_without_a_seed_streams_go_on() -> None:
    env, other = make(2), make(2)
    env.reset(seed=3)
    other.reset(seed=[3, 8])
    first, second = env.reset(seed=[None, 4])[1]["privileged"], other.reset()[1]["privileged"]
    assert first["seed"].tolist() == [-1, 4]
    assert first["instance"][0] == second["instance"][0]
    assert first["instance"][1] == make(1).reset(seed=4)[1]["privileged"]["instance"][0]


def test_seeds_from_entropy_are_known_afterwards() -> None:
    env, other = make(3), make(3)
    assert env.np_random_seed == (-1, -1, -1)
    assert play(env, 30) != play(other, 30)
    assert all(seed >= 0 for seed in env.np_random_seed)
    again = make(3)
    found = play(again, 30, seed=list(env.np_random_seed))
    assert again.np_random_seed == env.np_random_seed
    assert [generator.random() for generator in again.np_random] == [generator.random() for generator in env.np_random]
    assert found[0][1]["privileged"]["seed"] == list(env.np_random_seed)


def test_np_random_is_what_comes_next() -> None:
    env = make(2)
    env.reset(seed=[1, 2])
    drawn = [int(generator.random(5)[4] * 2**53) for generator in env.np_random]  # 1 + 3 numbers, then an instance
    assert drawn == env.reset()[1]["privileged"]["instance"].tolist()


@pytest.mark.parametrize("seed", [-1, 2**63, [1], [1, -2, 3], [1.5, 2, 3], "7", True, [[1, 2, 3]], [1, "2", None]])
def test_other_seeds_are_refused(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed"):
        make(3).reset(seed=seed)


def test_global_generators_are_left_alone() -> None:
    before = (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002 -- that state is the point
    play(make(5), 50, seed=0)
    play(make(5, population="cfr"), 50)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


# Resets.


def test_reset_mask() -> None:
    env = make(12, autoreset_mode=AutoresetMode.DISABLED, episodes=1)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    over = np.zeros(12, np.bool_)
    while not over.any():
        before, _, over, _, infos = env.step(env.sample_actions(rng))
    assert not over.all()
    assert infos["_episode_result"].tolist() == over.tolist()
    with pytest.raises(ResetNeeded, match="reset_mask"):
        env.step(env.sample_actions(rng))
    options = {"reset_mask": over}
    after, infos = env.reset(options=options)
    assert options.keys() == {"reset_mask"}
    assert not infos["invalid"].any()
    for name, array in before.items():
        assert array[~over].tolist() == after[name][~over].tolist()
    assert after["last_action"][over].tolist() == [-1] * over.sum()
    env.step(env.sample_actions(rng))


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        ([True, False], TypeError),
        (np.array([1, 0]), TypeError),
        (np.array([True]), ValueError),
        (np.array([False, False]), ValueError),
    ],
)
def test_other_masks_are_refused(mask: Any, error: type[Exception]) -> None:
    env = make(2)
    with pytest.raises(ResetNeeded):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset()
    with pytest.raises(error, match="reset_mask"):
        env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("fixed", [{"opponent": "cfr"}, {"seat": "random"}, {"seat": 1}, {"instance": [4, 5, 6]}, {}])
def test_options_fix_what_single_environments_fix(fixed: dict[str, Any]) -> None:
    env, singles = make(6), [gym.make(KUHN) for _ in range(6)]
    for again in range(2):
        _, infos = env.reset(seed=None if again else 3, options=fixed)
        for number, single in enumerate(singles):
            _, info = single.reset(seed=None if again else 3 + number, options=fixed)
            privileged = {name: array[number] for name, array in infos["privileged"].items()}
            assert env.opponents[privileged.pop("opponent")] == info["privileged"].pop("opponent")
            assert privileged == info["privileged"]
            assert infos["seat"][number] == info["seat"]


def test_options_out_of_range_are_refused() -> None:
    env = make(2)
    for options in ({"sead": 1}, {"seat": 2}, {"instance": -1}, {"opponent": "nobody"}):
        with pytest.raises(ValueError, match=r"sead|seat|instance|nobody"):
            env.reset(options=options)
    with pytest.raises(UnsupportedGameError, match="ismcts"):
        env.reset(options={"opponent": "ismcts(simulations=5)"})
    assert len(env.opponents) == 3


# Memory.


def test_without_copies_a_step_writes_over_the_last() -> None:
    env = make(3, copy=False)
    first = env.reset(seed=0)[0]["observation"]
    assert first is env.step(np.zeros(3, np.int64))[0]["observation"]


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
def test_nothing_that_is_held_is_written_over(mode: AutoresetMode) -> None:
    env = make(6, autoreset_mode=mode)
    rng = np.random.default_rng(0)
    kept, texts = [env.reset(seed=0)], []
    for _ in range(30):
        texts.append(plain(kept[-1]))
        kept.append(env.step(env.sample_actions(rng)))
    assert [plain(each) for each in kept[:-1]] == texts
    views = [env.step(env.sample_actions(rng))[0]["observation"][:2] for _ in range(10)]
    assert not any(np.shares_memory(one, two) for one, two in pairwise(views))


def test_what_nobody_holds_is_used_again() -> None:
    env = make(6)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    found = {env.step(env.sample_actions(rng))[0]["observation"].ctypes.data for _ in range(30)}
    assert len(found) <= 2


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
def test_copies_say_the_same(mode: AutoresetMode) -> None:
    assert play(make(5, copy=True, autoreset_mode=mode), 50, seed=1) == play(
        make(5, copy=False, autoreset_mode=mode), 50, seed=1
    )


def test_nothing_grows() -> None:
    env = make(64)
    play(env, 30, seed=0)
    rng = np.random.default_rng(0)
    tracemalloc.start()
    try:
        sizes = []
        for steps in (500, 4_000):
            for _ in range(steps):
                env.step(env.sample_actions(rng))
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
        assert sizes[1] - sizes[0] < 60_000  # One small object a step would be 200 kB.
    finally:
        tracemalloc.stop()


# Errors.


def test_nothing_goes_before_a_reset_or_after_the_close() -> None:
    env = make(2)
    for call in (lambda: env.step(np.zeros(2, np.int64)), lambda: env.sample_actions(np.random.default_rng(0))):
        with pytest.raises(ResetNeeded):
            call()
    env.reset()
    env.close()
    env.close()
    with pytest.raises(ClosedEnvironmentError):
        env.step(np.zeros(2, np.int64))


@pytest.mark.parametrize("actions", [0, [0], np.zeros(3), np.zeros((3, 1), np.int64), ["bet"] * 3, [True] * 3, None])
def test_other_actions_are_refused(actions: Any) -> None:
    env = make(3)
    env.reset()
    with pytest.raises(ValueError, match="3 integers"):
        env.step(actions)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.int32])
def test_any_integers_are_actions(dtype: Any) -> None:
    env = make(3)
    env.reset(seed=0)
    env.step(np.array([0, 1, 100], dtype))
    assert env.step([0, 1, 2**62])[4]["invalid"][2]


def test_other_arguments_are_refused() -> None:
    for kwargs, match in (
        ({"interface": "text"}, "vectorization_mode='sync'"),
        ({"render_mode": "ansi"}, "vectorization_mode='sync'"),
        ({"interface": "array "}, "array"),
        ({"copy": 1}, "copy"),
        ({"backend": "nunba"}, "numba"),
        ({"episode": 3}, "episodes"),
        ({"episodes": 0}, "episodes"),
        ({"seat": 2}, "seat"),
        ({"count": 0}, "num_envs"),
    ):
        with pytest.raises(ValueError, match=match):
            make(**kwargs)
    with pytest.raises(ValueError, match="-meta-"):
        make(id="mage/KuhnPoker-v0", episodes=3)


def test_opponents_without_a_table_are_named() -> None:
    with pytest.raises(UnsupportedGameError, match=r"mcts\(simulations=100.*vectorization_mode='sync'.*mcts_table"):
        make(id=TICTACTOE)
    with pytest.raises(UnsupportedGameError, match="roshambo"):
        make(id="mage/RockPaperScissors-meta-v0")


# Backends.


def test_backends() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backends, "find_spec", lambda name: None)
        with pytest.raises(MageError, match="mage-envs\\[fast\\]"):
            make(backend="numba")
        assert backends.load_backend("auto").__name__.endswith("numpy")  # type: ignore[attr-defined]
    pytest.importorskip("numba", reason="numba is not installed: pip install 'mage-envs[fast]'")
    assert backends.load_backend("auto").__name__.endswith("numba")  # type: ignore[attr-defined]
    assert play(make(9, backend="numba"), 60, seed=2) == play(make(9, backend="numpy"), 60, seed=2)


def test_importing_the_package_imports_no_numba() -> None:
    code = (
        "import sys, gymnasium as gym, mage_envs\n"
        "env = gym.make_vec('mage/RockPaperScissors-v0', num_envs=2, population='random', backend='numpy')\n"
        "env.reset()\nenv.step([0, 0])\nprint('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_two_threads_with_an_environment_each() -> None:
    expected = [play(make(50), 100, seed=seed) for seed in (1, 2)]
    found: dict[int, Any] = {}
    threads = [
        threading.Thread(target=lambda s=seed: found.update({s: play(make(50), 100, seed=s)})) for seed in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[1], found[2]] == expected


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_has_played_can_fork() -> None:
    expected = play(make(5), 20, seed=1)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=lambda: queue.put(play(make(5), 20, seed=1)))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join()
