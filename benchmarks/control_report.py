"""A run beside the same run under causal controls: how much of the gain is due to memory, and to its content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchmarks.compare import check_same_panel, pair_up, records_of
from benchmarks.controls import CONTROLS, NONE
from benchmarks.measures import Measure, cluster_keys, measures
from benchmarks.names import short_name
from benchmarks.panels import Panel
from benchmarks.records import Record
from benchmarks.run_directory import RunDirectory
from benchmarks.statistics import Estimate, cluster_labels, mean_estimate
from benchmarks.tables import with_half
from mage_envs.errors import MageError, RecordError

LEGEND = (
    "last: score of the last episode (pass@N where the first win ends the meta-episode); gain: last minus first. lost: "
    "what is missing under the control, and so was due to the memory; paired by meta-episode, ± half of a 95 % "
    "interval clustered by opponent and instance. !: results are missing. docs/controls.md says what each control does."
)


class Effect(NamedTuple):
    """An agent in one scenario under one control, beside the same without.

    Attributes:
        scenario: Name of the scenario.
        agent: Name of the agent.
        control: Name of the control; ``none`` for the run itself.
        n: Meta-episodes that have a score in both runs.
        n_expected: Meta-episodes in the panel.
        last: Score of the last episode under the control.
        gain: Adaptation gain under the control.
        lost_last: What the last episode scores less than without the control, paired.
        lost_gain: What the gain is less.
    """

    scenario: str
    agent: str
    control: str
    n: int
    n_expected: int
    last: Estimate
    gain: Estimate
    lost_last: Estimate
    lost_gain: Estimate


def control_effects(runs: Sequence[RunDirectory], panel: Panel) -> list[Effect]:
    """Computes what each control takes away.

    Args:
        runs: One run without a control, and one for each control to compare, in any order.
        panel: What they played.

    Returns:
        Scenario by scenario, agent by agent, control by control.

    Raises:
        RecordError: The runs are of different panels, or two are of one control, or none is without one.
        MageError: Meta-episodes have one episode, or no agent is in more than one run.
    """
    by_control = _by_control(runs)
    if panel.suite.protocol.episodes < 2:
        raise MageError("a meta-episode of one episode has no memory to look at: play a suite with more")
    chosen = {measure.name: measure for measure in measures(panel.suite.protocol)}
    last = [measure for name, measure in chosen.items() if name not in ("gain", "total")][-1]
    records = {control: records_of(run) for control, run in by_control.items()}
    found = [
        _effect(control, place, records, len(panel.by_scenario[scenario]), (last, chosen["gain"]))
        for scenario, agents in by_control[NONE].manifest.config.plays.items()
        for agent in agents
        for place in [(agent, scenario)]
        for control in by_control
        if any(place in records[other] for other in by_control if other != NONE) and place in records[control]
    ]
    if not found:
        raise MageError("no agent is in the run and in one of its controls: run with --agent and --control")
    return found


def effect_tables(found: Sequence[Effect]) -> RenderableType:
    """Renders the effects, a table for each scenario."""
    scenarios = dict.fromkeys(effect.scenario for effect in found)
    return Group(*(part for name in scenarios for part in _scenario([e for e in found if e.scenario == name])))


def _by_control(runs: Sequence[RunDirectory]) -> dict[str, RunDirectory]:
    """Sorts runs by their control.

    Raises:
        RecordError: They cannot be put side by side.
    """
    named: dict[str, RunDirectory] = {}
    for run in runs:
        check_same_panel(runs[0].manifest.config, run.manifest.config)
        control = run.manifest.config.control
        if control in named:
            raise RecordError(f"{named[control].path} and {run.path} are both of control {control}: name one of them")
        named[control] = run
    if NONE not in named or len(named) < 2:
        raise RecordError("name one run without a control, and one or more of the same panel with --control")
    return {control: named[control] for control in CONTROLS if control in named}


def _effect(
    control: str,
    place: tuple[str, str],
    records: dict[str, dict[tuple[str, str], dict[int, Record]]],
    n_expected: int,
    wanted: tuple[Measure, Measure],
) -> Effect:
    pairs = pair_up(records[NONE][place], records[control][place])
    clusters = cluster_labels(cluster_keys(*pair) for pair in pairs)
    own = [mean_estimate([measure.of(b) for _, b in pairs], clusters) for measure in wanted]
    lost = [mean_estimate([measure.of(a) - measure.of(b) for a, b in pairs], clusters) for measure in wanted]
    return Effect(place[1], place[0], control, len(pairs), n_expected, *own, *lost)


def _scenario(found: Sequence[Effect]) -> Iterator[RenderableType]:
    yield Text.assemble(("\n" + found[0].scenario, "bold"), f"   {found[0].n_expected} meta-episodes")
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    table.add_column("agent, control", width=28, overflow="fold")
    for title in ("last", "gain", "lost of last", "lost of gain"):
        table.add_column(title, justify="right", width=13)
    for agent in dict.fromkeys(effect.agent for effect in found):
        table.add_row(Text(short_name(agent), "bold"))
        for effect in found:
            if effect.agent == agent:
                table.add_row(*_cells(effect))
    yield table


def _cells(effect: Effect) -> list[str]:
    mark = "" if effect.n == effect.n_expected else " !"
    lost = [] if effect.control == NONE else [with_half(*effect.lost_last[:3]), with_half(*effect.lost_gain[:3])]
    return [f" {effect.control}{mark}", with_half(*effect.last[:3]), with_half(*effect.gain[:3]), *lost]
