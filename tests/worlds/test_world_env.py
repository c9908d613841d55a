"""The meta-episode in worlds: turn limits, replay, answers that a world reads itself."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from mage_envs.envs.world_env import MetaWorldEnv, WorldEnv
from mage_envs.errors import SpecError
from mage_envs.worlds import load_world
from tests.worlds.toy import register


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)


def test_a_win_of_the_only_episode_terminates() -> None:
    env = WorldEnv("ladder", interface="text")
    env.reset(options={"instance": 0})
    env.step("up")
    env.step("climb")
    observation, reward, terminated, truncated, info = env.step("<action> UP </action>")
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["episode_result"]["outcome"] == "win"
    assert "truncated" not in info["episode_result"]
    assert observation.endswith("Turns used: 3 of 6.\nThe episode is over: win, score +1.")


def test_the_turn_limit_truncates_the_only_episode_and_ends_one_of_several() -> None:
    env = WorldEnv("ladder", interface="text", turns=2)
    env.reset(seed=1)
    assert env.step("wait")[2:4] == (False, False)
    observation, _, terminated, truncated, info = env.step("wait")
    assert (terminated, truncated, info["view"].terminal) == (False, True, True)
    assert (info["episode_result"]["outcome"], info["episode_result"]["truncated"]) == ("loss", True)
    assert "All 2 turns are used." in observation
    series = MetaWorldEnv("ladder", interface="text", turns=1, episodes=2)
    series.reset(seed=1)
    _, _, terminated, truncated, info = series.step("wait")
    assert (terminated, truncated, info["phase"]) == (False, False, "reflect")
    assert info["episode_result"]["truncated"]
    series.step("")
    assert series.step("wait")[2:4] == (True, False)


def test_a_loss_by_the_rules_is_no_truncation() -> None:
    env = WorldEnv("ladder", interface="text", turns=3)
    env.reset(options={"instance": 2})
    env.step("up")
    env.step("up")
    _, reward, terminated, truncated, info = env.step("up")
    assert (reward, terminated, truncated, info["episode_result"]["outcome"]) == (-1.0, True, False, "loss")


def test_a_turn_of_text_is_several_steps_of_the_array() -> None:
    assert WorldEnv("ladder", interface="text").turns == 6
    assert WorldEnv("ladder", interface="array").turns == 12
    env = WorldEnv("ladder")
    observation, _ = env.reset(seed=0)
    assert observation["last_action"] == -1
    observation = env.step(np.int64(1))[0]
    assert observation["last_action"] == 1
    assert observation in env.observation_space


def test_a_forfeit_costs_what_the_rules_can_cost() -> None:
    env = WorldEnv("ladder", interface="text", max_invalid=2, invalid_penalty=0.5)
    env.reset(seed=0)
    observation, _, _, _, info = env.step("jump")
    assert (info["invalid_reason"], info["action_valid"]) == ("illegal", False)
    assert "What you answered cannot be done now. Answer up or wait. (Invalid answer 1 of 2" in observation
    _, _, terminated, truncated, info = env.step("fly")
    assert (terminated, truncated, info["episode_result"]["forfeit"]) == (True, False, True)
    assert info["episode_result"]["reward"] == -1.0 - 2 * 0.5


def test_an_open_action_set_reads_its_own_answers() -> None:
    env = MetaWorldEnv("riddle", episodes=2)
    _, info = env.reset(seed=0, options={"instance": "Red"})
    assert (env.interface, info["legal_actions"], info["action_mask"].size) == ("text", ("say[...]",), 0)
    observation = env.step("I think so. <action>say[red]</action>")[0]
    assert "You said red." in observation
    assert env.step("say Red")[4]["invalid_reason"] == "unparsable"
    assert env.step("<action>say[Red]</action><action>say[Green]</action>")[4]["invalid_reason"] == "ambiguous"
    assert env.step("say[Red]")[4]["episode_result"]["outcome"] == "win"
    with pytest.raises(ValueError, match="interface"):
        MetaWorldEnv("riddle", interface="array")


def test_replay_and_fresh() -> None:
    def instances(**arguments: Any) -> list[Any]:
        env = MetaWorldEnv("ladder", episodes=4, turns=1, **arguments)
        info = env.reset(seed=3)[1]
        found = [info["privileged"]["instance"]]
        over = False
        while not over:
            _, _, over, _, info = env.step(1)
            found.append(info["privileged"]["instance"])
        return list(dict.fromkeys(found))

    uniform = np.random.default_rng(3).random(4)
    assert instances(instance="replay") == [int(uniform[0] * 2**53)]
    assert instances(instance="fresh") == [int(u * 2**53) for u in uniform]


def test_options_and_parameters() -> None:
    env = MetaWorldEnv("ladder(height=5)", instance="fresh", episodes=2)
    assert env.world is load_world("ladder(height=5)")
    assert MetaWorldEnv("ladder", height=5).world is env.world
    assert pickle.loads(pickle.dumps(env.world)) is env.world
    env.reset(options={"instance": [1, np.int64(2)]})
    for wrong in (-1, "x", [1, 2, 3], 1.5, True, "9" * 5_000):
        with pytest.raises(ValueError, match="instance"):
            env.reset(options={"instance": wrong})
    with pytest.raises(ValueError, match="opponent"):
        env.reset(options={"opponent": "random"})
    with pytest.raises(SpecError, match="height"):
        MetaWorldEnv("ladder", hight=5)
    with pytest.raises(SpecError, match=r"height=\[5\].*a number, true or false, or text"):
        MetaWorldEnv("ladder", height=[5])
    with pytest.raises(ValueError, match="-meta-"):
        WorldEnv("ladder", episodes=2)
    with pytest.raises(ValueError, match="turns"):
        WorldEnv("ladder", turns=0)


def test_views_are_equal_if_they_say_the_same() -> None:
    env = WorldEnv("ladder", interface="text")
    first = env.reset(options={"instance": 0})[1]["view"]
    other = env.reset(options={"instance": 1})[1]["view"]
    later = env.step("wait")[4]["view"]
    assert first == other
    assert hash(first) == hash(other)
    assert first != later
    assert first.key == later.key
    assert pickle.loads(pickle.dumps(first)) == first


@pytest.mark.parametrize("interface", ["array", "text"])
def test_each_environment_has_its_own_spaces_made_once(interface: str) -> None:
    first, second = (MetaWorldEnv("ladder", interface=interface) for _ in range(2))
    for name in ("action_space", "observation_space"):
        assert getattr(first, name) is getattr(first, name) is not getattr(second, name)
        assert getattr(first, name) == getattr(second, name)
    for env in (first, second):
        env.action_space.seed(7)
    sampled = [first.action_space.sample() for _ in range(8)]
    first.observation_space.seed(7)
    assert [second.action_space.sample() for _ in range(8)] == sampled
    copied = pickle.loads(pickle.dumps(first))
    assert [copied.action_space.sample() for _ in range(4)] == [first.action_space.sample() for _ in range(4)]
    other = MetaWorldEnv("ladder", interface="text")
    first.action_space, second.observation_space = other.action_space, other.observation_space
    assert first.action_space is other.action_space
    assert second.observation_space is other.observation_space


def test_numbers_go_on_after_a_reset_that_failed() -> None:
    env = WorldEnv("ladder")
    uniform = np.random.default_rng(5).random(3)
    with pytest.raises(ValueError, match="instance"):
        env.reset(seed=5, options={"instance": "bad"})
    assert [env.reset()[1]["privileged"]["instance"] for _ in range(2)] == [int(u * 2**53) for u in uniform[1:]]


def test_the_generator_is_made_when_it_is_needed() -> None:
    env = WorldEnv("ladder")
    env.np_random = np.random.default_rng(9)
    assert env.reset()[1]["privileged"]["instance"] == int(np.random.default_rng(9).random() * 2**53)
    fresh = WorldEnv("ladder")
    assert fresh.reset()[1]["privileged"]["instance"] != WorldEnv("ladder").reset()[1]["privileged"]["instance"]
    assert fresh.np_random_seed is not None
