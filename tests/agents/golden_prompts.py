"""Golden prompts: what each language agent sends in a meta-episode, as files for people. `make golden` writes them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mage_agent.backends.base import Message, Request
from mage_agent.backends.fake import listed_actions
from tests.agents.language_loop import meta_episode

FOLDER = Path(__file__).parent.parent / "golden" / "prompts"
KUHN = ("KuhnPoker", {"population": "kuhn/train", "seat": 1})
TIC_TAC_TOE = ("TicTacToe", {"population": "pattern(order=rows)", "seat": 1})
SOKOBAN = ("Sokoban", {"turns": 3})


class Case(NamedTuple):
    """A meta-episode whose prompts are kept."""

    spec: str
    place: tuple[str, dict[str, Any]]

    @property
    def path(self) -> Path:
        name = "-".join(re.findall(r"[\w+]+", self.spec.replace("memory=", "")))
        return FOLDER / f"{name}-{self.place[0]}.txt"


CASES = (
    *(Case(name, KUHN) for name in ("zero_shot", "react", "reflexion", "history", "a_mem", "memento", "tiny")),
    *(Case(f'reflective(memory="{mode}")', KUHN) for mode in ("reflection", "history+reflection")),
    *(Case(name, TIC_TAC_TOE) for name in ("history", "memento", "reflective(memory=reflection)")),
    Case("reflective(memory=reflection)", SOKOBAN),
)


def script(request: Request) -> str:
    """Answers the first prompt with prose, so that the decision is asked again; then takes the first action."""
    if request.draw.endswith("/0"):
        return "let me think"
    if names := listed_actions(request.messages):
        return f"<action>{names[0]}</action>"
    return (
        f"<remark>Remark {request.draw}: it may be cautious.</remark><keywords>bets, folds</keywords><tags>habit</tags>"
        "<note 1>It may be bold.</note>"
    )


def write(case: Case) -> str:
    """Plays two episodes and tells all prompts and replies; a system message only where it is another one."""
    played = meta_episode(case.spec, script, episodes=2, seed=7, place=case.place)
    lines = [f"# {played.agent.name}, {case.place[0]}, against {played.opponent}"]
    lines.append(f"# prompt hash {played.agent.card()['prompt_hash']}")
    told: Message | None = None
    for request in played.backend.requests:
        system, user = request.messages
        shown = [user] if system == told else [system, user]
        told = system
        for message in shown:
            lines.append(f"\n=== {request.draw} {message.role} ===\n{message.content}")
        lines.append(f"\n=== {request.draw} reply ===\n{script(request)}")
    return "\n".join(lines) + "\n"


def files() -> Iterator[Path]:
    """Yields what is there."""
    return FOLDER.glob("*.txt")


def main() -> None:
    """Writes all files, and removes those of cases that are gone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True, help="overwrite tests/golden/prompts")
    parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    for old in files():
        old.unlink()
    for case in CASES:
        case.path.write_text(write(case), encoding="utf-8")


if __name__ == "__main__":
    main()
