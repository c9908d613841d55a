"""Suites: frozen data, one file each. ``SUITES.get("quick")`` finds one."""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Part, Protocol, Suite

__all__ = ["SUITES", "Part", "Protocol", "Suite"]
