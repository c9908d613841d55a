"""The golden transcripts are what the environments say now."""

from __future__ import annotations

import pytest

from tests.conformance.cases import CASES, WORLD_CASES, Case
from tests.conformance.golden import FOLDER, path, write


@pytest.mark.parametrize("case", [*CASES, *WORLD_CASES], ids=str)
def test_golden_transcript(case: Case) -> None:
    assert write(case) == path(case).read_text(encoding="utf-8"), "run `make golden` and read the diff"


def test_no_file_is_left_over() -> None:
    assert {file.name for file in FOLDER.glob("*.txt")} == {path(case).name for case in (*CASES, *WORLD_CASES)}
