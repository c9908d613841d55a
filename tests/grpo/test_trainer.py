"""The trainer: what of a rollout is trained, by how much, and that neither chunks nor processes change a gradient."""

from __future__ import annotations

import copy
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="needs the extra train")

import numpy as np
import torch
import transformers
from trl import GRPOTrainer

from mage_agent.backends.base import FinalError
from mage_agent.grpo.advantages import advantages
from mage_agent.grpo.batch import chunks, to_batch
from mage_agent.grpo.dataset import make_dataset
from mage_agent.grpo.importance import MODES, importance_ratio
from mage_agent.grpo.rollout import Rollout
from mage_agent.grpo.sampler import TrlSampler
from mage_agent.grpo.samples import Played, Turn
from mage_agent.grpo.table import Sampled
from mage_agent.tiny.build import build_model
from mage_envs.errors import MageError
from tests.grpo.rolling import TOKENIZER
from tests.grpo.training import gradients, scripted, trainer, weights

ROOT = Path(__file__).parents[2]

pytestmark = [  # TRL 1.16 asks transformers 5.24 by a name that is deprecated there.
    pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:`gradient_checkpointing_:FutureWarning"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_model(tmp_path_factory.mktemp("models"), hidden=32, layers=1, heads=2, context=4096)


@pytest.fixture(scope="module")
def precise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in float64. TRL computes its log-probabilities in float32, so that seven digits of a sum are left."""
    place = tmp_path_factory.mktemp("models")
    return build_model(place, hidden=32, layers=1, heads=2, context=4096, dtype="float64")


def exact(**more: Any) -> dict[str, Any]:
    """Returns settings of a trainer in the type of its weights."""
    return {"script": True, "model_init_kwargs": {"dtype": "auto"}, **more}


def rollout_of(made: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], list[Played]]:
    """Returns a batch of a trainer, and the meta-episodes that it was made of."""
    played: list[list[Played]] = []
    play = Rollout.play

    def kept(self: Rollout, *arguments: Any) -> list[Played]:
        played.append(play(self, *arguments))
        return played[-1]

    with monkeypatch.context() as patch:
        patch.setattr(Rollout, "play", kept)
        made.model.train()
        made.current_gradient_accumulation_steps = made.args.gradient_accumulation_steps
        inputs = [row for row in list(made.train_dataset)[:2] for _ in range(4)]
        return made._generate_and_score_completions(inputs), played[0]


def turn(prompt: int, reply: int, **more: Any) -> Turn:
    base = {"logprobs": None, "cut": False, "phase": "play", "episode": 0, "reward": 0.0, "valid": True, "anchor": ""}
    return Turn(tuple(range(1, prompt + 1)), tuple(range(50, 50 + reply)), **{**base, **more})


# What of a rollout is trained.


def test_every_turn_is_a_row_with_its_own_advantage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trainer(folder, script=True)
    batch, played = rollout_of(made, monkeypatch)
    turns = [turn for one in played for turn in one.turns]
    assert {turn.phase for turn in turns} == {"play", "reflect"}
    assert {turn.cut for turn in turns} == {turn.valid for turn in turns} == {True, False}
    assert len(batch["prompt_ids"]) == len(turns)
    assert len({one.task.member for one in played}) == 4
    values = advantages(played, made._rule)
    assert torch.allclose(batch["advantages"], torch.tensor(values, dtype=torch.float32))
    assert len(set(values)) > 8
    for row, one in enumerate(turns):
        assert batch["prompt_ids"][row][batch["prompt_mask"][row] == 1].tolist() == list(one.prompt_ids)
        trained = (batch["completion_mask"] * batch["tool_mask"])[row] == 1
        assert batch["completion_ids"][row][trained].tolist() == list(one.completion_ids)
        assert batch["reflects"][row] == (one.phase == "reflect")
    assert batch["num_items_in_batch"] == sum(len(one.completion_ids) for one in turns)
    assert "old_per_token_logps" not in batch
    assert "ref_per_token_logps" not in batch


def test_rows_are_filled_up_with_copies_that_carry_no_loss() -> None:
    batch = to_batch([turn(3, 2), turn(5, 4, phase="reflect")], [1.0, -1.0], rows=5, pad=0)
    assert batch["prompt_ids"].tolist()[:2] == [[0, 0, 1, 2, 3], [1, 2, 3, 4, 5]]
    assert batch["completion_ids"].tolist()[:2] == [[50, 51, 0, 0], [50, 51, 52, 53]]
    assert batch["completion_mask"].tolist()[:2] == [[1, 1, 0, 0], [1, 1, 1, 1]]
    assert batch["prompt_ids"][2:].tolist() == batch["prompt_ids"][:1].tolist() * 3
    assert batch["tool_mask"].sum(1).tolist() == [4, 4, 0, 0, 0]
    assert batch["advantages"].tolist() == [1.0, -1.0, 0.0, 0.0, 0.0]
    empty = to_batch([], [], rows=2, pad=7)
    assert (empty["prompt_ids"].tolist(), int(empty["tool_mask"].sum())) == ([[7], [7]], 0)


def test_rows_can_be_split_into_equal_mini_batches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trainer(folder, script=True, per_device_train_batch_size=1, steps_per_generation=8)
    batch, played = rollout_of(made, monkeypatch)
    turns = sum(len(one.turns) for one in played)
    assert turns % 8
    assert len(batch["prompt_ids"]) == -(-turns // 8) * 8
    assert batch["num_rows"] == turns
    assert int((batch["tool_mask"].sum(1) > 0).sum()) == turns
    tokens = sum(len(turn.completion_ids) for one in played for turn in one.turns)
    assert batch["num_items_in_batch"] == tokens


def test_chunks_have_the_rows_of_much_the_same_length_and_no_empty_columns() -> None:
    turns = [turn(prompt, reply) for prompt, reply in itertools.product((3, 9, 5), (4, 1))]
    batch = {**to_batch(turns, [0.0] * 6, rows=6, pad=0), "num_items_in_batch": torch.tensor(3)}
    parts = list(chunks(batch, 2))
    assert [part.batch["prompt_ids"].shape[1] for part in parts] == [3, 5, 9]
    assert [part.batch["completion_ids"].shape[1] for part in parts] == [4, 4, 4]
    assert sorted(row for part in parts for row in part.rows.tolist()) == list(range(6))
    assert [part.tokens for part in parts] == [5, 5, 5]
    for part in parts:
        kept = part.batch["prompt_ids"][part.batch["prompt_mask"] == 1].tolist()
        assert kept == [token for row in part.rows for token in turns[row].prompt_ids]
    assert [len(part.rows) for part in chunks(batch, 4)] == [3, 3]


# How much it is trained.


def made_up(made: Any, *, rows: int = 21, play: int = 21) -> dict[str, Any]:
    """Returns a batch of short turns of many lengths, without playing."""
    rng = np.random.default_rng(0)
    turns = [turn(int(rng.integers(3, 20)), int(rng.integers(1, 9))) for _ in range(play)]
    turns = [one._replace(phase="reflect") if number % 3 == 2 else one for number, one in enumerate(turns)]
    made.model.train()
    made.current_gradient_accumulation_steps = made.args.gradient_accumulation_steps
    batch: dict[str, Any] = made._to_batch(turns, rng.normal(size=play).tolist(), rows)
    return batch


def one_shot(made: Any, batch: dict[str, Any], rows: int) -> tuple[float, torch.Tensor]:
    """Returns TRL's own loss and gradients of the first rows, all at once."""
    whole = {name: value[:rows] if value.ndim else value for name, value in batch.items()}
    made.model.zero_grad()
    loss = GRPOTrainer._compute_loss(made, made.model, whole)
    loss.backward()
    return loss.item(), gradients(made.model)


def in_chunks(made: Any, batch: dict[str, Any], most: int) -> tuple[float, torch.Tensor]:
    made._max_rows = most
    made.model.zero_grad()
    loss = made._compute_loss(made.model, batch)
    made.accelerator.backward(loss)
    return loss.item(), gradients(made.model)


@pytest.fixture(scope="module")
def calm(precise: Path) -> Any:
    return trainer(precise, **exact())


@pytest.mark.parametrize("loss_type", ["dapo", "grpo", "bnpo", "dr_grpo", "cispo", "sapo", "luspo", "vespo"])
@pytest.mark.parametrize("entropy_coef", [0.0, 0.3])
def test_chunks_change_no_gradient(
    calm: Any, monkeypatch: pytest.MonkeyPatch, loss_type: str, entropy_coef: float
) -> None:
    monkeypatch.setattr(calm, "loss_type", loss_type)
    monkeypatch.setattr(calm, "entropy_coef", entropy_coef)
    monkeypatch.setattr(calm, "_entropy_bonus_enabled", entropy_coef > 0)
    monkeypatch.setattr(calm, "importance_sampling_level", "sequence" if loss_type == "luspo" else "token")
    loss, wanted = one_shot(calm, made_up(calm), 21)
    assert wanted.abs().max() > 1e-4
    for rows, most in ((21, 21), (21, 4), (29, 5)):  # The last 8 of 29 are there to fill up.
        got, found = in_chunks(calm, made_up(calm, rows=rows), most)
        assert got == pytest.approx(loss, abs=1e-6)
        assert torch.allclose(found, wanted, rtol=1e-4, atol=1e-7)


def test_metrics_of_chunks_are_those_of_the_whole(precise: Path) -> None:
    made = trainer(precise, **exact(beta=0.1, entropy_coef=0.1, per_device_train_batch_size=4, steps_per_generation=2))
    batch = made_up(made)
    old = batch["old_per_token_logps"]
    old += torch.linspace(-0.5, 0.5, old.numel()).view_as(old)
    made._metrics["train"].clear()
    one_shot(made, batch, 21)
    wanted = {name: values[-1] for name, values in made._metrics["train"].items()}
    assert 0 < wanted["clip_ratio/region_mean"] < 1
    made._metrics["train"].clear()
    in_chunks(made, batch, 6)
    found = dict(made._metrics["train"])
    assert set(found) == {*wanted, "entropy/play", "entropy/reflect"}
    assert all(len(values) == 1 for values in found.values())
    for name in wanted:
        assert found[name][0] == pytest.approx(wanted[name], abs=1e-6), name
    low, high = sorted((found["entropy/play"][0], found["entropy/reflect"][0]))
    assert low <= found["entropy"][0] <= high


def test_no_row_is_trained_whose_tool_mask_is_nought(calm: Any) -> None:
    batch = made_up(calm)
    batch["tool_mask"][:] = 0
    _, found = in_chunks(calm, batch, 8)
    assert found.abs().max() == 0


@pytest.mark.parametrize("loss_type", ["grpo", "dapo"])
def test_mini_batches_add_up_to_the_whole(
    calm: Any, precise: Path, monkeypatch: pytest.MonkeyPatch, loss_type: str
) -> None:
    settings = {"loss_type": loss_type, "per_device_train_batch_size": 2, "steps_per_generation": 4}
    made = trainer(precise, **exact(gradient_accumulation_steps=4, **settings))
    batch = made_up(made, rows=24)
    monkeypatch.setattr(calm, "loss_type", loss_type)
    calm.current_gradient_accumulation_steps = 1
    _, wanted = one_shot(calm, batch, 21)
    made.model.zero_grad()
    for start in range(0, 24, 6):
        part = {name: value[start : start + 6] if value.ndim else value for name, value in batch.items()}
        made.accelerator.backward(made._compute_loss(made.model, part))
    assert torch.allclose(gradients(made.model), wanted, rtol=1e-4, atol=1e-7)


# Policies of the past, of the beginning, and of the sampler.


def logps(model: Any, one: Turn) -> torch.Tensor:
    """Returns log-probabilities of a reply, computed by itself."""
    ids = torch.tensor([[*one.prompt_ids, *one.completion_ids]])
    with torch.no_grad():
        scores = torch.log_softmax(model(input_ids=ids).logits[0, :-1].double(), dim=-1)
    found = scores.gather(1, ids[0, 1:, None])[len(one.prompt_ids) - 1 :, 0]
    return found


def test_old_and_reference_log_probabilities_are_exact(precise: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trainer(precise, **exact(beta=0.1, max_rows=5, per_device_train_batch_size=4, steps_per_generation=2))
    start = transformers.AutoModelForCausalLM.from_pretrained(precise, dtype="auto")
    with torch.no_grad():
        for weight in made.model.parameters():
            weight += 0.05 * torch.randn_like(weight)
    batch, played = rollout_of(made, monkeypatch)
    turns = [turn for one in played for turn in one.turns]
    for row in range(0, len(turns), 5):
        count = len(turns[row].completion_ids)
        for name, model in (("old_per_token_logps", made.model), ("ref_per_token_logps", start)):
            wanted = logps(model, turns[row]).float()
            assert torch.allclose(batch[name][row, :count].float(), wanted, atol=1e-5)
            assert batch[name][row, count:].abs().sum() == 0
    assert (batch["old_per_token_logps"] - batch["ref_per_token_logps"]).abs().max() > 0.01


def test_the_reference_of_an_adapter_is_the_model_without_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peft = pytest.importorskip("peft", reason="needs the extra train")
    config = peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    made = trainer(folder, script=True, beta=0.1, peft_config=config)
    with torch.no_grad():
        for name, weight in made.model.named_parameters():
            if "lora_B" in name:
                weight += 0.3
    batch, played = rollout_of(made, monkeypatch)
    one = played[0].turns[0]
    with made.model.disable_adapter():
        wanted = logps(made.model, one).float()
    found = batch["ref_per_token_logps"][0, : len(one.completion_ids)]
    assert torch.allclose(found, wanted, atol=1e-5)
    assert not torch.allclose(logps(made.model, one).float(), wanted, atol=1e-3)
    made.train()
    assert made.state.log_history[0]["kl"] > 0


@pytest.mark.parametrize("mode", MODES)
def test_importance_ratios_by_hand(mode: str) -> None:
    own = torch.log(torch.tensor([[0.8, 0.1, 0.5], [0.2, 0.4, 0.9]]))
    sampled = torch.log(torch.tensor([[0.2, 0.2, 0.1], [0.4, float("nan"), 0.1]]))
    mask = torch.tensor([[1, 1, 0], [1, 1, 0]])  # Ratios: 4, 1/2 and 1/2, unknown.
    found = importance_ratio(own, sampled, mask, mode, 0.6, 3.0)  # type: ignore[arg-type]
    wanted = {
        "token_truncate": [[3.0, 0.6, 1.0], [0.6, 1.0, 1.0]],
        "token_mask": [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0]],
        "sequence_truncate": [[2.0], [0.6]],
        "sequence_mask": [[2.0], [0.0]],
    }[mode]
    assert torch.allclose(found, torch.tensor(wanted))


def test_an_unknown_importance_mode_is_refused() -> None:
    one = torch.zeros(1, 1)
    with pytest.raises(ValueError, match="token_truncate"):
        importance_ratio(one, one, one, "tokens", None, 3.0)  # type: ignore[arg-type]


def test_what_vllm_sampled_is_weighted_by_importance(precise: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trainer(precise, **exact(vllm_importance_sampling_mode="token_truncate"))
    made.use_vllm = True
    told = lambda ids: [-0.1 * number if number else None for number in range(len(ids))]  # noqa: E731
    replies = lambda prompts: [scripted(prompt) for prompt in prompts]  # noqa: E731
    made._generate_single_turn = lambda prompts, *_: (replies(prompts), [told(ids) for ids in replies(prompts)])
    batch, played = rollout_of(made, monkeypatch)
    turns = [turn for one in played for turn in one.turns]
    assert turns[0].logprobs is not None
    row = max(range(len(turns)), key=lambda row: len(turns[row].completion_ids))
    wanted = (logps(made.model, turns[row])[1:].float() - torch.tensor(turns[row].logprobs)[1:]).exp().clamp(max=3.0)
    found = batch["importance_sampling_ratio"][row, : len(turns[row].completion_ids)].float()
    assert torch.allclose(found[1:], wanted, atol=1e-5)
    assert found[0] == 1.0
    trained = (batch["completion_mask"] * batch["tool_mask"]).bool()
    mean = float(batch["importance_sampling_ratio"][trained].mean())
    assert made._metrics["train"]["importance/mean"] == [pytest.approx(mean, abs=1e-6)]
    assert made._metrics["train"]["importance/dropped"] == [0]
    loss, gradient = one_shot(made, batch, len(turns))
    got, chunked = in_chunks(made, batch, 5)
    assert got == pytest.approx(loss, abs=1e-6)
    assert torch.allclose(chunked, gradient, rtol=1e-4, atol=1e-7)


def test_vllm_without_log_probabilities_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trainer(folder, script=True)
    made.use_vllm = True
    with pytest.raises(MageError, match="vllm_importance_sampling_correction=False"):
        rollout_of(made, monkeypatch)


# Generation.


def test_replies_are_sampled_without_dropout_and_with_a_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trainer(folder)
    seen: list[tuple[bool, int]] = []
    made.model.gradient_checkpointing_enable()
    layer = made.model.model.layers[0]
    hook = layer.register_forward_hook(lambda module, args, _: seen.append((module.training, args[0].shape[1])))
    rollout_of(made, monkeypatch)
    hook.remove()
    assert {training for training, _ in seen} == {False}
    assert sum(width == 1 for _, width in seen) > 0.8 * len(seen)
    assert made.model.training
    assert made.model.is_activation_checkpointing


class Alone:
    """A trainer that generates the length of a prompt, and notes what it was asked."""

    class accelerator:  # noqa: N801 -- it stands for an attribute
        num_processes = 1

    def __init__(self, logprobs: bool = False) -> None:
        self.asked: list[list[list[int]]] = []
        self._logprobs = logprobs

    def _generate_single_turn(self, prompts: Any, images: Any, fields: Any, generations: int) -> Any:
        assert (images, fields, generations) == (None, {}, 1)
        self.asked.append(prompts)
        return [[len(prompt)] for prompt in prompts], [[-1.0] for _ in prompts] if self._logprobs else None


def test_the_sampler_sorts_by_length_and_gives_replies_in_order() -> None:
    made = Alone(logprobs=True)
    sampler = TrlSampler(made, 0, most=2)
    replies = sampler.sample([[1] * length for length in (3, 9, 2, 5, 4)])
    assert replies == [Sampled((length,), (-1.0,)) for length in (3, 9, 2, 5, 4)]
    assert [[len(prompt) for prompt in asked] for asked in made.asked] == [[2, 3], [4, 5], [9]]
    assert sampler.sample([]) == []
    assert sampler.in_step(True)
    assert not sampler.in_step(False)


def test_all_processes_ask_equally_often(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Alone()
    made.accelerator = type("", (), {"num_processes": 2})  # type: ignore[misc, assignment]
    monkeypatch.setattr("mage_agent.grpo.sampler.gather_object", lambda own: [*own, 3])
    sampler = TrlSampler(made, 7)
    assert sampler.sample([[1, 1]]) == [Sampled((2,), None)]
    assert made.asked == [[[7], [7], [1, 1]]]
    assert sampler.sample([]) == []
    assert made.asked[1] == [[7]] * 3
    assert sampler.in_step(False)


# The whole of it.


def test_it_trains_and_tells_how_it_goes(folder: Path) -> None:
    made = trainer(folder, entropy_coef=0.01, eval_dataset=make_dataset(["kuhn/train"], 2, seed=4))
    before = weights(made.model)
    made.train()
    assert not torch.equal(before, weights(made.model))
    logs = made.state.log_history[0]
    labels = {name.split("/")[2] for name in logs if name.startswith("score/last/")}
    assert labels <= {"conservative", "aggressive", "intermediate"}
    assert labels
    for name in ("score/first", "score/last", "rate/invalid", "rate/cut", "length/play", "length/reflect", "rows",
                 "meta_episodes", "entropy", "entropy/play", "entropy/reflect", "advantage/abs", "num_tokens",
                 "policy_loss", "entropy_coef"):  # fmt: skip
        assert isinstance(logs[name], float | int), name
    assert logs["rows"] >= 8 * 5
    assert logs["entropy_coef"] == 0.01
    found = made.evaluate()
    assert found["eval_meta_episodes"] == 8
    assert "eval_score/last" in found


def test_a_world_is_trained(folder: Path) -> None:
    made = trainer(folder, scenario="minesweeper/train", groups=4, episodes=2, max_invalid=1, max_steps=1)
    made.train()
    logs = made.state.log_history[0]
    assert "score/last/minesweeper_train" in logs
    assert logs["rows"] > 0


def test_a_prompt_that_does_not_fit_stops_the_training(folder: Path) -> None:
    with pytest.raises(FinalError, match="do not fit into 200"):
        trainer(folder, context=200).train()


def test_training_resumes_exactly(folder: Path, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "max_steps": 4, "steps_per_generation": 2, "per_device_train_batch_size": 4, "episodes": 2, "max_invalid": 1,
        "save_strategy": "steps", "save_steps": 2, "learning_rate": 3e-3, "entropy_coef": 0.1,
    }  # fmt: skip
    whole = trainer(folder, output_dir=str(tmp_path / "whole"), **settings)
    whole.train()
    torch.manual_seed(99)
    resumed = trainer(folder, output_dir=str(tmp_path / "resumed"), **settings)
    resumed.train(resume_from_checkpoint=str(tmp_path / "whole" / "checkpoint-2"))

    def told(made: Any) -> list[Any]:
        quiet = ("step_time", "train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss")
        return [{name: value for name, value in log.items() if name not in quiet} for log in made.state.log_history]

    assert len({log["loss"] for log in told(whole)[:4]}) == 4
    assert told(resumed)[:4] == told(whole)[:4]
    assert torch.equal(weights(resumed.model), weights(whole.model))


@pytest.mark.parametrize("loss_type", ["dapo", "grpo"])
def test_two_processes_train_as_one(precise: Path, tmp_path: Path, loss_type: str) -> None:
    command = [sys.executable, "-m", "tests.grpo.two_processes", str(precise), str(tmp_path), loss_type]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "CI": "1"}
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    alone, first, second = (torch.load(tmp_path / f"{name}.pt") for name in ("alone", "0", "1"))
    assert torch.equal(first["weights"], second["weights"])
    assert torch.allclose(first["weights"], alone["weights"], rtol=1e-6, atol=2e-6)
    assert not torch.allclose(alone["weights"], alone["before"], rtol=1e-4, atol=1e-6)
    for name, value in alone["logs"].items():
        assert first["logs"][name] == pytest.approx(value, abs=1e-6), name
    assert first["turns"] != second["turns"]


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"mask_truncated_completions": True}, "mask_truncated_completions=True"),
        ({"use_adaptive_entropy": True}, "entropy_coef"),
        ({"top_entropy_quantile": 0.5}, "quantile"),
        ({"log_completions": True}, "--calls"),
        ({"rule": {"max_completion": 5}}, "max_completion_length"),
        ({"max_rows": 0}, "max_rows"),
        ({"generation_rows": 0}, "generation_rows"),
        ({"save_strategy": "steps", "save_steps": 3, "num_iterations": 2}, "multiple of 2"),
    ],
)
def test_settings_that_would_do_nothing_are_refused(folder: Path, setting: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        trainer(folder, **setting)


def test_a_tokenizer_without_a_chat_template_is_refused(folder: Path) -> None:
    bare = copy.deepcopy(TOKENIZER)
    bare.chat_template = None
    with pytest.raises(MageError, match="no chat template"):
        trainer(folder, processing_class=bare)
