"""The hub is asked once whether it is there, before a library tries for half a minute."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from mage_agent.backends.base import BackendError
from mage_agent.backends.loading import LONGEST, loading, only_here, remedy_for


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.usefixtures("no_proxy")
def test_a_hub_that_answers_is_asked_and_one_that_does_not_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        assert not only_here("owner/name")
    assert only_here("owner/name")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")  # Only the proxy knows what it reaches.
    assert not only_here("owner/name")


@pytest.mark.usefixtures("no_proxy")
def test_a_folder_asks_no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> None:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr(socket, "create_connection", asked)
    assert not only_here(str(tmp_path))
    assert not only_here("./nowhere")
    with pytest.raises(AssertionError, match="asked"):
        only_here("owner/name")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert only_here("owner/name")


def test_each_failure_has_its_own_remedy(tmp_path: Path) -> None:
    assert str(tmp_path) in remedy_for(str(tmp_path), False)
    assert "no such folder" in remedy_for("./nowhere", False)
    assert "out of reach" in remedy_for("owner/name", True)
    assert "hub id and the revision" in remedy_for("owner/name", False)


def test_whatever_is_raised_becomes_one_line() -> None:
    with pytest.raises(BackendError, match=r"^cannot load it: a b … .*\. Do this$") as raised, loading("it", "Do this"):
        raise TypeError("a\n  b … " + "x" * 1000)
    assert len(str(raised.value)) < LONGEST + 50
    with pytest.raises(BackendError, match=r"^as it is$"), loading("it", "Do this"):
        raise BackendError("as it is")
