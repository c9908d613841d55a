"""The meta-episode, step by step, and what bad arguments say."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import NameNotFound, ResetNeeded
from gymnasium.wrappers import RecordEpisodeStatistics

import mage_envs  # noqa: F401 -- registers the ids
from mage_envs.envs.rewards import CumulativeReward, DifferentialReward, EpisodeReward, FinalEpisodeReward


def kuhn(**kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make("mage/KuhnPoker-meta-v0", **{"population": "aggressive", "seat": 0, "interface": "text", **kwargs})


def test_a_meta_episode_step_by_step() -> None:
    env = kuhn(episodes=2, instance="replay")
    first, info = env.reset(seed=1)
    assert (info["phase"], info["episode"], info["seat"]) == ("play", 0, 0)
    assert "Episode 1 of 2." in first
    terminal, reward, over, _, info = env.step("<action> BET </action>")
    assert (info["phase"], info["episode"], over) == ("reflect", 0, False)
    assert info["episode_result"]["reward"] == reward
    assert "The episode is over" in terminal
    assert info["view"].terminal
    again, reward, over, _, info = env.step("It always bets.")
    assert (info["phase"], info["episode"], reward, over) == ("play", 1, 0.0, False)
    assert again == first.replace("Episode 1", "Episode 2")
    _, _, over, _, info = env.step("bet")
    assert over
    assert info["phase"] == "play"
    assert info["legal_actions"] == ()


def test_the_first_win_can_end_it() -> None:
    env = kuhn(episodes=50, stop_on_success=True)
    env.reset(seed=3)
    over, outcomes = False, []
    while not over:
        _, _, over, _, info = env.step("bet")
        if "episode_result" in info:
            outcomes.append(info["episode_result"]["outcome"])
    assert outcomes[-1] == "win"
    assert "win" not in outcomes[:-1]
    assert len(outcomes) < 50


@pytest.mark.parametrize("rule", [1, "alternate", "random"])
@pytest.mark.parametrize("as_option", [False, True])
def test_the_seats_of_a_meta_episode_can_be_asked_for_unless_each_episode_draws_one(
    rule: int | str, as_option: bool
) -> None:
    env: Any = kuhn(seat="random" if as_option else rule).unwrapped
    assert env.seats is None
    for seed in range(4):
        _, info = env.reset(seed=seed, options={"seat": rule} if as_option else None)
        first = info["seat"]
        known = {1: (1, 1, 1), "alternate": (first, 1 - first, first), "random": None}
        assert env.seats == known[rule]
    assert (env.instance, kuhn(instance="replay").unwrapped.instance) == ("fresh", "replay")


def test_a_draw_is_no_success() -> None:
    env = gym.make("mage/RockPaperScissors-meta-v0", population="constant(rock)", stop_on_success=True)
    env.reset(seed=0)
    ends = [env.step(0) for _ in range(5)]  # rock; reflection; rock; reflection; rock
    assert [end[4]["episode_result"]["outcome"] for end in ends[::2]] == ["draw"] * 3
    assert [end[2] for end in ends] == [False] * 4 + [True]


def test_a_forfeit_takes_back_what_was_paid_on_the_way() -> None:
    env = gym.make("mage/RockPaperScissors-meta-v0", game="rock_paper_scissors(throws=3)", max_invalid=1, episodes=1)
    env.reset(seed=0, options={"opponent": "roshambo(name=rockbot)"})
    assert env.step(1)[1] == 1.0  # paper
    _, reward, over, _, info = env.step(99)
    assert (reward, over, info["episode_result"]["reward"]) == (-4.0, True, -3.0)


def test_seats_alternate() -> None:
    env = gym.make("mage/KuhnPoker-meta-v0", episodes=6, population="random")
    seats = {}
    _, info = env.reset(seed=0)
    over = False
    while not over:
        seats[info["episode"]] = info["seat"]
        _, _, over, _, info = env.step(0)
    order = [seats[episode] for episode in range(6)]
    assert order in ([0, 1] * 3, [1, 0] * 3)
    firsts = {env.reset(seed=seed)[1]["seat"] for seed in range(20)}
    assert firsts == {0, 1}


def test_a_wrong_answer_is_asked_again_with_a_reason() -> None:
    env = kuhn(invalid_penalty=0.5, max_invalid=3)
    env.reset(seed=1)
    observation, reward, over, _, info = env.step("I would like to think about it")
    assert (reward, over, info["invalid_reason"]) == (-0.5, False, "unparsable")
    assert "not the name of an action" in observation
    _, reward, _, _, info = env.step("<action>fold</action><action>bet</action>")
    assert info["invalid_reason"] == "ambiguous"
    observation, reward, over, _, info = env.step("")
    assert info["episode_result"] == {
        "reward": -3.5,
        "outcome": "loss",
        "length": 0,
        "invalid": 3,
        "refused": {"unparsable": 1, "ambiguous": 1, "empty": 1},
        "forfeit": True,
    }
    assert reward == -2.5
    assert "by forfeit" in observation


def test_an_opponent_that_counts_episodes_sees_forfeits() -> None:
    env = kuhn(population="switching(conservative, aggressive, at=1)", episodes=2, max_invalid=1, seat=1)
    for seed in range(30):
        env.reset(seed=seed)
        assert env.step("?")[4]["episode_result"]["forfeit"]
        observation, *_ = env.step("")
        assert "the opponent bets" in observation


def test_an_answer_that_can_be_played_resets_the_count() -> None:
    env = gym.make("mage/TicTacToe-v0", population="first_legal", seat=0, interface="text", max_invalid=2)
    env.reset(seed=0)
    for cell in ("r3c3", "r3c2"):
        assert env.step("?")[4]["invalid_reason"] == "unparsable"
        observation, _, _, _, info = env.step(cell)
        assert ("invalid_reason" in info, info["action_valid"]) == (False, True)
        assert "Invalid answer" not in observation
    assert env.step("r3c3")[4]["invalid_reason"] == "illegal"


def test_copies_and_pickles_go_on_alike() -> None:
    env = kuhn(population="kuhn/train").unwrapped
    env.reset(seed=5)
    env.step("bet")
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for other in copies:
        other.reset(seed=8)
    expected = [env.reset(seed=8)[0], *(env.step("pass")[0] for _ in range(3))]
    for other in copies:
        assert [other.reset(seed=8)[0], *(other.step("pass")[0] for _ in range(3))] == expected


def test_a_copy_in_the_middle_of_an_episode_goes_on_alike() -> None:
    for game, population in (("RockPaperScissors", "rps/train"), ("LeducPoker", "ismcts(simulations=3)")):
        env = gym.make(f"mage/{game}-meta-v0", population=population, episodes=5).unwrapped
        env.reset(seed=9)
        env.step(1)
        played = []
        for each in (env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            over, found = False, []
            while not over:
                _, reward, over, _, info = each.step(1)
                found.append((reward, over, info["view"], info["privileged"]))
            played.append([*found, each.reset()[1]["privileged"]])
        assert played[0] == played[1] == played[2]


def test_a_generator_that_is_handed_over_is_used_at_once() -> None:
    used, new = kuhn(population="random").unwrapped, kuhn(population="random").unwrapped
    used.reset(seed=1)
    for env in (used, new):
        env.np_random = np.random.default_rng(5)
    assert used.reset()[1]["privileged"] == new.reset()[1]["privileged"]


@pytest.mark.parametrize(
    ("wrapper", "expected"),
    [
        (DifferentialReward, lambda scores: np.diff([0, *scores]).tolist()),
        (FinalEpisodeReward, lambda scores: [0.0] * (len(scores) - 1) + scores[-1:]),
        (CumulativeReward, lambda scores: scores),
    ],
)
def test_reward_wrappers(wrapper: type[EpisodeReward], expected: Any) -> None:
    env = wrapper(kuhn(episodes=5, population="random", invalid_penalty=0.25))
    for seed in range(5):
        env.reset(seed=seed)
        rewards, scores, over = [], [], False
        while not over:
            _, reward, over, _, info = env.step("bet" if seed % 2 else "pass")
            if "episode_result" in info:
                rewards.append(reward)
                scores.append(info["episode_result"]["reward"])
            else:
                assert reward == 0.0
        assert rewards == expected(scores)
        if wrapper is DifferentialReward:
            assert sum(rewards) == pytest.approx(scores[-1])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"episodes": 0}, "1..100000"),
        ({"episodes": 2.5}, "1..100000"),
        ({"episodes": True}, "1..100000"),
        ({"seat": 7}, r"0..1, 'alternate' or 'random'"),
        ({"seat": "first"}, r"0..1, 'alternate' or 'random'"),
        ({"seat": 1.0}, r"0..1, 'alternate' or 'random'"),
        ({"seat": np.array([0, 1])}, r"0..1, 'alternate' or 'random'"),
        ({"instance": "replya"}, "'replay'"),
        ({"interface": "arrays"}, "'array'"),
        ({"max_invalid": 0}, "1..1000"),
        ({"invalid_penalty": -1}, "at least 0"),
        ({"invalid_penalty": float("nan")}, "at least 0"),
        ({"invalid_penalty": 1e39}, "at most 1e\\+09"),
        ({"stop_on_success": "yes"}, "True, False"),
        ({"population": "kuhn/tran"}, "kuhn/train"),
        ({"population": "agressive"}, "aggressive"),
        ({"population": "ismcts(simulations=-5)"}, "simulations"),
        ({"population": {}}, "population"),
        ({"population": {"random": -1}}, "weight"),
        ({"population": {"random": 1e308, "first_legal": 1e308}}, "weight"),
        ({"population": {"random": 10**400}}, "weight"),
        ({"population": "tictactoe/train"}, "kuhn"),
        ({"populatoin": "random"}, "population"),
        ({"render_mode": "rgb_array"}, "'ansi'"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*render_mode.*:UserWarning")
def test_bad_arguments_say_what_would_do(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gym.make("mage/KuhnPoker-meta-v0", **kwargs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"oponent": "random"}, "'opponent'"),
        ({"opponent": "randm"}, "'random'"),
        ({3: "random"}, "opponent"),
        ({"seat": 2}, r"0..1"),
        ({"seat": 0.0}, r"0..1"),
        ({"instance": [1.0, 2.0, 3.0]}, "0.."),
        ({"instance": np.array([[1, 2, 3]])}, "0.."),
        ({"instance": -1}, "0.."),
        ({"instance": [1, 2]}, "3 ids"),
        ({"instance": "first"}, "3 ids"),
    ],
)  # fmt: skip
def test_bad_options_say_what_would_do(options: dict[str, Any], message: str) -> None:
    env = gym.make("mage/KuhnPoker-meta-v0")
    with pytest.raises(ValueError, match=message):
        env.reset(options=options)


def test_numbers_of_numpy_are_numbers() -> None:
    env = kuhn(
        episodes=np.int64(2),
        seat=np.int64(1),
        max_invalid=np.int8(1),
        invalid_penalty=np.float32(0.5),
        population={"random": np.float32(1), "first_legal": np.int64(1)},
        interface="array",
    )
    _, info = env.reset(seed=0, options={"instance": np.array(7), "seat": np.int64(0)})
    assert type(info["episodes"]) is int
    assert (info["seat"], info["privileged"]["instance"]) == (0, 7)
    assert env.reset(options={"instance": np.array([7, 8])})[1]["privileged"]["instance"] == 7
    for action in (np.int8(1), np.uint64(1), np.array(1), True):
        env.reset(seed=0)
        assert env.step(action)[4]["episode_result"]["length"] == 1


@pytest.mark.parametrize("action", [0.0, 1.0, 1.5, np.float64(1), np.array([1]), np.array(1.0), "bet", None, [1], {}])
def test_an_array_action_is_an_integer(action: object) -> None:
    env = kuhn(interface="array")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="takes an integer"):
        env.step(action)


def test_a_replayed_instance_is_one() -> None:
    env = kuhn(instance="replay")
    with pytest.raises(ValueError, match="option 'instance' must be one id"):
        env.reset(options={"instance": [1, 2, 3]})
    assert env.reset(options={"instance": [4]})[1]["privileged"]["instance"] == 4


@pytest.mark.parametrize("render_mode", ["ansi", "human"])
def test_nothing_is_rendered_before_the_first_reset(render_mode: str) -> None:
    env = kuhn(render_mode=render_mode)
    with pytest.raises(ResetNeeded):
        env.render()


def test_gymnasiums_statistics_wrapper_takes_another_key() -> None:
    env = RecordEpisodeStatistics(kuhn(episodes=2, population="random"), stats_key="statistics")
    env.reset(seed=0)
    over, total = False, 0.0
    while not over:
        _, reward, over, _, info = env.step("bet")
        total += reward
    assert info["statistics"]["r"] == total
    assert info["episode"] == 1


def test_what_environments_share_cannot_be_written_to() -> None:
    env = gym.make("mage/KuhnPoker-meta-v0", population="random", seat=0)
    observation, info = env.reset(seed=0)
    observation["observation"][:] = 0.0  # The agent's own copy.
    for shared in (info["view"].tensor, info["view"].reveal_array, info["view"].mask):
        with pytest.raises(ValueError, match="read-only"):
            shared[0] = 1


def test_unknown_ids_and_games_have_near_matches() -> None:
    with pytest.raises(NameNotFound, match="KuhnPoker"):
        gym.make("mage/KuhnPokr-meta-v0")
    with pytest.raises(ValueError, match="which game"):
        gym.make("mage/OpenSpiel-meta-v0")
    with pytest.raises(ValueError, match="liars_dice"):
        gym.make("mage/OpenSpiel-v0", game="liers_dice")
    with pytest.raises(ValueError, match="-meta-"):
        gym.make("mage/KuhnPoker-v0", episodes=3)


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium as gym; gym.make('mage_envs:mage/KuhnPoker-meta-v0')",
        "import gymnasium as gym, mage_envs; gym.make('mage/KuhnPoker-meta-v0')",
    ],
)
def test_ids_are_found_in_a_new_process(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


def test_human_mode_writes_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    env = kuhn(render_mode="human")
    env.reset(seed=0)
    env.step("bet")
    written = capsys.readouterr().out
    assert "Episode 1 of 3." in written
    assert "The episode is over" in written
    assert kuhn(render_mode=None).unwrapped.render_mode is None
    ansi = kuhn(render_mode="ansi")
    observation, _ = ansi.reset(seed=0)
    assert ansi.render() == observation
