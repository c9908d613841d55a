"""What a person should know of a run besides its scores: forfeits, answers that were not played, tokens and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchmarks.names import short_name
from benchmarks.records import Record, Refusal, UsageRecord

REMEDIES: Mapping[Refusal, str] = {
    "empty": "allow longer replies (--max-tokens): thoughts may leave no room for an answer",
    "truncated": "allow longer replies (--max-tokens)",
    "ambiguous": "keep the replies (--calls) and see why they name more than one action",
    "unparsable": "keep the replies (--calls) and see what the model says instead of <action>…</action>",
    "illegal": "list the legal actions (leave --hide-legal-actions out), or keep the replies (--calls) and look",
}
"""What helps a language model against each kind of answer that is not played."""

MEMORY_REMEDY = "allow more memory (--memory-budget) or a longer context (--context)"
_SCRIPTED_REMEDY = "look at its answers in meta_episodes.jsonl"


@dataclass
class _Found:
    """What one agent's records come to."""

    episodes: int = 0
    forfeited: int = 0
    answers: int = 0
    refused: Counter[Refusal] = field(default_factory=Counter)
    usage: UsageRecord | None = None

    def add(self, record: Record) -> None:
        self.episodes += len(record.episodes)
        for episode in record.episodes:
            self.forfeited += episode.forfeit
            self.answers += len(episode.actions)
        self.refused.update(record.refused)
        if record.usage is not None:
            self.usage = record.usage if self.usage is None else self.usage + record.usage

    def trouble(self) -> str:
        shortened = self.usage.memory_truncated if self.usage else 0
        said = [f"{self.forfeited} of {self.episodes} episodes forfeited"] if self.forfeited else []
        if self.refused:
            kinds = ", ".join(f"{count} {kind}" for kind, count in self.refused.most_common())
            said.append(f"answers not played: {kinds}, of {self.answers}")
        if self.usage and shortened:
            said.append(f"{shortened} of {self.usage.calls} prompts with shortened memory")
        return f"{'; '.join(said)}: {self._remedy()}" if said else ""

    def _remedy(self) -> str:
        if not self.refused:
            return MEMORY_REMEDY
        return REMEDIES[self.refused.most_common(1)[0][0]] if self.usage else _SCRIPTED_REMEDY

    def spent(self) -> str:
        if self.usage is None or not self.usage.calls:
            return ""
        told, written, cost = self.usage.prompt_tokens, self.usage.completion_tokens, self.usage.cost
        said = [f"{self.usage.calls:,} calls"]
        if told is not None and written is not None:
            said.append(f"prompts {told:,} tokens, replies {written:,} tokens")
        if cost is not None:
            said.append(dollars(cost))
        return "; ".join(said)


def dollars(cost: float) -> str:
    """Writes US dollars, small ones with two digits that count.

    >>> dollars(12.345), dollars(0.00123), dollars(0.0)
    ('$12.35', '$0.0012', '$0.00')
    """
    return f"${cost:.2f}" if cost >= 1 or not cost else f"${cost:.2g}"


def remarks(records: Iterable[Record]) -> list[str]:
    """Returns what to say below a run's boards: for each agent what went wrong with a remedy, and what it used.

    Args:
        records: All records of the run.
    """
    found: dict[str, _Found] = {}
    for record in records:
        found.setdefault(record.agent, _Found()).add(record)
    lines = [(agent, (each.trouble(), each.spent())) for agent, each in sorted(found.items())]
    return [f"{short_name(agent)}: {text}" for agent, texts in lines for text in texts if text]
