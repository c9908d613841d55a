"""The code in the README and in the docs runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mage_agent.agents import AGENTS
from mage_agent.grpo.advantages import ESTIMATORS, REWARDS
from mage_agent.grpo.credit import OBJECTIVES
from mage_envs.opponents import OPPONENTS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
REGISTRIES: tuple[Any, ...] = (AGENTS, OPPONENTS, OBJECTIVES, REWARDS, ESTIMATORS)
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the blocks of a page one after the other, as a reader would, in one namespace; if they write, then again."""
    monkeypatch.chdir(tmp_path)
    known = {registry: {name: registry.get(name) for name in registry} for registry in REGISTRIES}
    for _ in range(2):
        for registry, items in known.items():  # What a page registers would else be there in all tests after it.
            monkeypatch.setattr(registry, "_items", dict(items))
        namespace: dict[str, object] = {"__name__": "__docs__"}
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            exec(compile(block, str(page), "exec"), namespace)
        if not any(tmp_path.iterdir()):
            break


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_names_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if page.name != "README.md" and f"docs/{page.name}" not in readme] == []
