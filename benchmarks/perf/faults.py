"""What faults of a server cost a run: 256 meta-episodes with and without them must end the same, and soon.

Run: ``python -m benchmarks.perf.faults``, about two minutes. It plays Kuhn poker (N = 3) by a language agent against a
scripted server in a process of its own: 500 ms a reply, 64 meta-episodes in flight; once without faults, once with a
fault in 20 % of the requests, of every kind that passes. Both must be complete and leave the same files to the byte.
Goal: at most 1.6 times as long.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.plan import make_plan
from benchmarks.records import Status
from benchmarks.run_directory import RunDirectory
from benchmarks.runner import Scheduling, run
from benchmarks.suites.base import Part, Protocol, Suite
from mage_agent.agents import make_agent
from mage_agent.backends.fault_server import FaultServer
from mage_agent.backends.injected_faults import at_rate, never
from mage_agent.model_settings import ModelSettings
from mage_envs.scenarios import SCENARIOS


class Played(NamedTuple):
    """One run.

    Attributes:
        seconds: Wall time.
        met: How often the server met which fault.
        statuses: How many meta-episodes ended how.
        score: Mean of all rewards.
        files: Records and manifest as they are on the disk.
    """

    seconds: float
    met: Counter[str]
    statuses: Counter[Status]
    score: float
    files: tuple[bytes, bytes]


def play(rate: float, chosen: argparse.Namespace) -> Played:
    """Plays a run against a server with this rate of faults."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=_serve, args=(theirs, rate, chosen.seed, chosen.latency), daemon=True)
    server.start()
    theirs.close()  # So that a server that dies is noticed.
    try:
        settings = ModelSettings("openai", "scripted", base_url=ours.recv(), api_key_env="MAGE_NO_KEY",
                                 timeout=chosen.deadline * chosen.latency, retries=chosen.retries)  # fmt: skip
        suite = Suite("perf", 1, "", (Part(SCENARIOS.get("kuhn/train"), chosen.size, (chosen.agent,)),), Protocol())
        plan = make_plan(suite, factory=partial(make_agent, model=settings))
        with tempfile.TemporaryDirectory() as folder:
            begun = time.perf_counter()
            how = Scheduling(concurrency=chosen.concurrency)
            directory = run(plan, Path(folder) / "run", lambda done, total, errors: None, how=how)
            seconds = time.perf_counter() - begun
            ours.send("over")
            return _looked_at(directory, seconds, ours.recv())
    finally:
        server.kill()
        server.join()


def _looked_at(directory: RunDirectory, seconds: float, met: Counter[str]) -> Played:
    records = list(directory.stream())
    rewards = [episode.reward for record in records for episode in record.episodes]
    manifest = directory.manifest.model_copy(update={"commit": ""})  # Somebody may commit in between.
    files = directory.records_path.read_bytes(), manifest.model_dump_json().encode()
    return Played(seconds, met, Counter(record.status for record in records), sum(rewards) / len(rewards), files)


def _serve(pipe: Any, rate: float, seed: int, latency: float) -> None:
    with FaultServer(faults=at_rate(rate, seed) if rate else never, latency=latency) as server:
        pipe.send(server.url)
        pipe.recv()
        pipe.send(server.counts)


def main() -> None:
    """Plays twice and prints what it came to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=256, help="meta-episodes")
    parser.add_argument("--rate", type=float, default=0.2, help="share of requests that meet a fault")
    parser.add_argument("--latency", type=float, default=0.5, help="seconds of a reply")
    parser.add_argument("--deadline", type=float, default=3.0, help="of a request, in latencies: what a hang costs")
    parser.add_argument("--concurrency", type=int, default=64, help="meta-episodes in flight")
    parser.add_argument("--retries", type=int, default=8, help="so often a request is sent again, at most")
    parser.add_argument("--seed", type=int, default=0, help="which requests meet faults")
    parser.add_argument("--agent", default="reflective", help="the agent")
    chosen = parser.parse_args()
    calm, rough = play(0.0, chosen), play(chosen.rate, chosen)
    for name, played in (("without faults", calm), (f"{chosen.rate:.0%} faults", rough)):
        count = sum(played.met.values())
        ends = ", ".join(f"{many} {status}" for status, many in played.statuses.items())
        _say(f"{name}: {played.seconds:.2f} s, {count} requests, {ends}, mean score {played.score:+.4f}")
    _say("faults: " + ", ".join(f"{kind} {count}" for kind, count in sorted(rough.met.items())))
    same = calm.files == rough.files
    lines = rough.files[0].count(b"\n")
    _say(f"ratio {rough.seconds / calm.seconds:.3f}; {lines} records; files {'the same' if same else 'DIFFERENT'}")
    if not same or lines != chosen.size or set(rough.statuses) != {"ok"}:
        sys.exit("the run with faults is not the run without")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
