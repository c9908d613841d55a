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
LEGEND_ROW = 0.16
"""What a row of the legend needs, in inches."""

FIGURE = "figure"
_OTHER, _START, _CONTROLS = 1, 7, 2
"""Which of the looks is whose; that of the compared arm is the first."""

ROOM = 0.6
"""Share of the range of means and exact values that is shown above and below them for bands."""


def draw_study(found: Results, to: Path) -> list[str]:
    """Draws a panel of the compared arm with the start and its controls, and one for each other arm.

    Args:
        found: The results.
        to: An existing folder.

    Returns:
        Names of the files, PNG and SVG.
    """
    panels = _panels(found)
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    with styled(WIDTH * columns, HEIGHT * rows + 0.3) as figure:
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for number, axes in enumerate(grid.flat):
            if number < len(panels):
                _draw(axes, panels[number], found)
            else:
                axes.set_visible(False)
        for column in range(columns):  # The lowest panel that is there.
            grid[(len(panels) - 1 - column) // columns, column].set_xlabel("episode")
        figure.supylabel(f"score ({found.study.panel.scenario.unit})", fontsize=8)
        grid[0, 0].set_ylim(_limits(found, grid[0, 0].get_ylim()))
        _legend(figure, columns)
        return [path.name for path in save(figure, to, FIGURE, ("png", "svg"))]


def _panels(found: Results) -> list[list[Line]]:
    """Returns the lines of each panel, the one that it is named after first."""
    compared = found.study.compared
    first = sorted((line for line in found.lines if line.arm in (compared, START)), key=lambda line: line.arm == START)
    base = [line for line in first if line.name == compared]
    return [first, *([line, *base] for line in found.lines if line.arm not in (compared, START))]


def _draw(axes: Axes, lines: list[Line], found: Results) -> None:
    numbers = np.arange(1, found.study.panel.episodes + 1)
    for name, values in _exact(found):
        colour, dashes = LINES[name]
        axes.plot(numbers, values, color=colour, linestyle=dashes, linewidth=1.0, label=f"exact: {name}", zorder=1)
    for line in reversed(lines):
        index = _look(line, found)
        label = "the one named above" if index == _OTHER else line.name
        draw_series(axes, numbers, Series(label, line.score), index, len(lines))
    axes.set_title(f"{lines[0].name}, n = {len(lines[0].played)}", loc="left", fontweight="bold")
    axes.set_xticks(numbers)
    axes.tick_params(labelbottom=True)


def _look(line: Line, found: Results) -> int:
    """The compared arm looks the same everywhere, and so does what stands beside it."""
    if line.arm == START:
        return _START
    if line.arm != found.study.compared:
        return _OTHER
    return 0 if line.control == NONE else _CONTROLS + found.study.controls.index(line.control)


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


def _limits(found: Results, drawn: tuple[float, float]) -> tuple[float, float]:
    """Cuts off bands that are so wide that nothing else could be seen."""
    values = [score.value for line in found.lines for score in line.score if score.value is not None]
    values += [value for _, exact in _exact(found) for value in exact]
    low, high = min(values), max(values)
    room = ROOM * (high - low)
    return max(drawn[0], low - room), min(drawn[1], high + room)


def _legend(figure: Figure, columns: int) -> None:
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * -(-len(handles) // columns))
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=columns)
