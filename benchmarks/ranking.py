"""Ranks that do not rank noise: rows whose intervals overlap share a place."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.rows import Row


def rankable(row: Row) -> bool:
    """Whether a row takes part: complete, and not of an oracle."""
    return row["oracle"] == "no" and row["n_scored"] == row["n_expected"] != "0"


def ranks(rows: Sequence[Row]) -> list[int | None]:
    """Ranks rows of one scenario and panel by the score of the last episode.

    Args:
        rows: The rows.

    Returns:
        For each row its place: 1 + the number of rankable rows that are better beyond doubt, that is, whose interval
        lies above this row's. None for rows that are not ranked.
    """
    last = [_interval(row) for row in rows]
    return [
        1 + sum(rankable(other) and low > high for other, (low, _) in zip(rows, last, strict=True))
        if rankable(row)
        else None
        for row, (_, high) in zip(rows, last, strict=True)
    ]


def last_score(row: Row) -> float:
    """Returns the score of the last episode; minus infinity if there is none."""
    return float(row[f"score_{row['episodes']}"] or "-inf")


def _interval(row: Row) -> tuple[float, float]:
    """Returns the ends of the last score's interval; endless if it could not be computed."""
    name = f"score_{row['episodes']}"
    return float(row[f"{name}_low"] or "-inf"), float(row[f"{name}_high"] or "inf")
