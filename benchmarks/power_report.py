"""What ``benchmark power`` prints: needed meta-episodes, from rates or from a run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchmarks import power
from benchmarks.compare import choose_sides, chosen_scenarios, find_agent, pair_up, records_of
from benchmarks.measures import Kind, Measure, cluster_keys, measures
from benchmarks.names import short_name
from benchmarks.panels import Panel
from benchmarks.records import Record
from benchmarks.run_directory import RunDirectory
from benchmarks.statistics import cluster_labels, rate_estimate
from benchmarks.tables import with_half

LEGEND = (
    "now: mean ± half of its 95 % interval in this run, clustered by opponent and instance. needs: meta-episodes of "
    "this scenario for the wish, an estimate from this run and rough below 30; empty where the run shows no variation."
)


class Wish(NamedTuple):
    """What is wished for.

    Attributes:
        half_width: Half width of the intervals; None: no matter.
        difference: Difference between two agents to detect; None: no matter.
        power: Chance to detect it.
    """

    half_width: float | None
    difference: float | None
    power: float = power.POWER


class Need(NamedTuple):
    """What one comparison or estimate needs.

    Attributes:
        scenario: Name of the scenario.
        who: An agent, or two.
        measure: Of what.
        now: Its spread in the run.
        paired: Whether it is of a difference between two agents.
        needs: Meta-episodes for the wish; None if it cannot be said.
    """

    scenario: str
    who: str
    measure: str
    now: power.Spread
    paired: bool
    needs: int | None


def rate_lines(rate: float, other: float | None, wish: Wish, n: int | None) -> Iterator[str]:
    """Says what a rate, or two, need or give; meta-episodes are independent.

    Args:
        rate: A rate in 0..1, ends excluded.
        other: Another agent's.
        wish: A half width, and the power.
        n: Meta-episodes of each agent, to see what they give.

    Yields:
        Sentences.
    """
    if wish.half_width is not None:
        needed = power.n_for_rate(rate, wish.half_width)
        yield f"a rate of {rate:g} to within ±{wish.half_width:g} (95 %): {needed} meta-episodes"
    if other is not None:
        needed = power.n_for_rates(rate, other, wish.power)
        how = f"with {wish.power:.0%} power at the 5 % level"
        yield f"{rate:g} against {other:g}, detected {how}: {needed} meta-episodes of each agent"
    if n is None:
        return
    hits = round(rate * n)
    found = rate_estimate([True] * hits + [False] * (n - hits), range(n))
    yield f"{hits} of {n}: {found.value:.3f}, 95 % interval {found.low:.3f} to {found.high:.3f} (Wilson)"
    if other is not None:
        yield (
            f"{rate:g} against {other:g} with {n} each: p = {power.fisher_p(rate, other, n):.2f} (Fisher), power "
            f"{power.power_of_rates(rate, other, n):.0%}"
        )


def run_needs(
    run: RunDirectory,
    panel: Panel,
    wish: Wish,
    agents: Sequence[str] = (),
    kind: Kind | None = None,
    scenarios: Collection[str] = (),
) -> list[Need]:
    """Computes what the last episode and the gain need, from a run's own variance.

    Args:
        run: The run.
        panel: Its panel.
        wish: A half width for every agent, or a difference for every pair.
        agents: Only these; none: all.
        kind: What is measured; see :func:`benchmarks.measures.measures`.
        scenarios: Only these; none: all.

    Returns:
        The needs, scenario by scenario: first those of agents, then those of pairs.
    """
    protocol = panel.suite.protocol
    chosen = [m for m in measures(protocol, kind)[protocol.episodes - 1 :] if m.name != "total"]
    names = [card.name for card in run.manifest.config.agents]
    singles = [find_agent(agent, names) for agent in agents] or names
    pairs = choose_sides([run], agents) if wish.difference is not None else []
    records, needs = records_of(run), list[Need]()
    for scenario in chosen_scenarios(panel, scenarios):
        for agent in singles if wish.half_width is not None else ():
            own = [(record,) for record in records.get((agent, scenario), {}).values() if record.scored]
            needs += _needs(scenario, short_name(agent), own, chosen, wish)
        for a, b in pairs:
            both = pair_up(*(records.get((side.agent, scenario), {}) for side in (a, b)))
            needs += _needs(scenario, f"{short_name(a.agent)} − {short_name(b.agent)}", both, chosen, wish)
    return needs


def needs_tables(needs: Sequence[Need], wish: Wish) -> RenderableType:
    """Renders needs, a table for each scenario."""
    parts: list[RenderableType] = []
    for scenario in dict.fromkeys(need.scenario for need in needs):
        own = [need for need in needs if need.scenario == scenario]
        parts.append(Text.assemble(("\n" + scenario, "bold"), f"   {own[0].now.n} meta-episodes now"))
        table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, expand=True, show_edge=False)
        table.add_column("agent", ratio=1, overflow="fold", min_width=10)
        for title, width in (("of", 11), ("now", 14), ("wish", 15), ("needs", 10)):
            table.add_column(title, justify="left" if title == "of" else "right", width=width)
        for before, need in zip([None, *own], own, strict=False):
            wished = f"detect {wish.difference:g}" if need.paired else f"±{wish.half_width:g}"
            mean, half = need.now.mean, need.now.half
            now = with_half(mean, *((None, None) if half is None else (mean - half, mean + half)))
            who = "" if before is not None and before.who == need.who else need.who
            table.add_row(Text(who), need.measure, now, wished, "" if need.needs is None else f"{need.needs:,}")
        parts.append(table)
    return Group(*parts)


def _needs(
    scenario: str, who: str, records: Sequence[tuple[Record, ...]], chosen: Iterable[Measure], wish: Wish
) -> Iterator[Need]:
    """Yields what each measure needs: of records, or of the differences of pairs of records."""
    clusters = cluster_labels(cluster_keys(*own) for own in records)
    for measure in chosen if records else ():
        values = [measure.of(own[0]) - sum(map(measure.of, own[1:])) for own in records]
        now, paired = power.spread(values, clusters), len(records[0]) == 2
        if paired:
            needs = power.n_for_difference(now, wish.difference or 0.0, wish.power)
        else:
            needs = power.n_for_half_width(now, wish.half_width or 0.0)
        yield Need(scenario, who, measure.name, now, paired, needs)
