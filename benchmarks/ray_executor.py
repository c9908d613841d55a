"""Runs numbered tasks on a Ray cluster that is running already. The only file that imports Ray, when it is used.

Workers are actors, one processor each, anywhere in the cluster. They take numbers from one actor, the desk, and hand in
results there; the process that started the run takes them off the desk and writes the files, so that nodes need no
common file system. Nodes need the same MAGE.
"""

from __future__ import annotations

import asyncio
import logging
import os
import runpy
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.asynchronous import LoopSetup
from benchmarks.players import PlayerSetup, Sink
from benchmarks.pool import MAX_JOBS, POLL_SECONDS, Tally, Tick
from benchmarks.provenance import package_versions
from benchmarks.stopping import StoppedEarly
from mage_envs.errors import MageError

_KNOCK_SECONDS = 5.0
_START = "Start one by `ray start --head`, join other machines by `ray start --address=HOST:6379`"


@contextmanager
def ray_cluster() -> Iterator[int]:
    """Joins the cluster that is running; one that this process has joined already stays joined.

    Yields:
        The number of its processors.

    Raises:
        MageError: There is none.
    """
    ray = _ray()
    joined = not ray.is_initialized()
    if joined:
        try:
            _knock(os.environ.get("RAY_ADDRESS", ""))
            ray.init(address="auto", logging_level=logging.ERROR, log_to_driver=False)
        except OSError as error:  # ConnectionError is one.
            raise MageError(f"there is no Ray cluster. {_START}") from error
    try:
        yield min(MAX_JOBS, max(1, int(ray.cluster_resources().get("CPU", 1))))
    finally:
        if joined:
            ray.shutdown()


def _ray() -> Any:
    """Imports Ray.

    Raises:
        MageError: It is not installed.
    """
    try:
        return import_module("ray")
    except ImportError as error:
        raise MageError("Ray is not installed: pip install 'mage-envs[ray]', or leave --executor out") from error


def _knock(address: str) -> None:
    """Sees whether anybody is at ``HOST:PORT``: Ray itself would try for minutes.

    Raises:
        OSError: Nobody is.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), _KNOCK_SECONDS).close()


def run_on_ray(setup: PlayerSetup | LoopSetup, count: int, jobs: int, tick: Tick) -> None:
    """Runs tasks ``0..count - 1``, each once, on the cluster that was joined.

    Args:
        setup: Makes a worker, on its node.
        count: Number of tasks.
        jobs: Number of workers; they wait until the cluster has a processor for each.
        tick: Is told now and then how far the work is. What it raises ends the work at once.

    Raises:
        ValueError: ``jobs`` is out of range.
        MageError: A node has other packages, or a worker or its node died.
        Exception: Whatever a task or ``tick`` raised.
    """
    if not 1 <= jobs <= MAX_JOBS:
        raise ValueError(f"jobs must be in 1..{MAX_JOBS}, got {jobs}")
    ray = _ray()
    run = _Run(setup.table.sink(), ray.remote(num_cpus=0)(_Desk).remote(count), tick)
    remote = replace(setup, table=replace(setup.table, sink=_HandIn(run.desk), log=None))
    workers = [ray.remote(num_cpus=1)(_Worker).remote(_main_file()) for _ in range(min(jobs, count))]
    try:
        run.collect([worker.work.remote(remote, run.desk, package_versions()) for worker in workers])
    except ray.exceptions.RayTaskError as error:
        run.empty()
        raise (error.cause if isinstance(error.cause, Exception) else error) from error  # What the task raised.
    except ray.exceptions.RayActorError as error:
        with suppress(ray.exceptions.RayError):  # The desk may be what died.
            run.empty()
        raise MageError(f"a Ray worker died ({error}). What was finished is kept: run with --resume") from error
    except (KeyboardInterrupt, StoppedEarly):
        with suppress(StoppedEarly):  # It is told again what it knows.
            run.empty()
        raise
    finally:
        for actor in (*workers, run.desk):
            ray.kill(actor)


class _Run:
    """What the process that started a run knows of it."""

    def __init__(self, sink: Sink, desk: Any, tick: Tick) -> None:
        self.desk = desk
        self._sink, self._tick = sink, tick

    def collect(self, working: list[Any]) -> None:
        """Keeps results until all workers have ended."""
        ray = _ray()
        while working:
            finished, working = ray.wait(working, num_returns=len(working), timeout=0)
            self.empty()
            ray.get(finished)  # Raises what a worker raised.

    def empty(self) -> None:
        """Keeps the results that are on the desk."""
        results, tally = _ray().get(self.desk.hand_over.remote())
        for line, frame in results:
            self._sink(line, frame)
        self._tick(tally)


class _Desk:
    """Gives out numbers and takes in results: the one actor that all others talk to."""

    def __init__(self, count: int) -> None:
        self._numbers = iter(range(count))
        self._results: list[tuple[bytes, bytes]] = []
        self._tally = Tally()

    async def take(self) -> int | None:
        """Returns the next number; None if there is none left."""
        return next(self._numbers, None)

    async def hand_in(self, line: bytes, frame: bytes) -> None:
        """Takes in a result."""
        self._results.append((line, frame))

    async def tell(self, more: Tally) -> None:
        """Adds what a worker got done."""
        self._tally = self._tally.plus(more)

    async def hand_over(self) -> tuple[list[tuple[bytes, bytes]], Tally]:
        """Returns the results that came in since the last time, after a moment if there are none, and the tally."""
        if not self._results:
            await asyncio.sleep(POLL_SECONDS)
        results, self._results = self._results, []
        return results, self._tally


class _Worker:
    """Plays, on any node."""

    def __init__(self, main_file: str | None) -> None:
        """Runs the file that started the command, as processes do that are spawned: it may register agents."""
        if main_file is not None:
            runpy.run_path(main_file, run_name="__mp_main__")

    def work(self, setup: PlayerSetup | LoopSetup, desk: Any, packages: dict[str, str]) -> None:
        """Takes and does tasks until there are none left."""
        if (own := package_versions()) != packages:
            raise MageError(f"a node of the Ray cluster has {own}, and the run was started with {packages}")
        ray = _ray()
        setup()(lambda: ray.get(desk.take.remote()), lambda more: ray.get(desk.tell.remote(more)), lambda: False)


@dataclass(frozen=True)
class _HandIn:
    """Opens the desk as what keeps results. Pickles."""

    desk: Any

    def __call__(self) -> Sink:
        """Returns what hands in a result, and waits until it is there."""
        ray = _ray()

        def sink(line: bytes, frame: bytes) -> None:
            ray.get(self.desk.hand_in.remote(line, frame))

        return sink


def _main_file() -> str | None:
    """Returns the script that was started; None if it was a module or a console script, which nodes have anyway."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    return str(Path(file).resolve()) if file and file.endswith(".py") and main.__spec__ is None else None
