"""Evaluation in the middle of training: the panel, and that a model in memory plays as one on disk."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.panels import make_panel
from benchmarks.suites import SUITES
from benchmarks.training import NAME, evaluate, validation
from mage_agent.agents import make_agent
from mage_agent.backends.base import Message, Request
from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.dataset import make_rows
from mage_agent.grpo.evaluation import harness, panel_of
from mage_agent.model_settings import ModelSettings, Sampling

CONFIG = TrainConfig(eval_meta_episodes=12, max_completion=8, temperature=1.0, top_p=1.0, top_k=0)


def test_the_panel_is_fixed() -> None:
    panel = validation(panel_of(CONFIG))
    assert len(panel.entries) == 12
    assert panel.hash.startswith("4ce3879fab7b")
    assert validation(panel_of(replace(CONFIG, seed=5, model="m", steps=9))).hash == panel.hash
    assert validation(panel_of(replace(CONFIG, eval_episodes=4))).hash != panel.hash
    assert validation(panel_of(replace(CONFIG, population="kuhn/heldout"))).hash != panel.hash
    heldout = panel_of(replace(CONFIG, eval_scenario="kuhn/heldout", population="random"))
    assert heldout.scenario.population == "kuhn/heldout"


def test_the_panel_is_no_suites_and_not_what_is_trained_on() -> None:
    assert NAME not in SUITES
    own = {entry.seed for entry in validation(panel_of(replace(CONFIG, eval_meta_episodes=500))).entries}
    for name in ("quick", "games"):
        assert not own & {entry.seed for entry in make_panel(SUITES.get(name)).entries}
    for seed in range(2):
        assert not own & {row["seed"] for row in make_rows([CONFIG.played], 500, seed)}


def test_an_agent_is_scored_with_intervals_and_by_opponent() -> None:
    def agent() -> object:
        return make_agent("reflective", ModelSettings("fake", "any"))

    panel = panel_of(replace(CONFIG, eval_meta_episodes=32))
    found = harness().evaluate(panel, agent, 8)  # type: ignore[arg-type]
    assert found == evaluate(panel, agent, 3)  # type: ignore[arg-type]
    assert found.panel == validation(panel).hash
    assert (found.scored, found.errors, len(found.score)) == (32, 0, 3)
    assert set(found.opponents) == {"aggressive", "conservative", "intermediate"}
    for interval in (*found.score, found.gain):
        assert interval.low is not None
        assert interval.value is not None
        assert interval.high is not None
        assert interval.low < interval.value < interval.high
    first, last = found.score[0].value, found.score[-1].value
    assert first is not None
    assert last is not None
    assert found.gain.value == pytest.approx(last - first)


def test_what_fails_is_counted_and_named() -> None:
    def agent() -> object:
        return make_agent("reflective", ModelSettings("fake", "any", context=10))

    found = evaluate(panel_of(CONFIG), agent, 8)  # type: ignore[arg-type]
    assert (found.scored, found.errors) == (0, 12)
    assert "do not fit into 10" in found.first_error
    assert found.gain.value is None


def test_a_model_in_memory_answers_as_the_same_on_disk(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra agent")
    from mage_agent.backends.transformers import TransformersBackend, load
    from mage_agent.grpo.evaluation import policy_backend
    from mage_agent.tiny.build import build_model

    folder = build_model(tmp_path / "tiny", hidden=32, layers=1, heads=2, dtype="float64")
    sampling = Sampling(CONFIG.temperature, CONFIG.top_p, None, CONFIG.max_completion)
    settings = ModelSettings("transformers", str(folder), sampling=sampling, device="cpu")
    loaded = load(settings)
    model = loaded.generator._model
    model.train()
    before = torch.get_rng_state()
    requests = [Request((Message("user", "Which? " * length),), f"7/{length}") for length in range(1, 9)]

    async def answers(backend: TransformersBackend) -> list[str]:
        found = await asyncio.gather(*map(backend.complete, requests))
        await backend.close()
        return [completion.text for completion in found]

    in_memory = policy_backend(model.eval(), loaded.chat, CONFIG, loaded.context)
    written = asyncio.run(answers(in_memory))  # type: ignore[arg-type]
    assert written == asyncio.run(answers(TransformersBackend(settings)))
    assert len(set(written)) == len(requests)
    assert torch.equal(torch.get_rng_state(), before)
