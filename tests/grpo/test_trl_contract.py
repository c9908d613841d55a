"""The seams of TRL that the trainer rests on: those of the installed one are there, and a change of one is told."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("trl", reason="needs the extra train")

from trl import GRPOTrainer

from mage_agent.grpo import contract
from mage_agent.grpo.batch import OF_PROMPT, OF_REPLY
from mage_agent.grpo.contract import BELOW, INTERPRETED, LOWEST, SUPPORTED, SeamError, check_contract, check_device


def test_the_installed_trl_has_every_seam() -> None:
    check_contract()


def test_the_trainer_asks_when_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from mage_agent.grpo import trainer

    def broken() -> None:
        raise SeamError("gone")

    monkeypatch.setattr(trainer, "check_contract", broken)
    with pytest.raises(SeamError, match="gone"):
        trainer.MageTrainer(None, None, train_dataset=None, rule=None)


def test_every_tensor_that_the_loss_reads_is_cut_to_chunks_by_its_kind() -> None:
    by_row, in_all = {"advantages"}, {"num_items_in_batch"}
    assert {*OF_PROMPT, *OF_REPLY} | by_row | in_all == contract.LOSS_KEYS


@pytest.mark.parametrize("version", ["1.14.9", BELOW, "2.0.0"])
def test_a_version_out_of_range_is_told(version: str) -> None:
    with pytest.raises(SeamError, match="out of range") as told:
        check_contract(version=version)
    assert SUPPORTED in str(told.value)


@pytest.mark.parametrize("version", [LOWEST, "1.15.0", "1.16.3"])
def test_versions_in_range_are_taken(version: str) -> None:
    check_contract(version=version)


def test_the_lowest_trl_needs_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(INTERPRETED, raising=False)
    with pytest.raises(SeamError, match=r"on GPUs only, and this is cpu: pip install 'trl>=1\.16,<1\.17'"):
        check_device("cpu", "1.15.0")
    check_device("cuda", "1.15.0")
    check_device("cpu", "1.16.0")
    monkeypatch.setenv(INTERPRETED, "1")
    check_device("cpu", "1.15.0")


def changed(**methods: Any) -> type[Any]:
    return type("Changed", (GRPOTrainer,), methods)


def generates_otherwise(self: Any, prompt_ids: Any, images: Any, num_generations: Any) -> Any: ...


def needs_more(self: Any, inputs: Any, more: Any) -> Any: ...


def reads_another_key(self: Any, model: Any, inputs: Any) -> Any:
    return inputs["prompt_ids"], inputs.get("temperature"), "tool_mask" in inputs


def scores_elsewhere(self: Any, generation_batch: Any) -> Any:
    return self._score(generation_batch)


def sets_less(self: Any) -> None:
    self.beta = 0.0


@pytest.mark.parametrize(
    ("methods", "told"),
    [
        ({"_generate_single_turn": generates_otherwise}, "_generate_single_turn takes (self, prompt_ids, images, num"),
        ({"_generate_and_score_completions": needs_more}, "_generate_and_score_completions takes (self, inputs, more)"),
        ({"_get_per_token_logps_and_entropies": None}, "there is no _get_per_token_logps_and_entropies"),
        ({"_compute_loss": reads_another_key}, "_compute_loss reads inputs['temperature'], which is not known"),
        ({"_compute_loss": reads_another_key}, "_compute_loss does not read inputs['old_per_token_logps'] any more"),
        ({"_prepare_inputs": scores_elsewhere}, "_prepare_inputs does not call _generate_and_score_completions"),
        ({"_prepare_inputs": scores_elsewhere}, "_prepare_inputs does not call split_tensor_dict"),
        ({"__init__": sets_less}, "__init__ does not set self.entropy_coef"),
    ],
)
def test_a_changed_seam_is_named_with_the_supported_range(methods: dict[str, Any], told: str) -> None:
    with pytest.raises(SeamError) as error:
        check_contract(changed(**methods))
    assert told in str(error.value)
    assert SUPPORTED in str(error.value)
