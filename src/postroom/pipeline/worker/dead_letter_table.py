"""The Arrow table of a task's dead letters: the messages that did not land, with their reasons and exact bytes."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa

from postroom.messages.matching.outcome import Match, Reason, Sorted
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.worker.arrow import arrow_column, arrow_schema
from postroom.pipeline.worker.record_origins import JudgedMessage, RecordOrigins
from postroom.pipeline.worker.table_layout import DEAD_LETTER_COLUMNS


def dead_letter_table(
    job: Job, versions: dict[str, str], origins: RecordOrigins, messages: list[JudgedMessage]
) -> pa.Table:
    """Dead letters as an Arrow table; `versions` are those of the definitions."""
    schema = arrow_schema(DEAD_LETTER_COLUMNS)
    matches = [message.sorted.match for message in messages]
    columns: dict[str, list[Any]] = {
        "outcome": [match.outcome for match in matches],
        "message": [match.message for match in matches],
        "reasons": [[_clean(msgspec.structs.asdict(reason)) for reason in match.reasons] for match in matches],
        "candidates": [list(match.candidates) for match in matches],
        "versions": [_tried(match, versions) for match in matches],
        "record": [message.record for message in messages],
        "index": [message.number for message in messages],
        "_catalog": [job.catalog] * len(messages),
        "_batch": [job.batch_name] * len(messages),
        "_dead_at": [job.started] * len(messages),
    }
    arrays = {name: arrow_column(values, schema.field(name).type) for name, values in columns.items()}
    arrays |= origins.message_columns(messages)
    return pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)


def column_misfit(message: JudgedMessage, error: Exception) -> JudgedMessage:
    """A message that would have landed, had the columns of its table been able to hold it."""
    match, definition = message.sorted.match, message.sorted.definition
    xid = match.message or ""
    found = _clean({"found": str(error)[:200]})["found"]
    reason = Reason(xid, "/payload", "column_misfit", "values that the table's columns can hold", found)
    return message._replace(sorted=Sorted(Match("invalid", xid, {}, match.candidates, (reason,)), definition))


def _clean(strings: dict[str, str]) -> dict[str, str]:
    # A lone surrogate can come out of a JSON escape; UTF-8, and with it Arrow, cannot hold it.
    return {name: string.encode("utf-8", "backslashreplace").decode() for name, string in strings.items()}


def _tried(match: Match, versions: dict[str, str]) -> list[dict[str, str]]:
    named = [match.message or "", *match.candidates, *(reason.message for reason in match.reasons)]
    return [{"message": xid, "version": versions[xid]} for xid in dict.fromkeys(named) if xid in versions]
