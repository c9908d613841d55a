"""WebShop as a world: shopping by instruction (WebShop, arXiv 2207.01206), as MAGE (arXiv 2603.03680) plays it.

By default on a made catalogue of 1,000 products, with no download: 12 steps an episode, the score is the reward of the
purchase, and 1.0 is a win. On WebShop's own files every page, ranking and reward is the original's.
"""

from __future__ import annotations

import os
import re
import threading
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, get_args

import numpy as np

from mage_envs.errors import near_matches
from mage_envs.worlds import WORLDS
from mage_envs.worlds.base import Command, Facts, InstanceId, State, Step, World, WorldOutcome
from mage_envs.worlds.webshop.answers import read_answer
from mage_envs.worlds.webshop.catalogue import SIZES, Phrasing, make_shop
from mage_envs.worlds.webshop.official import VARIABLE, load_official
from mage_envs.worlds.webshop.pages import (
    BACK,
    BUY,
    NEXT,
    PREVIOUS,
    SEPARATOR,
    SUB_PAGES,
    PageKind,
    PageText,
    Place,
    write_page,
)
from mage_envs.worlds.webshop.reward import RewardMode
from mage_envs.worlds.webshop.session import click, open_search, play
from mage_envs.worlds.webshop.shop import Shop
from mage_envs.worlds.webshop.splits import SPLITS, goals_of

CATALOGUES = (*SIZES, "official")
DIALECTS = ("lenient", "webshop")
ANY_SEARCH = "search[<your words>]"


_FOUND = re.compile(r" \[SEP\] (\w{10}) \[SEP\] (.+?) \[SEP\] (\$[\d.]+(?: to \$[\d.]+)?)")

_RULES = """You are a shopper in a web shop. The instruction says what to buy; buy the product that fits it best, with \
the right options, at a price that it allows.
Answer with one command a turn:
search[words] finds products, best first, ten a page; it works on every page.
click[label] clicks what the page has: a product's id, an option, or a button such as Next >, < Prev, Description, \
Features, Back to Search and Buy Now.
Choose the options before you buy. A new search clears them. Buy Now ends the episode. The score is the share of the \
instruction that the purchase meets, from 0 to 1; only 1 is a win, and without a purchase it is 0."""


class Shopper(NamedTuple):
    """A state.

    Attributes:
        goal: Number of the goal.
        place: Where the shopper stands.
    """

    goal: int
    place: Place


class WebShop(World):
    """WebShop.

    Args:
        catalogue: ``"small"`` (1,000 made products), ``"large"`` (5,000), ``"unseen"`` (1,000 others, none of them in
            a training split), or ``"official"`` (WebShop's own files).
        data_dir: Folder of WebShop's files; empty: the environment variable ``MAGE_WEBSHOP_DATA``.
        human_goals: Of the official files, the goals that people wrote.
        split: Goals are drawn from those of ``"all"`` products, or of ``"train"``, ``"validation"``, ``"test"``
            (fashion, electronics, grocery; by title) or ``"heldout"`` (beauty, garden).
        phrasing: How made goals are worded: ``"labels"`` as the original's, ``"short"`` as people's.
        show: ``"text"`` or ``"text_rich"``: the original's ways of writing a page.
        reward: ``"webshop"`` (the original's, which forgives some wrong options) or ``"strict"``.
        dialect: ``"lenient"``: letter case and spaces of an answer do not matter, and one that the page does not have
            is asked again. ``"webshop"``: the original's grammar, in which such an answer costs a turn.
        show_attributes: Whether products have a page with the attributes that goals ask for.

    An instance is the number of a goal, ``0..len(world.shop.goals) - 1``.

    Action: ``search[words]`` or ``click[label]``.

    ``world.shop`` is the shop, shared by all environments of the process, and ``world.goals`` are the goals drawn from.
    """

    title: ClassVar[str] = "WebShop"
    turns = 12
    unit = "score of the purchase, 0 to 1; 1 is a win"
    hint = "Answer with search[words], or with click[label] and a label that the page has."
    rules = _RULES
    variables: ClassVar[tuple[str, ...]] = (VARIABLE,)
    vocabulary = frozenset(f"click[{label.lower()}]" for label in (BACK, NEXT, PREVIOUS, BUY, *SUB_PAGES))

    def __init__(
        self,
        catalogue: str = "small",
        data_dir: str = "",
        human_goals: bool = False,
        split: str = "all",
        phrasing: str = "labels",
        show: str = "text",
        reward: str = "webshop",
        dialect: str = "lenient",
        show_attributes: bool = False,
    ) -> None:
        """Makes the world; see the class for the arguments.

        Raises:
            ValueError: An unknown name, a split without goals, or an argument that is of other catalogues.
            MageError: Files are missing or damaged.
        """
        _check("catalogue", catalogue, CATALOGUES)
        _check("split", split, SPLITS)
        _check("phrasing", phrasing, get_args(Phrasing))
        _check("show", show, get_args(PageText))
        _check("reward", reward, get_args(RewardMode))
        _check("dialect", dialect, DIALECTS)
        _check_catalogue(catalogue, data_dir, bool(human_goals), phrasing)
        self._show: PageText = "text_rich" if show == "text_rich" else "text"
        self._mode: RewardMode = "strict" if reward == "strict" else "webshop"
        self._lenient = dialect == "lenient"
        self.shop = _shop(catalogue, data_dir, bool(human_goals), phrasing, bool(show_attributes))
        self.goals = goals_of(self.shop, split)

    # Instances.

    def draw(self, u: float) -> InstanceId:
        """Returns the number of a goal of the split."""
        return self.goals[int(u * len(self.goals))]

    def check_instance(self, given: object) -> InstanceId:
        """Returns the number of a goal of the shop, of whichever split."""
        plain = int(given) if isinstance(given, np.integer | str) and str(given).isdecimal() else given
        if isinstance(plain, bool) or not isinstance(plain, int) or not 0 <= plain < len(self.shop.goals):
            raise ValueError(f"an instance of WebShop is a goal in 0..{len(self.shop.goals) - 1}, got {given!r}")
        return plain

    def start(self, instance: InstanceId) -> Shopper:
        """Returns the index page with a goal."""
        return Shopper(int(instance), Place())

    def worded(self, instruction: str) -> tuple[int, ...]:
        """Returns the goals of the shop that have an instruction: nearly always one. For oracles only."""
        return self._by_text.get(instruction, ())

    @cached_property
    def _by_text(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for at, goal in enumerate(self.shop.goals):
            found[goal.text] = (*found.get(goal.text, ()), at)
        return found

    # Play.

    def step(self, state: State, command: Command) -> Step:
        """Plays a command of :meth:`read`.

        Told of a purchase: ``scores``, what each way of paying gives. Told in ``dialect="webshop"`` of a command that
        the page does not have: ``action_valid`` is False.
        """
        shopper: Shopper = state
        goal, before = shopper
        if not self._lenient:
            place = play(self.shop, goal, before, command, self._mode)
        elif command[0] == "search":
            place = open_search(before, command[1])
        else:
            place = click(self.shop, goal, before, command[1], self._mode)
        return Step(Shopper(goal, place), place.reward, self._told(goal, before, place))

    def _told(self, goal: int, before: Place, place: Place) -> Facts | None:
        if place.kind is not PageKind.DONE:
            return {"action_valid": False} if place is before else None
        options = dict(place.options)
        other: RewardMode = "webshop" if self._mode == "strict" else "strict"
        return {"scores": {self._mode: place.reward, other: self.shop.reward(goal, place.asin, options, other)}}

    def outcome(self, state: State) -> WorldOutcome | None:
        """Returns a win for a purchase that meets the goal in full, a loss for any other."""
        if state.place.kind is not PageKind.DONE:
            return None
        return "win" if state.place.reward == 1.0 else "loss"

    # What the agent is shown.

    def facts(self, state: State) -> Facts:
        """Returns the page: its kind, its text, what can be clicked, and what of the shop it shows."""
        shopper: Shopper = state
        goal, place = shopper
        body, instruction = self.shop.body(place), self.shop.goals[goal].text
        product = self.shop.product(place.asin) if place.kind in (PageKind.ITEM, PageKind.SUB) else None
        return {
            "instruction": instruction,
            "page": place.kind.value,
            "text": write_page(instruction, body, self._show, place),
            "clickables": body.clickables,
            "results": body.results,
            "number": place.number,
            "product": "" if product is None else product.asin,
            "options": {} if product is None else dict(product.options),
            "chosen": dict(place.options),
        }

    def describe(self, facts: Facts) -> str:
        """Returns the page as the original writes it."""
        text: str = facts["text"]
        return text.rstrip("\n")

    def for_person(self, observation: str) -> str:
        """Returns an observation with a line for each part of the page, and for each product that was found."""
        if "Thank you for shopping" in observation:
            return observation
        return _FOUND.sub(r"\n\1 \2, \3", observation).replace(SEPARATOR, "\n")

    def known(self, state: State) -> Facts:
        """Returns the goal's own product and options, what buying it earns, and which catalogue it is of."""
        goal = self.shop.goal(state.goal)
        pairs = dict(each for each in goal.options if not isinstance(each, str))
        return {
            "catalogue": self.shop.catalogue,
            "product": goal.asin,
            "options": tuple(goal.wanted),
            "oracle": self.shop.reward(state.goal, goal.asin, pairs, self._mode) if pairs or not goal.options else None,
        }

    # What the agent may answer.

    def names(self, state: State) -> tuple[str, ...]:
        """Returns a search on the page that has a search bar, else a click on each label."""
        if state.place.kind is PageKind.INDEX:
            return (ANY_SEARCH,)
        return self.shop.body(state.place).commands

    def read(self, state: State, answer: str) -> Command | None:
        """Reads ``search[words]`` or ``click[label]``."""
        if not self._lenient:
            return answer
        found = read_answer(answer, self.shop.body(state.place))
        return None if found == ("click", "search") else found


WORLDS.register("webshop", WebShop)

_LOCK = threading.Lock()


def _shop(catalogue: str, data_dir: str, human_goals: bool, phrasing: str, show_attributes: bool) -> Shop:
    folder = data_dir or os.environ.get(VARIABLE, "") if catalogue == "official" else ""
    with _LOCK:  # Two threads must not build the same shop twice.
        return _made(catalogue, folder, human_goals, phrasing, show_attributes)


@lru_cache(maxsize=8)
def _made(catalogue: str, data_dir: str, human_goals: bool, phrasing: str, show_attributes: bool) -> Shop:
    if catalogue == "official":
        return load_official(data_dir or None, human=human_goals, show_attributes=show_attributes)
    return make_shop(catalogue, 0, "short" if phrasing == "short" else "labels", show_attributes)


def _check_catalogue(catalogue: str, data_dir: str, human_goals: bool, phrasing: str) -> None:
    if catalogue == "official" and phrasing != "labels":
        raise ValueError(f"phrasing={phrasing!r} is of made goals: with catalogue='official', leave it out")
    if catalogue != "official" and (human_goals or data_dir):
        raise ValueError(
            "human_goals and data_dir are of WebShop's own files: leave them out, or set catalogue='official'"
        )


def _check(name: str, value: Any, names: tuple[str, ...]) -> None:
    if value not in names:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, names))}, got {value!r}. {near_matches(str(value), names)}"
        )
