"""Records survive kills, many writers and damage; see PAINS R2, R3, R8."""

from __future__ import annotations

import resource
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from benchmarks.files import LineFile, replace_file
from benchmarks.records import Key, collect_records, good_records, iterate_records, parse_line
from mage_envs.errors import RecordError
from tests.benchmarks.fakes import FORKSERVER, episode, record

WRITERS, EACH, SIZE = 16, 200, 50_000


def write(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def line(number: int = 0) -> bytes:
    return record(number, episode()).line() + b"\n"


def test_a_record_reads_back_as_itself() -> None:
    told = episode().model_copy(update={"actions": ("<think>…\n</think> bet", ""), "reflection": "✓\n"})
    found = record(3, told, episode(-2.0), interface="text", opponent=None)
    assert parse_line(found.line(), "x") == found
    assert b"\n" not in found.line()


def test_missing_and_empty_files_have_no_records(tmp_path: Path) -> None:
    assert list(iterate_records(tmp_path / "none")) == []
    assert list(iterate_records(write(tmp_path / "empty"))) == []


@pytest.mark.parametrize("kept", [0, 1, 5, 100, 200])
def test_a_torn_last_line_is_owed_again(tmp_path: Path, kept: int) -> None:
    path = write(tmp_path / "r.jsonl", line(0), line(1), line(2)[:kept])
    assert [found.number for found in iterate_records(path)] == [0, 1]


def test_a_whole_line_without_its_end_is_torn(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", line(0), line(1)[:-1])
    assert [found.number for found in iterate_records(path)] == [0]


@pytest.mark.parametrize("torn", [b"{", line(1)[:-1], b"x" * 200_000])
def test_appending_cuts_a_torn_line_off(tmp_path: Path, torn: bytes) -> None:
    path = write(tmp_path / "r.jsonl", line(0), torn)
    file = LineFile(path)
    file.append(line(2)[:-1])
    file.append(line(3)[:-1])
    file.close()
    assert path.read_bytes() == line(0) + line(2) + line(3)


def test_appending_to_nothing_but_a_torn_line(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", b'{"v": 1')
    file = LineFile(path)
    file.append(b"{}")
    file.close()
    assert path.read_bytes() == b"{}\n"


@pytest.mark.parametrize(
    "damaged",
    [b"\n", b"not json\n", b"{}\n", b"[1]\n", line(1)[5:], line(1)[:40] + b"\n", line(1).replace(b'"win"', b'"won"')],
)
def test_a_damaged_line_is_named_and_the_good_ones_are_kept(tmp_path: Path, damaged: bytes) -> None:
    path = write(tmp_path / "r.jsonl", line(0), damaged, line(2))
    with pytest.raises(RecordError, match=r"r\.jsonl:2: damaged record .* run with --resume"):
        list(iterate_records(path))
    assert path.read_bytes() == line(0) + damaged + line(2)
    records, damage = good_records(path)
    assert [found.number for found in records] == [0, 2]
    assert len(damage) == 1
    assert "r.jsonl:2" in damage[0]


def test_numbers_that_are_none_are_damage(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", line(0).replace(b'"reward":1.0', b'"reward":NaN'))
    with pytest.raises(RecordError, match="damaged"):
        list(iterate_records(path))


def test_a_newer_format_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", line(0), line(1).replace(b'{"v":1', b'{"v":2,"new":[]'))
    with pytest.raises(RecordError, match=r"r\.jsonl:2: format 2 is newer than this MAGE, which reads up to 1"):
        list(iterate_records(path))


def test_the_same_result_twice_is_one_and_two_results_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", line(0), line(0))
    assert list(collect_records(path)) == [Key("random", "test/kuhn", 0)]
    other = record(0, episode(-1.0)).line() + b"\n"
    with pytest.raises(RecordError, match=r"r\.jsonl:2: another result of random / test/kuhn / 0 stands before it"):
        collect_records(write(path, line(0), other))


def test_a_result_replaces_an_error(tmp_path: Path) -> None:
    failed = record(0, status="error", error="the server is gone").line() + b"\n"
    found = collect_records(write(tmp_path / "r.jsonl", failed, line(0)))
    assert [one.status for one in found.values()] == ["ok"]


def _append(path: Path, writer: int) -> None:
    file = LineFile(path)
    for number in range(EACH):
        padding = "x" * SIZE
        file.append(record(writer * EACH + number, episode(), described=padding).line())
    file.close()


def test_many_writers_lose_and_mix_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ProcessPoolExecutor(WRITERS, FORKSERVER) as pool:
        for done in [pool.submit(_append, path, writer) for writer in range(WRITERS)]:
            done.result()
    assert sorted(found.number for found in iterate_records(path)) == list(range(WRITERS * EACH))


def _fill_the_disk(path: Path) -> str:
    file = LineFile(path)
    file.append(b"a" * 900)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        file.append(b"b" * 900)
    except RecordError as error:
        return str(error)
    return "no error"


def test_a_full_disk_loses_nothing_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ProcessPoolExecutor(1, FORKSERVER) as pool:
        message = pool.submit(_fill_the_disk, path).result()
    assert "cannot write" in message
    assert "--resume" in message
    assert path.read_bytes() == b"a" * 900 + b"\n"


def test_unwritable_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"cannot open .*none/r\.jsonl: No such file"):
        LineFile(tmp_path / "none" / "r.jsonl")
    with pytest.raises(RecordError, match=r"cannot write .*x\.json: No such file"):
        replace_file(tmp_path / "none" / "x.json", b"")


def test_replacing_leaves_no_other_file(tmp_path: Path) -> None:
    replace_file(tmp_path / "x.json", b"one")
    replace_file(tmp_path / "x.json", b"two")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("x.json", b"two")]
