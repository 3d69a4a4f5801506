"""The balance of a lake: all that was read is in one table or among the dead letters, by the ledger and in fact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec
import pyarrow as pa
from deltalake import DeltaTable

from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake
from postroom.pipeline.lake.ledger import LedgerEntry, read_ledger


class Balance(msgspec.Struct, frozen=True):
    """What a lake has taken in, and where that is now."""

    read: int
    landed: int
    dead: int

    @property
    def holds(self) -> bool:
        """Whether nothing is lost and nothing is there twice."""
        return self.read == self.landed + self.dead

    def __str__(self) -> str:
        return f"read {self.read:,} = landed {self.landed:,} + dead {self.dead:,}"


def balance_of(entries: Iterable[LedgerEntry]) -> Balance:
    """The balance over batches; a letter that a replay took up again is counted once, where it is now."""
    read = landed = dead = 0
    for entry in entries:
        read += entry.read - entry.replayed
        landed += sum(entry.landed.values())
        dead += sum(entry.dead.values()) - entry.replayed
    return Balance(read, landed, dead)


def differences(lake: Lake) -> Iterator[str]:
    """Where the tables of a lake are not what its ledger says, in sentences; nothing when all is well."""
    entries = read_ledger(lake)
    balance = balance_of(entries)
    if not balance.holds:
        read, landed_and_dead = balance.read, f"{balance.landed:,} landed and {balance.dead:,} are dead"
        yield f"By the ledger {read:,} messages were read, {landed_and_dead}."
    landed: Counter[str] = Counter()
    for entry in entries:
        landed.update(entry.landed)
    there: Counter[str] = Counter()
    for location in lake.tables():
        table = lake.table(location.folder)
        there[table.metadata().name or location.folder] += rows_of(table)
    for definition in sorted(landed.keys() | there.keys()):
        if landed[definition] != there[definition]:
            yield f"{definition}: the ledger has {landed[definition]:,} rows, its tables have {there[definition]:,}."
    letters = rows_of(lake.table(DEAD_LETTERS)) if lake.has(DEAD_LETTERS) else 0
    if letters != balance.dead:
        yield f"The ledger has {balance.dead:,} dead letters, their table has {letters:,}."


def rows_of(table: DeltaTable) -> int:
    """How many rows a table has, from its log alone."""
    return sum(count or 0 for count in pa.table(table.get_add_actions(flatten=True)).column("num_records").to_pylist())
