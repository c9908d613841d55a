"""Everything that decides what a training run does, as one flat frozen dataclass. Neither torch nor TRL is needed.

A field is said once: its type, its default, its range and its words stand in one line, and flags, TOML files, errors
and the table in docs/training.md are made of them. Defaults are MAGE's settings (arXiv 2603.03680) for Qwen3-4B,
where the paper gives them; :mod:`mage_agent.grpo.presets` has what other methods do otherwise. There is no None: 0 or
an empty text is said where something can be left out, so that every field can be written in TOML.
"""

from __future__ import annotations

import hashlib
import runpy
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

from mage_agent.grpo.about import About, Value, toml_value
from mage_agent.grpo.advantages import ESTIMATORS, REWARDS, Anchors, CreditRule, Grouping, Normalisation
from mage_agent.grpo.credit import OBJECTIVES
from mage_envs.errors import MageError

if TYPE_CHECKING:
    from mage_envs.scenarios import Scenario

Opponents = Literal["stationary", "mixed"]
Loss = Literal["dapo", "grpo", "bnpo", "dr_grpo"]
Optimiser = Literal["adamw_torch", "adamw_torch_fused", "adamw_8bit", "paged_adamw_8bit", "adafactor", "sgd"]
Scheduler = Literal["constant", "constant_with_warmup", "linear", "cosine"]
Precision = Literal["auto", "float32", "bfloat16"]
Attention = Literal["auto", "eager", "sdpa", "flash_attention_2"]
Thinking = Literal["template", "on", "off"]
Vllm = Literal["off", "colocate", "server"]
Device = Literal["auto", "cpu"]

TASK, MODEL, REPLIES, GROUPS, CREDIT, LOSS, OPTIMISER, RUN = (
    "What is played",
    "Which model is trained",
    "How replies are drawn",
    "Which meta-episodes make a group",
    "What a turn is worth",
    "Loss",
    "Optimiser",
    "Checkpoints, evaluation, logs",
)
"""The parts in which fields are listed."""


@dataclass(frozen=True)
class TrainConfig:
    """What is trained, on what, and how. What a field means stands beside it."""

    scenario: Annotated[str, About(TASK, "Scenario; `benchmark list scenarios` has them.")] = "kuhn/train"
    population: Annotated[
        str, About(TASK, "Population, or spec of one opponent, instead of the scenario's. Empty: its own.")
    ] = ""
    episodes: Annotated[int, About(TASK, "N, episodes in a meta-episode.", 1, 1000)] = 3
    max_invalid: Annotated[
        int, About(TASK, "So many replies in a row that cannot be played lose the episode.", 1, 1000)
    ] = 3
    stop_on_success: Annotated[bool, About(TASK, "Whether the first win ends the meta-episode.")] = False
    legal_actions: Annotated[bool, About(TASK, "Whether prompts list the legal actions.")] = True
    seed: Annotated[int, About(TASK, "Decides all that is drawn: tasks, replies, order.", 0, 2**31 - 1)] = 0

    model: Annotated[str, About(MODEL, "Local folder or hub id of the model that training starts from.")] = ""
    revision: Annotated[str, About(MODEL, "Revision of a hub id. Empty: the newest.")] = ""
    agent: Annotated[str, About(MODEL, "Spec of the language agent that the model plays as: prompts and memory.")] = (
        "reflective"
    )
    precision: Annotated[
        Precision,
        About(MODEL, "Of arithmetic, and of weights that are not trained. auto: bfloat16 on GPUs that have it."),
    ] = "auto"
    attention: Annotated[Attention, About(MODEL, "Implementation of attention. auto: transformers chooses.")] = "auto"
    thinking: Annotated[Thinking, About(MODEL, "Thoughts of a model whose template can turn them on and off.")] = (
        "template"
    )
    trust_remote_code: Annotated[bool, About(MODEL, "Whether code that comes with the model may run.")] = False
    lora_rank: Annotated[int, About(MODEL, "Rank of LoRA's matrices. 0: all weights are trained.", 0, 4096)] = 0
    lora_alpha: Annotated[int, About(MODEL, "Scale of LoRA's matrices, divided by the rank.", 1, 65536)] = 32
    lora_dropout: Annotated[float, About(MODEL, "Dropout of LoRA's inputs.", 0, 0.99)] = 0.0
    lora_targets: Annotated[str, About(MODEL, "Layers that get LoRA: all-linear, or names with commas.")] = "all-linear"
    gradient_checkpointing: Annotated[bool, About(MODEL, "Computes activations twice, and keeps few of them.")] = False
    device: Annotated[Device, About(MODEL, "Where it is trained. auto: on GPUs if there are any.")] = "auto"

    max_completion: Annotated[int, About(REPLIES, "Most tokens of a reply, thoughts included.", 1, 1_000_000)] = 1024
    context: Annotated[
        int, About(REPLIES, "Most tokens of prompt and reply together. 0: as the model says.", 0, 100_000_000)
    ] = 0
    temperature: Annotated[float, About(REPLIES, "Of sampling.", 0, 10, above=True)] = 0.7
    top_p: Annotated[float, About(REPLIES, "Of sampling. 1: off.", 0, 1, above=True)] = 0.8
    top_k: Annotated[int, About(REPLIES, "Of sampling. 0: off.", 0, 10_000_000)] = 20
    sample_rows: Annotated[
        int, About(REPLIES, "Most prompts in one call of generate: bounds memory. 0: all at once.", 0, 1_000_000)
    ] = 0
    vllm: Annotated[Vllm, About(REPLIES, "Who draws: transformers, vLLM in this process, or `trl vllm-serve`.")] = "off"
    vllm_url: Annotated[str, About(REPLIES, "Where vLLM's server is.")] = "http://localhost:8000"
    vllm_memory: Annotated[
        float, About(REPLIES, "Share of a GPU's memory for vLLM in this process.", 0, 1, above=True)
    ] = 0.3
    vllm_tensor_parallel: Annotated[int, About(REPLIES, "GPUs that share one vLLM model in this process.", 1, 1024)] = 1

    group_size: Annotated[int, About(GROUPS, "G, meta-episodes of a group: same task, seat and seeds.", 2, 100_000)] = 8
    groups: Annotated[int, About(GROUPS, "Groups of a rollout, over all processes.", 1, 100_000)] = 16
    opponents: Annotated[Opponents, About(GROUPS, "stationary: one opponent a group. mixed: several in a group.")] = (
        "stationary"
    )

    rules: Annotated[
        str, About(CREDIT, "Python file that registers objectives, rewards or estimators of one's own. Empty: none.")
    ] = ""
    objective: Annotated[
        str,
        About(
            CREDIT,
            "What the end of an episode pays: R_n - R_(n-1), R_n, R_N only, each by itself.",
            registry=OBJECTIVES,
        ),
    ] = "differential"
    gamma_step: Annotated[float, About(CREDIT, "Discount from a turn to the next one of its episode.", 0, 1)] = 0.95
    gamma_traj: Annotated[float, About(CREDIT, "Discount from an episode to the next one.", 0, 1)] = 0.6
    reward: Annotated[
        str, About(CREDIT, "R of an episode: +10 win, -10 loss, 0 else; or its score.", registry=REWARDS)
    ] = "outcome"
    reward_scale: Annotated[float, About(CREDIT, "Factor of R.", 0, 1e6, above=True)] = 1.0
    invalid_penalty: Annotated[float, About(CREDIT, "Cost of a reply that cannot be played.", 0, 1e6)] = 0.5
    length_penalty: Annotated[
        float, About(CREDIT, "Cost of a reply of full length; from half of it on it grows.", 0, 1e6)
    ] = 0.5
    estimator: Annotated[
        str, About(CREDIT, "Advantages of episodes and of steps, or of meta-episodes.", registry=ESTIMATORS)
    ] = "gigpo"
    normalisation: Annotated[
        Normalisation, About(CREDIT, "What a group's values are freed of: mean, or deviation too.")
    ] = "mean"
    std_floor: Annotated[float, About(CREDIT, "Least deviation that mean_std divides by.", 0, 1e6, above=True)] = 0.01
    step_weight: Annotated[float, About(CREDIT, "Weight of GiGPO's advantages of steps.", 0, 1e6)] = 1.0
    anchors: Annotated[Anchors, About(CREDIT, "Equal states are compared across the episodes, or within each.")] = (
        "across"
    )
    grouping: Annotated[Grouping, About(CREDIT, "Whether the opponent is part of what a group shares.")] = "opponent"

    loss: Annotated[Loss, About(LOSS, "TRL's normalisation of the loss: dapo is by tokens.")] = "dapo"
    epsilon: Annotated[float, About(LOSS, "Clips ratios of probabilities below 1 - epsilon.", 0, 1)] = 0.2
    epsilon_high: Annotated[float, About(LOSS, "Clips them above 1 + epsilon_high.", 0, 100)] = 0.2
    beta: Annotated[
        float, About(LOSS, "Weight of the KL divergence from the start. 0: no copy of it is kept.", 0, 1e3)
    ] = 0.0
    entropy_weight: Annotated[float, About(LOSS, "Weight of an entropy bonus.", 0, 1e3)] = 0.0
    iterations: Annotated[int, About(LOSS, "So often each rollout is learnt from.", 1, 1000)] = 1
    mini_batches: Annotated[
        int, About(LOSS, "Steps of the optimiser for each time; divides groups * group_size.", 1, 100_000)
    ] = 1
    max_rows: Annotated[
        int, About(LOSS, "Most turns in a forward pass: bounds memory, changes no result.", 1, 1_000_000)
    ] = 64

    steps: Annotated[int, About(OPTIMISER, "Steps of the optimiser.", 1, 100_000_000)] = 150
    optimiser: Annotated[Optimiser, About(OPTIMISER, "As transformers calls it; those of 8 bit need bitsandbytes.")] = (
        "adamw_torch"
    )
    learning_rate: Annotated[float, About(OPTIMISER, "Its largest value.", 0, 10, above=True)] = 1e-6
    scheduler: Annotated[Scheduler, About(OPTIMISER, "How the learning rate goes on.")] = "constant"
    warmup_steps: Annotated[
        int, About(OPTIMISER, "Steps in which it rises from 0; constant has none.", 0, 100_000_000)
    ] = 0
    weight_decay: Annotated[float, About(OPTIMISER, "Of AdamW.", 0, 10)] = 0.0
    max_grad_norm: Annotated[float, About(OPTIMISER, "Gradients are cut to this norm. 0: never.", 0, 1e9)] = 1.0

    save_every: Annotated[int, About(RUN, "Steps between two checkpoints.", 1, 100_000_000)] = 10
    keep_checkpoints: Annotated[int, About(RUN, "So many of the newest checkpoints are kept. 0: all.", 0, 100_000)] = 2
    log_every: Annotated[int, About(RUN, "Steps between two lines of metrics.", 1, 100_000_000)] = 1
    eval_every: Annotated[
        int, About(RUN, "Steps between two evaluations; also before training and after it. 0: none.", 0, 100_000_000)
    ] = 0
    eval_meta_episodes: Annotated[int, About(RUN, "Meta-episodes of the validation panel.", 2, 1_000_000)] = 64
    eval_episodes: Annotated[int, About(RUN, "N, episodes in a meta-episode of the validation panel.", 1, 1000)] = 3
    eval_batch: Annotated[int, About(RUN, "Meta-episodes that an evaluation plays at once.", 1, 10_000)] = 64
    eval_scenario: Annotated[
        str, About(RUN, "Scenario of the validation panel. Empty: the one that is trained on.")
    ] = ""
    report_to: Annotated[str, About(RUN, "Where TRL logs to: tensorboard, wandb, trackio, several with commas.")] = (
        "none"
    )
    stop_entropy: Annotated[float, About(RUN, "Entropy below which training has collapsed. 0: never.", 0, 1e3)] = 0.0
    stop_invalid: Annotated[
        float, About(RUN, "Share of invalid replies above which it has collapsed. 1: never.", 0, 1)
    ] = 1.0
    stop_patience: Annotated[
        int, About(RUN, "So many lines of metrics in a row stop a collapsed run.", 1, 1_000_000)
    ] = 5

    def __post_init__(self) -> None:
        """Checks every field by itself, then what belongs together.

        Raises:
            MageError: One is of the wrong type or out of range; the message has the field, its range and the remedy.
        """
        if self.rules and isinstance(self.rules, str):
            load_rules(str(Path(self.rules).resolve()))
        for name, about in ABOUT.items():
            value = about.checked(name, getattr(self, name), TYPES[name], DEFAULTS[name])
            object.__setattr__(self, name, value)
        if (self.groups * self.group_size) % self.mini_batches:
            raise MageError(
                f"mini_batches = {self.mini_batches} does not divide groups * group_size = "
                f"{self.groups} * {self.group_size}: choose one that does"
            )
        if self.save_every % self.steps_a_rollout:
            raise MageError(
                f"save_every = {self.save_every} is in the middle of a rollout, which is learnt from in "
                f"{self.steps_a_rollout} steps (mini_batches * iterations): take a multiple of {self.steps_a_rollout}"
            )
        if self.save_every % self.log_every:
            raise MageError(
                f"save_every = {self.save_every} is between two lines of metrics, so that the first line after a "
                f"resume would leave steps out: take a multiple of log_every, which is {self.log_every}"
            )
        if self.warmup_steps and self.scheduler == "constant":
            raise MageError('scheduler = "constant" has no warm-up: take "constant_with_warmup", or warmup_steps = 0')

    @property
    def played(self) -> Scenario:
        """The scenario with the population that is trained on.

        Raises:
            UnknownNameError: There is no such scenario; near matches are listed.
            MageError: Nobody else plays in it, and there is a population.
        """
        return with_population(self.scenario, self.population)

    @property
    def steps_a_rollout(self) -> int:
        """Steps of the optimiser that learn from one rollout."""
        return self.mini_batches * self.iterations

    @property
    def rule(self) -> CreditRule:
        """How turns are credited: the fields that have the names of the rule's."""
        return CreditRule(**{each.name: getattr(self, each.name) for each in fields(CreditRule)})

    def toml(self) -> str:
        """Writes all fields as TOML, in their order: ``config_files.read_toml`` reads them."""
        return "".join(f"{name} = {toml_value(value)}\n" for name, value in asdict(self).items())

    @property
    def sha256(self) -> str:
        """The hash of :meth:`toml`: equal for equal configurations, on any machine."""
        return hashlib.sha256(self.toml().encode()).hexdigest()


_HINTS = {name: get_args(hint) for name, hint in get_type_hints(TrainConfig, include_extras=True).items()}

DEFAULTS: Mapping[str, Value] = {each.name: each.default for each in fields(TrainConfig)}  # type: ignore[misc]
TYPES: Mapping[str, Any] = {name: wanted for name, (wanted, _) in _HINTS.items()}
ABOUT: Mapping[str, About] = {name: about for name, (_, about) in _HINTS.items()}


def with_population(scenario: str, population: str) -> Scenario:
    """Returns a scenario, with another population if one is named.

    Raises:
        UnknownNameError: There is no such scenario; near matches are listed.
        MageError: Nobody else plays in it, and there is a population.
    """
    from mage_envs.scenarios import SCENARIOS

    found = SCENARIOS.get(scenario)
    if not population:
        return found
    if found.population is None:
        raise MageError(f"nobody else plays in {scenario}: leave population out, which is {population!r}")
    return replace(found, population=population)


@cache
def load_rules(path: str) -> None:
    """Runs a Python file, once, which registers rules of credit.

    Raises:
        MageError: It cannot be run.
    """
    try:
        runpy.run_path(path)
    except Exception as error:  # It is a user's.
        raise MageError(f"rules = {path!r} cannot be run: {type(error).__name__}: {error}") from error


def rules_sha256(config: TrainConfig) -> str:
    """Returns the SHA-256 of the user's file of rules; empty if there is none."""
    return hashlib.sha256(Path(config.rules).read_bytes()).hexdigest() if config.rules else ""


def choices(name: str) -> tuple[str, ...]:
    """Returns the words that a field may be; none if it is any text or a number."""
    return ABOUT[name].words(TYPES[name])
