"""Every game's PettingZoo module keeps PettingZoo's contract and the meta-episode's."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

from mage_envs.pettingzoo import MODULES

GAMES = [(module, {}) for name, module in MODULES.items() if name != "openspiel_v0"] + [
    (MODULES["openspiel_v0"], {"game": game})
    for game in (
        "liars_dice(numdice=1)",
        "kuhn_poker(players=3)",
        "goofspiel(num_cards=4)",
        "coop_box_pushing(horizon=6)",
    )
]
SIMULTANEOUS = [
    (module, kwargs)
    for module, kwargs in GAMES
    if hasattr(module, "parallel_env") and module.raw_env(**kwargs).game_spec.simultaneous
]


def label(value: Any) -> str:
    return value.__name__.rsplit(".", 1)[-1] if isinstance(value, ModuleType) else "".join(map(str, value.values()))


every = pytest.mark.parametrize(("module", "kwargs"), GAMES, ids=label)
simultaneous = pytest.mark.parametrize(("module", "kwargs"), SIMULTANEOUS, ids=label)

# PettingZoo advises against dict observations (it lets only its own environments with action masks pass silently), and
# against tensors as short and plain as those of a one-shot game.
advice = pytest.mark.filterwarnings(
    "ignore:Observation space for each agent probably should be:UserWarning",
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Observation is a single number:UserWarning",
    "ignore:Observation numpy array is all zeros:UserWarning",
)


@every
@advice
@pytest.mark.parametrize("episodes", [1, 3])
def test_pettingzoo_checker_passes(module: ModuleType, kwargs: dict[str, Any], episodes: int) -> None:
    api_test(module.env(episodes=episodes, **kwargs), num_cycles=200)


@every
@advice
def test_pettingzoo_seed_test(module: ModuleType, kwargs: dict[str, Any]) -> None:
    seed_test(lambda: module.env(episodes=3, **kwargs), num_cycles=100)


@every
@pytest.mark.filterwarnings("ignore")
def test_pettingzoo_render_test(module: ModuleType, kwargs: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    render_test(
        lambda render_mode: module.env(render_mode=render_mode, **kwargs),
        custom_tests={"ansi": lambda result: isinstance(result, str)},
    )
    capsys.readouterr()


@simultaneous
@advice
def test_parallel_api_and_seed(module: ModuleType, kwargs: dict[str, Any]) -> None:
    parallel_api_test(module.parallel_env(episodes=3, **kwargs), num_cycles=100)
    parallel_seed_test(lambda: module.parallel_env(episodes=3, **kwargs), num_cycles=100)


@every
def test_exactly_n_episodes_and_scores_add_up(module: ModuleType, kwargs: dict[str, Any]) -> None:
    for text in (False, True):
        env = module.env(episodes=4, alternate=True, interface="text" if text else "array", **kwargs)
        rng = np.random.default_rng(0)
        env.reset(seed=3)
        total = dict.fromkeys(env.agents, 0.0)
        seats, scores, episodes = [], dict.fromkeys(env.agents, 0.0), set()
        for agent in env.agent_iter():
            observation, reward, terminated, _, info = env.last()
            total[agent] += reward
            assert observation in env.observation_space(agent)
            if "episode_result" in info and (info["phase"] == "reflect" or terminated):
                scores[agent] += info["episode_result"]["reward"]
            episodes.add(info["episode"])
            if agent == "player_0":
                seats.append((info["episode"], info["seat"]))
            env.step(None if terminated else _choose(info, rng, text=text))
        assert episodes == {0, 1, 2, 3}
        assert total == pytest.approx(scores)
        count = len(env.unwrapped.possible_agents)
        assert {(episode, episode % count) for episode in range(4)} >= set(seats)


def _choose(info: dict[str, Any], rng: np.random.Generator, *, text: bool) -> Any:
    if info["phase"] == "reflect":
        return "" if text else 0
    index = int(rng.integers(len(info["legal_actions"])))
    return info["legal_actions"][index] if text else int(np.flatnonzero(info["action_mask"])[index])


def test_modules_import_by_either_path() -> None:
    from mage_envs.pettingzoo import kuhn_poker_v0

    assert importlib.import_module("mage_envs.pettingzoo.kuhn_poker_v0") is kuhn_poker_v0
    with pytest.raises(ImportError):
        importlib.import_module("mage_envs.pettingzoo.khun_poker_v0")
    with pytest.raises(ImportError, match="'kuhn_poker_v0'"):
        from mage_envs.pettingzoo import khun_poker_v0  # noqa: F401
    with pytest.raises(ValueError, match="which game"):
        MODULES["openspiel_v0"].env()
    assert "episodes: N." in kuhn_poker_v0.env.__doc__


def test_a_wrong_answer_is_asked_again_and_the_third_forfeits() -> None:
    env = MODULES["kuhn_poker_v0"].raw_env(interface="text", invalid_penalty=0.5)
    env.reset(seed=0)
    for _ in range(2):
        env.step("raise the roof")
        assert env.agent_selection == "player_0"
        assert env.rewards == {"player_0": -0.5, "player_1": 0.0}
    env.step("raise the roof")
    assert env.rewards == {"player_0": -2.5, "player_1": 2.0}
    assert all(env.terminations.values())
    assert env.infos["player_0"]["episode_result"] == {
        "reward": -3.5, "outcome": "loss", "length": 0, "invalid": 3, "refused": {"unparsable": 3}, "forfeit": True
    }  # fmt: skip


def test_a_wrong_answer_in_parallel_stops_everybody() -> None:
    env = MODULES["rock_paper_scissors_v0"].parallel_env(interface="text", invalid_penalty=0.5)
    env.reset(seed=0)
    _, rewards, terminations, _, _ = env.step({"player_0": "rock", "player_1": "dynamite"})
    assert rewards == {"player_0": 0.0, "player_1": -0.5}
    assert not any(terminations.values())
    _, rewards, terminations, _, _ = env.step({"player_0": "paper", "player_1": "rock"})
    assert rewards == {"player_0": 1.0, "player_1": -1.0}
    assert all(terminations.values())
    assert env.agents == []
    assert env.step({}) == ({}, {}, {}, {}, {})


@pytest.mark.parametrize("episodes", [1, 2])
@pytest.mark.parametrize("wrong", [{"player_0"}, {"player_1"}, {"player_0", "player_1"}])
def test_a_forfeit_in_parallel_ends_the_episode_once_and_for_all_who_earned_it(episodes: int, wrong: set[str]) -> None:
    env = MODULES["rock_paper_scissors_v0"].parallel_env(interface="text", episodes=episodes, max_invalid=1)
    env.reset(seed=0)
    _, rewards, terminations, _, infos = env.step(
        {agent: "dynamite" if agent in wrong else "paper" for agent in ("player_0", "player_1")}
    )
    for agent, other in (("player_0", "player_1"), ("player_1", "player_0")):
        won = agent not in wrong and other in wrong
        assert rewards[agent] == (1.0 if won else -1.0)
        assert terminations[agent] == (episodes == 1)
        assert infos[agent]["episode_result"] == {
            "reward": rewards[agent],
            "outcome": "win" if won else "loss",
            "length": 0,
            "invalid": int(agent in wrong),
            "refused": {"unparsable": 1} if agent in wrong else {},
            "forfeit": agent in wrong,
        }


def test_who_does_not_forfeit_keeps_what_was_earned() -> None:
    game = "repeated_game(stage_game=matrix_pd(),num_repetitions=3)"
    env = MODULES["openspiel_v0"].parallel_env(game=game, interface="text", max_invalid=1)
    _, infos = env.reset(seed=0)
    cooperate = infos["player_0"]["legal_actions"][0]
    _, earned, *_ = env.step(dict.fromkeys(env.agents, cooperate))
    assert earned["player_0"] > 0
    _, rewards, _, _, infos = env.step({"player_0": cooperate, "player_1": "?"})
    assert rewards["player_0"] == 0.0
    assert infos["player_0"]["episode_result"]["reward"] == earned["player_0"]
    assert infos["player_1"]["episode_result"]["reward"] == env.game_spec.worst_return


@every
def test_the_last_reward_observed_is_the_reward_given(module: ModuleType, kwargs: dict[str, Any]) -> None:
    env = module.env(episodes=3, invalid_penalty=0.25, **kwargs)
    rng = np.random.default_rng(0)
    env.reset(seed=2)
    seen = set()
    for _ in env.agent_iter():
        observation, reward, terminated, _, info = env.last()
        assert observation["last_reward"] == np.float32(reward)
        seen.add(reward)
        env.step(None if terminated else _choose(info, rng, text=False))
    assert len(seen) > 1


def test_an_answer_that_cannot_be_played_is_named_in_the_info() -> None:
    for module in (MODULES["kuhn_poker_v0"], MODULES["rock_paper_scissors_v0"]):
        env = module.raw_env(interface="text")
        env.reset(seed=0)
        assert "invalid_reason" not in env.infos["player_0"]
        env.step("")
        assert env.infos["player_0"]["invalid_reason"] == "empty"
        assert "invalid_reason" not in env.infos["player_1"]
        env.step(env.infos["player_0"]["legal_actions"][0])
        assert "invalid_reason" not in env.infos["player_0"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"episods": 3}, "unknown argument 'episods'. Did you mean 'episodes'"),
        ({"population": "random"}, "'population'"),
        ({"episodes": 0}, "1..100000"),
        ({"alternate": 1}, "True, False"),
    ],
)
def test_bad_arguments_say_what_would_do(arguments: dict[str, Any], message: str) -> None:
    for make in (MODULES["rock_paper_scissors_v0"].env, MODULES["rock_paper_scissors_v0"].parallel_env):
        with pytest.raises(ValueError, match=message):
            make(**arguments)


@pytest.mark.parametrize(
    "make", [MODULES["rock_paper_scissors_v0"].raw_env, MODULES["rock_paper_scissors_v0"].parallel_env]
)
def test_calls_before_the_first_reset_raise(make: Any) -> None:
    env = make(render_mode="ansi")
    for call in (lambda: env.step({"player_0": 0, "player_1": 0}), env.render, lambda: env.observe("player_0")):
        with pytest.raises(ResetNeeded):
            call()


def test_every_agent_must_act_in_parallel() -> None:
    env = MODULES["rock_paper_scissors_v0"].parallel_env()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="no action of player_1"):
        env.step({"player_0": 0})


def test_a_sequential_game_has_no_parallel_environment() -> None:
    assert not hasattr(MODULES["kuhn_poker_v0"], "parallel_env")
    with pytest.raises(AttributeError, match=r"use env\(\)"):
        MODULES["kuhn_poker_v0"].parallel_env(episodes=2)
    with pytest.raises(ValueError, match=r"use env\(\)"):
        MODULES["openspiel_v0"].parallel_env(game="tic_tac_toe")
