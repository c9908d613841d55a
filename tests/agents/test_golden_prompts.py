"""The golden prompts are what the language agents send now."""

from __future__ import annotations

import pytest

from mage_agent.agents import AGENTS
from mage_agent.language import LanguageAgent
from tests.agents.golden_prompts import CASES, FOLDER, KUHN, Case, files, write


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_golden_prompts(case: Case) -> None:
    assert write(case) == case.path.read_text(encoding="utf-8"), "run `make golden` and read the diff"


def test_the_page_shows_a_prompt_as_it_is() -> None:
    page = (FOLDER.parents[2] / "docs" / "language_agents.md").read_text(encoding="utf-8")
    shown = page.partition("```text\n")[2].partition("```")[0]
    system, user = (part.strip() for part in shown.removeprefix("=== system ===").split("=== user ==="))
    golden = Case("reflective(memory=reflection)", KUHN).path.read_text(encoding="utf-8")
    assert f"=== 7/3 system ===\n{system}\n" in golden
    assert f"=== 7/3 user ===\n{user}\n" in golden


def test_no_file_is_left_over_and_every_language_agent_has_one() -> None:
    assert set(files()) == {case.path for case in CASES}
    kinds = {name: AGENTS.get(name) for name in AGENTS}
    language = {name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, LanguageAgent)}
    assert language == {case.spec.split("(")[0] for case in CASES}
