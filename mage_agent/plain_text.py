"""What a model or a server said, safe to show: a terminal obeys control characters."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    r"""Replaces control characters, except for line ends and tabs.

    >>> plain("a\x1b[2Jb\tc\n")
    'a�[2Jb\tc\n'
    """
    return _CONTROL.sub("\ufffd", text)
