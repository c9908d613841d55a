"""What is kept on disk: whole or not at all, checked when it is read, and never in the way."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from mage_envs import cache

ARRAYS = {"a": np.arange(1000, dtype=np.int32), "b": np.eye(3), "c": np.zeros((0, 4), dtype=np.float32)}
ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "deep" / "cache"))
    return tmp_path / "deep" / "cache"


def same(arrays: cache.Arrays | None) -> bool:
    return arrays is not None and arrays.keys() == ARRAYS.keys() and all(
        arrays[name].dtype == array.dtype and np.array_equal(arrays[name], array) for name, array in ARRAYS.items()
    )  # fmt: skip


def write_forever(folder: str) -> None:
    os.environ["MAGE_CACHE"] = folder
    while True:
        cache.store("game", "k", ARRAYS)


def test_what_is_stored_is_loaded(place: Path) -> None:
    assert cache.load("game", "k", dict) is None
    cache.store("game", "k", ARRAYS)
    assert same(cache.load("game", "k", dict))
    assert [file.name for file in place.iterdir()] == ["game-k.npz"]
    assert cache.load("other", "k", dict) is None


def test_the_folder(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    assert cache.folder() == place
    for off in ("off", "OFF"):
        monkeypatch.setenv("MAGE_CACHE", off)
        assert cache.folder() is None
        cache.store("game", "k", ARRAYS)
        assert cache.load("game", "k", dict) is None
    for unset in ("", None):
        monkeypatch.setenv("MAGE_CACHE", unset) if unset is not None else monkeypatch.delenv("MAGE_CACHE")
        found = cache.folder()
        assert found is not None
        assert found.name == "mage-envs"
    assert not place.exists()


def test_keys_tell_contents_apart() -> None:
    keys = {cache.content_key(*parts) for parts in (("a", "bc"), ("ab", "c"), ("abc",), ("abc", ""), (b"abd",), ())}
    assert len(keys) == 6
    assert cache.content_key("ä", b"x") == cache.content_key("ä".encode(), "x")
    assert cache.content_key("a") == "ae6121c88ba555f64c3d812123eb799d", "the same on every machine"


@pytest.mark.parametrize("tries", [0, 2])
def test_a_kill_leaves_it_whole(place: Path, tries: int) -> None:
    place.mkdir(parents=True)
    code = f"from tests.test_cache import write_forever; write_forever({str(place)!r})"
    writer = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    while not (place / "game-k.npz").exists():
        assert writer.poll() is None
    for _ in range(20 * tries):
        assert same(cache.load("game", "k", dict)), "it is whole while it is written anew"
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert same(cache.load("game", "k", dict))


def test_a_failure_in_the_middle_leaves_what_was_there(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store("game", "k", ARRAYS)

    def broken(file: object, **_: object) -> None:
        file.write(b"PK half")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", broken)
    with pytest.raises(KeyboardInterrupt):
        cache.store("game", "k", {"a": np.zeros(3)})
    monkeypatch.undo()
    monkeypatch.setenv("MAGE_CACHE", str(place))
    assert same(cache.load("game", "k", dict))
    assert len(list(place.iterdir())) == 1


def test_two_processes_store_at_once(place: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.starmap(cache.store, [("game", "k", ARRAYS)] * 20)
    assert same(cache.load("game", "k", dict))
    assert len(list(place.iterdir())) == 1


def test_damage_of_any_kind_is_logged_and_loads_nothing(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache.store("game", "k", ARRAYS)
    file, rng = place / "game-k.npz", random.Random(0)
    whole = file.read_bytes()
    damaged = [b"", b"PK", b"nonsense", pickle.dumps(ARRAYS), np.eye(2).tobytes(), whole + whole[:100]]
    damaged += [whole[: rng.randrange(len(whole))] for _ in range(30)]
    for _ in range(300):
        at = rng.randrange(len(whole))
        damaged.append(whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :])
    refused = 0
    for content in damaged:
        caplog.clear()
        file.write_bytes(content)
        found = cache.load("game", "k", dict)
        assert found is None or same(found) or found.keys() != ARRAYS.keys(), "a bit that nobody reads, or a name"
        assert (found is None) == ("is damaged and will be written anew" in caplog.text)
        refused += found is None
    assert refused > 300
    cache.store("game", "k", ARRAYS)
    assert same(cache.load("game", "k", dict))


def test_an_array_file_in_its_place_loads_nothing(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    place.mkdir(parents=True)
    with (place / "game-k.npz").open("wb") as file:
        np.save(file, np.eye(2))
    assert cache.load("game", "k", dict) is None
    assert "damaged" in caplog.text


def test_wrong_content_counts_as_damage(caplog: pytest.LogCaptureFixture) -> None:
    cache.store("game", "k", ARRAYS)
    for decode in (lambda arrays: arrays["missing"], lambda arrays: arrays["b"] @ arrays["a"], lambda arrays: int("x")):
        caplog.clear()
        assert cache.load("game", "k", decode) is None
        assert "damaged" in caplog.text


class Trap:
    """Code that a pickle would run."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (os.environ["MAGE_CACHE"] + "/trap",)


def test_pickled_objects_are_neither_written_nor_read(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    evil = np.array([Trap()], dtype=object)
    with pytest.raises(ValueError, match="allow_pickle"):
        cache.store("game", "k", {"a": evil})
    assert not list(place.iterdir())
    with (place / "game-k.npz").open("wb") as file:
        np.savez(file, a=evil)
    with zipfile.ZipFile(place / "game-m.npz", "w") as archive:
        archive.writestr("a", pickle.dumps(Trap()))
    assert cache.load("game", "k", dict) is None
    assert cache.load("game", "m", lambda arrays: arrays["a"].shape) is None
    assert caplog.text.count("damaged") == 2
    assert not (place / "trap").exists()


def test_a_folder_that_cannot_be_written_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        cache.store("game", "k", ARRAYS)
    assert "nothing is kept on disk" in caplog.text
    assert "MAGE_CACHE" in caplog.text
    caplog.clear()
    assert cache.load("game", "k", dict) is None
    assert not caplog.text


def test_a_full_disk_is_logged_and_leaves_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    cache.store("game", "k", ARRAYS)
    assert "No space left" in caplog.text
    assert not list(place.iterdir())
