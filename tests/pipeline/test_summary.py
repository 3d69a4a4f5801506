from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.lake.manifest import SchemaChange
from postroom.pipeline.summary import summarise

NOW = datetime.now(UTC)


def entry(**changes: Any) -> LedgerEntry:
    known: dict[str, Any] = {"run": "r", "batch": 0, "source": "inbox", "catalog": "c", "read": 0, "landed": {}}
    known |= {"dead": {}, "changes": (), "started": NOW, "committed": NOW}
    return LedgerEntry(**known | changes)


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([], "There was nothing to read."),
        ([entry()], "There was nothing to read."),
        ([entry(read=1, landed={"a": 1})], "Read 1 message: 1 landed as 1 kind of message, no dead letters."),
        (
            [
                entry(read=1200, landed={"a": 1000, "b": 200}, changes=(SchemaChange("g/a", "created"),)),
                entry(read=3, landed={"a": 0}, dead={"invalid": 1, "unmatched": 2}),
            ],
            (
                "Read 1,203 messages: 1,200 landed as 2 kinds of message, 3 dead letters (2 unmatched, 1 invalid). "
                "Tables: 1 made. `postroom dead --lake lake` explains the dead letters."
            ),
        ),
        (
            [entry(read=1, dead={"malformed": 1}, changes=(SchemaChange("_dead_letters", "created"),))],
            (
                "Read 1 message: none landed, 1 dead letter (1 malformed). "
                "`postroom dead --lake lake` explains the dead letters."
            ),
        ),
    ],
)
def test_a_run_in_words(entries: list[LedgerEntry], text: str) -> None:
    assert summarise(entries, "lake") == text
