"""Tokens a second of a training step, rollout included, against a plain step of TRL on the same model.

Run: ``python -m benchmarks.perf.training [--config kuhn] [--rounds 5] [--json FILE] [--no-memory]``, a few minutes on
one thread. It prints tables: speed, where the time goes, and the peak memory of ``mage-agent train`` over five steps.

Ours plays meta-episodes of the tiny agent and trains on all turns. The peer is TRL's own ``GRPOTrainer`` with a
reward that costs nothing. It gets as many rows, whose prompts are a sample of those that ours asked (messages, rendered
by TRL; every eighth by length, eight replies each), and the same settings of sampling, loss and optimiser, so that
prompts and replies have as many tokens. It draws all replies in one call, which no environment allows. ``plain`` writes
what the model likes, as ours does; replies of ``even`` all have the mean length of ours, so that no column is wasted.

All take one step each in turn, from the same weights, at a learning rate that changes nothing. Tokens are those of
prompts and replies, without what fills rows up. Seconds are the processor's, since other work on a machine comes in
bursts; ratios are medians over rounds. Goal: at least 0.9 of either, and at most 3 GiB.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

TINY = Path(__file__).parents[2] / "mage_agent" / "tiny"
START = TINY / "checkpoints" / "start"
RATE = 1e-12
"""Of learning: the arithmetic of a step, without a change that would make later rounds another task."""

MEMORY_STEPS, WARM = 5, 1
OURS, PLAIN, EVEN = "ours", "plain", "even"


class Clock:
    """Processor time by part; what a part calls counts for the part that is called."""

    def __init__(self) -> None:
        """Begins with nothing."""
        self.spent: dict[str, float] = defaultdict(float)
        self._open: list[str] = []
        self._since = 0.0

    def _turn(self) -> None:
        now = time.process_time()
        if self._open:
            self.spent[self._open[-1]] += now - self._since
        self._since = now

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Counts what is inside for a part."""
        self._turn()
        self._open.append(name)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def watch(self, owner: Any, attribute: str, name: str) -> None:
        """Counts calls of a method of one object for a part."""
        method = getattr(owner, attribute)

        @wraps(method)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.part(name):
                return method(*args, **kwargs)

        setattr(owner, attribute, timed)


class Step(NamedTuple):
    """One step of training.

    Attributes:
        prompts: Tokens of all prompts.
        replies: Tokens of all replies.
        rows: How many rows there were.
        processor: Seconds of processor time.
        wall: Seconds.
        parts: Processor time by part.
    """

    prompts: int
    replies: int
    rows: int
    processor: float
    wall: float
    parts: dict[str, float]

    @property
    def rate(self) -> float:
        """Tokens to a second of processor time."""
        return (self.prompts + self.replies) / self.processor


class Stepper:
    """A trainer that takes one step at a time."""

    def __init__(self, trainer: Any) -> None:
        """Watches a trainer."""
        from transformers import TrainerCallback

        self.trainer, self.clock = trainer, Clock()
        self._sizes = (0, 0, 0)
        clock, began = self.clock, [0.0, 0.0]
        self._began = began

        class Marks(TrainerCallback):  # type: ignore[misc, unused-ignore]
            def on_step_begin(self, *args: Any, **kwargs: Any) -> None:
                clock.spent.clear()
                began[:] = [time.process_time(), time.perf_counter()]

            def on_step_end(self, *args: Any, **kwargs: Any) -> None:
                began[:] = [time.process_time() - began[0], time.perf_counter() - began[1]]

        trainer.add_callback(Marks())
        clock.watch(trainer, "training_step", "rest")
        clock.watch(trainer, "_generate_single_turn", "generate")
        clock.watch(trainer, "_get_per_token_logps_and_entropies", "forward")
        clock.watch(trainer.accelerator, "backward", "backward")
        make = trainer.create_optimizer

        def optimizer(*args: Any, **kwargs: Any) -> Any:
            made = make(*args, **kwargs)
            clock.watch(made, "step", "optimiser")
            return made

        trainer.create_optimizer = optimizer
        score = trainer._generate_and_score_completions

        def counted(inputs: Any) -> Any:
            batch = score(inputs)
            mask = batch["completion_mask"]
            self._sizes = int(batch["prompt_mask"].sum()), int(mask.sum()), len(mask)
            return batch

        trainer._generate_and_score_completions = counted

    def step(self, seed: int) -> Step:
        """Takes a step, from where the last one ended."""
        import torch

        torch.manual_seed(seed)
        self.trainer.train()
        processor, wall = self._began
        return Step(*self._sizes, processor, wall, dict(self.clock.spent))


def ours(config: Any, folder: Path) -> tuple[Stepper, list[list[dict[str, str]]]]:
    """Returns our trainer, and the list that takes the prompts that are asked."""
    from mage_agent.grpo.dataset import make_dataset
    from mage_agent.grpo.model_loading import load_start
    from mage_agent.grpo.run_folder import RunFolder
    from mage_agent.grpo.train import arguments
    from mage_agent.grpo.trainer import MageTrainer

    start = load_start(config)
    stepper = Stepper(
        quiet(
            MageTrainer(
                start.model,
                arguments(config, RunFolder(folder), bfloat16=start.bfloat16),
                train_dataset=make_dataset([config.played], config.groups, config.seed),
                processing_class=start.tokenizer,
                rule=config.rule,
                scenarios=(config.played,),
                agent=config.agent,
                episodes=config.episodes,
                max_rows=config.max_rows,
            )
        )
    )
    clock, trainer = stepper.clock, stepper.trainer
    rollout, chat = trainer._rollout, trainer._rollout._chat
    prompt, completion, make = chat.prompt, chat.completion, rollout._make
    known: dict[tuple[int, ...], list[dict[str, str]]] = {}
    asked: list[list[dict[str, str]]] = []

    def rendered(messages: Sequence[Any]) -> Any:
        with clock.part("texts and tokens"):
            found = prompt(messages)
        known[found.tokens] = [message._asdict() for message in messages]
        return found

    def completed(found: Any, *args: Any) -> Any:
        asked.append(known[found.tokens])
        with clock.part("texts and tokens"):
            return completion(found, *args)

    def made(name: str) -> Any:
        env = make(name)
        clock.watch(env, "step", "environment")
        clock.watch(env, "reset", "environment")
        return env

    chat.prompt, chat.completion, rollout._make = rendered, completed, made
    clock.watch(rollout, "play", "agents")
    return stepper, asked


def peer(config: Any, folder: Path, prompts: Sequence[list[dict[str, str]]], length: int | None) -> Stepper:
    """Returns a plain trainer.

    Args:
        config: The settings of ours.
        folder: Where it may write.
        prompts: One for each group of replies.
        length: Tokens of each reply; None: until the model ends it.
    """
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from mage_agent.grpo.model_loading import load_start

    start = load_start(config)
    rows = len(prompts) * config.group_size
    parts = -(-rows // config.max_rows)
    arguments = GRPOConfig(
        output_dir=str(folder),
        num_generations=config.group_size,
        per_device_train_batch_size=rows // parts,
        steps_per_generation=parts,
        gradient_accumulation_steps=parts,
        shuffle_dataset=False,
        max_completion_length=length or config.max_completion,
        generation_kwargs={"min_new_tokens": length} if length else None,
        temperature=config.temperature,
        top_p=config.top_p,
        top_k=config.top_k,
        loss_type=config.loss,
        epsilon=config.epsilon,
        epsilon_high=config.epsilon_high,
        beta=config.beta,
        entropy_coef=config.entropy_weight,
        max_steps=1,
        optim=config.optimiser,
        learning_rate=config.learning_rate,
        lr_scheduler_type=config.scheduler,
        weight_decay=config.weight_decay,
        max_grad_norm=config.max_grad_norm,
        gradient_checkpointing=False,
        bf16=False,
        use_cpu=True,
        seed=config.seed,
        save_strategy="no",
        logging_steps=1,
        report_to=[],
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(
        model=start.model,
        reward_funcs=lengths,
        args=arguments,
        train_dataset=Dataset.from_dict({"prompt": list(prompts)}),
        processing_class=start.tokenizer,
    )
    return Stepper(quiet(trainer))


def lengths(completion_ids: Sequence[Sequence[int]], **_: Any) -> list[float]:
    """Rewards short replies: nothing to compute, and a deviation that is not 0."""
    return [-float(len(ids)) for ids in completion_ids]


def quiet(trainer: Any) -> Any:
    """Returns the trainer, which says nothing any more."""
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)
    return trainer


def sample(prompts: list[list[dict[str, str]]], size: int, most: int) -> list[list[dict[str, str]]]:
    """Returns one prompt for each group of rows, spread evenly over all by length, and as many as fill whole parts."""
    ordered = sorted(prompts, key=lambda messages: sum(len(message["content"]) for message in messages))
    parts = -(-len(ordered) // most)
    groups = len(ordered) // size // parts * parts
    return [ordered[int((place + 0.5) * len(ordered) / groups)] for place in range(groups)]


def memory(config: Path) -> float:
    """Returns the peak of ``mage-agent train``, GiB. To be asked before this process is large itself."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mage_agent.cli", "train", "--config", str(config), "--model", str(START)]
        command += ["--steps", str(MEMORY_STEPS), "--save-every", str(MEMORY_STEPS), "--out", f"{folder}/run"]
        subprocess.run(command, check=True, capture_output=True, text=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20


def measure(path: Path, rounds: int, folder: Path) -> dict[str, list[Step]]:
    """Returns the steps of all, taken in turn."""
    import torch

    from mage_agent.grpo.presets import resolve

    torch.set_num_threads(1)
    given = {"model": str(START), "steps": 1, "save_every": 1, "learning_rate": RATE, "warmup_steps": 0}
    config = resolve(None, path, given)
    first, asked = ours(config, folder / OURS)
    first.trainer.args.save_strategy = "no"
    before = first.step(0)
    prompts = sample(asked, config.group_size, config.max_rows)
    steppers = {OURS: first, PLAIN: peer(config, folder / PLAIN, prompts, None)}
    steppers[EVEN] = peer(config, folder / EVEN, prompts, round(before.replies / before.rows))
    found: dict[str, list[Step]] = {name: [] for name in steppers}
    for number in range(WARM + rounds):
        for name, stepper in steppers.items():
            step = stepper.step(number + 1)
            if number >= WARM:
                found[name].append(step)
    return found


def ratio(ours: Sequence[Step], theirs: Sequence[Step], of: Callable[[Step], float]) -> float:
    """Returns the median over rounds."""
    return statistics.median(of(own) / of(other) for own, other in zip(ours, theirs, strict=True))


def summary(found: dict[str, list[Step]]) -> dict[str, Any]:
    """Returns what is reported of each trainer."""
    result: dict[str, Any] = {}
    for name, steps in found.items():
        parts = {part for step in steps for part in step.parts}
        result[name] = {
            "rows": statistics.median(step.rows for step in steps),
            "prompt_tokens": statistics.median(step.prompts for step in steps),
            "reply_tokens": statistics.median(step.replies for step in steps),
            "seconds": statistics.median(step.processor for step in steps),
            "tokens_per_s": statistics.median(step.rate for step in steps),
            "ours_to_this": ratio(found[OURS], steps, lambda step: step.rate),
            "ours_to_this_wall": ratio(found[OURS], steps, lambda step: (step.prompts + step.replies) / step.wall),
            "parts": {
                part: statistics.median(step.parts.get(part, 0.0) / step.processor for step in steps)
                for part in sorted(parts)
            },
        }
    return result


def table(rows: Sequence[Sequence[str]]) -> str:
    """Returns aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for name, *cells in rows:
        lines.append("  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]))
    return "\n".join(lines)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="Speed and memory of training.")
    parser.add_argument("--config", choices=("rps", "kuhn"), default="rps")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--no-memory", action="store_true")
    args = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning)  # TRL's calls of what transformers is to rename.
    path = TINY / f"{args.config}.toml"
    result: dict[str, Any] = {"config": args.config, "rounds": args.rounds}
    if not args.no_memory:
        result["peak_gib"] = memory(path)
    with tempfile.TemporaryDirectory() as folder:
        result["trainers"] = trainers = summary(measure(path, args.rounds, Path(folder)))
    columns = ("rows", "prompt_tokens", "reply_tokens", "seconds", "tokens_per_s", "ours_to_this", "ours_to_this_wall")
    rows = [["", *(name.replace("_", " ") for name in columns)]]
    rows += [[name, *(f"{one[key]:,.2f}".removesuffix(".00") for key in columns)] for name, one in trainers.items()]
    parts = sorted({part for one in trainers.values() for part in one["parts"]})
    shares = [["share of the time", *trainers]]
    shares += [[part, *(f"{one['parts'].get(part, 0):.0%}" for one in trainers.values())] for part in parts]
    print(f"{table(rows)}\n\n{table(shares)}")  # noqa: T201
    if "peak_gib" in result:
        print(f"\npeak of mage-agent train, {MEMORY_STEPS} steps: {result['peak_gib']:.2f} GiB")  # noqa: T201
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
