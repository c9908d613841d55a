"""What docs/your_model.md says to type is typed here: with the fake backend; for servers, as far as options go."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from benchmarks import cli
from mage_agent import cli as agent_cli
from mage_agent.model_flags import read_config
from mage_agent.prices import read_prices

PAGE = (Path(__file__).parent.parent / "docs" / "your_model.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ ((?:benchmark|mage-agent) .*)$", PAGE, re.MULTILINE)
TABLE = [f"benchmark run quick {found}" for found in re.findall(r"^\|.*\| `(--[^`]*)`[^|]*\|$", PAGE, re.MULTILINE)]
TOML = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def typed(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> int:
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as caught:
        (agent_cli if words[0] == "mage-agent" else cli).main()
    return int(caught.value.code or 0)


@pytest.mark.parametrize("command", [command for command in COMMANDS if "--backend fake" in command])
def test_commands_without_a_server_work(command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert typed(monkeypatch, shlex.split(command, comments=True)) == 0


@pytest.mark.parametrize("command", [command for command in COMMANDS if "--backend transformers" in command])
def test_commands_with_the_tiny_model_work(command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra agent")
    from mage_agent.tiny.build import build_model

    monkeypatch.chdir(tmp_path)
    build_model("tiny", hidden=32, layers=1)
    Path("smollm2-135m").symlink_to("tiny")  # What the page fetches from a package index.
    assert typed(monkeypatch, shlex.split(command, comments=True)) == 0


@pytest.mark.parametrize("command", [*COMMANDS, *TABLE])
def test_every_option_is_known(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed(monkeypatch, [*shlex.split(command, comments=True), "--help"]) == 0


def test_the_table_is_read() -> None:
    assert len(TABLE) == 6


def test_the_files_are_what_they_are_said_to_be(tmp_path: Path) -> None:
    config, prices = TOML
    (tmp_path / "config").write_text(config)
    (tmp_path / "prices").write_text(prices)
    assert read_config(tmp_path / "config")["base_url"] == "http://localhost:8000/v1"
    assert read_prices(tmp_path / "prices")["gpt-4o-mini"].prompt == 0.15
