"""The figure of a study: scores by episode, each arm beside the one that it is compared with. Needs matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.plot_data import Series
from benchmarks.plots import LINES, draw_series, save, styled
from benchmarks.study_results import Line, Results
from mage_agent.grpo.study import NONE, START

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS, WIDTH, HEIGHT = 3, 2.3, 1.75
"""Panels side by side, and the size of one in inches."""
FIGURE = "figure"


def draw_study(found: Results, to: Path) -> list[str]:
    """Draws a panel of the compared arm with the start and its controls, and one for each other arm.

    Args:
        found: The results.
        to: An existing folder.

    Returns:
        Names of the files, PNG and SVG.
    """
    by_place = {(line.arm, line.control): line for line in found.lines}
    base, start = by_place.get((found.study.compared, NONE)), by_place.get((START, NONE))
    controls = [line for line in found.lines if line.control != NONE]
    others = [line for line in found.lines if line.control == NONE and line not in (base, start)]
    panels = [[base, start, *controls], *([base, line] for line in others)]
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    with styled(WIDTH * columns, HEIGHT * rows + 0.5) as figure:
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for number, axes in enumerate(grid.flat):
            if number < len(panels):
                title = found.study.compared if number == 0 else others[number - 1].arm
                _panel(axes, title, [line for line in panels[number] if line], found)
            else:
                axes.set_visible(False)
        _legend(figure)
        figure.supxlabel("episode", fontsize=8)
        unit = found.study.panel.scenario.unit
        figure.supylabel(f"score ({unit})", fontsize=8)
        return [path.name for path in save(figure, to, FIGURE, ("png", "svg"))]


def _panel(axes: Axes, title: str, lines: list[Line], found: Results) -> None:
    numbers = np.arange(1, found.study.panel.episodes + 1)
    for name, values in _exact(found):
        colour, dashes = LINES[name]
        axes.plot(numbers, values, color=colour, linestyle=dashes, linewidth=1.0, label=f"exact: {name}", zorder=1)
    for line in lines:
        index = _look(line, found)
        label = "the arm named above" if index == _OTHER else line.name
        draw_series(axes, numbers, Series(label, line.score), index, len(lines))
    axes.set_title(f"{title} (n = {_seeds(lines, title)} seeds)", loc="left", fontweight="bold")
    axes.set_xticks(numbers)


_OTHER = 1


def _look(line: Line, found: Results) -> int:
    """The compared arm looks the same everywhere, and so does what stands beside it."""
    if line.arm == START:
        return 7
    if line.arm != found.study.compared:
        return _OTHER
    return 0 if line.control == NONE else 2 + found.study.controls.index(line.control)


def _seeds(lines: list[Line], title: str) -> int:
    return next(len(line.played) for line in lines if line.arm == title)


def _exact(found: Results) -> list[tuple[str, tuple[float, ...]]]:
    ceilings, episodes = found.ceilings, found.study.panel.episodes
    shown = []
    if ceilings.told is not None:
        shown.append(("told opponent", (ceilings.told,) * episodes))
    if ceilings.adaptive is not None:
        shown.append(("best adaptive", ceilings.adaptive))
    if ceilings.equilibrium is not None:
        shown.append(("equilibrium", (ceilings.equilibrium,) * episodes))
    return shown


def _legend(figure: Figure) -> None:
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4)
