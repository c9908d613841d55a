"""Makes the checkpoint ``start``: ``python -m mage_agent.tiny.clone FOLDER``. Needs the extra ``train``.

Builds a Llama of a quarter of a million parameters and a tokenizer of words, plays tutors of mixed quality in three
games, and clones their replies with TRL's SFTTrainer, the loss on the replies alone. About nine minutes on one core.
"""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from mage_agent.baselines.tiny import TEMPLATES, Tiny
from mage_agent.tiny.build import build_model
from mage_agent.tiny.tokenizer import trained_tokenizer
from mage_agent.tiny.transcripts import Sample, transcripts

CONTEXT = 2048


class Share(NamedTuple):
    """How many meta-episodes of a scenario are cloned."""

    scenario: str
    meta_episodes: int


SHARES = (Share("kuhn/train", 4000), Share("rps/leaning", 2500), Share("tictactoe/train", 700))

LONGEST = 200
"""Tokens; longer samples, which are remarks on whole games of Tic-Tac-Toe, cost more than they teach."""

OFTEN = 5
"""A line of an observation that comes so often is a token."""

_REMARK = TEMPLATES.reflection.split("{")[0]
_TAGS = ("<action>", "</action>", "<remark>", "</remark>")


def clone(folder: Path, seed: int = 0, *, shares: tuple[Share, ...] = SHARES, epochs: int = 3) -> Path:
    """Builds and trains the model.

    Args:
        folder: Where to; must not hold another model.
        seed: Of the weights, the tutors and the order of samples.
        shares: What is cloned.
        epochs: How often each sample is seen.

    Returns:
        The folder, as transformers loads it.
    """
    samples = [
        sample
        for share in shares
        for sample in transcripts(share.scenario, Tiny(), share.meta_episodes, seed * 1_000_000)
    ]
    tokenizer = trained_tokenizer(_texts(samples), _phrases(samples), CONTEXT)
    build_model(
        folder, seed, hidden=64, layers=3, heads=4, inner=192, context=CONTEXT, tokenizer=tokenizer, deviation=0.1
    )
    rows = [row_of(tokenizer, sample) for sample in samples]
    _fit(folder, [row for row in rows if len(row["input_ids"]) <= LONGEST], seed, epochs)
    return folder


def row_of(tokenizer: Any, sample: Sample) -> dict[str, list[int]]:
    """Returns the tokens of a prompt and its reply, and which of them are the reply's."""
    messages = [message._asdict() for message in sample.prompt]
    prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    prompt_ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    reply_ids = [*tokenizer(sample.reply, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    return {
        "input_ids": prompt_ids + reply_ids,
        "completion_mask": [0] * len(prompt_ids) + [1] * len(reply_ids),
    }


def _phrases(samples: list[Sample]) -> list[str]:
    """Returns what is one token: rules, how to answer, tags, and lines of observations that come often.

    A prompt of a few dozen tokens is what so small a model learns to read in minutes. What agents write stays in words.
    """
    answers = (TEMPLATES.act, TEMPLATES.reflect)
    found = set()
    for system in {sample.prompt[0].content for sample in samples}:
        rules = next(system.removesuffix(f"\n{answer}") for answer in answers if system.endswith(answer))
        found.update(rules.split("\n\n"))
    lines = Counter(line for sample in samples for line in sample.prompt[-1].content.split("\n") if line)
    often = [line for line, count in lines.items() if count >= OFTEN and not line.startswith(_REMARK)]
    found.update(often, (f"{line}\n" for line in often))
    return [*sorted(found), *answers, *_TAGS]


def _texts(samples: list[Sample]) -> list[str]:
    return [text for sample in samples for text in (sample.prompt[-1].content, sample.reply)]


def _fit(folder: Path, rows: list[dict[str, list[int]]], seed: int, epochs: int) -> None:
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import SFTConfig, SFTTrainer

    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)  # TRL's calls of what transformers is to rename.
        arguments = SFTConfig(
            output_dir=scratch,
            per_device_train_batch_size=64,
            num_train_epochs=epochs,
            learning_rate=2e-3,
            lr_scheduler_type="cosine",
            warmup_steps=50,
            max_length=CONTEXT,
            completion_only_loss=True,
            logging_steps=100,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            seed=seed,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            dataloader_pin_memory=False,
        )
        trainer = SFTTrainer(
            model=model, args=arguments, train_dataset=Dataset.from_list(rows), processing_class=tokenizer
        )
        trainer.train()
    model.config.use_cache = True  # Training turned it off.
    model.save_pretrained(folder)


def main() -> None:
    """Runs the command."""
    import typer

    def command(folder: Path, seed: int = 0) -> None:
        """Clones the tiny model into FOLDER."""
        typer.echo(f"cloned {clone(folder, seed)}")

    typer.run(command)


if __name__ == "__main__":
    main()
