"""``benchmark run`` with agents that ask a language model: what is written down, what is refused, when it stops."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.calls import CALLS, read_calls
from benchmarks.plan import make_plan
from benchmarks.run_directory import MANIFEST, RECORDS
from benchmarks.suites import SUITES
from mage_agent.agents import make_agent
from mage_agent.backends.base import BACKENDS, BackendError, Completion, FinalError
from mage_agent.backends.fake import FakeBackend
from mage_agent.backends.fault_server import FaultServer
from mage_agent.model_flags import KEY_VARIABLE
from mage_agent.model_settings import ModelSettings
from tests.benchmarks.test_cli import Said, Terminal
from tests.benchmarks.test_cli import benchmark as benchmark

KEY = "sk-very-secret-indeed"
FAKE = ("--backend", "fake", "--model", "first")
SMALL = ("--meta-episodes", "4", "--jobs", "1")
WORDS = re.compile("[│╭╮╰╯─]")

Script = Callable[[ModelSettings], FakeBackend]


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "")  # What a test sets is taken back.


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], list[FakeBackend]]:
    """Registers the backend ``script``: a function of a request."""

    def register(script: Any, **more: Any) -> list[FakeBackend]:
        made: list[FakeBackend] = []

        def factory(settings: ModelSettings) -> FakeBackend:
            made.append(FakeBackend(script, model=settings.model, **more))
            return made[-1]

        monkeypatch.setitem(BACKENDS._items, "script", factory)
        return made

    BACKENDS.get("fake")  # The registry is filled.
    return register


def play(benchmark: Terminal, *more: str, agent: str = "reflective", out: str = "r") -> Said:
    return benchmark("run", "quick", "--agent", agent, *SMALL, "--out", out, *more)


def manifest(out: str = "r") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(out) / MANIFEST).read_text())
    return found


def lines(out: str = "r") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(out) / RECORDS).read_text().splitlines()]


def test_the_manifest_says_which_model_played_and_how(benchmark: Terminal) -> None:
    more = (
        "--revision",
        "abc",
        "--temperature",
        "0.5",
        "--max-tokens",
        "99",
        "--context",
        "4000",
        "--memory",
        "history",
    )
    said = play(benchmark, *FAKE, *more, "--extra-body", '{"seed": 1}', agent="react")
    assert said.code == 0, said.err
    (card,) = manifest()["config"]["agents"]
    assert card["name"] == "react(memory=history, memory_budget=4096)"
    assert (card["model"], card["revision"], card["memory"]) == ("first", "abc", "history")
    assert re.fullmatch("[0-9a-f]{64}", card["prompt_hash"])
    assert card["sampling"] == {
        "backend": "fake", "temperature": 0.5, "max_tokens": 99, "extra": {"seed": 1}, "context": 4000,
        "counter": "words",
    }  # fmt: skip
    assert all(line["usage"]["calls"] >= 1 for line in lines())
    assert "preflight: first" in said.err
    assert benchmark("verify", "r", "--jobs", "1").code == 0


def test_the_server_is_in_the_manifest_without_its_password(benchmark: Terminal, server: Any) -> None:
    from benchmarks.model_run import choose_cast
    from mage_agent.model_flags import ModelFlags
    from mage_agent.preflight import model_facts

    cast = choose_cast(["react"], ModelFlags(model="m", base_url="http://me:word@host:1/v1"))
    assert cast.model is not None
    assert model_facts(cast.model, None)["sampling"] == {"backend": "openai", "base_url": "http://host:1/v1"}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_key_reaches_the_server_from_every_process_and_no_file(
    benchmark: Terminal, jobs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai", reason="the extra openai is not installed")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with FaultServer() as server:
        model = ("--model", "m", "--base-url", server.url.replace("//", "//me:the-word@"), "--api-key", KEY)
        said = play(benchmark, *model, "--jobs", jobs, "--calls")
        assert said.code == 0, said.err
        keyed = play(benchmark, "--model", "m", "--base-url", server.url, "--api-key", KEY, out="k")
        assert keyed.code == 0, keyed.err
        assert {seen.authorization for seen in server.seen} == {f"Bearer {KEY}", "Basic bWU6dGhlLXdvcmQ="}
    written = b"".join(path.read_bytes() for path in Path().rglob("*") if path.is_file())
    for secret in (KEY, "the-word", "bWU6dGhlLXdvcmQ="):
        assert secret.encode() not in written
        assert secret not in said.out + said.err + keyed.out + keyed.err
    (card,) = manifest()["config"]["agents"]
    assert card["sampling"]["base_url"] == server.url
    records = [(Path(out) / RECORDS).read_bytes() for out in "rk"]
    assert records[0] == records[1]


def test_shards_with_a_server_each_are_one_run(benchmark: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai", reason="the extra openai is not installed")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for shard in ("1/2", "2/2", None):
        part = () if shard is None else ("--shard", shard)
        with FaultServer() as server:
            said = play(
                benchmark, "--model", "m", "--base-url", server.url, "--calls", *part, out=(shard or "whole")[0]
            )
            assert said.code == 0, said.err
    assert benchmark("merge", "all", "1", "2").out == "all: 16 of 16 meta-episodes\n"
    assert (Path("all") / RECORDS).read_bytes() == (Path("w") / RECORDS).read_bytes()
    calls = {key: found for key, found in read_calls(Path("all") / CALLS)}
    assert calls == dict(read_calls(Path("w") / CALLS))
    assert len(calls) == 16


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_key_is_in_no_file_and_no_output(benchmark: Terminal, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = play(benchmark, *FAKE, "--api-key", KEY, "--jobs", jobs, "--calls")
    assert said.code == 0, said.err
    assert os.environ[KEY_VARIABLE] == KEY
    written = b"".join(path.read_bytes() for path in Path("r").rglob("*") if path.is_file())
    assert KEY.encode() not in written
    assert KEY not in said.out + said.err

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.runner.run_tasks", interrupt)
    for style in ("bar", "json"):
        said = play(benchmark, *FAKE, f"--api-key={KEY}", "--overwrite", "--progress", style)
        assert said.code == 130
        assert KEY not in said.out + said.err
        assert "--resume" in said.err


def test_a_run_is_resumed_with_the_same_model_only(benchmark: Terminal) -> None:
    assert play(benchmark, *FAKE).code == 0
    before = (Path("r") / RECORDS).read_bytes()
    (Path("r") / RECORDS).write_bytes(b"".join(before.splitlines(keepends=True)[:7]))
    said = play(benchmark, "--backend", "fake", "--model", "any", "--resume")
    assert said.code == 2
    assert "model of reflective(memory=reflection, memory_budget=4096) ('first' there, 'any' now)" in said.err
    said = play(benchmark, *FAKE, "--temperature", "1", "--resume")
    assert "temperature of reflective" in said.err
    assert play(benchmark, *FAKE, "--resume", "--no-preflight", "--retries", "0", "--timeout", "9").code == 0
    assert (Path("r") / RECORDS).read_bytes() == before


def test_hidden_legal_actions_are_another_run(benchmark: Terminal, server: Any) -> None:
    made = server(lambda request: "<action>pass</action>")
    said = play(benchmark, "--backend", "script", "--model", "m", "--hide-legal-actions")
    assert said.code == 0, said.err
    asked = [request.messages[-1].content for backend in made[1:] for request in backend.requests]
    assert asked
    assert not any("Your legal actions" in content for content in asked)
    assert "what differs: panel, legal_actions_in_prompt (False there, None now)" in play(
        benchmark, "--backend", "script", "--model", "m", "--resume"
    ).err  # fmt: skip


FALLS = 25


def falling(request: Any) -> Any:
    """Answers the preflight, and nothing after it."""
    return "<action>ready</action>" if request.draw == "preflight" else BackendError("connection refused by 127.0.0.1")


def test_a_server_that_falls_stops_the_run_and_a_resume_mends_it(benchmark: Terminal, server: Any) -> None:
    server(falling)
    model = ("--backend", "script", "--model", "m", "--api-key", KEY)
    size = ("--meta-episodes", "200", "--concurrency", "8")
    said = play(benchmark, *model, *size)
    assert said.code == 1
    assert re.search(r"stopped: (\d+) of \1 meta-episodes have no score, more than --max-error-rate 0\.2", said.err)
    assert "Most frequent error: BackendError: connection refused by 127.0.0.1\n" in said.err
    again = re.search(r"^  (benchmark run .*)$", said.err, re.MULTILINE)
    assert again is not None
    assert again[1].endswith("--resume --retry error,timeout")
    assert KEY not in said.err
    assert "The key is left out" in said.err
    assert 20 <= len(lines()) < 200
    server(lambda request: "<action>pass</action>")
    words = again[1].split()[1:]
    assert "--api-key" not in words
    said = benchmark(*words)
    assert said.code == 0, said.err
    assert {line["status"] for line in lines()} <= {"ok", "forfeit"}
    assert len(lines()) == 800


def test_machines_are_told_why_a_run_stopped(benchmark: Terminal, server: Any) -> None:
    server(falling)
    said = play(benchmark, "--backend", "script", "--model", "m", "--meta-episodes", "50", "--progress", "json")
    told = [json.loads(line) for line in said.err.splitlines()]
    assert (said.code, said.out) == (1, "")
    assert (told[0]["event"], told[0]["answered"], told[0]["model"]) == ("preflight", True, "m")
    assert told[-1]["event"] == "stopped"
    assert (told[-1]["reason"], told[-1]["error"]) == ("errors", "BackendError: connection refused by 127.0.0.1")
    assert told[-1]["resume"].endswith("--resume --retry error,timeout")


def test_a_quiet_run_says_why_it_stopped(benchmark: Terminal, server: Any) -> None:
    server(falling)
    said = play(benchmark, "--backend", "script", "--model", "m", "--meta-episodes", "50", "--progress", "quiet")
    assert said.code == 1
    assert said.err.startswith("\nstopped: ")


def test_an_error_rate_of_one_stops_nothing(benchmark: Terminal, server: Any) -> None:
    server(falling)
    said = play(benchmark, "--backend", "script", "--model", "m", "--max-error-rate", "1", "--meta-episodes", "10")
    assert said.code == 0
    assert [line["status"] for line in lines()] == ["error"] * 40


def prices(text: str = '[models."first"]\nprompt = 1.0\ncompletion = 2.0\n') -> tuple[str, str]:
    Path("prices.toml").write_text(text)
    return "--prices", "prices.toml"


def test_a_run_stops_at_its_cost_and_its_attempts_add_up(benchmark: Terminal) -> None:
    assert play(benchmark, *FAKE, *prices(), out="whole").code == 0
    costs = [line["usage"]["cost"] for line in lines("whole")]
    assert min(costs) > 0
    limit = str(sum(costs) / 3)
    said = play(benchmark, *FAKE, *prices(), "--cost-limit", limit, "--concurrency", "1")
    assert said.code == 1
    assert re.search(r"stopped: the run has cost 0\.\d+ dollars, and its limit is 0\.\d+\n", said.err)
    assert "Raise --cost-limit, and go on with:\n  benchmark run" in said.err
    kept = len(lines())
    unfinished = float((Path("r") / "logs" / "unfinished_cost.json").read_text())
    assert float(limit) <= sum(line["usage"]["cost"] for line in lines()) + unfinished < sum(costs)
    said = play(benchmark, *FAKE, *prices(), "--cost-limit", limit, "--resume")
    assert said.code == 1
    assert len(lines()) == kept
    said = play(benchmark, *FAKE, *prices(), "--cost-limit", "9", "--resume")
    assert said.code == 0
    assert lines() == lines("whole")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "asks a language model: name it by --backend and --model"),
        (("--backend", "fake"), "--backend says how a model is asked, and no --model says which"),
        (("--temperature", "1"), "--temperature says how a model is asked"),
        (("--agent", "thompson", *FAKE), "none of the agents (thompson) asks a language model: leave --model out"),
        (("--backend", "fike", "--model", "x"), "unknown backend 'fike'. Did you mean 'fake'?"),
        ((*FAKE, "--base-url", "http://x/v1"), "the backend fake asks none: leave it out"),
        (("--model", "m", "--base-url", "localhost:8000/v1"), "a base URL reads like http://localhost:8000/v1"),
        ((*FAKE, "--api-key", "x", "--api-key-env", "Y"), "two ways to say the same"),
        ((*FAKE, "--extra-body", "{"), "--extra-body is not JSON"),
        ((*FAKE, "--extra-body", "[]"), "--extra-body is a JSON object"),
        ((*FAKE, "--memory", "histroy"), "history"),
        ((*FAKE, "--agent", "react(memory=none)", "--memory", "history"), "says memory=none, and the command history"),
        ((*FAKE, "--agent", "memento", "--memory", "history"), "none of the agents (memento) has a parameter 'memory'"),
        (("--agent", "thompson", "--memory", "history"), "none of the agents (thompson) has a parameter 'memory'"),
        ((*FAKE, "--cost-limit", "1"), "--cost-limit needs to know what tokens of 'first' cost"),
        ((*FAKE, "--prices", "no.toml"), "cannot read prices"),
        ((*FAKE, "--model-config", "no.toml"), "cannot read no.toml"),
        ((*FAKE, "--api-key", "x", "--executor", "ray"), "--api-key stays on this machine"),
    ],
)
def test_mistakes_are_one_clear_line_and_nothing_is_written(
    benchmark: Terminal, arguments: tuple[str, ...], message: str
) -> None:
    agents = () if "--agent" in arguments else ("--agent", "react")
    said = benchmark("run", "quick", *agents, *SMALL, *arguments)
    assert said.code == 2
    assert said.err.startswith("benchmark: ")
    assert message in said.err
    assert said.err.count("\n") == 1
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--temperature", "-1"), "--temperature"),
        (("--temperature", "nan"), "--temperature"),
        (("--top-p", "2"), "--top-p"),
        (("--max-tokens", "0"), "--max-tokens"),
        (("--max-error-rate", "2"), "--max-error-rate"),
        (("--cost-limit", "-1", "--prices", "prices.toml"), "the cost limit must be more than 0 dollars"),
    ],
)
def test_options_out_of_range(benchmark: Terminal, arguments: tuple[str, ...], message: str) -> None:
    prices()
    said = play(benchmark, *FAKE, *arguments)
    assert said.code == 2
    assert message in " ".join(WORDS.sub(" ", said.err).split())
    assert not Path("r").exists()


def test_options_of_the_model_come_from_a_file_and_the_command_line_wins(benchmark: Terminal) -> None:
    Path("model.toml").write_text(
        'backend = "fake"\nmodel = "first"\nmax-tokens = 50\ntemperature = 0.5\nmemory = "history"\n'
        "[extra-body]\nseed = 3\n"
    )
    said = play(benchmark, "--model-config", "model.toml", "--temperature", "0.25", agent="react")
    assert said.code == 0, said.err
    (card,) = manifest()["config"]["agents"]
    assert (card["model"], card["memory"]) == ("first", "history")
    assert (card["sampling"]["max_tokens"], card["sampling"]["temperature"]) == (50, 0.25)
    assert card["sampling"]["extra"] == {"seed": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('modle = "x"', "there is no option 'modle'. Did you mean 'model'"),
        ('api-key = "x"', "holds a key: put it into an environment variable"),
        ("model = ", "is not TOML"),
    ],
)
def test_a_bad_file_of_options_is_one_clear_line(benchmark: Terminal, text: str, message: str) -> None:
    Path("model.toml").write_text(text)
    said = play(benchmark, "--model-config", "model.toml", agent="react")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert message in said.err


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (BackendError("cannot reach http://x/v1: is the server running?"), "is the server running?"),
        (BackendError("there is no model 'm'; there are: n"), "there is no model 'm'"),
    ],
)
def test_a_preflight_that_fails_writes_nothing(benchmark: Terminal, server: Any, reply: Any, message: str) -> None:
    (*_, backend) = [server(lambda request: reply)]
    said = play(benchmark, "--backend", "script", "--model", "m")
    assert said.code == 2
    assert said.err.startswith("benchmark: ")
    assert message in said.err
    assert not Path("r").exists()
    assert [found.closed for found in backend] == [1]


def test_a_preflight_says_if_tokens_are_counted_too_low(benchmark: Terminal, server: Any) -> None:
    server(lambda request: Completion("<action>pass</action>", prompt_tokens=1000, completion_tokens=3))
    said = play(benchmark, "--backend", "script", "--model", "m")
    assert re.search(r"counted by words, too few: \d\d for 1000;", said.err)


@pytest.mark.parametrize(
    ("reply", "said_of_it"),
    [
        ("<action>ready</action>", "does not think; context unknown, counted by words; keeps to the format"),
        (Completion("<action>ready</action>", reasoning="hm"), "; thinks; "),
        ("<think>hm</think><action>Ready</action>", "; thinks; context unknown, counted by words; keeps"),
        ("I am ready", "does not keep to the format: it said 'I am ready'"),
        ("", "its reply is empty"),
        (Completion("<think>hm", finish="length"), "its reply was cut, a larger --max-tokens may help"),
    ],
)
def test_a_preflight_says_in_a_line_what_it_found(
    benchmark: Terminal, server: Any, reply: Any, said_of_it: str
) -> None:
    server(lambda request: reply if request.draw == "preflight" else "<action>pass</action>")
    said = play(benchmark, "--backend", "script", "--model", "m")
    (line,) = [line for line in said.err.splitlines() if line.startswith("preflight: ")]
    assert said_of_it in line


def test_a_folder_that_is_taken_is_found_out_before_the_model_is_tried(benchmark: Terminal, server: Any) -> None:
    play(benchmark, *FAKE)
    made = server(lambda request: "<action>pass</action>")
    model = ("--backend", "script", "--model", "m")
    assert "is not empty" in play(benchmark, *model).err
    assert "another configuration" in play(benchmark, *model, "--resume").err
    assert made == []


def test_a_plan_asks_no_model() -> None:
    backend = FakeBackend([])
    plan = make_plan(SUITES.get("quick"), ["reflective", "a_mem"], factory=partial(make_agent, model=backend))
    assert len(plan.awaited) == 2
    assert (backend.requests, backend.opened) == ([], 0)


def test_no_preflight_asks_nothing_before_the_run(benchmark: Terminal, server: Any) -> None:
    made = server(lambda request: "<action>pass</action>")
    said = play(benchmark, "--backend", "script", "--model", "m", "--no-preflight")
    assert said.code == 0
    assert "preflight" not in said.err
    assert "preflight" not in {request.draw for backend in made for request in backend.requests}
    assert {backend.closed for backend in made} == {1}


def test_cost_is_not_limited_where_tokens_are_unknown(benchmark: Terminal, server: Any) -> None:
    server(lambda request: Completion("<action>pass</action>"))
    found = prices('[models."m"]\nprompt = 1.0\ncompletion = 2.0\n')
    said = play(benchmark, "--backend", "script", "--model", "m", *found, "--cost-limit", "1")
    assert said.code == 2
    assert "m does not say how many tokens it used: --cost-limit could not hold" in said.err
    assert not Path("r").exists()


def test_a_run_whose_cost_is_unknown_half_way_stops(benchmark: Terminal, server: Any) -> None:
    known = Completion("<action>pass</action>", prompt_tokens=1, completion_tokens=1)
    server(lambda request: known if request.draw == "preflight" else known._replace(prompt_tokens=None))
    found = prices('[models."m"]\nprompt = 1.0\ncompletion = 2.0\n')
    said = play(benchmark, "--backend", "script", "--model", "m", *found, "--cost-limit", "1")
    assert said.code == 1
    assert "did not say how many tokens it used: --cost-limit cannot hold" in said.err
    assert "Leave --cost-limit out, and go on with:\n  benchmark run" in said.err
    assert len(lines()) < 16


def test_a_person_needs_a_terminal_and_plays_alone(benchmark: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    said = benchmark("run", "quick", "--agent", "human", "--meta-episodes", "2", "--jobs", "2", "--out", "r")
    assert said.code == 2
    assert "terminal" in said.err
    assert not Path("r").exists()
    monkeypatch.setattr("benchmarks.model_run.make_agent", lambda spec: type("P", (), {"name": "p", "in_terminal": 1}))
    from benchmarks.model_run import choose_cast
    from benchmarks.runner import Scheduling
    from mage_agent.model_flags import ModelFlags

    cast = choose_cast(["human"], ModelFlags())
    assert cast.schedule(Scheduling(jobs=8), on_terminal=True).jobs == 1
    assert cast.style("bar") == "quiet"


def test_help_of_run_does_not_load_what_computes(benchmark: Terminal) -> None:
    import subprocess

    code = (
        "import sys; sys.argv = ['benchmark', 'run', '--help']\n"
        "from benchmarks import cli\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('pandas', 'statsmodels', 'openai', 'torch') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    for option in ("--model", "--base-url", "--memory", "--api-key-env", "--no-preflight"):
        assert option in done.stdout


def test_a_run_that_cannot_work_is_to_be_started_anew(benchmark: Terminal, server: Any) -> None:
    refused = FinalError("http://x/v1 answered 400: no. The prompt does not fit")
    server(lambda request: "<action>ready</action>" if request.draw == "preflight" else refused)
    said = play(benchmark, "--backend", "script", "--model", "m", "--meta-episodes", "50")
    assert said.code == 1
    assert "Most frequent error: FinalError: http://x/v1 answered 400: no. The prompt does not fit\n" in said.err
    assert "The same requests would fail again: mend what the error names.\n" in said.err
    assert (
        "start it anew, with another --out. If only a key, an address or the server was wrong, go on with:" in said.err
    )


@pytest.mark.parametrize("style", ["bar", "json"])
def test_a_context_in_which_no_prompt_fits_is_refused_before_the_run(benchmark: Terminal, style: str) -> None:
    said = play(benchmark, *FAKE, "--context", "1100", "--max-tokens", "1000", "--progress", style)
    assert said.code == 2
    told = said.err.splitlines()[-1]
    assert re.fullmatch(
        r"benchmark: reflective\(.*\) in (kuhn|tictactoe)/\w+: its first prompt has \d+ tokens, and with replies of up "
        r"to 1000 that is more than the context of 1100: allow shorter replies \(--max-tokens\), or a longer context "
        r"\(--context\)",
        told,
    ), told
    assert not Path("r").exists()
    said = play(
        benchmark, *FAKE, "--context", "1100", "--max-tokens", "1000", "--no-preflight", "--max-error-rate", "1"
    )
    assert said.code == 0
    assert lines()[0]["error"].startswith("FinalError: a prompt of ")


@pytest.mark.parametrize(
    ("model", "flying"),
    [((), 64), (("--batch", "8"), 64), (("--backend", "transformers"), 32), (("--backend", "vllm", "--batch", "8"), 8)],
)
def test_as_many_are_in_flight_as_a_model_in_this_process_answers_at_once(
    benchmark: Terminal, monkeypatch: pytest.MonkeyPatch, model: tuple[str, ...], flying: int
) -> None:
    seen: list[int] = []

    def played(*_: Any, how: Any, **__: Any) -> None:
        seen.append(how.concurrency)
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.runner.run", played)
    for more in ((), ("--concurrency", "5")):
        play(benchmark, "--model", "m", "--base-url" if "--backend" not in model else "--revision", "http://h/v1",
             *model, "--no-preflight", *more)  # fmt: skip
    assert seen == [flying, 5]


@pytest.mark.parametrize(("silent", "said_so"), [(0.0, True), (60.0, False)])
def test_a_preflight_that_takes_long_says_what_it_waits_for(
    benchmark: Terminal, server: Any, monkeypatch: pytest.MonkeyPatch, silent: float, said_so: bool
) -> None:
    monkeypatch.setattr("benchmarks.model_run.SILENT_SECONDS", silent)

    def slow(request: Any) -> BackendError:
        time.sleep(0.2)
        return BackendError("all connection attempts failed (tried once)")

    server(slow)
    said = play(benchmark, "--backend", "script", "--model", "m")
    assert said.code == 2
    assert ("waiting for m …\n" in said.err) == said_so
