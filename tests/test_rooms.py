"""Rooms import in one direction only (DESIGN, section 3), and nothing light imports anything heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

ORDER = (
    ("mage_envs.registry", "mage_envs.errors", "mage_envs.spec_strings", "mage_envs.charset", "mage_envs.cache"),
    ("mage_envs.games", "mage_envs.worlds"),
    ("mage_envs.opponents",),
    ("mage_envs.text",),
    ("mage_envs.tabular",),
    ("mage_envs.envs", "mage_envs.pettingzoo"),
    ("mage_envs.scenarios",),
    ("mage_agent",),
    ("benchmarks",),
)
LEVELS = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
HEAVY = ("torch", "transformers", "ray", "trl", "vllm", "openai")
FILES = [file for room in ("mage_envs", "mage_agent", "benchmarks") for file in sorted((ROOT / room).rglob("*.py"))]


def room(module: str) -> str | None:
    """Returns the room of a module; None for the package ``mage_envs`` itself, which only registers."""
    parts = module.split(".")
    return next((name for name in (".".join(parts[:2]), parts[0]) if name in LEVELS), None)


def imports(file: Path) -> list[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_go_one_way(file: Path) -> None:
    own = room(".".join(file.relative_to(ROOT).with_suffix("").parts))
    for module in imports(file):
        other = room(module)
        if own and other:
            assert LEVELS[other] <= LEVELS[own], f"{file.name} imports {module}, which is further down the line"


def test_every_module_has_its_place() -> None:
    for file in FILES:
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        assert name == "mage_envs" or room(name), f"{name} has no place in ORDER"


def test_light_rooms_import_nothing_heavy() -> None:
    modules = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in FILES
        if "grpo" not in file.parts and "perf" not in file.parts
    ]
    code = f"import sys, importlib\nfor name in {modules!r}: importlib.import_module(name)\n"
    code += f"print([name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
