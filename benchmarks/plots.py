"""Figures for a paper's column: 3.4 inches wide, 8-point text, readable in grey and for colour-blind people.

Agents differ in colour (Okabe and Ito 2008, without its yellow, and two of Tol's), marker and line style; exact values
are grey and have no marker. The same data give the same file: no date, no random ids. Needs matplotlib, the extra
``plots``; it is used without pyplot, so nothing global changes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from benchmarks.plot_data import Costs, Curves, Heat, Series, Subject
from benchmarks.statistics import Estimate
from mage_envs.errors import MageError, RecordError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Format: TypeAlias = Literal["png", "svg", "pdf"]

COLUMN = 3.4
"""Width of a column in inches."""
_TWO_LABELS = 46
"""Letters of two legend labels that fit side by side in a column."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)))
LINES: dict[str, tuple[str, Any]] = {
    "told opponent": ("#555555", (0, (6, 2))),
    "best adaptive": ("#555555", "-"),
    "equilibrium": ("#8c8c8c", (0, (4, 1.5, 1, 1.5))),
    "random": ("#8c8c8c", (0, (1, 1.5))),
}
_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # Comes with matplotlib: the same letters on every machine.
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "svg.hashsalt": "mage",
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
}
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def need_matplotlib() -> None:
    """Sees whether figures can be drawn.

    Raises:
        MageError: matplotlib is missing; the message says how to get it.
    """
    try:
        import matplotlib as _  # noqa: F401
    except ImportError as error:
        raise MageError("figures need matplotlib: pip install 'mage-envs[plots]'") from error


def draw_curves(data: Curves) -> Figure:
    """Draws scores by episode with 95 % bands, and exact values as grey lines."""
    labels = [*(series.label for series in data.series), *(f"exact: {label}" for label, _ in data.lines)]
    with _column(COLUMN, 2.3 + _legend_height(labels)) as (figure, axes):
        numbers = np.arange(1, data.subject.episodes + 1)
        for label, values in data.lines:
            colour, dashes = LINES[label]
            shown = np.array(values)
            if len(numbers) == 1:
                axes.axhline(shown[0], color=colour, linestyle=dashes, linewidth=1.0, label=f"exact: {label}", zorder=1)
            else:
                axes.plot(
                    numbers, shown, color=colour, linestyle=dashes, linewidth=1.0, label=f"exact: {label}", zorder=1
                )
        for index, series in enumerate(data.series):
            draw_series(axes, numbers, series, index, len(data.series))
        more = f"; {data.left_out} more agents not shown" if data.left_out else ""
        axes.set_xlabel(f"episode (n = {data.subject.n:,}{more})")
        axes.set_ylabel(_unit(data.subject))
        _count_episodes(axes, data.subject.episodes)
        _title(axes, data.subject)
        _legend(figure, labels)
        return figure


def draw_heat(data: Heat) -> Figure:
    """Draws the last episode's mean by opponent (rows) and agent (columns)."""
    width = max(COLUMN, 1.4 + 0.075 * max(map(len, data.opponents)) + 0.42 * len(data.agents))
    height = 1.3 + 0.19 * len(data.opponents) + 0.045 * max(map(len, data.agents))
    with _column(width, height) as (figure, axes):
        values = np.array([[np.nan if cell.value is None else cell.value for cell in row] for row in data.cells])
        by_pass = data.subject.measure == "pass"
        most = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
        low, high = (0.0, 1.0) if by_pass else (-(most or 1.0), most or 1.0)
        image = axes.imshow(values, cmap="cividis" if by_pass else "PuOr", vmin=low, vmax=high, aspect="auto")
        for y, x in np.ndindex(values.shape):
            if np.isfinite(values[y, x]):
                red, green, blue, _ = image.cmap(image.norm(values[y, x]))
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                text = f"{values[y, x]:.2f}" if by_pass else f"{values[y, x]:+.2f}"
                axes.text(x, y, text, ha="center", va="center", fontsize=6, color="white" if dark else "black")
        axes.set_yticks(range(len(data.opponents)), data.opponents)
        axes.set_xticks(range(len(data.agents)), data.agents, rotation=40, ha="right", rotation_mode="anchor")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        _title(axes, data.subject)
        last = "won by the last episode" if by_pass else textwrap.fill(f"last episode, {data.subject.unit}", 34)
        figure.colorbar(image, ax=axes, label=last, fraction=0.05, pad=0.02).outline.set_linewidth(0.4)
        return figure


def draw_costs(data: Costs) -> Figure:
    """Draws the last episode's score against the logarithm of what a meta-episode cost."""
    labels = [label for label, *_ in data.points]
    with _column(COLUMN, 2.3 + _legend_height(labels)) as (figure, axes):
        for index, (label, cost, value) in enumerate(data.points):
            look = _look(index)
            axes.errorbar([cost], [value.value or 0.0], yerr=_errors([value]), label=label, capsize=2, **look)
        axes.set_xscale("log")
        unit = "US dollars" if data.unit == "cost" else "tokens"
        axes.set_xlabel(f"{unit} a meta-episode (n = {data.subject.n:,})")
        axes.set_ylabel(_unit(data.subject, f"episode {data.subject.episodes}"))
        _title(axes, data.subject)
        _legend(figure, labels)
        return figure


def save(figure: Figure, folder: Path, name: str, formats: Sequence[Format]) -> list[Path]:
    """Writes a figure, once for each format.

    Args:
        figure: The figure.
        folder: An existing folder.
        name: File name without its end.
        formats: The formats.

    Returns:
        The files.

    Raises:
        RecordError: A file cannot be written.
    """
    import matplotlib as mpl

    paths = [folder / f"{name}.{form}" for form in formats]
    with mpl.rc_context(_STYLE):
        for path, form in zip(paths, formats, strict=True):
            try:
                figure.savefig(path, format=form, metadata=_METADATA[form])
            except OSError as error:
                raise RecordError(f"cannot write {path}: {error.strerror}") from error
    return paths


@contextmanager
def styled(width: float, height: float) -> Iterator[Figure]:
    """Makes an empty figure in the style of all; it is drawn on inside of the context.

    Args:
        width: In inches.
        height: In inches.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def draw_series(axes: Axes, numbers: Any, series: Series, index: int, count: int) -> None:
    """Draws one curve with its band.

    Args:
        axes: Where to.
        numbers: Numbers of the episodes.
        series: The curve.
        index: Decides colour, marker and line style.
        count: How many curves there are, to put them side by side where there is one episode.
    """
    means, low, high = (
        np.array([np.nan if value[k] is None else value[k] for value in series.values], dtype=np.float64)
        for k in range(3)
    )
    look = _look(index)
    if len(numbers) == 1:  # Side by side, around the 1.
        beside = numbers + 0.05 * (index - (count - 1) / 2)
        axes.errorbar(beside, means, yerr=_errors(series.values), label=series.label, capsize=2, **look)
        return
    axes.fill_between(numbers, low, high, color=look["color"], alpha=0.10, linewidth=0, zorder=2)
    for edge in (low, high):
        axes.plot(numbers, edge, color=look["color"], alpha=0.35, linewidth=0.4, zorder=2)
    axes.plot(numbers, means, label=series.label, zorder=3, **look)


@contextmanager
def _column(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    with styled(width, height) as figure:
        yield figure, figure.subplots()


def _legend(figure: Figure, labels: Sequence[str]) -> None:
    figure.legend(loc="outside lower center", ncols=_legend_columns(labels), columnspacing=1.2, labelspacing=0.3)


def _legend_columns(labels: Sequence[str]) -> int:
    """Two, if the two longest labels fit side by side."""
    return 2 if sum(sorted(map(len, labels))[-2:]) <= _TWO_LABELS else 1


def _legend_height(labels: Sequence[str]) -> float:
    return 0.14 * -(-len(labels) // _legend_columns(labels))


def _look(index: int) -> dict[str, Any]:
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)],
        "markeredgecolor": "white",
        "markeredgewidth": 0.4,
    }


def _errors(values: Sequence[Estimate]) -> Any:
    lows = [0.0 if v.value is None or v.low is None else v.value - v.low for v in values]
    highs = [0.0 if v.value is None or v.high is None else v.high - v.value for v in values]
    return [lows, highs]


def _count_episodes(axes: Axes, episodes: int) -> None:
    from matplotlib.ticker import MaxNLocator

    if episodes == 1:
        axes.set_xticks([1])
        axes.set_xlim(0.5, 1.5)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=min(episodes, 10), integer=True))


def _unit(subject: Subject, episode: str = "") -> str:
    if subject.measure == "pass":
        return f"share won by {episode or 'episode n (pass@n)'}"
    return f"score of {episode}\n({subject.unit})" if episode else textwrap.fill(f"score ({subject.unit})", 34)


def _title(axes: Axes, subject: Subject) -> None:
    axes.set_title(subject.scenario, loc="left", fontweight="bold")
