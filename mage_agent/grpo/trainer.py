"""The trainer: TRL's GRPO with meta-episodes for rollouts, and credit across episodes for rewards.

Two methods of TRL are replaced: how a batch is generated and scored, and how its loss is computed, in chunks. The
seams that they rest on are checked when a trainer is made (:mod:`mage_agent.grpo.contract`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, cast

import torch
from accelerate.utils import gather_object
from torch.nn.parallel import DistributedDataParallel
from trl import GRPOConfig, GRPOTrainer

from mage_agent.agents import make_agent
from mage_agent.backends.base import BackendError
from mage_agent.backends.local_chat import LocalChat
from mage_agent.grpo.advantages import CreditRule, advantages
from mage_agent.grpo.batch import Batch, Chunk, chunks, loss_tokens, to_batch
from mage_agent.grpo.chunk_log import PHASES, ChunkLog
from mage_agent.grpo.contract import check_contract, check_device
from mage_agent.grpo.dataset import Row, to_tasks
from mage_agent.grpo.importance import importance_ratio
from mage_agent.grpo.metrics import rollout_metrics
from mage_agent.grpo.rollout import AgentFactory, Rollout
from mage_agent.grpo.sampler import TrlSampler
from mage_agent.grpo.samples import Played, Turn
from mage_agent.grpo.settings_check import BY_BATCH, BY_TOKENS, check_settings
from mage_agent.grpo.table import Conditions
from mage_envs.errors import MageError
from mage_envs.scenarios import Scenario


class MageTrainer(GRPOTrainer):  # type: ignore[misc]
    """Trains a language agent on meta-episodes: every reply of it is a sample with its own advantage."""

    entropy_coef: float
    router_aux_loss_coef: float

    def __init__(
        self,
        model: Any,
        args: GRPOConfig,
        *,
        train_dataset: Any,
        rule: CreditRule,
        agent: str | AgentFactory = "reflective",
        episodes: int = 3,
        max_invalid: int = 3,
        stop_on_success: bool = False,
        legal_actions_in_prompt: bool = True,
        scenarios: Sequence[Scenario] = (),
        context: int | None = None,
        max_rows: int = 64,
        generation_rows: int | None = None,
        template_values: dict[str, Any] | None = None,
        eval_dataset: Any = None,
        processing_class: Any = None,
        callbacks: list[Any] | None = None,
        optimizers: tuple[Any, Any] = (None, None),
        quantization_config: Any = None,
        peft_config: Any = None,
    ) -> None:
        """Makes the trainer.

        Args:
            model: A causal language model, or the folder or hub id of one.
            args: TRL's settings. ``per_device_train_batch_size`` counts meta-episodes, not rows, and
                ``max_completion_length`` is the limit of each reply.
            train_dataset: Groups, from :func:`~mage_agent.grpo.dataset.make_dataset`; they are played in their order.
            rule: How turns are credited.
            agent: Spec of the language agent that the model plays as, or what makes one.
            episodes: N, episodes of a meta-episode.
            max_invalid: So many replies in a row that cannot be played lose the episode.
            stop_on_success: Whether the first win ends the meta-episode.
            legal_actions_in_prompt: Whether prompts list the legal actions.
            scenarios: Scenarios of the data set that are not the registered ones of their names.
            context: Most tokens of prompt and reply together; None: what the model's configuration says.
            max_rows: Most rows that are computed at once: it bounds the memory, and changes no gradient.
            generation_rows: Most prompts that are answered at once; None: all that wait.
            template_values: Further values for the chat template, such as ``enable_thinking``.
            eval_dataset: Groups for :meth:`evaluate`.
            processing_class: The tokenizer; None: the model's own.
            callbacks: TRL's.
            optimizers: TRL's.
            quantization_config: TRL's.
            peft_config: TRL's.

        Raises:
            SeamError: The installed TRL is not one that this was written for.
            ValueError: A setting of TRL that has no meaning here.
            BackendError: The tokenizer has no chat template.
        """
        check_contract()
        check_settings(args, rule, max_rows, generation_rows)
        super().__init__(
            model=model,
            reward_funcs=_no_reward,
            args=args,
            train_dataset=train_dataset,
            eval_dataset=eval_dataset,
            processing_class=processing_class,
            callbacks=callbacks,
            optimizers=optimizers,
            quantization_config=quantization_config,
            peft_config=peft_config,
        )
        check_device(self.accelerator.device.type)
        if self.is_deepspeed_enabled:
            raise ValueError("DeepSpeed steps at every backward, and a loss is computed in chunks: use DDP or FSDP")
        self.shuffle_dataset = False  # Rows come in an order that gives every opponent its share.
        self._rule, self._max_rows = rule, max_rows
        chat = _chat(self, template_values or {})
        known = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        conditions = Conditions(
            episodes=episodes,
            max_invalid=max_invalid,
            stop_on_success=stop_on_success,
            legal_actions_in_prompt=legal_actions_in_prompt,
            max_completion=args.max_completion_length,
            context=known if context is None else context,
        )
        factory = partial(make_agent, agent) if isinstance(agent, str) else agent
        self._rollout = Rollout(factory, chat, conditions, scenarios)
        self._sampler = TrlSampler(self, chat.pad, generation_rows)
        self._entropies: torch.Tensor | None = None

    def create_accelerator_and_postprocess(self) -> None:
        """Makes the accelerator, and keeps it from rounding what a model returns that is split over processes (FSDP).

        Its policy for bfloat16 would cast log-probabilities, too: three digits are too few for ratios of them.
        """
        super().create_accelerator_and_postprocess()
        plugin: Any = getattr(self.accelerator.state, "fsdp_plugin", None)
        policy: Any = getattr(plugin, "mixed_precision_policy", None)
        if getattr(policy, "output_dtype", None) is not None:
            plugin.mixed_precision_policy = replace(policy, output_dtype=None)

    # The rollout.

    def _generate_and_score_completions(self, inputs: list[Row]) -> Batch:
        """Plays meta-episodes, and returns their turns as TRL's loss reads them.

        Args:
            inputs: One row of the data set for each meta-episode of this process.
        """
        mode = "train" if self.model.training else "eval"
        before, rows = self._shared(list(inputs))
        tasks = to_tasks(rows)[before : before + len(inputs)]
        with _evaluating(self.model):
            played = self._rollout.play(tasks, self._sampler, self._sampler.in_step)
        turns = [turn for one in played for turn in one.turns]
        before, everybody = self._shared([_light(one) for one in played])
        values = advantages(everybody, self._rule)
        first = sum(len(one.turns) for one in everybody[:before])
        batch = self._to_batch(turns, values[first : first + len(turns)], self._row_count(len(turns), mode))
        self._log_rollout(mode, played, everybody, values)
        if "importance_sampling_ratio" in batch:
            self._log_importance(mode, batch)
        return batch

    def _shared(self, own: list[Any]) -> tuple[int, list[Any]]:
        """Returns how many things the processes before this one have, and those of all processes."""
        if self.accelerator.num_processes == 1:
            return 0, own
        counts = gather_object([len(own)])
        return sum(counts[: self.accelerator.process_index]), gather_object(own)

    def _row_count(self, turns: int, mode: str) -> int:
        """Returns how many rows each process needs: as many as any has turns, and TRL splits them without a rest."""
        _, counts = self._shared([turns])
        parts = self.args.steps_per_generation if mode == "train" else 1
        return int(max(1, -(-max(counts) // parts)) * parts)

    def _to_batch(self, turns: Sequence[Turn], values: Sequence[float], rows: int) -> Batch:
        device = self.accelerator.device
        batch = to_batch(turns, values, rows=rows, pad=self._tokenizer.pad_token_id)
        batch = {name: value.to(device) for name, value in batch.items()}
        sums = torch.stack([loss_tokens(batch), torch.tensor(len(turns), device=device)]).float()
        batch["num_items_in_batch"], batch["num_rows"] = self.accelerator.reduce(sums, reduction="sum").unbind()
        ratio = self.use_vllm and self.vllm_importance_sampling_correction
        if ratio or self.args.gradient_accumulation_steps % (self.args.steps_per_generation * self.num_iterations):
            batch["old_per_token_logps"] = self._logps(self.model, batch)
        if ratio:
            batch["importance_sampling_ratio"] = self._ratio(batch)
        if self.beta != 0.0:
            batch["ref_per_token_logps"] = self._reference_logps(batch)
        return batch

    def _ratio(self, batch: Batch) -> torch.Tensor:
        if "sampling_per_token_logps" not in batch:
            raise MageError("vLLM told no log-probabilities: set vllm_importance_sampling_correction=False")
        return importance_ratio(
            batch["old_per_token_logps"],
            batch["sampling_per_token_logps"],
            batch["completion_mask"] * batch["tool_mask"],
            self.vllm_importance_sampling_mode,
            self.vllm_importance_sampling_clip_min,
            self.vllm_importance_sampling_clip_max,
        )

    def _reference_logps(self, batch: Batch) -> torch.Tensor:
        """Returns log-probabilities under the reference: a model of its own, or the policy without its adapter."""
        if self.ref_model is not None:
            return self._logps(self.ref_model, batch)
        from trl.trainer.utils import use_adapter

        model = self.accelerator.unwrap_model(self.model)
        with use_adapter(model, adapter_name="ref" if "ref" in model.peft_config else None):
            return self._logps(self.model, batch)

    def _logps(self, model: Any, batch: Batch) -> torch.Tensor:
        """Returns the log-probability of every token of the replies, shape (R, C); 0 where a reply is filled up."""
        found = torch.zeros(batch["completion_ids"].shape, device=batch["completion_ids"].device)
        for chunk in chunks(batch, self._max_rows):
            ids, mask, width = _whole(chunk.batch)
            with torch.no_grad():
                values, *_ = self._get_per_token_logps_and_entropies(model, ids, mask, width)
            found[chunk.rows.to(found.device), :width] = values.to(found.dtype)
        return found

    def _log_rollout(self, mode: str, played: list[Played], everybody: list[Played], values: list[float]) -> None:
        metrics = self._metrics[mode]
        for name, value in rollout_metrics(everybody).items():
            metrics[name].append(value)
        metrics["advantage/abs"].append(sum(map(abs, values)) / max(len(values), 1))
        if mode == "train":
            read = sum(len(turn.prompt_ids) + len(turn.completion_ids) for one in played for turn in one.turns)
            _, counts = self._shared([read])
            self.state.num_input_tokens_seen += sum(counts)
            metrics["num_tokens"] = [self.state.num_input_tokens_seen]

    def _log_importance(self, mode: str, batch: Batch) -> None:
        """Logs the mean of the ratios over tokens, and the share of tokens whose ratio was out of bounds, and is 0."""
        mask = batch["completion_mask"] * batch["tool_mask"]
        ratio = batch["importance_sampling_ratio"] * mask
        dropped = (batch["importance_sampling_ratio"] == 0) * mask
        sums = torch.stack([ratio.sum(), dropped.sum().to(ratio), mask.sum().to(ratio)])
        mean, share, tokens = self.accelerator.reduce(sums, reduction="sum").tolist()
        self._metrics[mode]["importance/mean"].append(mean / max(tokens, 1.0))
        self._metrics[mode]["importance/dropped"].append(share / max(tokens, 1.0))

    # The loss.

    def _compute_loss(self, model: Any, inputs: Batch) -> torch.Tensor:
        """Computes the loss in chunks, and all but the last chunk's gradients.

        Args:
            model: The model, as it is wrapped.
            inputs: Rows of a rollout.

        Returns:
            The loss: its value is that of all chunks, its gradient that of the last.
        """
        mode = "train" if self.model.training else "eval"
        parts = list(chunks(inputs, self._max_rows))
        weights = [self._weight(chunk, parts, mode) for chunk in parts]
        done = torch.zeros((), device=self.accelerator.device)
        log = ChunkLog(self._metrics[mode])
        for number, (chunk, weight) in enumerate(zip(parts, weights, strict=True)):
            last = number + 1 == len(parts)
            apart = isinstance(model, DistributedDataParallel) and not last and torch.is_grad_enabled()
            with model.no_sync() if apart else nullcontext():
                loss = self._chunk_loss(model, chunk, parts, weight, log, mode)
                if not last:
                    if torch.is_grad_enabled():
                        self.accelerator.backward(loss)
                    done = done + loss.detach()
        self._log_chunks(log, weights, mode)
        return loss + done

    def _chunk_loss(
        self, model: Any, chunk: Chunk, parts: list[Chunk], weight: float, log: ChunkLog, mode: str
    ) -> torch.Tensor:
        """Returns a chunk's share of the loss.

        TRL takes the bonus for entropy off a mean over what it is given, whatever the loss is divided by. So its
        coefficient is set to what makes it, after the chunk is weighted, a mean over all chunks.
        """
        share = chunk.tokens / max(sum(part.tokens for part in parts), 1)
        before = self.entropy_coef, self.router_aux_loss_coef
        self._metrics[mode] = log.begin()
        try:
            if weight:
                self.entropy_coef = before[0] * share / weight
                self.router_aux_loss_coef = before[1] / len(parts) / weight
            loss = cast(torch.Tensor, super()._compute_loss(model, chunk.batch)) * weight
        finally:
            self.entropy_coef, self.router_aux_loss_coef = before
            self._metrics[mode] = log.metrics
        if self._entropies is not None:
            log.end(chunk, self._entropies)
        return loss

    def _weight(self, chunk: Chunk, parts: list[Chunk], mode: str) -> float:
        """Returns what a chunk's loss is multiplied by, so that all of them add up to the loss of all rows at once.

        Rows without loss count for nothing: a mean over rows is one over the turns of all processes.
        """
        if self.loss_type in BY_TOKENS:
            return 1.0
        if self.loss_type in BY_BATCH:
            return chunk.tokens / max(sum(part.tokens for part in parts), 1)
        pieces: int = self.accelerator.num_processes * (self.args.steps_per_generation if mode == "train" else 1)
        return len(chunk.rows) * pieces / max(float(chunk.batch["num_rows"]), 1.0)

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        """Computes log-probabilities as TRL does, and keeps the entropies for a moment: TRL logs one mean of them."""
        found = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        self._entropies = None if found[1] is None else found[1].detach()
        return found

    def _log_chunks(self, log: ChunkLog, weights: list[float], mode: str) -> None:
        """Puts the metrics of the chunks together, over all processes."""
        self._entropies = None
        sums = torch.tensor([*log.entropies, *log.counts, *log.tokens], device=self.accelerator.device)
        summed = self.accelerator.reduce(sums, reduction="sum").tolist()
        for number, phase in enumerate(PHASES):
            if count := summed[len(PHASES) + number]:
                self._metrics[mode][f"entropy/{phase}"].append(summed[number] / count)
        log.finish(summed[2 * len(PHASES) :], weights)
        if "entropy_coef" in log.metrics:
            log.metrics["entropy_coef"][-1] = self.entropy_coef


def _no_reward(**_: Any) -> list[float]:
    """Stands where TRL wants a reward function: rewards are the environments', and this is never called.

    Raises:
        AssertionError: It was.
    """
    raise AssertionError("TRL scored replies by itself: the seam _generate_and_score_completions is gone")


def _chat(trainer: Any, template_values: dict[str, Any]) -> LocalChat:
    tokenizer = trainer._tokenizer
    if not getattr(tokenizer, "chat_template", None):
        raise BackendError("the tokenizer has no chat template: give processing_class that of the chat model")
    return LocalChat(tokenizer, trainer.model.generation_config.eos_token_id, template_values)


def _light(played: Played) -> Played:
    """Returns a meta-episode without what credit does not read: it travels between processes."""
    turns = tuple(turn._replace(prompt_ids=(), logprobs=None) for turn in played.turns)
    return played._replace(turns=turns)


def _whole(batch: Batch) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Returns prompts with replies, their mask, and how many columns are replies."""
    ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
    mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
    return ids, mask, batch["completion_ids"].shape[1]


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Turns dropout off, and with it what training does to a model's cache."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
