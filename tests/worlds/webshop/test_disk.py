"""A catalogue on disk answers as one in memory, is built once, and survives what can happen to files."""

from __future__ import annotations

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mage_envs.errors import MageError
from mage_envs.worlds.webshop import Shop, disk, load_official
from mage_envs.worlds.webshop.splits import SPLITS, goals_of
from mage_envs.worlds.webshop.streaming import stream_dict, stream_list
from tests.worlds.webshop.made_files import write_files
from tests.worlds.webshop.packs import GOLDEN


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("webshop")
    write_files(made, 2_500)
    return made


def assert_same(one: Shop, other: Shop) -> None:
    assert list(one.products) == list(other.products)
    assert list(one.goals) == list(other.goals)
    assert dict(one.prices) == dict(other.prices)
    for goal in one.goals[:40]:
        assert one.search(goal.text) == other.search(goal.text)
        assert one.search(goal.title) == other.search(goal.title)
    for number, goal in enumerate(one.goals[:200]):
        near = one.search(goal.text)[-1]
        options = {name: values[0] for name, values in one.product(near).options.items()}
        assert one.reward(number, near, options) == other.reward(number, near, options)


@pytest.mark.parametrize("human", [False, True])
def test_the_golden_pack_on_disk(human: bool, cached: Path) -> None:
    memory, on_disk = (load_official(GOLDEN, human=human, on_disk=flag) for flag in (False, True))
    assert_same(memory, on_disk)


@pytest.mark.parametrize("human", [False, True])
def test_a_made_file_on_disk(folder: Path, human: bool, cached: Path) -> None:
    memory, on_disk = (load_official(folder, goal_seed=3, human=human, on_disk=flag) for flag in (False, True))
    assert len(memory.goals) > 20
    assert_same(memory, on_disk)
    for split in () if human else SPLITS:  # The few human goals are not of every split.
        assert list(goals_of(memory, split)) == list(goals_of(on_disk, split))
    with pytest.raises(IndexError):
        on_disk.products[2_500]
    with pytest.raises(ValueError, match="no product"):
        on_disk.product("B000000000")


def test_it_is_built_once(folder: Path, cached: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_official(folder, on_disk=True)
    monkeypatch.setattr(disk, "_build", None)
    again = load_official(folder, on_disk=True)
    assert again.goals[5] == first.goals[5]
    assert again.search("soft chair") == first.search("soft chair")
    assert len(list(cached.iterdir())) == 1
    assert not list(cached.glob("*/index/block-*"))


def test_another_content_is_another_catalogue(tmp_path: Path, cached: Path) -> None:
    write_files(tmp_path, 30)
    load_official(tmp_path, on_disk=True)
    text = (tmp_path / "items_shuffle.json").read_text()
    (tmp_path / "items_shuffle.json").write_text(text.replace("Classic", "Antique"))
    assert any("Antique" in each.title for each in load_official(tmp_path, on_disk=True).products)
    assert len(list(cached.iterdir())) == 2


def test_threads_build_one_catalogue(folder: Path, cached: Path) -> None:
    ready = threading.Barrier(3)

    def load(_: int) -> list[str]:
        ready.wait()
        return load_official(folder, on_disk=True).search("soft chair")

    with ThreadPoolExecutor(3) as pool:
        first, *rest = pool.map(load, range(3))
    assert rest == [first, first]
    assert [path.name.startswith("webshop-") for path in cached.iterdir()] == [True]


def test_without_a_cache_it_is_built_for_this_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAGE_CACHE", "off")
    shop = load_official(folder, on_disk=True)
    assert len(shop.search("soft chair")) == 50
    built = shop.products._catalogue.folder  # type: ignore[attr-defined]
    shutil.rmtree(built)


def test_a_build_that_fails_leaves_nothing(tmp_path: Path, cached: Path) -> None:
    write_files(tmp_path, 30)
    text = (tmp_path / "items_shuffle.json").read_text()
    (tmp_path / "items_shuffle.json").write_text(text[: len(text) // 2])
    with pytest.raises(MageError, match=r"items_shuffle\.json cannot be read as JSON .* copy it anew"):
        load_official(tmp_path, on_disk=True)
    assert list(cached.iterdir()) == []


def test_blocks_of_postings(folder: Path, cached: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is the same however small the blocks are in which it is built."""
    whole = load_official(folder, on_disk=False)
    monkeypatch.setattr("mage_envs.worlds.webshop.index._POSTINGS_IN_MEMORY", 1_000)
    assert_same(whole, load_official(folder, on_disk=True))


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
def test_streaming_reads_what_json_reads(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mage_envs.worlds.webshop.streaming._CHUNK", chunk)
    values = [1, -2.5e3, "a]b", {"x": [None, True]}, [], "ü☃\ud83d", 12345, {}, '\\"', 0]
    path = tmp_path / "a.json"
    for indent in (None, 1):
        path.write_text(json.dumps(values, indent=indent))
        assert list(stream_list(path)) == values
        pairs = {str(number): value for number, value in enumerate(values)}
        path.write_text(" " + json.dumps(pairs, indent=indent) + "\n")
        assert dict(stream_dict(path)) == pairs
    path.write_text("[]")
    assert list(stream_list(path)) == []
    path.write_text(" [0]\n", encoding="utf-8-sig")
    assert list(stream_list(path)) == [0]


@pytest.mark.parametrize("text", ["", "{}", "[1, 2", "[1 2]", "[1,]", "[nope]", '["a', "[1]]", "[" * 200_000])
def test_streaming_refuses_what_is_no_list(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(MageError, match="cannot be read as JSON"):
        list(stream_list(path))


def test_a_missing_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MageError, match=r"has no items_shuffle\.json"):
        Shop.from_dir(tmp_path)
    with pytest.raises(ValueError, match="variant must be one of"):
        Shop.from_dir(tmp_path, variant="huge")  # type: ignore[arg-type]
    monkeypatch.delenv("MAGE_WEBSHOP_DATA", raising=False)
    with pytest.raises(MageError, match="MAGE_WEBSHOP_DATA"):
        load_official()


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize(
    "wrong",
    [
        {"name": None}, {"pricing": "free"}, {"pricing": "$"}, {"asin": 5}, {"query": None},
        {"customization_options": {"color": [{"image": ""}]}},
    ],
)  # fmt: skip
def test_a_record_that_is_none_is_an_error_that_names_the_files(
    wrong: dict[str, Any], on_disk: bool, tmp_path: Path
) -> None:
    write_files(tmp_path, 5)
    file = tmp_path / "items_shuffle.json"
    records = json.loads(file.read_text())
    records[2] |= wrong
    if wrong == {"name": None}:
        del records[2]["name"]
    file.write_text(json.dumps(records))
    with pytest.raises(MageError, match=r"items_shuffle\.json, items_ins_v2\.json .* copy the files anew"):
        load_official(tmp_path, on_disk=on_disk)


@pytest.mark.parametrize("on_disk", [False, True])
def test_files_of_another_shape_are_named(on_disk: bool, tmp_path: Path) -> None:
    write_files(tmp_path, 5)
    (tmp_path / "items_ins_v2.json").write_text("[1]")
    with pytest.raises(MageError, match=r"items_ins_v2\.json"):
        load_official(tmp_path, on_disk=on_disk)
    (tmp_path / "items_shuffle.json").write_text("[]")
    (tmp_path / "items_ins_v2.json").write_text("{}")
    with pytest.raises(MageError, match=r"items_shuffle\.json has no products"):
        load_official(tmp_path, on_disk=on_disk)
    (tmp_path / "title_nouns.json").write_text("[1]")
    with pytest.raises(MageError, match=r"title_nouns\.json has no nouns"):
        load_official(tmp_path, on_disk=on_disk)


def test_a_damaged_catalogue_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path / "cache"))
    write_files(tmp_path, 5)
    load_official(tmp_path, on_disk=True)
    (folder,) = (tmp_path / "cache").glob("webshop-*")
    (folder / "texts").write_bytes(b"")
    with pytest.raises(MageError, match=f"{folder.name} is damaged .* remove it"):
        load_official(tmp_path, on_disk=True)
    (folder / "ends.npy").unlink()
    with pytest.raises(MageError, match=f"{folder.name} is damaged .* remove it"):
        load_official(tmp_path, on_disk=True)


def test_a_goal_may_want_no_attribute_on_disk_as_in_memory(tmp_path: Path) -> None:
    write_files(tmp_path, 30)
    file = tmp_path / "items_ins_v2.json"
    told = json.loads(file.read_text())
    for record in told.values():
        if record.get("instruction"):
            record["instruction_attributes"] = []
    file.write_text(json.dumps(told))
    kept, shop = (load_official(tmp_path, on_disk=on_disk) for on_disk in (True, False))
    assert len(shop.goals) > 10
    assert list(kept.goals) == list(shop.goals)
    assert shop.goals[0].attributes == ()


def test_small_files_come_first_and_records_may_be_missing(tmp_path: Path) -> None:
    write_files(tmp_path, 40)
    write_files(tmp_path, 20, "small")
    (tmp_path / "items_ins_v2_1000.json").write_text("{}")
    shop = load_official(tmp_path, nouns="words")
    assert (shop.catalogue, len(shop.products), len(shop.goals)) == ("modified:small+words", 20, 0)
    assert {each.attributes for each in shop.products} == {("DUMMY_ATTR",)}
    assert len(Shop.from_dir(tmp_path, variant="full").products) == 40
