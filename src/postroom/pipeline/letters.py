"""Dead letters as people ask for them: how many of which kind, and one of each explained."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from postroom.messages.outcome import Match, Outcome, Reason
from postroom.pipeline.lake import Lake
from postroom.pipeline.layout import DEAD_LETTERS
from postroom.pipeline.query import fetch, open_duckdb, scan

# The first reason is the closest miss: letters are counted under it.
_SUMMARY = """
SELECT outcome, coalesce(reasons[1].code, '') AS code, count(*) AS letters, min(_dead_at) AS first_seen,
       max(_dead_at) AS last_seen,
       arg_min({{'match': {{'outcome': outcome, 'message': message, 'candidates': candidates, 'reasons': reasons}},
                 'record': record, 'source': _source, 'position': _position, 'number': index}},
               (_dead_at, _source, _position)) AS sample
FROM {table}
GROUP BY ALL
ORDER BY letters DESC, outcome, code
"""


class LetterGroup(msgspec.Struct, frozen=True):
    """Dead letters of one outcome and reason, with the oldest of them as a sample."""

    outcome: Outcome
    code: str
    letters: int
    first_seen: datetime
    last_seen: datetime
    match: Match
    record: bytes
    source: str
    position: int
    number: int


def summarise_letters(lake: Lake) -> list[LetterGroup]:
    """The dead letters of a lake by outcome and reason, most frequent first."""
    if not lake.has(DEAD_LETTERS):
        return []
    connection = open_duckdb()
    try:
        rows = fetch(connection, _SUMMARY.format(table=scan(lake, DEAD_LETTERS))).rows
    finally:
        connection.close()
    return [_group(*row) for row in rows]


def _group(*values: Any) -> LetterGroup:
    outcome, code, letters, first_seen, last_seen, sample = values
    found = sample["match"]
    reasons = tuple(Reason(**{name: text or "" for name, text in reason.items()}) for reason in found["reasons"] or ())
    match = Match(outcome, found["message"], candidates=tuple(found["candidates"] or ()), reasons=reasons)
    place = (sample["record"], sample["source"], sample["position"], sample["number"])
    return LetterGroup(outcome, code, letters, first_seen, last_seen, match, *place)
