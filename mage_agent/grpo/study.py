"""A study: presets over one configuration, each trained with several seeds, and played on the same panels.

A preset stands over the base configuration here, so that ``gigpo`` has groups of 24 single episodes also where the base
says 8 meta-episodes. One arm is what the others are compared with. ``study.json`` says all that decides a result; it is
written first, and a study may grow by arms and seeds, but not change.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from mage_agent.backends.local_files import local_folder
from mage_agent.grpo.about import Value
from mage_agent.grpo.config import TrainConfig, rules_sha256
from mage_agent.grpo.config_files import check_names, read_toml
from mage_agent.grpo.dataset import opponents_a_group, weights_of
from mage_agent.grpo.evaluation import Panel, panel_of
from mage_agent.grpo.presets import PRESETS, preset
from mage_agent.grpo.run_folder import RULES, RunFolder
from mage_envs.errors import MageError

DEFAULT_ARMS = (
    "mage",
    "lamer",
    "mage-final",
    "gigpo",
    "grpo",
    "mage-mixed-groups",
    "mage-no-opponent-key",
    "mage-mean-std",
    "mage-anchor-within",
)
CONTROLS = ("no_memory", "shuffled_reflection")
"""Under which the compared arm plays, too."""
SEEDS, META_EPISODES = 3, 2000
START = "start"
"""Stands for the model before training, where the name of an arm could be."""
NONE = "none"
"""No control."""

STUDY, PLAYED, REPORT = "study.json", "played", "report"
"""What stands beside the arms in the folder of a study."""
_FORMAT = 1


class Arm(NamedTuple):
    """What is trained, as its difference from the base.

    Attributes:
        name: Name of a preset, or of a file without its end.
        summary: What it is, in a line.
        changes: Values by name of field.
    """

    name: str
    summary: str
    changes: Mapping[str, Value]


@dataclass(frozen=True)
class Study:
    """What is trained and played.

    Attributes:
        base: Values by name of field, which all arms share but for what they change.
        compared: Name of the arm that the others are compared with.
        arms: The arms, that one among them.
        seeds: Seeds of training; for each seed there is a panel, on which all arms and the start play.
        meta_episodes: Of each panel.
        controls: Under which the compared arm plays, too.
    """

    base: Mapping[str, Value]
    compared: str
    arms: tuple[Arm, ...]
    seeds: tuple[int, ...]
    meta_episodes: int = META_EPISODES
    controls: tuple[str, ...] = CONTROLS

    def config(self, arm: str, seed: int) -> TrainConfig:
        """Returns the configuration of a run; that of the base for :data:`START`."""
        changes = {} if arm == START else next(each.changes for each in self.arms if each.name == arm)
        return TrainConfig(**{**self.base, **changes, "seed": seed})  # type: ignore[arg-type]

    @property
    def panel(self) -> Panel:
        """What all play, whatever they were trained on: the compared arm's validation scenario and its N."""
        found = panel_of(replace(self.config(self.compared, 0), eval_meta_episodes=self.meta_episodes))
        return replace(found, stop_on_success=False)  # Or the last episodes are of other meta-episodes in each arm.

    @property
    def rules(self) -> dict[str, str]:
        """SHA-256 of each file of rules, by its path: the configurations have the path alone."""
        configs = (self.config(arm.name, self.seeds[0]) for arm in self.arms)
        return {config.rules: rules_sha256(config) for config in configs if config.rules}

    def controls_of(self, arm: str) -> tuple[str, ...]:
        """Returns under what an arm plays: no control first."""
        return (NONE, *self.controls) if arm == self.compared else (NONE,)

    def with_more(self, names: Sequence[str], seeds: int | None, meta_episodes: int | None) -> Study:
        """Returns this study with further presets, and with so many seeds if those are more.

        Raises:
            MageError: An unknown preset, or another number of meta-episodes.
        """
        if meta_episodes not in (None, self.meta_episodes):
            raise MageError(f"the study has {self.meta_episodes} meta-episodes, and not {meta_episodes}: begin another")
        first = self.seeds[0]
        arms = {arm.name: arm for arm in self.arms}
        for arm in _arms(names):
            if arms.setdefault(arm.name, arm).changes != arm.changes:
                raise MageError(f"{arm.name} is another preset than the study has: give the file another name")
        return replace(self, arms=tuple(arms.values()),
                       seeds=tuple(range(first, first + max(len(self.seeds), seeds or 0))))  # fmt: skip

    def check(self) -> None:
        """Refuses what cannot be trained, or would be trained twice.

        Raises:
            MageError: The message names the remedy.
        """
        if not self.base.get("model"):
            raise MageError("no model is named: say --model PATH, a local folder or a hub id")
        _check_task(self.config(START, self.seeds[0]))
        opponents_a_group(self.config(self.compared, self.seeds[0]))
        found: dict[TrainConfig, str] = {}
        for arm in self.arms:
            try:
                config = self.config(arm.name, self.seeds[0])
                _check_task(config)
                opponents_a_group(config)
            except MageError as error:
                raise MageError(f"{arm.name} cannot be trained: {error}; say --presets without it") from None
            self._check_compared(arm.name, config)
            if (before := found.setdefault(config, arm.name)) != arm.name:
                raise MageError(f"over this base {arm.name} is the same configuration as {before}: leave one out")

    def _check_compared(self, name: str, config: TrainConfig) -> None:
        """Refuses an arm that is trained on something else than the compared one, if no panel is fair to both."""
        base, panel = self.config(self.compared, self.seeds[0]), self.panel.scenario
        if config.played == base.played:
            return
        trained = f"{name} is trained on {_task(config)}, and {self.compared} on {_task(base)}"
        if len({config.played.env_id, base.played.env_id, panel.env_id}) > 1:
            raise MageError(
                f"{trained}; what both would play is {panel.name}, and these are not all one game: say --presets "
                f"without {name}, or begin a study of its game, with --scenario and --eval-scenario"
            )
        if not base.eval_scenario:
            raise MageError(f"{trained}: say what both shall play, with --eval-scenario NAME, a scenario of that game")


@dataclass(frozen=True)
class StudyFolder:
    """A study on disk: ``<arm>/seed-<k>`` are runs of training, what was played stands beside them."""

    path: Path

    def run(self, arm: str, seed: int) -> RunFolder:
        """Returns the folder of a training."""
        return RunFolder(self.path / arm / f"seed-{seed}")

    def records(self, arm: str, seed: int, control: str) -> Path:
        """Returns the file of what a trained model played."""
        return self.path / PLAYED / arm / f"seed-{seed}-{control}.jsonl"

    def lock(self, arm: str, seed: int) -> Path:
        """Returns the file that whoever works at a run holds."""
        return self.path / ".locks" / f"{arm}-seed-{seed}.lock"

    def collapse(self, arm: str, seed: int) -> Path:
        """Returns the file that says why a training was stopped, if it was."""
        return self.path / arm / f"seed-{seed}.collapse.txt"

    def model(self, study: Study, arm: str, seed: int) -> str:
        """Returns the model that plays: the trained one, or where training collapsed, what it had come to.

        Raises:
            MageError: It had come to nothing that can play.
        """
        if arm == START:
            return str(study.base["model"])
        run = self.run(arm, seed)
        if run.finished:
            return str(run.final)
        found = run.collapsed if run.collapsed.is_dir() else run.checkpoint()
        if found is None:
            raise MageError(
                f"{run.path} collapsed before its first checkpoint, and no model of it can play: say --only with the "
                "other presets, or begin another study, with a lower learning_rate"
            )
        return str(found)

    def trained(self, arm: str, seed: int) -> bool:
        """Whether there is nothing more to train."""
        return arm == START or self.run(arm, seed).finished or self.collapse(arm, seed).exists()

    def read(self) -> Study | None:
        """Reads the study; None if there is none yet.

        Raises:
            MageError: The file is damaged, or of a newer version.
        """
        return None if (said := self.said()) is None else _from_json(said, self.path / STUDY)

    def said(self) -> dict[str, Any] | None:
        """Returns all that the file says, attempts included; None if there is none."""
        path = self.path / STUDY
        if not path.exists():
            return None
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise MageError(f"{path} is damaged: {error}; get it back, or begin in another folder") from error
        return found

    def check_rules(self, study: Study) -> None:
        """Refuses files of rules that are not what this study began with; one from before they were noted goes on.

        Raises:
            MageError: The message names the remedy.
        """
        before = (self.said() or {}).get(RULES, {})
        for path, now in study.rules.items():
            if before.get(path, now) != now:
                raise MageError(f"{path} is not what the study in {self.path} was begun with: take that file, or begin "
                                "another study with another --out")  # fmt: skip

    def write(self, study: Study, facts: Mapping[str, Any]) -> None:
        """Writes a study down, in one step.

        Args:
            study: The whole study.
            facts: Versions, commit and command of this attempt: JSON values.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        before = self.said() or {}
        rules = {**study.rules, **before.get(RULES, {})}
        arms = [{**arm._asdict(), "changes": dict(arm.changes)} for arm in study.arms]
        said = {"v": _FORMAT, **asdict(study), "arms": arms, **({RULES: rules} if rules else {}),
                "attempts": [*before.get("attempts", []), dict(facts)]}  # fmt: skip
        temporary = self.path / f".{STUDY}.tmp"
        temporary.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8", newline="\n")
        temporary.replace(self.path / STUDY)


def make_study(
    path: Path | None,
    given: Mapping[str, Value],
    names: Sequence[str] = (),
    seeds: int | None = None,
    meta_episodes: int | None = None,
    controls: Sequence[str] = CONTROLS,
) -> Study:
    """Puts a study together.

    Args:
        path: TOML file of the base; the preset that it names, else ``mage``, is what the others are compared with.
        given: Values that stand over the file's, as the command line has them.
        names: Presets, or TOML files of one's own; empty: :data:`DEFAULT_ARMS`.
        seeds: So many, from the base's ``seed`` on; None: :data:`SEEDS`.
        meta_episodes: Of each panel; None: :data:`META_EPISODES`.
        controls: Under which the compared arm plays, too.

    Raises:
        MageError: An unknown preset or field, or a value that is out of range; the message names the remedy.
    """
    check_names(given, "the command line")
    base = {} if path is None else read_toml(path)
    compared = base.pop("preset", DEFAULT_ARMS[0])
    if not isinstance(compared, str):
        raise MageError(f"{path}: preset = {compared!r} is no name of a preset: write it in quotes")
    preset(compared)
    base = {**base, **given}
    first = TrainConfig(**base).seed
    arms = _arms((compared, *(names or DEFAULT_ARMS)))
    wanted = range(first, first + (seeds or SEEDS))
    return Study(base, compared, arms, tuple(wanted), meta_episodes or META_EPISODES, tuple(controls))


def grown(before: Study, now: Study, where: Path) -> Study:
    """Adds the arms and seeds of a study to one that was begun.

    Raises:
        MageError: They are not of one study.
    """
    for name, kept, asked in (
        ("base", before.base, now.base),
        ("compared", before.compared, now.compared),
        ("meta_episodes", before.meta_episodes, now.meta_episodes),
        ("controls", before.controls, now.controls),
        *((arm.name, dict(arm.changes), dict(other.changes)) for arm in before.arms for other in now.arms
          if arm.name == other.name),
    ):  # fmt: skip
        if kept != asked:
            raise MageError(f"the study in {where} was begun otherwise ({name} is {kept}, and not {asked}): go on with "
                            "--out alone, or begin another")  # fmt: skip
    arms = {arm.name: arm for arm in (*before.arms, *now.arms)}
    return replace(before, arms=tuple(arms.values()), seeds=tuple(sorted({*before.seeds, *now.seeds})))


def _arms(names: Iterable[str]) -> tuple[Arm, ...]:
    """Returns the arms of presets and files, each once, in their order.

    Raises:
        MageError: Two files would be one arm.
    """
    found: dict[str, tuple[str, Arm]] = {}
    for name in dict.fromkeys(names):
        arm = _arm(name)
        before, other = found.setdefault(arm.name, (name, arm))
        if other.changes != arm.changes:
            raise MageError(f"{before} and {name} would both be called {arm.name}, and differ: rename one of them")
    return tuple(arm for _, arm in found.values())


def _arm(name: str) -> Arm:
    if not name.endswith(".toml"):
        found = preset(name)
        return Arm(name, found.summary, dict(found.changes))
    changes, stem = read_toml(Path(name)), Path(name).stem
    if stem in (START, PLAYED, REPORT):
        raise MageError(f"{stem} means something else in a study, and is no name of a preset: rename the file {name}")
    named = changes.pop("preset", None)
    changes = {**({} if named is None else preset(named).changes), **changes}
    if stem in PRESETS and changes != PRESETS[stem].changes:
        raise MageError(f"{name} would be called {stem}, and is another than the preset of this name: rename the file")
    return Arm(stem, f"of {Path(name).name}" + (f", over {named}" if named else ""), changes)


def _check_task(config: TrainConfig) -> None:
    """Refuses a model, a scenario or a population that is not there."""
    local_folder(config.model)
    if config.played.population is not None:
        weights_of(config.played, None)


def _task(config: TrainConfig) -> str:
    return config.scenario + (f" against {config.population}" if config.population else "")


def _from_json(said: Mapping[str, Any], where: Path) -> Study:
    if said.get("v") != _FORMAT:
        raise MageError(f"{where}: format {said.get('v')} is not {_FORMAT}, which this MAGE reads: upgrade it")
    arms = tuple(Arm(**arm) for arm in said["arms"])
    seeds, controls = tuple(said["seeds"]), tuple(said["controls"])
    return Study(said["base"], said["compared"], arms, seeds, said["meta_episodes"], controls)
