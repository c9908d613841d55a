"""Goals of a catalogue on disk: numbers that say which, in order; each is worded when it is asked for.

They are the goals that :mod:`.goals` makes, number for number: the same draws in the same order, the same shuffle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from mage_envs.worlds.webshop.disk import DiskCatalogue, keep_arrays
from mage_envs.worlds.webshop.goals import (
    Goal,
    bound_text,
    combination,
    draw_bound,
    human_goals,
    label_options,
    make_goal,
)
from mage_envs.worlds.webshop.products import Product


class DiskGoals(Sequence[Goal]):
    """The synthetic goals of a catalogue on disk, shuffled."""

    def __init__(self, catalogue: DiskCatalogue, goal_seed: int, shuffle_seed: int) -> None:
        """Draws them, or opens what was drawn before."""
        self._catalogue = catalogue
        drawn = keep_arrays(
            catalogue.folder, f"goals-{goal_seed}-{shuffle_seed}", lambda: _draw(catalogue, goal_seed, shuffle_seed)
        )
        self._bounds, self._order, self._ends = drawn["bounds"], drawn["order"], drawn["ends"]

    def __len__(self) -> int:
        """Returns the number of goals."""
        return len(self._order)

    def of_products(self, wanted: Callable[[Product], bool]) -> tuple[int, ...]:
        """Returns the goals of some products, ascending. Reads each product once and words no goal."""
        flags = [wanted(self._catalogue.entry(at).product) for at in range(len(self._catalogue))]
        positions = np.searchsorted(self._ends, self._order, side="right")
        return tuple(np.flatnonzero(np.array(flags, dtype=bool)[positions]).tolist())

    def __getitem__(self, at: Any) -> Any:
        """Returns a goal, or a list of them."""
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        number = int(self._order[at])
        position = int(np.searchsorted(self._ends, number, side="right"))
        product, record = self._catalogue.entry(position)
        first = int(self._ends[position - 1]) if position else 0
        options = combination(product, number - first)
        bound = float(self._bounds[position])
        text = f"{record['instruction']}{label_options(options)}{bound_text(bound)}"
        weight = float(self._catalogue.weights[position])
        return make_goal(product, text, record["instruction_attributes"], options, bound)._replace(weight=weight)


def disk_prices(catalogue: DiskCatalogue, random: Random) -> npt.NDArray[np.float64]:
    """Draws one price a product, as :func:`mage_envs.worlds.webshop.goals.draw_prices` does."""
    prices = np.array(catalogue.pricing[:, 0])
    low, high = catalogue.pricing[:, 0], catalogue.pricing[:, 1]
    for at in np.flatnonzero(~np.isnan(high)).tolist():
        prices[at] = random.uniform(float(low[at]), float(high[at]))
    return prices


def disk_human_goals(
    catalogue: DiskCatalogue, told: Mapping[str, Sequence[Mapping[str, Any]]], prices: npt.NDArray[Any], random: Random
) -> list[Goal]:
    """Makes the goals that people wrote, in the order of the catalogue."""
    places = sorted(at for at in map(catalogue.position, told) if at is not None)
    products = [catalogue.entry(at).product for at in places]
    return human_goals(
        products, told, {each.asin: float(prices[at]) for at, each in zip(places, products, strict=True)}, random
    )


def _draw(catalogue: DiskCatalogue, goal_seed: int, shuffle_seed: int) -> dict[str, npt.NDArray[Any]]:
    random = Random(goal_seed)
    prices = disk_prices(catalogue, random)
    bounds = np.zeros(len(catalogue))
    for at in np.flatnonzero(catalogue.combinations).tolist():
        bounds[at] = draw_bound(float(prices[at]), random)
    order = list(range(int(catalogue.combinations.sum())))
    Random(shuffle_seed).shuffle(order)
    return {"bounds": bounds, "order": np.array(order, dtype=np.int64), "ends": np.cumsum(catalogue.combinations)}
