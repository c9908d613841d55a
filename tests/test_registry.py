"""Registries and the errors they raise."""

from __future__ import annotations

import doctest
import importlib
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import mage_envs.registry
from mage_envs.errors import MageError, SpecError, UnknownNameError, UnsupportedGameError, near_matches
from mage_envs.registry import Registry

MODULE = """
import threading
from mage_envs.registry import Registry
from {package} import FOUND
threading.Event().wait(0.01)  # Gives other threads the chance to look into a registry that is half filled.
FOUND.register("{name}", "{name}")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A package of modules that register an item each."""
    name = f"found_{abs(hash(request.node.name))}"
    folder = tmp_path / name
    folder.mkdir()
    text = "from mage_envs.registry import Registry\nFOUND = Registry('thing', package=__name__)\n"
    (folder / "__init__.py").write_text(text)
    for item in ("ape", "bee", "cat"):
        (folder / f"{item}.py").write_text(MODULE.format(package=name, name=item))
    monkeypatch.syspath_prepend(tmp_path)
    return name


def _registry(package: str) -> Registry[str]:
    registry: Registry[str] = importlib.import_module(package).FOUND
    return registry


def test_scan_finds_every_module(package: str) -> None:
    registry = _registry(package)
    assert f"{package}.ape" not in sys.modules
    assert list(registry) == ["ape", "bee", "cat"]
    assert "bee" in registry
    assert "dog" not in registry


def test_every_thread_finds_everything(package: str) -> None:
    registry = _registry(package)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(registry.get, ["cat"] * 8)) == ["cat"] * 8


def test_a_module_that_fails_fails_every_time(package: str, tmp_path: Path) -> None:
    broken = tmp_path / package / "broken.py"
    broken.write_text("import no_such_module_at_all\n")
    registry = _registry(package)
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError):
            registry.get("cat")
    broken.unlink()
    importlib.invalidate_caches()
    assert registry.get("cat") == "cat"


def test_register_refuses_a_second_item_of_one_name() -> None:
    registry: Registry[list[int]] = Registry("thing")
    item = registry.register("a", [1])
    assert registry.register("a", item) is item
    with pytest.raises(ValueError, match="thing 'a' is registered twice"):
        registry.register("a", [1])


def test_unknown_name() -> None:
    registry: Registry[int] = Registry("colour")
    registry.register("red", 1)
    with pytest.raises(UnknownNameError, match=r"unknown colour 'Rad'. Did you mean 'red'\?") as caught:
        registry.get("Rad")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, MageError)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.known) == (str(caught.value), ["red"])


@pytest.mark.parametrize(
    ("name", "known", "says"),
    [
        ("mct", ["mcts", "ismcts", "cfr"], "Did you mean 'mcts' or 'ismcts'?"),
        ("MCTS", ["mcts"], "Did you mean 'mcts'?"),
        ("zzz", ["b", "a"], "Known: a, b."),
        ("win_stay", ["history", "constant"], "Known: constant, history."),
        ("react", ["reflective"], "Known: reflective."),
        ("kuhn", ["kuhn/train", "leduc/train"], "Did you mean 'kuhn/train'?"),
        ("ku", ["kuhn/train"], "Known: kuhn/train."),
        ("uh", ["kuhn/train"], "Known: kuhn/train."),
        ("x", [], "Known: none."),
    ],
)
def test_near_matches(name: str, known: list[str], says: str) -> None:
    assert near_matches(name, known) == says


@pytest.mark.parametrize("error", [SpecError, UnsupportedGameError])
def test_errors_of_callers_are_value_errors(error: type[Exception]) -> None:
    assert issubclass(error, ValueError)
    assert issubclass(error, MageError)


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(mage_envs.registry).failed == 0
