"""Checks a machine with a GPU, without network, in under ten minutes: ``python -m mage_agent.grpo.gpu_check``.

It needs the wheel with the extra ``train``, and builds its model itself. Exit code 0: all is right; 1: something is
not; 2: there is no GPU.
"""

from __future__ import annotations

import json
import tempfile
import time
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from mage_agent.console import err, out
from mage_agent.grpo.gpu_checks import CHECKS, Found, NoOccasionError, Place, machine

NO_GPU = 2
WORDS = {"right": "ok", "wrong": "WRONG", "skipped": "skipped"}


def run(place: Place) -> list[dict[str, Any]]:
    """Runs all checks, one after the other; one that fails keeps none from running.

    Args:
        place: Where.

    Returns:
        For each its name, how it ended (``right``, ``wrong`` or ``skipped``), words, figures and seconds.
    """
    found = []
    for name, check in CHECKS.items():
        begun = time.perf_counter()
        try:
            result = check(place)
            ending = "right" if result.right else "wrong"
        except NoOccasionError as reason:
            result, ending = Found(True, str(reason), {}), "skipped"
        except Exception as error:  # noqa: BLE001  # Whatever breaks on a machine is what is asked for.
            result, ending = Found(False, f"{type(error).__name__}: {error}", {}), "wrong"
            err.print(traceback.format_exc(), markup=False, highlight=False)
        seconds = time.perf_counter() - begun
        found.append({"check": name, "ending": ending, "words": result.words, "figures": dict(result.figures),
                      "seconds": round(seconds, 1)})  # fmt: skip
    return found


def table(found: list[dict[str, Any]]) -> Table:
    """Returns the results for the terminal."""
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, expand=True)
    shown.add_column("check", no_wrap=True)
    shown.add_column("", no_wrap=True)
    shown.add_column("what was found", ratio=1)
    shown.add_column("s", justify="right", no_wrap=True)
    for line in found:
        figures = ", ".join(f"{name} {value:.4g}" for name, value in line["figures"].items())
        words = line["words"] + (f"\n{figures}" if figures else "")
        shown.add_row(line["check"], WORDS[line["ending"]], words, f"{line['seconds']:.0f}")
    return shown


def main(
    out_: Annotated[Path, typer.Option("--out", help="Where the results are written, as JSON.")] = Path(
        "gpu_check.json"
    ),
    dry: Annotated[bool, typer.Option("--dry", help="Walk through on the CPU, with a smaller model.")] = False,
) -> None:
    """Checks the GPU of this machine: parity with the CPU, training, resuming, LoRA, throughput, memory, vLLM, FSDP."""
    import torch

    if not dry and not torch.cuda.is_available():
        err.print("There is no GPU here that torch sees. To walk through the check on the CPU: --dry")
        raise typer.Exit(NO_GPU)
    device = "cpu" if dry else "cuda"
    with tempfile.TemporaryDirectory() as folder:
        found = run(Place(Path(folder), device))
    said = {"machine": machine(device), "checks": found}
    out_.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
    out.print(", ".join(f"{name} {value}" for name, value in said["machine"].items()))  # type: ignore[attr-defined]
    out.print(table(found))
    out.print(f"Written: {out_}")
    raise typer.Exit(int(any(line["ending"] == "wrong" for line in found)))


if __name__ == "__main__":
    typer.run(main)
