"""Every registered environment keeps Gymnasium's contract and the meta-episode's."""

from __future__ import annotations

import hashlib
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

from tests.conformance.cases import CASES, Case, choose, transcript

INTERFACES = ("array", "text")
both = pytest.mark.parametrize("interface", INTERFACES)
every = pytest.mark.parametrize("case", CASES, ids=str)
every_meta = pytest.mark.parametrize("case", [case for case in CASES if case.meta], ids=str)


@every
@both
def test_gymnasium_checker_finds_nothing(case: Case, interface: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_env(case.make(interface=interface))  # Warnings are errors in this suite.
    capsys.readouterr()


@every
@both
def test_observations_are_in_their_space(case: Case, interface: str) -> None:
    env = case.make(interface=interface)
    rng = np.random.default_rng(0)
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            assert observation in env.observation_space
            action = choose(env, info, rng) if info["legal_actions"] or info["phase"] == "reflect" else 0
            observation, _, over, _, info = env.step(action)
        assert observation in env.observation_space


@every
def test_any_string_is_an_action(case: Case) -> None:
    env = case.make(interface="text")
    rng = np.random.default_rng(1)
    strings = _strings(rng, 10_000)
    seen = set()
    env.reset(seed=1)
    for action in strings:
        observation, reward, over, truncated, info = env.step(action)
        assert np.isfinite(reward)
        assert not truncated
        assert info["invalid_reason"] != "ok" if "invalid_reason" in info else True
        seen.add(observation)
        if over:
            seen.add(env.reset()[0])
    assert all(observation in env.observation_space for observation in seen)


def _strings(rng: np.random.Generator, count: int) -> list[str]:
    """Random characters of all planes, tags, thoughts, and pieces of real answers."""
    pieces = [
        "<action>",
        "</action>",
        "<think>",
        "</think>",
        "bet",
        "pass",
        "r1c1",
        "rock",
        "1",
        " ",
        "\n",
        "\0",
        "é",
        "√",
        "🂡",
    ]
    found = []
    for _ in range(count):
        if rng.random() < 0.5:
            found.append("".join(rng.choice(pieces, size=rng.integers(0, 8))))
        else:
            points = rng.integers(0, 0xD800, size=rng.integers(0, 30))
            found.append("".join(map(chr, points)))
    return found


@every
def test_array_actions_out_of_range_are_data(case: Case) -> None:
    env = case.make(invalid_penalty=0.25, max_invalid=2)
    env.reset(seed=2, options={"seat": 0})
    _, reward, over, _, info = env.step(-1)
    assert (reward, over, info["invalid_reason"]) == (-0.25, False, "illegal")
    _, reward, over, _, info = env.step(np.int64(10**9))
    assert info["episode_result"]["outcome"] == "loss"
    assert info["episode_result"]["forfeit"]
    assert info["episode_result"]["reward"] == env.game_spec.worst_return - 0.5
    assert over == (not case.meta)


@every
@both
def test_same_seed_same_transcript(case: Case, interface: str) -> None:
    env, other = case.make(interface=interface), case.make(interface=interface)
    first = list(transcript(env, 5))
    list(transcript(env, 6))
    assert first == list(transcript(env, 5)) == list(transcript(other, 5))


@every_meta
def test_different_seeds_differ(case: Case) -> None:
    env = case.make(interface="text")
    assert len({"".join(list(transcript(env, seed))) for seed in range(12)}) > 1


def test_transcripts_are_the_same_in_another_process() -> None:
    code = "from tests.conformance.test_gymnasium import digest; print(digest())"
    command = [sys.executable, "-c", code]
    env = {"PYTHONHASHSEED": "77", "PATH": ""}
    found = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert found.strip() == digest()


def digest() -> str:
    """Hashes a transcript of everything registered."""
    sha = hashlib.sha256()
    for case in CASES:
        for line in transcript(case.make(interface="text"), 9):
            sha.update(line.encode())
    return sha.hexdigest()


@every_meta
def test_interleaved_equals_serial(case: Case) -> None:
    serial = [list(transcript(case.make(), seed)) for seed in range(32)]
    running = [transcript(case.make(), seed) for seed in range(32)]
    found: list[list[str]] = [[] for _ in running]
    alive = set(range(32))
    order = np.random.default_rng(3)
    while alive:
        which = int(order.choice(sorted(alive)))
        line = next(running[which], None)
        if line is None:
            alive.remove(which)
        else:
            found[which].append(line)
    assert found == serial


@every_meta
def test_threads_equal_serial(case: Case) -> None:
    serial = [list(transcript(case.make(), seed)) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda seed: list(transcript(case.make(), seed)), range(8))) == serial


@every
def test_global_generators_are_untouched(case: Case) -> None:
    before = random.getstate(), str(np.random.get_state())  # noqa: NPY002 -- to see that nobody uses it
    list(transcript(case.make(interface="text"), 4))
    assert (random.getstate(), str(np.random.get_state())) == before  # noqa: NPY002


@every_meta
@pytest.mark.parametrize("episodes", [1, 2, 5])
def test_exactly_n_episodes(case: Case, episodes: int) -> None:
    env = case.make(episodes=episodes)
    for seed in range(5):
        results, reflections = _results(env, seed)
        assert [episode for episode, _ in results] == list(range(episodes))
        assert reflections == episodes - 1


def _results(env: gym.Env[Any, Any], seed: int, options: dict[str, Any] | None = None) -> tuple[list[Any], int]:
    """Plays a meta-episode; returns (episode, result) of each ending, and the number of reflections."""
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed, options=options)
    results, reflections, total, over = [], 0, 0.0, False
    while not over:
        reflecting = info["phase"] == "reflect"
        episode = info["episode"]
        action = choose(env, info, rng) if info["legal_actions"] or reflecting else 0
        _, reward, over, _, info = env.step(action)
        reflections += reflecting
        total += reward
        if reflecting:
            assert info["episode"] == episode + 1
        if "episode_result" in info:
            results.append((info["episode"], info["episode_result"]))
    assert total == pytest.approx(sum(result["reward"] for _, result in results))
    return results, reflections


@every_meta
def test_replay_repeats_the_instance_and_fresh_does_not(case: Case) -> None:
    assert len(_instances(case.make(episodes=4, instance="replay"))) == 1
    assert len(_instances(case.make(episodes=4, instance="fresh"))) == 4


@every
def test_instances_do_not_depend_on_what_the_agent_does(case: Case) -> None:
    env = case.make()
    assert _instances(env, 1) == _instances(env, 2) == _instances(env, 3)


def _instances(env: gym.Env[Any, Any], agent_seed: int = 0) -> list[int]:
    """Plays the meta-episode of one seed; returns the instances in their order."""
    rng = np.random.default_rng(agent_seed)
    _, info = env.reset(seed=8)
    found, over = [info["privileged"]["instance"]], False
    while not over:
        action = choose(env, info, rng) if info["legal_actions"] or info["phase"] == "reflect" else 0
        _, _, over, _, info = env.step(action)
        found.append(info["privileged"]["instance"])
    return list(dict.fromkeys(found))


@every
def test_fixing_one_draw_changes_no_other(case: Case) -> None:
    env = case.make(interface="text")
    _, drawn = env.reset(seed=5)
    for options in ({"opponent": "first_legal"}, {"seat": 1}, {"seat": "random"}, {"instance": 3}):
        _, info = env.reset(seed=5, options=options)
        for name, value in drawn["privileged"].items():
            assert name in options or info["privileged"][name] == value
        assert "seat" in options or info["seat"] == drawn["seat"]


@every
def test_an_instance_can_be_asked_for(case: Case) -> None:
    env = case.make(interface="text")
    first, info = env.reset(seed=21, options={"seat": 0, "instance": 123456})
    assert info["privileged"]["instance"] == 123456
    assert env.reset(seed=22, options={"seat": 0, "instance": [123456] * env.episodes})[0] == first


@every
@both
def test_calls_in_the_wrong_order_raise(case: Case, interface: str) -> None:
    env = case.make(interface=interface)
    with pytest.raises(ResetNeeded):
        env.step(0)
    list(transcript(env, 1))
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset(seed=1, options={"seat": 0})
    with pytest.raises(ValueError, match="interface="):
        env.step(None)


@every
def test_an_agent_is_never_told_what_is_privileged(case: Case) -> None:
    env = case.make(interface="text", population={"random": 1})
    for seed in range(3):
        for line in transcript(env, seed):
            public = line.split("privileged")[0]
            assert "random" not in public.replace("random numbers", "")
