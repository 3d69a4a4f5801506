"""Many lines at once: which definitions they fit, for those who need no values.

Each line takes the way that it takes alone, but the payloads of one definition are checked together at the end, where
its schema can do that without decoding them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from postroom.deadlines import check_deadline
from postroom.formats.schema import CheckingSchema
from postroom.messages.definitions.definition import Definition
from postroom.messages.engine import Engine, match_of, type_of
from postroom.messages.matching.deferred_payloads import Unread
from postroom.messages.matching.definition_index import Fit
from postroom.messages.matching.outcome import Match
from postroom.protocols.cloudevents import Message

_MOST_TOGETHER = 5_000


class _Waiting(NamedTuple):
    """A message that lands if its payload fits, the place of its match, and how it is matched if that is in doubt."""

    row: int
    number: int
    body: bytes
    exactly: Callable[[], Match]


def match_lines(engine: Engine, lines: list[bytes]) -> list[list[Match]]:
    """The matches of each line, as `Engine.match_line` finds them."""
    found: list[list[Match]] = []
    for start in range(0, len(lines), _MOST_TOGETHER):
        found += _Lines(engine).match(lines[start : start + _MOST_TOGETHER])
    return found


def _in_time(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        check_deadline()
        yield line


class _Lines:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._schemas: dict[str, CheckingSchema | None] = {}
        self._waiting: dict[tuple[str, str], list[_Waiting]] = {}

    def match(self, lines: list[bytes]) -> list[list[Match]]:
        found = [self._matches(row, line) for row, line in enumerate(_in_time(lines))]
        for (xid, contenttype), waiting in self._waiting.items():
            for place in _doubtful(self._schemas[xid], contenttype, [one.body for one in waiting]):
                one = waiting[place]
                found[one.row][one.number] = one.exactly()
        return found

    def _matches(self, row: int, line: bytes) -> list[Match]:
        """The matches of a line, as they are if the payloads fit that have yet to be checked."""
        landed = self._engine.taken_unread(line)
        if landed is None:
            return [
                self._match(row, number, message)
                if isinstance(message, Message)
                else self._engine.judged(message).match
                for number, message in enumerate(self._engine.opened(line))
            ]
        if isinstance(landed.data, Unread):
            waiting = _Waiting(row, 0, landed.data.body, partial(self._exactly, line))
            self._wait(landed.definition, landed.data.contenttype, waiting)
        return [match_of(landed.definition, landed.variables)]

    def _match(self, row: int, number: int, message: Message) -> Match:
        fits = self._engine.index.fits(message)
        if len(fits) != 1 or self._schema(fits[0].definition) is None:
            return self._exactly_fitting(message, fits)
        definition = fits[0].definition
        waiting = _Waiting(row, number, message.body, partial(self._exactly_fitting, message, fits))
        self._wait(definition, type_of(definition, message), waiting)
        return match_of(definition, fits[0].variables)

    def _exactly(self, line: bytes) -> Match:
        return self._engine.sort_exactly(line)[0].match

    def _exactly_fitting(self, message: Message, fits: list[Fit]) -> Match:
        return self._engine.sort_fitting(message, fits).match

    def _wait(self, definition: Definition, contenttype: str, waiting: _Waiting) -> None:
        self._schema(definition)
        self._waiting.setdefault((definition.xid, contenttype), []).append(waiting)

    def _schema(self, definition: Definition) -> CheckingSchema | None:
        if definition.xid not in self._schemas:
            schema: Any = self._engine.schema(definition)
            self._schemas[definition.xid] = schema if isinstance(schema, CheckingSchema) else None
        return self._schemas[definition.xid]


def _doubtful(schema: CheckingSchema | None, contenttype: str, payloads: list[bytes]) -> set[int]:
    everything = set(range(len(payloads)))
    if schema is None:
        return everything
    doubtful: set[int] = set()
    try:
        schema.accepts_all(payloads, contenttype, doubtful)
    except Exception:  # noqa: BLE001 - one payload that a library breaks on: looking at each finds which
        return everything
    return doubtful
