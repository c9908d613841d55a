"""The server that fails on demand: which faults it has, who meets them, and that they are what they are called."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from mage_agent.backends import fault_server
from mage_agent.backends.fault_server import FaultServer, first_legal
from mage_agent.backends.injected_faults import FAULTS, REFUSALS, TRANSIENT, at_rate, in_order, never
from tests.agents.asking import PROMPT, REPLY, raw

BODY = {"model": "scripted", "messages": [message._asdict() for message in PROMPT]}


def post(server: FaultServer, path: str = "/v1/chat/completions", body: Any = BODY) -> dict[str, Any]:
    url = server.url.removesuffix("/v1") + path
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=0.3) as answer:
        return json.loads(answer.read())


def test_it_answers_by_its_script_and_keeps_what_came() -> None:
    with FaultServer() as server:
        answer = post(server)
        assert answer["choices"][0] == {
            "index": 0,
            "message": {"role": "assistant", "content": REPLY},
            "finish_reason": "stop",
        }
        assert answer["usage"] == {"prompt_tokens": 11, "completion_tokens": 5}
        server.script = lambda messages: {"content": None, "refusal": "no"}
        assert post(server)["choices"][0]["message"] == {"content": None, "refusal": "no"}
        server.script = lambda messages: raw(418, {"short": "stout"})
        with pytest.raises(urllib.error.HTTPError, match="418"):
            post(server)
        assert [seen.body for seen in server.seen] == [BODY] * 3
        assert server.counts == {"none": 3}


def test_pages_that_it_need_not_have() -> None:
    with FaultServer(tokenize=True) as server:
        assert post(server, "/tokenize")["count"] == 11
        with urllib.request.urlopen(f"{server.url}/models", timeout=1) as answer:
            assert json.loads(answer.read())["data"][0]["id"] == "scripted"
    with FaultServer(models=None) as server:
        for path in ("/tokenize", "/v1/models", "/v1/other"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                post(server, path)


@pytest.mark.parametrize("kind", FAULTS)
def test_each_fault_is_what_it_is_called(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_server, "SLOW_BYTE", 0.001)
    begun = time.monotonic()
    with FaultServer(faults=in_order(kind), retry_after=3.0) as server:
        try:
            met: Any = post(server)
        except urllib.error.HTTPError as error:
            met = error.code, error.headers.get("retry-after") or error.headers.get("retry-after-ms")
            error.close()
        except (OSError, ValueError) as error:
            met = type(error).__name__
        except Exception as error:  # noqa: BLE001 - an answer that is cut is http.client's own error
            met = type(error).__name__
        assert post(server)["choices"][0]["message"]["content"] == REPLY
        assert server.counts == {kind: 1, "none": 1}
    if kind in REFUSALS:
        waits = {"429-seconds": "3", "429-ms": "3000", "503": "3"}
        assert met[0] == int(kind[:3])
        if kind == "429-date":
            assert parsedate_to_datetime(met[1]).year > 2000
        else:
            assert met[1] == waits.get(kind)
    elif kind == "slow":  # Each read is quick: only who looks at the whole notices.
        assert met["choices"][0]["message"]["content"] == REPLY
        assert time.monotonic() - begun > 0.3
    elif kind in TRANSIENT:
        known = {"reset": "ConnectionResetError", "half": "JSONDecodeError", "cut": "IncompleteRead"}
        assert met == known.get(kind, "TimeoutError")
    else:
        message = met["choices"][0]["message"]
        assert message["content"] == ("" if kind == "empty" else None)
        assert ("reasoning_content" in message) == (kind == "null-reasoning")


def test_faults_are_drawn_from_the_request_whatever_the_order() -> None:
    choose = at_rate(0.2, 7)
    bodies = [str(number).encode() for number in range(2_000)]
    found = {body: choose(body, 0) for body in bodies}
    assert {body: choose(body, 0) for body in reversed(bodies)} == found
    met = [fault for fault in found.values() if fault]
    assert 0.17 < len(met) / 2_000 < 0.23
    assert set(met) == set(TRANSIENT)
    again = [choose(body, 1) for body in bodies]
    assert again != list(found.values())
    assert [at_rate(0.2, 8)(body, 0) for body in bodies] != list(found.values())
    assert {at_rate(1.0, 7, ("500",))(body, 0) for body in bodies} == {"500"}
    assert never(b"", 0) is None


def test_a_request_that_comes_again_meets_other_faults() -> None:
    with FaultServer(faults=at_rate(0.5, 3, ("500",))) as server:
        for _ in range(20):
            try:
                post(server)
            except urllib.error.HTTPError as error:
                error.close()
        counts = server.counts
    assert set(counts) == {"500", "none"}
    assert min(counts.values()) >= 3


def test_it_stops_with_connections_open() -> None:
    with socket.socket() as client:
        with FaultServer(faults=in_order("hang")) as server:
            client.connect(("127.0.0.1", server.port))
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
            while not server.seen:
                time.sleep(0.001)
        assert client.recv(10) == b""


def test_the_first_legal_action() -> None:
    assert first_legal([{"role": "user", "content": "Reflect."}]) == "<remark>It plays as before.</remark>"


def test_it_runs_by_itself() -> None:
    command = [sys.executable, "-m", "mage_agent.backends.fault_server", "--rate", "1", "--kinds", "502"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            request = urllib.request.Request(f"{url}/chat/completions", json.dumps(BODY).encode())
            with pytest.raises(urllib.error.HTTPError, match="502") as raised:
                urllib.request.urlopen(request, timeout=5)
            raised.value.close()
        finally:
            process.kill()
    done = subprocess.run([*command[:-1], "504"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "unknown fault '504'" in done.stderr
