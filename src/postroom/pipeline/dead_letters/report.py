"""Dead letters as people ask for them: how many of which kind, one of each explained, and in which files they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from postroom.errors import BadFlag
from postroom.messages.definitions.definition import Constraint
from postroom.messages.matching.outcome import OUTCOMES, Match, Outcome, Reason
from postroom.pipeline.inspect.sql import add_table, close_doors, fetch, only_select, open_duckdb, text
from postroom.pipeline.inspect.sql_filter import condition_error, enclosed
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.worker.table_layout import DEAD_LETTERS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The first reason is the closest miss: letters are counted under it.
_SUMMARY = """
WITH steps AS (
    SELECT CASE WHEN max(_dead_at) - min(_dead_at) <= INTERVAL 2 HOUR THEN 'minute'
                WHEN max(_dead_at) - min(_dead_at) <= INTERVAL 4 DAY THEN 'hour' ELSE 'day' END AS unit
    FROM letters WHERE {conditions})
SELECT outcome, coalesce(reasons[1].code, '') AS code, count(*) AS letters, min(_dead_at) AS first_seen,
       max(_dead_at) AS last_seen,
       arg_min({{'match': {{'outcome': outcome, 'message': message, 'candidates': candidates, 'reasons': reasons}},
                 'record': record, 'id': _record_id, 'source': _source, 'position': _position, 'number': index,
                 'catalog': _catalog}},
               (_dead_at, _source, _position)) AS sample,
       histogram(coalesce(message, nullif(reasons[1].message, ''))) AS messages,
       histogram(epoch(date_trunc((SELECT unit FROM steps), _dead_at))::BIGINT) AS times
FROM letters
WHERE {conditions}
GROUP BY ALL
ORDER BY letters DESC, outcome, code
"""
_NAMED = "list_concat([message], candidates, list_transform(reasons, lambda reason: reason.message))"


class LetterGroup(msgspec.Struct, frozen=True):
    """Dead letters of one outcome and reason, with the oldest of them as a sample.

    `messages` counts them by the definition that they mean, or nearly do; `times` by the minute, hour or day in which
    they died, whichever suits the time that all of them span.
    """

    outcome: Outcome
    code: str
    letters: int
    first_seen: datetime
    last_seen: datetime
    match: Match
    record: bytes
    record_id: str
    source: str
    position: int
    number: int
    catalog: str
    messages: dict[str, int]
    times: dict[datetime, int]

    def constraints(self, lake: Lake) -> dict[tuple[str, str], Constraint]:
        """The constraints that the reasons are about, from the catalog that the letter was sorted with."""
        try:
            return lake.catalog(self.catalog).constraints(reason.message for reason in self.match.reasons)
        except (OSError, msgspec.MsgspecError):  # it is not there any more; the reasons tell without it
            return {}


class LetterFile(msgspec.Struct, frozen=True):
    """A file of the table of dead letters, and how many of its letters are meant."""

    path: str
    size: int
    rows: int
    chosen: int


def summarise_letters(lake: Lake, *, outcome: str = "", message: str = "", where: str = "") -> list[LetterGroup]:
    """The dead letters of a lake by outcome and reason, most frequent first.

    Only those of one outcome, those that name a message (its xid or id), or those for which an SQL condition holds.
    """
    dead = [known for known in OUTCOMES if known != "landed"]
    if outcome and outcome not in dead:
        raise BadFlag(f"there is no outcome {outcome!r}; dead letters are {', '.join(dead)}.")
    if not lake.has(DEAD_LETTERS):
        return []
    conditions = ["true"]
    if outcome:
        conditions.append(f"outcome = {text(outcome)}")
    if message:
        same = f"name = {text(message)}" if "/" in message else f"ends_with(name, {text('/messages/' + message)})"
        conditions.append(f"len(list_filter({_NAMED}, lambda name: {same})) > 0")

    def offer(connection: DuckDBPyConnection) -> None:
        add_table(connection, lake, DEAD_LETTERS, "letters")

    return [_group(*row) for row in _ask(offer, _SUMMARY, conditions, where)]


def letter_files(lake: Lake, where: str = "") -> list[LetterFile]:
    """The files of the table of dead letters, each with the number of letters for which a condition holds."""
    if not lake.has(DEAD_LETTERS):
        return []
    actions: Any = pa.table(lake.table(DEAD_LETTERS).get_add_actions(flatten=True))
    rows = zip(*(actions.column(name).to_pylist() for name in ("path", "size_bytes", "num_records")), strict=True)
    files = [LetterFile(path, size, count, count) for path, size, count in sorted(rows)]
    if not where.strip() or not files:
        return files
    with _files_here(lake, files) as folder:
        return _count_chosen(folder, files, where)


@contextmanager
def _files_here(lake: Lake, files: list[LetterFile]) -> Iterator[Path]:
    """A folder with some files of the table: its own, or copies of what is in an object store."""
    if lake.storage.folder is not None:
        yield lake.path(DEAD_LETTERS)
        return
    with TemporaryDirectory(prefix="postroom-letters-") as scratch:
        folder = Path(scratch)
        for file, data in zip(
            files, lake.storage.map(lambda f: lake.storage.read(f"{DEAD_LETTERS}/{f.path}"), files), strict=True
        ):
            (folder / file.path).write_bytes(data)
        yield folder


def _count_chosen(folder: Path, files: list[LetterFile], where: str) -> list[LetterFile]:
    paths = ", ".join(text(str(folder / file.path)) for file in files)

    def offer(connection: DuckDBPyConnection) -> None:
        connection.execute(f"SET allowed_paths = [{paths}]")
        table = f"read_parquet([{paths}], filename = true, union_by_name = true)"
        connection.execute(f"CREATE VIEW letters AS FROM {table}")

    sql = "SELECT filename, count(*) FROM letters WHERE {conditions} GROUP BY 1"
    chosen = {Path(name).name: count for name, count in _ask(offer, sql, ["true"], where)}
    return [msgspec.structs.replace(file, chosen=chosen.get(Path(file.path).name, 0)) for file in files]


def _ask(
    offer: Callable[[DuckDBPyConnection], None], sql: str, conditions: list[str], where: str
) -> list[tuple[Any, ...]]:
    """What a query says about the table `letters`, which `offer` makes."""
    connection = open_duckdb()
    import duckdb

    columns: list[str] = []
    try:
        offer(connection)
        columns = [name for name in connection.table("letters").columns if name != "filename"]
        close_doors(connection)
        query = sql.format(conditions=" AND ".join([*conditions, enclosed(where)] if where.strip() else conditions))
        only_select(connection, query)
        return fetch(connection, query).rows
    except duckdb.Error as error:
        raise condition_error(where, error, columns) from None
    finally:
        connection.close()


def _group(*values: Any) -> LetterGroup:
    outcome, code, letters, first_seen, last_seen, sample, messages, times = values
    found = sample["match"]
    reasons = tuple(
        Reason(**{name: value or "" for name, value in reason.items()}) for reason in found["reasons"] or ()
    )
    match = Match(outcome, found["message"], candidates=tuple(found["candidates"] or ()), reasons=reasons)
    place = (sample["record"], sample["id"], sample["source"], sample["position"], sample["number"], sample["catalog"])
    by_time = {datetime.fromtimestamp(second, UTC): count for second, count in times.items()}
    return LetterGroup(outcome, code, letters, first_seen, last_seen, match, *place, dict(messages or {}), by_time)
