"""What plots show, as numbers: curves by episode, scores by opponent, scores by cost."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.columns import INTERVAL
from benchmarks.leaderboard import row_key
from benchmarks.measures import cluster_keys
from benchmarks.names import row_label, short_name
from benchmarks.ranking import last_score, measure, rankable
from benchmarks.records import Record
from benchmarks.rows import Row
from benchmarks.statistics import Estimate, cluster_labels, mean_estimate, rate_estimate

MOST_SERIES = 8
"""Agents in one figure; more cannot be told apart."""
_YARDSTICKS = (("told opponent", "ceiling"), ("equilibrium", "equilibrium"), ("random", "random"))


class Subject(NamedTuple):
    """What a figure is about: one scenario on one panel.

    Attributes:
        scenario: Name of the scenario.
        panel: Hash of the panel.
        measure: ``score``, or ``pass`` where the first win ends the meta-episode.
        unit: What a score of 1 is; for ``pass`` what is counted.
        episodes: N.
        n: Meta-episodes of each agent.
    """

    scenario: str
    panel: str
    measure: str
    unit: str
    episodes: int
    n: int


class Series(NamedTuple):
    """One agent's values.

    Attributes:
        label: Its name; with ``!`` if results are missing.
        values: One an episode.
    """

    label: str
    values: tuple[Estimate, ...]


class Curves(NamedTuple):
    """Adaptation curves.

    Attributes:
        subject: What it is about.
        series: The agents, the best last episode first.
        lines: Exact values by episode, by name.
        left_out: How many agents are not shown.
    """

    subject: Subject
    series: tuple[Series, ...]
    lines: tuple[tuple[str, tuple[float, ...]], ...]
    left_out: int


class Heat(NamedTuple):
    """Mean of the last episode by opponent and agent.

    Attributes:
        subject: What it is about.
        opponents: Names of the rows.
        agents: Names of the columns.
        cells: By row and column; empty where an agent did not meet an opponent.
    """

    subject: Subject
    opponents: tuple[str, ...]
    agents: tuple[str, ...]
    cells: tuple[tuple[Estimate, ...], ...]


class Costs(NamedTuple):
    """The last episode's score against what it cost.

    Attributes:
        subject: What it is about.
        unit: ``cost`` (US dollars) or ``tokens``, a meta-episode.
        points: Name, cost and score of each agent.
    """

    subject: Subject
    unit: str
    points: tuple[tuple[str, float, Estimate], ...]


def curves(rows: Iterable[Row], agents: Collection[str] = ()) -> list[Curves]:
    """Takes adaptation curves from rows.

    Args:
        rows: Rows of runs and boards.
        agents: Names of those to show; none: the eight with the best last episode, oracles first.

    Returns:
        One for each scenario and panel.
    """
    found = []
    for subject, own in _by_subject(rows, agents):
        ordered = sorted(own, key=lambda row: (row["oracle"] != "yes", not rankable(row), -last_score(row)))
        shown = sorted(ordered[:MOST_SERIES], key=last_score, reverse=True)
        numbers = range(1, subject.episodes + 1)
        series = [
            Series(_marked(row), tuple(estimate_of(row, f"{subject.measure}_{n}") for n in numbers)) for row in shown
        ]
        lines = () if subject.measure == "pass" else tuple(_lines(own[0], subject.episodes))
        found.append(Curves(subject, tuple(series), lines, len(own) - len(shown)))
    return found


def heats(
    rows: Iterable[Row], records: Mapping[tuple[str, ...], Sequence[Record]], agents: Collection[str] = ()
) -> list[Heat]:
    """Averages the last episode by opponent.

    Args:
        rows: Rows; those without records are left out.
        records: The records behind rows, by the row's key.
        agents: Names of those to show; none: all.

    Returns:
        One for each scenario and panel in which somebody is met.
    """
    found = []
    for subject, own in _by_subject([row for row in rows if records.get(row_key(row))], agents):
        ordered = sorted(own, key=last_score, reverse=True)
        met = [_by_opponent(records[row_key(row)]) for row in ordered]
        opponents = sorted({opponent for each in met for opponent in each})
        if opponents:
            cells = tuple(tuple(_last(each.get(opponent, []), subject) for each in met) for opponent in opponents)
            names = tuple(map(short_name, opponents))
            found.append(Heat(subject, names, tuple(map(_marked, ordered)), cells))
    return found


def costs(rows: Iterable[Row], agents: Collection[str] = ()) -> list[Costs]:
    """Puts the last episode's score against dollars, or else tokens, a meta-episode.

    Args:
        rows: Rows of runs and boards.
        agents: Names of those to show; none: all.

    Returns:
        One for each scenario and panel in which any agent has costs or tokens.
    """
    found = []
    for subject, own in _by_subject(rows, agents):
        unit = next((name for name in ("cost", "tokens") if any(_spent(row, name) for row in own)), None)
        if unit is not None:
            last = f"{subject.measure}_{subject.episodes}"
            points = [
                (_marked(row), _spent(row, unit) / int(row["n_scored"]), estimate_of(row, last))
                for row in own
                if _spent(row, unit) > 0.0 and int(row["n_scored"]) > 0
            ]
            found.append(Costs(subject, unit, tuple(sorted(points, key=lambda point: point[1]))))
    return found


def estimate_of(row: Row, name: str) -> Estimate:
    """Reads an estimate out of a row."""
    value, low, high = (float(row[name + end]) if row[name + end] else None for end in INTERVAL)
    return Estimate(value, low, high, int(row["n_scored"]))


def file_name(text: str, taken: Collection[str] = ()) -> str:
    """Makes a name for a file that stays in its folder and is not taken, on any file system.

    >>> file_name("kuhn/train"), file_name("../../etc/x"), file_name("a b", taken={"a_b"})
    ('kuhn_train', 'etc_x', 'a_b-2')
    """
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", text)
    plain = re.sub(r"[._-]*_[._-]*", "_", plain)[:100].strip("._-") or "unnamed"
    names = (plain, *(f"{plain}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name.lower() not in {other.lower() for other in taken})


def _by_subject(rows: Iterable[Row], agents: Collection[str]) -> Iterator[tuple[Subject, list[Row]]]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if not agents or row["agent"] in agents or short_name(row["agent"]) in agents:
            groups.setdefault((row["scenario"], row["panel"]), []).append(row)
    for (scenario, panel), own in groups.items():
        by_pass = any(measure(row) == "pass" for row in own)
        unit = "share won by episode n" if by_pass else own[0]["unit"]
        name, episodes = "pass" if by_pass else "score", int(own[0]["episodes"])
        yield Subject(scenario, panel, name, unit, episodes, int(own[0]["n_expected"])), own


def _lines(row: Row, episodes: int) -> Iterator[tuple[str, tuple[float, ...]]]:
    adaptive = [row[f"adaptive_{n}"] for n in range(1, episodes + 1)]
    (told, ceiling), *others = _YARDSTICKS
    if row[ceiling] and row["equilibrium"]:  # In a world nobody is told of anybody: best adaptive says it.
        yield told, (float(row[ceiling]),) * episodes
    if all(adaptive):
        yield "best adaptive", tuple(map(float, adaptive))
    for label, name in others:
        if row[name]:
            yield label, (float(row[name]),) * episodes


def _by_opponent(records: Iterable[Record]) -> dict[str, list[Record]]:
    grouped: dict[str, list[Record]] = {}
    for record in records:
        if record.scored and record.opponent is not None:
            grouped.setdefault(record.opponent, []).append(record)
    return grouped


def _last(records: Sequence[Record], subject: Subject) -> Estimate:
    clusters = cluster_labels(map(cluster_keys, records))
    if subject.measure == "pass":
        return rate_estimate([any(e.outcome == "win" for e in record.episodes) for record in records], clusters)
    return mean_estimate([record.episodes[-1].reward for record in records], clusters)


def _marked(row: Row) -> str:
    return row_label(row) + ("" if row["n_scored"] == row["n_expected"] else " !")


def _spent(row: Row, unit: str) -> float:
    """Returns dollars, or tokens; 0 if they are unknown."""
    return _number(row["cost"]) if unit == "cost" else _number(row["prompt_tokens"]) + _number(row["completion_tokens"])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
