"""A run says which code made it, or that it cannot know."""

from __future__ import annotations

import pytest

from benchmarks import provenance


def test_a_checkout_without_git_is_no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(provenance.commit().rstrip("+")) == 40
    monkeypatch.setenv("PATH", "")
    assert provenance.commit() == "unknown"
