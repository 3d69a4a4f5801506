"""The balance of a lake: all that was read is in one table or among the dead letters, by the ledger and in fact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from postroom.pipeline.lake.file_exchange import files_of
from postroom.pipeline.lake.lake import DEAD_LETTERS, ENDPOINTS, LEDGER, Lake
from postroom.pipeline.lake.ledger import LedgerEntry, read_ledger
from postroom.pipeline.lake.manifest import AddedFile
from postroom.pipeline.storage.errors import telling_errors, without_secrets
from postroom.pipeline.worker.table_layout import RECORDS

# Of each table the footers of so many files are read, spread over its age; a table has thousands.
SAMPLED_FILES = 20


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
    letters = 0
    for folder in _folders(lake):
        try:
            with telling_errors(f"{lake.url}/{folder}", DeltaError):
                table = lake.table(folder)
        except (OSError, DeltaError) as error:
            yield f"{folder}: this table cannot be opened: {without_secrets(str(error))}"
            continue
        if folder == DEAD_LETTERS:
            letters = rows_of(table)
        elif not folder.startswith("_") or folder.startswith(f"{ENDPOINTS}/"):
            there[table.metadata().name or folder] += rows_of(table)
        yield from _wrong_files(lake, folder, table)
    for definition in sorted(landed.keys() | there.keys()):
        if landed[definition] != there[definition]:
            yield f"{definition}: the ledger has {landed[definition]:,} rows, its tables have {there[definition]:,}."
    if letters != balance.dead:
        yield f"The ledger has {balance.dead:,} dead letters, their table has {letters:,}."


def _folders(lake: Lake) -> Iterator[str]:
    yield from (location.folder for location in lake.tables())
    yield from (folder for folder in (DEAD_LETTERS, RECORDS, LEDGER) if lake.has(folder))


def _wrong_files(lake: Lake, folder: str, table: DeltaTable) -> Iterator[str]:
    """What some files of a table have by their own footers, where that is not what its log says."""
    files = list(files_of(table))
    some = files[:: -(-len(files) // SAMPLED_FILES) or 1]
    for sentence in lake.storage.map(lambda file: _wrong_file(lake, folder, file), some):
        if sentence:
            yield sentence


def _wrong_file(lake: Lake, folder: str, file: AddedFile) -> str:
    path = f"{folder}/{file.path}"
    try:
        with telling_errors(f"{lake.url}/{path}"):
            rows = pq.ParquetFile(lake.storage.input(path)).metadata.num_rows
    except FileNotFoundError:
        return f"{path}: this file is gone."
    except (OSError, pa.ArrowInvalid) as error:
        return f"{path}: this file cannot be read: {without_secrets(str(error))}"
    if file.rows in (rows, None):  # other writers may leave the number out
        return ""
    return f"{path}: by the log the file has {file.rows:,} rows, by its footer {rows:,}."


def rows_of(table: DeltaTable) -> int:
    """How many rows a table has, from its log alone."""
    return sum(count or 0 for count in pa.table(table.get_add_actions(flatten=True)).column("num_records").to_pylist())
