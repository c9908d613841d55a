"""Every registered world keeps Gymnasium's contract, the meta-episode's, and its own (``mage_envs/worlds/base.py``)."""

from __future__ import annotations

import copy
import hashlib
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from mage_envs.worlds import World, WorldView, load_world
from tests.conformance.cases import WORLD_CASES, Case, choose, show, transcript
from tests.conformance.test_gymnasium import _strings as strings

every = pytest.mark.parametrize("case", WORLD_CASES, ids=str)
every_meta = pytest.mark.parametrize("case", [case for case in WORLD_CASES if case.meta], ids=str)
both = pytest.mark.parametrize(
    ("case", "interface"),
    [(case, interface) for case in WORLD_CASES for interface in case.make().world.interfaces],
    ids=str,
)


@both
def test_gymnasium_checker_finds_nothing(case: Case, interface: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_env(case.make(interface=interface))  # Warnings are errors in this suite.
    capsys.readouterr()


@both
def test_observations_are_in_their_space(case: Case, interface: str) -> None:
    env = case.make(interface=interface)
    rng = np.random.default_rng(0)
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            assert observation in env.observation_space
            assert info["view"].terminal == (info["phase"] == "reflect")
            observation, _, terminated, truncated, info = env.step(choose(env, info, rng))
            over = terminated or truncated
        assert observation in env.observation_space
        assert info["view"].terminal


@every
def test_any_string_is_an_action(case: Case) -> None:
    env = case.make(interface="text")
    env.reset(seed=1)
    seen = set()
    for action in strings(np.random.default_rng(1), 5_000):
        observation, reward, terminated, truncated, info = env.step(action)
        assert np.isfinite(reward)
        assert info.get("invalid_reason") != "ok"
        seen.add(observation)
        if terminated or truncated:
            seen.add(env.reset()[0])
    assert all(observation in env.observation_space for observation in seen)


@every
def test_array_actions_out_of_range_are_data(case: Case) -> None:
    if "array" not in case.make().world.interfaces:
        pytest.skip("this world has no arrays")
    env = case.make(interface="array", invalid_penalty=0.25, max_invalid=2)
    env.reset(seed=2)
    _, reward, over, _, info = env.step(-1)
    assert (reward, over, info["invalid_reason"]) == (-0.25, False, "illegal")
    _, _, terminated, truncated, info = env.step(np.int64(10**9))
    result = info["episode_result"]
    assert (result["outcome"], result["forfeit"]) == ("loss", True)
    assert result["reward"] == env.world.worst_score - 0.5
    assert (terminated, truncated) == (not case.meta, False)


@both
def test_same_seed_same_transcript(case: Case, interface: str) -> None:
    env, other = case.make(interface=interface), case.make(interface=interface)
    first = list(transcript(env, 5))
    list(transcript(env, 6))
    assert first == list(transcript(env, 5)) == list(transcript(other, 5))


@every
def test_different_seeds_give_different_instances(case: Case) -> None:
    env = case.make(interface="text")
    found = [env.reset(seed=seed) for seed in range(12)]
    assert len({str(info["privileged"]["instance"]) for _, info in found}) > 6


def test_transcripts_are_the_same_in_another_process() -> None:
    command = [sys.executable, "-c", "from tests.conformance.test_worlds import digest; print(digest())"]
    env = {"PYTHONHASHSEED": "77", "PATH": ""}
    found = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert found.strip() == digest()


def digest() -> str:
    """Hashes a transcript of every world."""
    sha = hashlib.sha256()
    for case in WORLD_CASES:
        for line in transcript(case.make(interface="text"), 9):
            sha.update(line.encode())
    return sha.hexdigest()


@every_meta
def test_interleaved_and_threaded_equal_serial(case: Case) -> None:
    serial = [list(transcript(case.make(), seed)) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda seed: list(transcript(case.make(), seed)), range(8))) == serial
    running = [transcript(case.make(), seed) for seed in range(8)]
    found: list[list[str]] = [[] for _ in running]
    while any(len(lines) < len(whole) for lines, whole in zip(found, serial, strict=True)):
        for number, lines in enumerate(running):
            found[number] += [line for line in [next(lines, None)] if line is not None]
    assert found == serial


@every
def test_global_generators_are_untouched(case: Case) -> None:
    before = random.getstate(), str(np.random.get_state())  # noqa: NPY002 -- to see that nobody uses it
    list(transcript(case.make(interface="text"), 4))
    assert (random.getstate(), str(np.random.get_state())) == before  # noqa: NPY002


@every_meta
@pytest.mark.parametrize("episodes", [1, 2, 5])
def test_exactly_n_episodes_and_their_scores(case: Case, episodes: int) -> None:
    env = case.make(episodes=episodes)
    rng = np.random.default_rng(episodes)
    for seed in range(4):
        _, info = env.reset(seed=seed)
        results, total, over = [], 0.0, False
        while not over:
            _, reward, terminated, truncated, info = env.step(choose(env, info, rng))
            over, total = terminated or truncated, total + reward
            if "episode_result" in info:
                results.append((info["episode"], info["episode_result"]))
                assert info["episode_result"]["outcome"] in ("win", "loss")
        assert [episode for episode, _ in results] == list(range(episodes))
        assert total == pytest.approx(sum(result["reward"] for _, result in results))
        assert truncated == (episodes == 1 and results[-1][1].get("truncated", False))


@every_meta
def test_a_replayed_instance_is_the_same_to_the_letter(case: Case) -> None:
    env = case.make(interface="text", instance="replay", episodes=3)
    starts = _starts(env)
    assert len(starts) == 3
    assert len({(str(instance), text.split("\n", 1)[1]) for instance, text in starts}) == 1
    fresh = _starts(case.make(interface="text", instance="fresh", episodes=4))
    assert len({str(instance) for instance, _ in fresh}) > 1


def _starts(env: gym.Env[Any, Any], seed: int = 8, agent_seed: int = 0) -> list[tuple[Any, str]]:
    """Plays a meta-episode; returns the instance and the first observation of each episode."""
    rng = np.random.default_rng(agent_seed)
    observation, info = env.reset(seed=seed)
    found, over = [(info["privileged"]["instance"], observation)], False
    while not over:
        reflecting = info["phase"] == "reflect"
        observation, _, terminated, truncated, info = env.step(choose(env, info, rng))
        over = terminated or truncated
        if reflecting:
            found.append((info["privileged"]["instance"], observation))
    return found


@every
def test_an_instance_id_rebuilds_the_instance(case: Case) -> None:
    env, other = case.make(interface="text"), case.make(interface="text")
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        instance = info["privileged"]["instance"]
        assert isinstance(instance, int | str)
        for given in (instance, str(instance), [instance]):  # Records hold the id as text.
            again, told = other.reset(seed=77, options={"instance": given})
            assert (again, told["privileged"]["instance"]) == (observation, instance)
            assert told["privileged"]["known"] == info["privileged"]["known"]


@every
def test_instances_do_not_depend_on_what_the_agent_does(case: Case) -> None:
    env = case.make(interface="text")
    first, other = (_starts(env, agent_seed=agent_seed) for agent_seed in (1, 2))
    assert [instance for instance, _ in first] == [instance for instance, _ in other]


@every
def test_calls_in_the_wrong_order_raise(case: Case) -> None:
    env = case.make(interface="text", render_mode="ansi")
    for call in (lambda: env.step(""), env.render):
        with pytest.raises(ResetNeeded):
            call()
    list(transcript(env, 1))
    with pytest.raises(ResetNeeded):
        env.step("")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="interface="):
        env.step(None)


@every
def test_states_and_views_are_values(case: Case) -> None:
    """What was seen stays as it was, copies go on alike, and views cross processes."""
    world: World = case.make().world
    rng = np.random.default_rng(4)
    state = world.start(world.draw(0.37))
    for turn in range(6):
        view = WorldView(world, state, turn, 100)
        if view.terminal:
            break
        told = show({"text": view.text, "names": view.names, "key": view.key})
        command = view.read(str(rng.choice(view.names))) if not view.legal else int(rng.choice(view.legal))
        twins = [copy.deepcopy(state), pickle.loads(pickle.dumps(state)), state]
        after = [world.step(twin, command) for twin in twins]
        assert len({(WorldView(world, step.state, turn + 1, 100).text, step.reward) for step in after}) == 1
        restored = pickle.loads(pickle.dumps(view))
        assert restored == view == WorldView(world, state, turn, 100)
        assert show({"text": view.text, "names": view.names, "key": view.key}) == told
        state = after[0].state


@every
def test_an_environment_is_copied_in_the_middle_of_an_episode(case: Case) -> None:
    env = case.make(interface="text")
    rng = np.random.default_rng(5)
    _, info = env.reset(seed=5)
    info = env.step(choose(env, info, rng))[4]
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        choices = copy.deepcopy(rng)
        action = choose(env, info, choices)
        assert show(twin.step(action)[4]) == show(copy.deepcopy(env).step(action)[4])


@every
def test_the_name_of_a_world_makes_it(case: Case) -> None:
    world = case.make().world
    assert load_world(world.name) is world
    assert world.rules
    assert world.unit
    assert world.hint


@every
def test_pictures(case: Case) -> None:
    env = case.make()
    if not env.world.pictures:
        with pytest.raises(ValueError, match="render_mode"):
            case.make(render_mode="rgb_array")
        return
    env = case.make(render_mode="rgb_array")
    env.reset(seed=3)
    picture = env.render()
    assert (picture.dtype, picture.ndim, picture.shape[2]) == (np.uint8, 3, 3)
    assert picture.std() > 0
