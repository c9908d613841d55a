"""What ``benchmark plot`` writes: a figure for each kind and scenario, and why some are missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from benchmarks import plots
from benchmarks.names import short_name
from benchmarks.plot_data import Subject, costs, curves, file_name, heats
from benchmarks.sources import Sources
from mage_envs.errors import UnknownNameError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Kind: TypeAlias = Literal["curves", "opponents", "cost"]
KINDS: tuple[Kind, ...] = ("curves", "opponents", "cost")

_SKIPPED: dict[str, str] = {
    "curves": "curves: skipped, there are no rows",
    "opponents": "opponents: skipped, it needs records, which boards do not hold: name a run directory",
    "cost": "cost: skipped, no row has tokens or cost",
}


class Written(NamedTuple):
    """What came of it.

    Attributes:
        paths: The files.
        skipped: Why there is no figure of some kind.
    """

    paths: list[Path]
    skipped: list[str]


def write_plots(
    found: Sources,
    folder: Path,
    kinds: Sequence[Kind] = KINDS,
    formats: Sequence[plots.Format] = ("png", "svg"),
    scenarios: Collection[str] = (),
    agents: Collection[str] = (),
) -> Written:
    """Draws figures into a folder.

    Args:
        found: Rows and records.
        folder: An existing folder. Files are named ``KIND-SCENARIO.FORMAT``, with the panel where there are several.
        kinds: What to draw.
        formats: File formats.
        scenarios: Only these; none: all.
        agents: Only these; none: all, in curves the best eight.

    Returns:
        The files, and what was skipped.

    Raises:
        UnknownNameError: There is no such scenario or agent.
        MageError: matplotlib is missing, or a file cannot be written.
    """
    plots.need_matplotlib()
    _check("scenario", scenarios, {row["scenario"] for row in found.rows})
    names = {row["agent"] for row in found.rows}
    _check("agent", [name for name in agents if name not in names], set(map(short_name, names)))
    kept = found._replace(rows=[row for row in found.rows if not scenarios or row["scenario"] in scenarios])
    paths: list[Path] = []
    skipped: list[str] = []
    for kind in kinds:
        taken: set[str] = set()
        figures = list(_figures(kind, kept, agents))
        count = Counter(subject.scenario for subject, _ in figures)
        for subject, draw in figures:
            panel = f"-{subject.panel[:8]}" if count[subject.scenario] > 1 else ""
            name = file_name(f"{kind}-{subject.scenario}{panel}", taken)
            taken.add(name)
            paths += plots.save(draw(), folder, name, formats)
        if not taken:
            skipped.append(_SKIPPED[kind])
    return Written(paths, skipped)


def _figures(kind: Kind, found: Sources, agents: Collection[str]) -> Iterator[tuple[Subject, Callable[[], Figure]]]:
    if kind == "curves":
        for curve in curves(found.rows, agents):
            yield curve.subject, partial(plots.draw_curves, curve)
    elif kind == "opponents":
        for heat in heats(found.rows, found.records, agents):
            yield heat.subject, partial(plots.draw_heat, heat)
    else:
        for cost in costs(found.rows, agents):
            yield cost.subject, partial(plots.draw_costs, cost)


def _check(kind: str, wanted: Collection[str], known: Collection[str]) -> None:
    for name in wanted:
        if name not in known:
            raise UnknownNameError(f"{kind} here:", name, known)
