"""The world: answers, episodes, splits, shared shops, and nothing that an agent can get by the back door."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import mage_envs  # noqa: F401 -- registers the environments
from mage_envs.scenarios import SCENARIOS
from mage_envs.worlds import load_world
from mage_envs.worlds.pages import DOCS, renewed
from mage_envs.worlds.webshop import WebShop, load_official, make_shop
from mage_envs.worlds.webshop.answers import read_answer
from mage_envs.worlds.webshop.pages import Body, Node, NodeKind
from mage_envs.worlds.webshop.splits import SPLITS, split_of
from tests.worlds.webshop.made_files import write_files
from tests.worlds.webshop.packs import GOLDEN

PAGE = Body(
    Node(NodeKind.OPTION, label)
    for label in ("back to search", "< prev", "buy now", "navy blue", "a]b", "x [y]", "琥珀")
)


def world(spec: str = "webshop") -> WebShop:
    found = load_world(spec)
    assert isinstance(found, WebShop)
    return found


@pytest.mark.parametrize(
    ("answer", "command"),
    [
        ("search[red shoes]", ("search", "red shoes")),
        ("  SEARCH [ Red   SHOES ] ", ("search", "red shoes")),
        ("search[a [b] c]", ("search", "a [b] c")),
        ("I look for tea.\nsearch[tea]\nNo: search[green tea].", ("search", "green tea")),
        ("Click[ Buy  NOW ]", ("click", "buy now")),
        ("click[x [y]]", ("click", "x [y]")),
        ("click[a]b]", ("click", "a]b")),
        ("click[Navy\tBlue]", ("click", "navy blue")),
        ("click[琥珀]", ("click", "琥珀")),
        (r"click[\u7425\u73c0]", ("click", "琥珀")),
        ("click[red]", None),
        ("click[buy now] is what I would never do", None),
        ("research[tea]", None),
        ("search[]", None),
        ("search[ ]", None),
        ("buy now", None),
        ("search[tea", None),
        ("]", None),
        ("think[buy now]", None),
        ("", None),
    ],
)
def test_answers(answer: str, command: tuple[str, str] | None) -> None:
    assert read_answer(answer, PAGE) == command


def buy_right(env: gym.Env[str, str]) -> tuple[float, dict[str, object]]:
    """Buys the product of the goal, with the right options."""
    shop = env.unwrapped.world.shop
    info = env.unwrapped.step("search[nothing at all]")[4]
    goal = shop.goals[int(info["privileged"]["instance"])]
    actions = [f"search[{shop.product(goal.asin).contents}]", f"click[{goal.asin}]"]
    for action in (*actions, *(f"click[{value}]" for value in goal.wanted), "click[buy now]"):
        _, reward, _, _, info = env.step(action)
        assert "invalid_reason" not in info, action
    return reward, info


def test_the_right_purchase_wins() -> None:
    env = gym.make("mage/WebShop-v0")
    for seed in range(20):
        env.reset(seed=seed)
        reward, info = buy_right(env)
        assert (reward, info["episode_result"]["outcome"]) == (1.0, "win")


def test_a_partial_purchase_is_a_loss_and_its_score_is_kept() -> None:
    env = gym.make("mage/WebShop-meta-v0")
    _, info = env.reset(seed=3)
    env.step("search[gift set]")
    info = env.step("search[soft travel gift]")[4]
    env.step(next(name for name in info["legal_actions"] if name.startswith("click[b0")))
    _, reward, terminated, _, info = env.step("click[buy now]")
    assert 0 <= reward < 1
    assert info["episode_result"]["outcome"] == "loss"
    assert info["episode_result"]["reward"] == reward
    assert (terminated, info["phase"]) == (False, "reflect")


@pytest.mark.parametrize("mode", ["webshop", "strict"])
def test_both_scores_of_a_purchase_are_told(mode: str) -> None:
    """The original pays large as x-large: its one word is among the wanted ones."""
    env = gym.make("mage/WebShop-meta-v0", reward=mode)
    shop = env.unwrapped.world.shop
    at, wrong = next(
        (at, value)
        for at, goal in enumerate(shop.goals)
        if goal.options and goal.options[-1][0] == "size"
        for value in shop.product(goal.asin).options["size"]
        if value != goal.wanted[-1] and shop.reward(at, goal.asin, {**dict(goal.options), "size": value}) == 1.0
    )
    goal = shop.goals[at]
    info = env.reset(options={"instance": at})[1]
    for action in (
        f"search[{shop.product(goal.asin).contents}]", f"click[{goal.asin}]",
        *(f"click[{value}]" for value in (*goal.wanted[:-1], wrong)),
    ):  # fmt: skip
        assert "scores" not in info
        info = env.step(action)[4]
    _, reward, _, _, info = env.step("click[buy now]")
    assert info["scores"]["webshop"] == 1.0 > info["scores"]["strict"]
    assert (reward, info["action_valid"]) == (info["scores"][mode], True)
    assert info["episode_result"]["outcome"] == ("win" if mode == "webshop" else "loss")
    assert "scores" not in env.step("next")[4]


def test_nothing_of_a_failed_purchase_is_left() -> None:
    env = gym.make("mage/WebShop-meta-v0")
    first, info = env.reset(options={"instance": 17})
    instance = info["privileged"]["instance"]
    for _ in range(2):
        env.step("search[red]")
        info = env.step("click[next >]")[4]
        info = env.step(next(name for name in info["legal_actions"] if name.startswith("click[b0")))[4]
        options = [name for name in info["legal_actions"] if name.removeprefix("click[")[:-1] not in BUTTONS]
        if options:
            env.step(options[-1])
        env.step("click[buy now]")
        again, _, _, _, info = env.step("bought the wrong one")
        assert again.split("\n", 1)[1] == first.split("\n", 1)[1]
        assert info["privileged"]["instance"] == instance == 17
        assert info["view"].facts["chosen"] == {}
    reward, info = buy_right(env)
    assert (reward, info["episode_result"]["outcome"]) == (1.0, "win")


BUTTONS = ("back to search", "< prev", "next >", "description", "features", "reviews", "attributes", "buy now")


def test_after_a_purchase_nothing_pays() -> None:
    shop = world().shop
    session = shop.session(0)
    goal = shop.goals[0]
    steps = [f"search[{shop.product(goal.asin).contents}]", f"click[{goal.asin.lower()}]"]
    for action in (*steps, *(f"click[{value}]" for value in goal.wanted)):
        assert session.step(action) == (0.0, False)
    assert session.step("click[buy now]") == (1.0, True)
    page = session.text()
    for action in (*steps, "click[buy now]", "search[tea]", "click[back to search]"):
        assert session.step(action) == (0.0, True)
        assert (session.text(), session.available_actions()["clickables"]) == (page, [])


@pytest.mark.parametrize("search", ["<r>", "<a> heavy duty", "<c>", "<c> garden", "<q> edge cases", "<q>", "<a>"])
def test_back_doors_are_closed(search: str) -> None:
    """The original lists products at random, by category or by query, or crashes, where the search begins so."""
    shop = world().shop
    plain = " ".join(word.strip("<>") for word in search.split())
    session, other = shop.session(0), shop.session(0)
    session.step(f"search[{search}]")
    other.step(f"search[{plain}]")
    assert session.text() == other.text()


def test_the_original_dialect_is_unforgiving() -> None:
    env = gym.make("mage/WebShop-v0", dialect="webshop")
    first = env.reset(seed=1)[0]
    for action in ("Search[tea]", "buy it", "search[a [b]]"):
        observation, reward, _, _, info = env.step(action)
        assert observation.split("\n")[1] == first.split("\n")[1]
        assert (reward, "invalid_reason" in info, info["action_valid"]) == (0.0, False, False)
    observation, _, _, _, info = env.step("search[tea]\nclick[buy now]")
    assert ("Page 1" in observation, info["action_valid"]) == (True, True)
    assert env.unwrapped.world.read(env.unwrapped.world.start(0), "anything") == "anything"


def test_an_answer_that_the_page_does_not_have_is_asked_again() -> None:
    env = gym.make("mage/WebShop-v0")
    env.reset(seed=1)
    for action, reason in (("click[Buy Now]", "illegal"), ("click[search]", "unparsable"), ("", "empty")):
        env.reset(seed=1)
        observation, _, over, _, info = env.step(action)
        assert (over, info["invalid_reason"], info["action_valid"]) == (False, reason, False)
        assert "Turn 1 of 12" in observation
        assert "click[label]" in observation


def test_goals_out_of_range_are_refused_by_name() -> None:
    env = gym.make("mage/WebShop-v0")
    last = len(env.unwrapped.world.shop.goals) - 1
    assert env.reset(options={"instance": np.int64(last)})[1]["privileged"]["instance"] == last
    for wrong in (last + 1, -1, "x", 1.5, True):
        with pytest.raises(ValueError, match=rf"goal in 0\.\.{last}"):
            env.reset(options={"instance": wrong})
    with pytest.raises(ValueError, match=rf"goals 0\.\.{last}"):
        env.unwrapped.world.shop.session(-1)


@pytest.mark.parametrize(
    "bad", ["catalogue=huge", "split=dev", "show=html", "reward=kind", "dialect=any", "phrasing=x"]
)
def test_wrong_names_are_refused(bad: str) -> None:
    with pytest.raises(ValueError, match=f"{bad.split('=')[0]} must be one of"):
        load_world(f"webshop({bad})")


def test_official_files_as_a_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAGE_WEBSHOP_DATA", str(GOLDEN))
    env = gym.make("mage/WebShop-v0", catalogue="official", show="text_rich", show_attributes=True)
    observation, info = env.reset(seed=1)
    assert "[button] Search [button_]" in observation
    assert dict(info["privileged"]["known"])["catalogue"] == "modified:full"
    human = load_world(f"webshop(catalogue=official, data_dir='{GOLDEN}', human_goals=True)")
    assert isinstance(human, WebShop)
    assert len(human.goals) == 137


def test_the_folder_of_today_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MAGE_WEBSHOP_DATA", str(GOLDEN))
    first = load_world("webshop(catalogue=official)")
    assert load_world("webshop(catalogue=official)") is first
    write_files(tmp_path, 40)
    monkeypatch.setenv("MAGE_WEBSHOP_DATA", str(tmp_path))
    second = load_world("webshop(catalogue=official)")
    assert isinstance(first, WebShop)
    assert isinstance(second, WebShop)
    assert (len(first.shop.products), len(second.shop.products)) == (311, 40)
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    assert len(load_official(f"~/{tmp_path.name}").products) == 40


@pytest.mark.parametrize(
    "spec", ["human_goals=true", "data_dir='x'", "catalogue=official, phrasing=short", "catalogue=large, data_dir='x'"]
)
def test_what_a_catalogue_does_not_have_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match=r"leave (it|them) out"):
        load_world(f"webshop({spec})")


def test_a_shop_without_goals_is_no_world(tmp_path: Path) -> None:
    write_files(tmp_path, 10)
    (tmp_path / "items_ins_v2.json").write_text("{}")
    with pytest.raises(ValueError, match="has no goals of split 'all'"):
        load_world(f"webshop(catalogue=official, data_dir='{tmp_path}')")


def test_wrong_modes_are_refused_at_once() -> None:
    shop = make_shop()
    with pytest.raises(ValueError, match="mode must be"):
        shop.session(0, "kind")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'text' or 'text_rich'"):
        shop.session(0).text("html")  # type: ignore[arg-type]


def test_a_person_reads_pages_in_lines() -> None:
    env = gym.make("mage/WebShop-v0")
    here = env.unwrapped.world
    first = env.reset(seed=1)[0]
    assert here.for_person(first).split("\n") == first.replace(" [SEP] ", "\n").split("\n")
    found = env.step("search[hdmi cable]")[0]
    asin, title, tag = env.unwrapped._view.facts["results"][0]
    lines = here.for_person(found).split("\n")
    assert f"{asin} {title}, {tag}" in lines
    assert len(lines) == 6 + 10 + 1
    env.step(f"click[{asin}]")
    last = env.step("click[buy now]")[0]
    assert here.for_person(last) == last
    assert load_world("sokoban").for_person("#.\n") == "#.\n"


# Splits.


def test_splits_are_disjoint_in_products_and_make_the_whole() -> None:
    shop = world().shop
    products = {split: {shop.goals[at].asin for at in world(f"webshop(split={split})").goals} for split in SPLITS[1:]}
    everything = [asin for each in products.values() for asin in each]
    assert len(everything) == len(set(everything)) == len({goal.asin for goal in shop.goals})
    assert {shop.product(asin).category for asin in products["heldout"]} == {"beauty", "garden"}
    assert {shop.product(asin).category for asin in products["test"]} == {"fashion", "electronics", "grocery"}
    assert len(products["train"]) > 4 * len(products["test"]) > 0
    assert len(products["validation"]) > 20


def contents(catalogue: str, split: str = "all") -> set[str]:
    shop = make_shop(catalogue)
    return {each.title for each in shop.products if split in ("all", split_of(each.title, each.category))}


def test_unseen_products_are_in_no_other_catalogue_and_in_no_training_split() -> None:
    unseen, large = contents("unseen"), contents("large")  # The large catalogue begins with the small one.
    assert len(unseen) == 1_000
    assert not unseen & large
    assert unseen == contents("unseen", "test") | contents("unseen", "heldout")
    here = world("webshop(catalogue=unseen, split=test)")
    assert len({here.shop.goals[at].asin for at in here.goals}) > 600
    for split in ("train", "validation"):
        with pytest.raises(ValueError, match=f"proc-v1-unseen:1000:seed0 has no goals of split '{split}'"):
            load_world(f"webshop(catalogue=unseen, split={split})")


PLAYED = {
    "train": "webshop/train", "validation": "webshop/validation", "test": "webshop/test",
    "heldout": "webshop/heldout_categories",
}  # fmt: skip


@pytest.mark.parametrize("workers", [1, 2, 7])
@pytest.mark.parametrize("of_the_suites", [False, True])
def test_no_number_of_workers_leaks_between_splits(workers: int, of_the_suites: bool) -> None:
    """Each worker has a seed of its own; what they meet in training is never met in a test."""

    def met(split: str) -> set[str]:
        def work(worker: int) -> set[str]:
            env = SCENARIOS.get(PLAYED[split]).make() if of_the_suites else gym.make("mage/WebShop-v0", split=split)
            shop = env.unwrapped.world.shop
            env.reset(seed=worker)
            return {shop.goals[int(env.reset()[1]["privileged"]["instance"])].title for _ in range(150)}

        with ThreadPoolExecutor(workers) as pool:
            return set().union(*pool.map(work, range(workers)))

    found = [met(split) for split in PLAYED]
    assert sum(map(len, found)) == len(set().union(*found))


def test_a_split_is_the_same_in_another_process() -> None:
    code = "from mage_envs.worlds import load_world; print(hash(load_world('webshop(split=test)').goals))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) == hash(world("webshop(split=test)").goals)


def test_a_title_decides_the_split_whatever_its_case() -> None:
    assert split_of("Some Shoes", "fashion") == split_of("SOME SHOES", "fashion")
    assert split_of("Some Shoes", "garden") == "heldout"


# Sharing.


def test_worlds_of_one_configuration_share_the_shop() -> None:
    assert world("webshop(split=test)").shop is world("webshop(split=train, show=text_rich)").shop
    assert world("webshop(phrasing=short)").shop is not world().shop


def test_shoppers_who_take_turns_see_what_each_would_see_alone() -> None:
    shop = make_shop()
    walk = ("search[soft gift set]", "click[next >]", "click[< prev]", "click[back to search]", "search[tea]")

    def pages(numbers: tuple[int, ...]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {number: [] for number in numbers}
        sessions = {number: shop.session(number) for number in numbers}
        for action in walk:
            for number, session in sessions.items():
                session.step(action)
                found[number].append(session.text("text_rich") + "".join(session.available_actions()["clickables"]))
        return found

    assert pages((1, 2, 3)) == pages((1,)) | pages((2,)) | pages((3,))


def test_a_state_is_small() -> None:
    here = world()
    state = here.start(0)
    for command in (("search", "soft travel gift set"), ("click", "next >")):
        state = here.step(state, command).state
    assert len(pickle.dumps(state)) < 1_000


def test_a_further_environment_takes_two_kilobytes_spaces_included() -> None:
    def make() -> gym.Env[Any, Any]:
        env = gym.make("mage/WebShop-v0").unwrapped
        assert env.action_space is not env.observation_space
        return env

    kept = [make()]
    tracemalloc.start()
    kept += [make() for _ in range(100)]
    taken = tracemalloc.get_traced_memory()[0] / 100
    tracemalloc.stop()
    assert taken < 2_000
    assert all(env.reset(seed=1)[1]["privileged"]["seed"] == 1 for env in kept[:3])


def test_the_page_says_what_the_docstring_says() -> None:
    page = (DOCS / "webshop.md").read_text(encoding="utf-8")
    assert renewed(page, "webshop") == page, "run python -m mage_envs.worlds.pages"
