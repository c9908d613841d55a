"""A built wheel works from outside the tree, and says of itself what is true."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SUFFIXES = (".py", ".csv", ".typed", ".html", ".css", ".js", ".toml", ".yaml")
PACKAGES = ("mage_envs", "mage_agent", "benchmarks", "leaderboards")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds a wheel from the files that git tracks and unpacks it."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    for name in filter(None, tracked):
        if (ROOT / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(site: Path, cwd: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_wheel_holds_every_module_and_data_file(unpacked: Path) -> None:
    for package in PACKAGES:
        files = [file for file in (ROOT / package).rglob("*") if file.suffix in SUFFIXES]
        assert files
        for file in files:
            assert (unpacked / file.relative_to(ROOT)).exists(), f"{file.relative_to(ROOT)} is not in the wheel"


def test_the_wheel_works_from_outside_the_tree(unpacked: Path, tmp_path: Path) -> None:
    code = "import mage_envs, gymnasium; gymnasium.make('mage/KuhnPoker-v0').reset(seed=1); print(mage_envs.__file__)"
    assert str(unpacked) in run(unpacked, tmp_path, "-c", code)
    assert "quick" in run(unpacked, tmp_path, "-m", "benchmarks.cli", "list")
    assert "thompson" in run(unpacked, tmp_path, "-m", "mage_agent.cli", "list")
    run(unpacked, tmp_path, "-m", "benchmarks.cli", "site", "--out", "page")
    assert (tmp_path / "page" / "assets" / "site.css").exists()


def test_extras_and_scripts_exist() -> None:
    extras = {"fast", "webshop", "alfworld", "agent", "train", "openai", "vllm", "ray", "plots", "dev", "all"}
    assert set(PROJECT["optional-dependencies"]) == extras
    assert set(PROJECT["scripts"]) == {"benchmark", "mage-agent"}
    assert PROJECT["license"] == "Apache-2.0"


def test_the_version_is_said_once_and_the_same() -> None:
    import mage_envs

    assert PROJECT["version"] == mage_envs.__version__


def test_classifiers_are_no_wider_than_the_allowed_versions() -> None:
    versions = [line.rsplit(" ", 1)[-1] for line in PROJECT["classifiers"] if "Python :: 3." in line]
    assert versions == ["3.11", "3.12", "3.13"]
    assert PROJECT["requires-python"] == ">=3.11,<3.14"
