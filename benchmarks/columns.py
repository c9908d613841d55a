"""The columns of a leaderboard, said once: the CSV header, the rows and leaderboards/README.md are made from this."""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """A column.

    Attributes:
        name: Name in the header.
        unit: Unit and range.
        meaning: How it is made.
    """

    name: str
    unit: str
    meaning: str


WHAT = (
    Column("suite", "text", "name of the suite"),
    Column("suite_version", "integer, 1 or more", "version of the suite; other versions are other boards"),
    Column(
        "panel",
        "SHA-256",
        "hash over protocol, scenarios and every meta-episode to play; other panels are not compared",
    ),
    Column("scenario", "text", "name of the scenario"),
    Column("unit", "text", "what a score of 1 is"),
    Column("episodes", "integer, 1 or more", "N, episodes in a meta-episode"),
)
WHO = (
    Column("agent", "text", "spec of the agent, with every parameter"),
    Column("oracle", "yes or no", "whether it plays a computed ceiling; oracles are not ranked"),
    Column("model", "text or empty", "name of the model; empty for scripted agents"),
    Column("revision", "text or empty", "revision of the model"),
    Column("memory", "text", "memory that the agent is given between episodes; none: only what it keeps itself"),
    Column("prompt_hash", "SHA-256 or empty", "hash of the agent's prompt templates"),
    Column("control", "text", "causal control under which it played, and is not ranked; none: as it is"),
)
COUNTS = (
    Column("n_expected", "integer", "meta-episodes of the scenario in the panel"),
    Column(
        "n_scored",
        "integer",
        "meta-episodes with a score; if fewer than n_expected, the row is incomplete and not ranked",
    ),
    Column("n_error", "integer", "meta-episodes in which the agent failed; in no score"),
    Column("n_timeout", "integer", "meta-episodes that took longer than the run's wall limit; in no score"),
    Column("n_forfeit", "integer", "scored meta-episodes in which answers that could not be played lost an episode"),
)
REFUSED = (
    Column("n_unparsable", "integer", "answers of scored meta-episodes that are the name of no action"),
    Column("n_illegal", "integer", "answers of scored meta-episodes that name an action which is not legal then"),
    Column("n_ambiguous", "integer", "answers of scored meta-episodes that give several different actions"),
    Column("n_truncated", "integer", "answers of scored meta-episodes that were cut short before they were complete"),
    Column("n_empty", "integer", "answers of scored meta-episodes in which nothing was said"),
    Column("n_memory_truncated", "integer", "prompts of scored meta-episodes from which memory was left out to fit"),
)
"""What went wrong with answers, one column for each kind but ``OK`` of a reply; and with prompts."""
PER_EPISODE = (
    Column(
        "score",
        "the unit",
        "mean score of episode n; empty from n = 2 on if the first win ends the meta-episode: see `pass`",
    ),
    Column("win", "0..1", "share of episodes n that were won (win@n)"),
    Column("draw", "0..1", "share of episodes n that were drawn"),
    Column("loss", "0..1", "share of episodes n that were lost"),
    Column("invalid", "0..1", "share of episodes n with at least one answer that could not be played"),
    Column("pass", "0..1", "share of meta-episodes with a win in episodes 1..n (pass@n)"),
    Column(
        "normalised",
        "1 is the ceiling",
        "(score_n - equilibrium) / (ceiling - equilibrium); empty without exact values, or with nothing to gain",
    ),
    Column("regret", "the unit", "adaptive_n minus score_n; below 0 where the best agent explores more"),
)
OVERALL = (
    Column("gain", "the unit", "adaptation gain: score of episode N minus score of episode 1, paired by meta-episode"),
    Column(
        "regret",
        "the unit",
        "adaptive_1 + … + adaptive_N minus the score over the whole meta-episode; empty without them",
    ),
)
YARDSTICKS = (
    Column("random", "the unit", "exact expected score per episode of uniform random play on this panel"),
    Column("equilibrium", "the unit", "exact expected score per episode of equilibrium play on this panel"),
    Column(
        "ceiling",
        "the unit",
        "exact expected score per episode of the best response, told each opponent (in a world: of the best play); "
        "empty with replayed instances, unless what can be learnt of them changes nothing",
    ),
)
ADAPTIVE = Column(
    "adaptive",
    "the unit",
    "exact expected score of episode n of the agent with the best expected total, knowing the population only (in a "
    "world: no instance)",
)
BOUNDS = (
    Column(
        "adaptive_low",
        "the unit",
        "where adaptive_n cannot be computed: what adaptive_1 + … + adaptive_N is at least; estimated by play",
    ),
    Column("adaptive_low_error", "the unit", "standard error of adaptive_low"),
    Column(
        "adaptive_high",
        "the unit",
        "where adaptive_n cannot be computed: what adaptive_1 + … + adaptive_N is at most, told each opponent; exact",
    ),
)
COST = (
    Column(
        "prompt_tokens",
        "integer or empty",
        "tokens that the agent's model read in all meta-episodes, also those without a score: they were paid; empty if "
        "it asks no model, or they are unknown for any",
    ),
    Column("completion_tokens", "integer or empty", "tokens that it wrote, thoughts included; likewise"),
    Column("cost", "US dollars or empty", "price of these tokens; likewise"),
)
ORIGIN = (
    Column("package", "version", "version of mage-envs"),
    Column(
        "commit",
        "hash or empty",
        "commit of the checkout, + if files were changed; unknown if git cannot tell; empty for an installed wheel",
    ),
    Column("run", "SHA-256", "hash of this row's records: the same panel and agent give the same"),
    Column(
        "verified",
        "yes or no",
        "whether every recorded action was replayed to the recorded result before this row was written",
    ),
)

KEY = ("suite", "suite_version", "panel", "scenario", "agent", "model", "revision", "memory", "prompt_hash", "control")
"""What names a row. Two results with the same key are the same row."""

INTERVAL = ("", "_low", "_high")
COUNTED = {"suite_version": 1, "episodes": 1} | {column.name: 0 for column in (*COUNTS, *REFUSED)}
"""Columns that hold an integer, with the least one."""

_FIXED_TEXT = {column.name for group in (WHAT, WHO, ORIGIN) for column in group}


def header(episodes: int) -> list[str]:
    """Returns the CSV header of a suite with N episodes."""
    names = [column.name for group in (WHAT, WHO, COUNTS, REFUSED) for column in group]
    for number in range(1, episodes + 1):
        names += [f"{column.name}_{number}{end}" for column in PER_EPISODE for end in INTERVAL]
    names += [f"{column.name}{end}" for column in OVERALL for end in INTERVAL]
    names += [column.name for column in YARDSTICKS]
    names += [f"{ADAPTIVE.name}_{number}" for number in range(1, episodes + 1)]
    return names + [column.name for group in (BOUNDS, COST, ORIGIN) for column in group]


def is_text(name: str) -> bool:
    """Whether a column holds text that someone chose, and not a number."""
    return name in _FIXED_TEXT


def describe_columns() -> str:
    """Writes the table of leaderboards/README.md."""
    lines = ["| column | unit, range | how it is made |", "|---|---|---|"]
    lines += [f"| `{c.name}` | {c.unit} | {c.meaning} |" for group in (WHAT, WHO, COUNTS, REFUSED) for c in group]
    lines += [f"| `{c.name}_{{n}}`, `…_low`, `…_high` | {c.unit} | {c.meaning} |" for c in PER_EPISODE]
    lines += [f"| `{c.name}`, `…_low`, `…_high` | {c.unit} | {c.meaning} |" for c in OVERALL]
    lines += [f"| `{c.name}` | {c.unit} | {c.meaning} |" for c in YARDSTICKS]
    lines += [f"| `{ADAPTIVE.name}_{{n}}` | {ADAPTIVE.unit} | {ADAPTIVE.meaning} |"]
    lines += [f"| `{c.name}` | {c.unit} | {c.meaning} |" for group in (BOUNDS, COST, ORIGIN) for c in group]
    return "\n".join(lines) + "\n"
