"""The tables of ``docs/training_scale.md``, made of the calculation.

``python -m mage_agent.grpo.scale_page`` renews them. In the page a table stands between ``<!-- table: NAME -->`` and
``<!-- end -->``; the words around it are written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from mage_agent.grpo.scale import A100, GB, QWEN3_4B, TASKS, hours, memory

PAGE = Path(__file__).parents[2] / "docs" / "training_scale.md"


def memory_table() -> str:
    """Lists the memory of Qwen3-4B in the ways of the guide."""
    ways = {
        "all weights, 1 GPU": memory(QWEN3_4B),
        "all weights, FSDP on 8": memory(QWEN3_4B, gpus=8, learnt=4 * 8192),
        "the same with a reference (`beta`)": memory(QWEN3_4B, gpus=8, learnt=4 * 8192, reference=True),
        "LoRA of rank 32, 1 GPU of 24 GB": memory(QWEN3_4B, rank=32, learnt=6144, drawn=8 * 6144),
        "LoRA of rank 32, 1 GPU of 80 GB": memory(QWEN3_4B, rank=32, learnt=8 * 6144, drawn=64 * 6144),
    }
    rows = [(name, *(f"{part / GB:.1f}" for part in (*found, found.most))) for name, found in ways.items()]
    return _markdown(("GB of one GPU", "kept", "passing", "activations", "cache", "most"), rows)


def time_table() -> str:
    """Lists tokens and hours of the four configurations on eight GPUs."""
    rows = []
    for name, task in TASKS.items():
        drawing, learning = hours(task, QWEN3_4B, 8, A100)
        tokens = task.rows * (task.prompt + task.reply)
        rows.append((f"`{name}`", f"{task.rows:,}", f"{tokens / 1e6:.1f} million", str(task.rollouts),
                     f"{drawing:.0f}", f"{learning:.0f}"))  # fmt: skip
    return _markdown(("task", "replies a rollout", "tokens a rollout", "rollouts", "hours drawing", "hours learning"),
                     rows)  # fmt: skip


def renewed(page: str) -> str:
    """Returns a page with its tables rendered anew."""
    tables = {"memory": memory_table(), "time": time_table()}
    return re.sub(
        r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}{tables[found[2]]}{found[3]}",
        page,
        flags=re.DOTALL,
    )


def _markdown(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---", *("--:",) * (len(head) - 1)), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
