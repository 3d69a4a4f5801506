"""What became of a run, in a sentence or a few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from postroom.pipeline.lake.ledger import LedgerEntry

_CHANGES = {"created": "made", "columns_added": "widened", "replaced": "replaced by a new one"}


def summarise(entries: Iterable[LedgerEntry], lake: str = "") -> str:
    """The batches of a run in plain language; `lake` is named in the advice about dead letters."""
    landed: Counter[str] = Counter()
    dead: Counter[str] = Counter()
    changes: Counter[str] = Counter()
    read = 0
    for entry in entries:
        read += entry.read
        landed.update(entry.landed)
        dead.update(entry.dead)
        changes.update(change.kind for change in entry.changes if not change.table.startswith("_"))
    if not read:
        return "There was nothing to read."
    sentences = [f"Read {counted(read, 'message')}: {_landed(landed)}, {_dead(dead)}."]
    if changes:
        sentences.append(f"Tables: {', '.join(f'{n:,} {_CHANGES.get(kind, kind)}' for kind, n in changes.items())}.")
    if dead:
        sentences.append(f"`postroom dead --lake {lake or 'LAKE'}` explains the dead letters.")
    return " ".join(sentences)


def added_up(one: LedgerEntry, other: LedgerEntry) -> LedgerEntry:
    """Two batches of a run, the earlier one first, as if they were one; such an entry is not in the ledger."""
    return replace(
        other,
        read=one.read + other.read,
        landed=dict(Counter(one.landed) + Counter(other.landed)),
        dead=dict(Counter(one.dead) + Counter(other.dead)),
        changes=(*one.changes, *other.changes),
        files=one.files + other.files,
        bytes=one.bytes + other.bytes,
        started=one.started,
    )


def counted(number: int, noun: str) -> str:
    """`1 message`, `2 messages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def by_kind(counts: Mapping[str, int]) -> str:
    """`3 invalid, 1 unmatched`: the most frequent first."""
    return ", ".join(
        f"{count:,} {kind}" for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )


def _landed(landed: Mapping[str, int]) -> str:
    if not landed:
        return "none landed"
    return f"{sum(landed.values()):,} landed as {counted(len(landed), 'kind')} of message"


def _dead(dead: Mapping[str, int]) -> str:
    if not dead:
        return "no dead letters"
    return f"{counted(sum(dead.values()), 'dead letter')} ({by_kind(dead)})"
