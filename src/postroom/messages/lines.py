"""Many lines at once: which definitions they fit, for those who need no values.

Plain events are looked at by column, as those of streams are. Of all other messages, the payloads of one definition are
checked together, where its schema can do that without decoding them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from postroom.formats.schema import CheckingSchema
from postroom.messages.bundles import Bundle, Pile, bundle_of
from postroom.messages.definition import Definition
from postroom.messages.engine import Engine, type_of
from postroom.messages.matching import Fit
from postroom.messages.outcome import Match
from postroom.protocols.cloudevents import Message

_MOST_TOGETHER = 5_000


class _Waiting(NamedTuple):
    """A message that lands where its payload fits, and the place for its match."""

    row: int
    number: int
    message: Message
    fit: Fit
    schema: CheckingSchema


def match_lines(engine: Engine, lines: list[bytes]) -> list[list[Match]]:
    """The matches of each line, as `Engine.match_line` finds them."""
    found: list[list[Match]] = []
    for start in range(0, len(lines), _MOST_TOGETHER):
        found += _Lines(engine, lines[start : start + _MOST_TOGETHER]).matches()
    return found


class _Lines:
    def __init__(self, engine: Engine, lines: list[bytes]) -> None:
        self._engine = engine
        self._lines = lines
        self._found: list[list[Match]] = [[] for _ in lines]
        self._checking: dict[str, CheckingSchema | None] = {}
        self._waiting: dict[tuple[str, str], list[_Waiting]] = {}

    def matches(self) -> list[list[Match]]:
        for piles, others in self._engine.piles(self._lines, values=False):
            left = list(others)
            for pile in piles:
                left += self._land(pile)
            for row in left:
                self._open(row)
        for (_, contenttype), some in self._waiting.items():
            self._check(contenttype, some)
        return self._found

    def _land(self, pile: Pile) -> list[int]:
        """Note the matches of plain events; the rows of those come back that are left."""
        try:
            bundle, left = bundle_of(pile)
        except Exception:  # noqa: BLE001 - one payload that a library breaks on: looking at each finds which
            return list(pile.rows)
        for row, variables in zip(bundle.rows, _variables(bundle), strict=True):
            self._found[row] = [_landed(bundle.definition.xid, variables)]
        return left

    def _open(self, row: int) -> None:
        """Match the messages of a line, but let those wait whose payloads can be checked together."""
        matches = self._found[row]
        for number, message in enumerate(self._engine.opened(self._lines[row])):
            if not isinstance(message, Message):
                matches.append(self._engine.judged(message).match)
                continue
            fits = self._engine.index.fits(message)
            schema = self._schema(fits[0].definition) if len(fits) == 1 else None
            if schema is None:
                matches.append(self._engine.sort_fitting(message, fits).match)
                continue
            definition, variables = fits[0].definition, fits[0].variables
            waiting = self._waiting.setdefault((definition.xid, type_of(definition, message)), [])
            waiting.append(_Waiting(row, number, message, fits[0], schema))
            matches.append(_landed(definition.xid, variables))

    def _schema(self, definition: Definition) -> CheckingSchema | None:
        if definition.xid not in self._checking:
            schema: Any = self._engine.schema(definition)
            self._checking[definition.xid] = schema if isinstance(schema, CheckingSchema) else None
        return self._checking[definition.xid]

    def _check(self, contenttype: str, waiting: list[_Waiting]) -> None:
        """Look at payloads of one definition; those in doubt are judged one by one."""
        for place in _doubtful(waiting[0].schema, contenttype, [one.message.body for one in waiting]):
            one = waiting[place]
            self._found[one.row][one.number] = self._engine.sort_fitting(one.message, [one.fit]).match


def _doubtful(schema: CheckingSchema, contenttype: str, payloads: list[bytes]) -> set[int]:
    doubtful: set[int] = set()
    try:
        schema.accepts_all(payloads, contenttype, doubtful)
    except Exception:  # noqa: BLE001 - as above
        return set(range(len(payloads)))
    return doubtful


def _landed(xid: str, variables: dict[str, str]) -> Match:
    return Match("landed", xid, variables, (xid,))


def _variables(bundle: Bundle) -> list[dict[str, str]]:
    names = tuple(bundle.variables)
    if not names:
        return [{} for _ in bundle.rows]
    rows = zip(*bundle.variables.values(), strict=True)
    return [{name: text for name, text in zip(names, row, strict=True) if text is not None} for row in rows]
