"""The models that come with the package: whole, small, traceable, and they do what their page says."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed (extra agent)")
pytest.importorskip("transformers", reason="transformers is not installed (extra agent)")

from benchmarks.plan import make_plan
from benchmarks.records import iterate_records
from benchmarks.runner import run
from benchmarks.suites.base import SUITES
from mage_agent.agents import make_agent
from mage_agent.briefing import brief
from mage_agent.tiny.checkpoints import AUTO, CHECKPOINTS, FOLDER, checkpoint_for, revision
from mage_envs.scenarios import SCENARIOS

MOST_BYTES = 8_000_000


def test_they_are_small_and_safe() -> None:
    files = [file for file in FOLDER.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= MOST_BYTES
    assert {file.suffix for file in files} <= {".json", ".jinja", ".safetensors", ".toml"}
    assert sorted(folder.name for folder in FOLDER.iterdir()) == sorted(CHECKPOINTS)


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_each_says_how_it_was_made(name: str) -> None:
    made = json.loads((FOLDER / name / "made.json").read_text(encoding="utf-8"))
    assert made["command"].split()[:2] in (["python", "-m"], ["mage-agent", "train"])
    assert re.fullmatch(r"[0-9a-f]{40}", made["commit"])  # Of a clean checkout: no "+".
    assert made["seed"] == 0
    assert {"torch", "transformers", "trl"} <= set(made["packages"])


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_each_has_the_size_that_the_issue_allows(name: str) -> None:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(FOLDER / name, local_files_only=True)
    assert 200_000 <= sum(weight.numel() for weight in model.parameters()) <= 3_000_000


def test_a_game_is_played_by_the_model_that_was_trained_on_it() -> None:
    assert checkpoint_for("kuhn_poker") == "kuhn"
    assert checkpoint_for("rock_paper_scissors(throws=3)") == "rps"
    assert checkpoint_for("tic_tac_toe") == checkpoint_for("") == "start"
    assert len({revision(name) for name in (AUTO, *CHECKPOINTS)}) == 1 + len(CHECKPOINTS)


def test_its_card_names_the_model_and_not_where_it_is_installed() -> None:
    agent: Any = make_agent("tiny")
    card = agent.card()
    assert card["model"] == "tiny/auto"
    assert card["revision"] == revision(AUTO)
    assert card["memory"] == "reflection"
    assert str(FOLDER) not in json.dumps(card)


def test_one_agent_that_plays_two_games_changes_its_model() -> None:
    async def revisions() -> list[str]:
        agent: Any = make_agent("tiny")
        found = []
        for scenario in ("kuhn/train", "rps/leaning", "tictactoe/train", "kuhn/train"):
            env = SCENARIOS.get(scenario).make(interface="text")
            _, info = env.reset(seed=1)
            await agent.begin(brief(env, info, 1))
            found.append((await agent.calls.backend()).revision)
        await agent.close()
        return found

    assert asyncio.run(revisions()) == [revision(name) for name in ("kuhn", "rps", "start", "kuhn")]


@pytest.mark.parametrize("control", ["none", "no_memory", "shuffled_reflection"])
def test_it_adapts_and_what_it_wrote_is_why(control: str, tmp_path: Path) -> None:
    """In Rock-Paper-Scissors, 150 meta-episodes: +.45 on thousands, with a standard error of .09 here."""
    suite = SUITES.get("tiny")
    throws = tuple(part for part in suite.parts if part.scenario.name == "rps/leaning")
    plan = make_plan(replace(suite, parts=throws), ["tiny"], meta_episodes=150, control=control)
    found = run(plan, tmp_path / "run", lambda done, total, bad: None)
    scores = np.array(
        [[episode.reward for episode in record.episodes] for record in iterate_records(found.records_path)]
    )
    assert scores.shape == (150, 3)
    gain = float((scores[:, -1] - scores[:, 0]).mean())
    assert gain > 0.2 if control == "none" else abs(gain) < 0.3
