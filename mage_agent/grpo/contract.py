"""What the trainer relies on inside TRL: private seams, looked up in the installed source before training begins."""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from packaging.version import Version

from mage_envs.errors import MageError

LOWEST, BELOW = "1.15", "1.17"
"""The range of TRL that the tests of the trainer pass with, both ends tried (``make test-trl``)."""

SUPPORTED = f"trl>={LOWEST},<{BELOW}"

ON_ANY_DEVICE = "1.16"
"""From here on TRL computes its loss without Triton, too; before, on GPUs only."""

INTERPRETED = "TRITON_INTERPRET"
"""Environment variable by which Triton computes anywhere, if slowly: for tests."""

LOSS_KEYS = frozenset({
    "prompt_ids", "prompt_mask", "completion_ids", "completion_mask", "tool_mask", "advantages", "num_items_in_batch",
    "old_per_token_logps", "ref_per_token_logps", "sampling_per_token_logps", "importance_sampling_ratio",
})  # fmt: skip
"""What ``_compute_loss`` reads of a batch of text."""

PICTURE_KEYS = frozenset({
    "pixel_values", "image_grid_thw", "num_images", "pixel_attention_mask", "spatial_shapes", "num_tiles",
    "image_sizes", "token_type_ids", "mm_token_type_ids", "image_position_ids",
})  # fmt: skip
"""What it reads of pictures, which are never there."""

SIGNATURES = {
    "_generate_single_turn": ("self", "prompt_ids", "images", "multimodal_fields", "num_generations"),
    "_generate_and_score_completions": ("self", "inputs"),
    "_compute_loss": ("self", "model", "inputs"),
    "_get_per_token_logps_and_entropies": ("self", "model", "input_ids", "attention_mask", "logits_to_keep"),
}
"""The first parameters of methods that are called or replaced. All others must have defaults."""

CALLS = {
    "_prepare_inputs": ("_generate_and_score_completions", "shuffle_sequence_dict", "split_tensor_dict"),
    "compute_loss": ("_compute_loss",),
    "_compute_loss": ("_get_per_token_logps_and_entropies",),
}
"""What methods must call."""

ATTRIBUTES = (
    "_metrics", "_tokenizer", "_step", "beta", "ref_model", "num_iterations", "loss_type", "entropy_coef",
    "_entropy_bonus_enabled", "router_aux_loss_coef", "shuffle_dataset", "use_vllm",
    "vllm_importance_sampling_correction", "vllm_importance_sampling_mode",
    "vllm_importance_sampling_clip_min", "vllm_importance_sampling_clip_max",
)  # fmt: skip
"""What ``__init__`` must set."""


class SeamError(MageError):
    """The installed TRL is not one that the trainer was written for."""


def check_contract(trainer: type[Any] | None = None, version: str | None = None) -> None:
    """Makes sure that the installed TRL has every seam that the trainer relies on.

    Args:
        trainer: The class that is looked into; None: TRL's GRPOTrainer.
        version: TRL's version; None: that of the one that is installed.

    Raises:
        SeamError: The message names each seam that has changed, and the supported range.
    """
    if trainer is None or version is None:
        import trl

        trainer, version = trainer or trl.GRPOTrainer, version or trl.__version__
    broken = [*_version(version), *_signatures(trainer), *_calls(trainer), *_keys(trainer), *_attributes(trainer)]
    if broken:
        raise SeamError(
            f"TRL {version} does not fit this trainer: {'; '.join(broken)}. Supported is {SUPPORTED}: "
            f"pip install '{SUPPORTED}'"
        )


def check_device(device: str, version: str | None = None) -> None:
    """Makes sure that the installed TRL can compute a loss on a device.

    Args:
        device: Type of the device: ``cpu``, ``cuda`` …
        version: TRL's version; None: that of the one that is installed.

    Raises:
        SeamError: It cannot.
    """
    if version is None:
        import trl

        version = str(trl.__version__)
    able = device not in ("cpu", "mps") or os.environ.get(INTERPRETED) == "1"
    if not able and Version(version) < Version(ON_ANY_DEVICE):
        raise SeamError(
            f"TRL {version} computes its loss on GPUs only, and this is {device}: "
            f"pip install 'trl>={ON_ANY_DEVICE},<{BELOW}'"
        )


def _version(version: str) -> Iterator[str]:
    if not Version(LOWEST) <= Version(version) < Version(BELOW):
        yield "its version is out of range"


def _signatures(trainer: type[Any]) -> Iterator[str]:
    for name, wanted in SIGNATURES.items():
        method = getattr(trainer, name, None)
        if method is None:
            yield f"there is no {name}"
            continue
        parameters = list(inspect.signature(method).parameters.values())
        found = tuple(parameter.name for parameter in parameters[: len(wanted)])
        if found != wanted or any(more.default is more.empty for more in parameters[len(wanted) :]):
            yield f"{name} takes ({', '.join(one.name for one in parameters)}), not ({', '.join(wanted)})"


def _calls(trainer: type[Any]) -> Iterator[str]:
    for name, wanted in CALLS.items():
        called = {_name_of(node.func) for node in _nodes(trainer, name) if isinstance(node, ast.Call)}
        for missing in [one for one in wanted if one not in called]:
            yield f"{name} does not call {missing}"


def _keys(trainer: type[Any]) -> Iterator[str]:
    read = {key for node in _nodes(trainer, "_compute_loss") for key in _key_of(node)}
    for key in sorted(read - LOSS_KEYS - PICTURE_KEYS):
        yield f"_compute_loss reads inputs[{key!r}], which is not known"
    for key in sorted(LOSS_KEYS - read):
        yield f"_compute_loss does not read inputs[{key!r}] any more"


def _attributes(trainer: type[Any]) -> Iterator[str]:
    nodes = _nodes(trainer, "__init__")
    stored = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    for missing in [name for name in ATTRIBUTES if name not in stored]:
        yield f"__init__ does not set self.{missing}"


def _nodes(trainer: type[Any], method: str) -> Sequence[ast.AST]:
    """Returns all nodes of a method's source; none if there is no such method."""
    function: Callable[..., Any] | None = getattr(trainer, method, None)
    if function is None:
        return ()
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    return tuple(ast.walk(ast.parse(source)))


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _key_of(node: ast.AST) -> Iterator[str]:
    """Yields the key that a node reads of ``inputs``: ``inputs[key]``, ``inputs.get(key)``, ``key in inputs``."""
    key: ast.expr | None = None
    if isinstance(node, ast.Subscript) and _is_inputs(node.value):
        key = node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_inputs(node.func.value):
        key = node.args[0] if node.args else None
    elif isinstance(node, ast.Compare) and _is_inputs(node.comparators[0]):
        key = node.left
    if isinstance(key, ast.Constant):
        yield str(key.value)


def _is_inputs(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "inputs"
