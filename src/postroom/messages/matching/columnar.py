"""The columnar judge: events that can mean only one definition, judged column by column.

It may only accept. What it does not accept is left to the exact judge (`definition_matcher`), which also explains; a
test compares the two (tests/messages/matching/test_agreement.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import compress
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from postroom.deadlines import DeadlinePassed, check_deadline
from postroom.formats.batch_decode import MemberColumns, decode_all, drop_rows
from postroom.messages.definitions.constraints import Check
from postroom.messages.definitions.definition import Definition
from postroom.messages.definitions.property_types import surely_sources
from postroom.messages.definitions.templates import Template
from postroom.messages.matching.definition_matcher import DefinitionMatcher
from postroom.messages.matching.payload_decoders import Kept, Writers
from postroom.messages.matching.transport_metadata import NO_TRANSPORT, Transport
from postroom.protocols.cloudevents import JSON_DATA, is_json, unpack
from postroom.protocols.protocol import Wire

STRING_ATTRIBUTES = ("specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema")
"""Attributes that an event read for columns always has as a string, or not at all."""

_FEW_VALUES = (("datacontenttype",), ("dataschema",))

T = TypeVar("T")
Column = Sequence[Any]
# Shapes bodies for their columns; adds the places of those that are in doubt to the set, who wrote the others where a
# header says so, and what their columns do not hold.
DecodeAll = Callable[[Column, list[str], set[int], Writers, Kept], Column | MemberColumns]

_ZEROS = str.maketrans("123456789", "000000000")
_SECOND = "0000-00-00T00:00:00"
_SHAPES = frozenset([f"{_SECOND}Z", *(f"{_SECOND}.{'0' * digits}Z" for digits in range(1, 7))])


class Plan:
    """What one definition asks of events on one protocol, column by column.

    `others` are the attributes that other definitions declare.
    """

    def __init__(self, candidate: DefinitionMatcher, others: Iterable[str] = ()) -> None:
        self.definition = candidate.definition
        # Plans are found by the type of an event, so one that is fixed is known to be right.
        is_known = candidate.type is not None
        checks = [(c.path[0], c) for c in candidate.envelope if c.path != ("type",) or not is_known]
        # What nobody declares and CloudEvents has a rule for is mostly not there.
        self.implied = [(name, check.keeps_rule) for name, check in checks if _is_implied(check)]
        self.constants = [(name, check) for name, check in checks if _is_constant(check)]
        self.strings = [(name, check) for name, check in checks if _is_string(check)]
        self.envelope = [
            (name, check)
            for name, check in checks
            if not (_is_implied(check) or _is_constant(check) or _is_string(check))
        ]
        self.protocol = [(metadata_getter(candidate.wire, check.path), check) for check in candidate.protocol]
        declared = candidate.definition.protocol_constraints
        self.declared = [("_".join(c.path), metadata_getter(candidate.wire, c.path)) for c in declared]
        self.wants_metadata = bool(self.protocol or self.declared)
        named = dict.fromkeys((*STRING_ATTRIBUTES, *(check.path[0] for check in candidate.envelope)))
        self.attributes = [(name, attrgetter(name)) for name in named]
        self.members = [*self.attributes, *((name, attrgetter(name)) for name in ("data", "data_base64"))]
        """The attributes, and what else an event of structured mode has."""
        self.undeclared = [name for name in others if name not in named]
        self.is_structured = candidate.message_type is not None
        """Whether the definition states the content type of an envelope in JSON, with the data in it."""


class EventGroup(msgspec.Struct, gc=False):
    """Events that mean one definition by their type, on one protocol, not yet looked at any further.

    Their attributes are in `columns`, where those are known, else in `events`. Those of a protocol have one `transport`
    each, or None altogether where the columns that they came in tell, or nobody asks. What payloads have and their
    columns do not is kept where `keeps_undeclared` says so.
    """

    plan: Plan
    decode: DecodeAll
    structured: bool
    rows: list[int] = []
    events: list[Any] = []
    bodies: list[Any] = []
    metadata: list[dict[str, Any]] = []
    columns: Mapping[str, Column] | None = None
    protocol: str = ""
    transport: list[Transport] | None = []
    keeps_undeclared: bool = False
    read: Callable[..., Transport] = lambda *_: NO_TRANSPORT


def join_groups(groups: Iterable[EventGroup]) -> list[EventGroup]:
    """Groups with those put together that are of one definition and one kind; the first of each is changed."""
    found: dict[tuple[int, bool, bool, bool], EventGroup] = {}
    for group in groups:
        first = found.setdefault(
            (id(group.plan), group.structured, group.columns is None, group.transport is None), group
        )
        if first is group:
            continue
        if first.columns is not None and group.columns is not None:
            first.columns = {
                name: [
                    *first.columns.get(name, [None] * len(first.rows)),
                    *group.columns.get(name, [None] * len(group.rows)),
                ]
                for name in {**first.columns, **group.columns}
            }
        first.rows = first.rows + group.rows
        first.events = first.events + group.events
        first.bodies = first.bodies + group.bodies
        first.metadata = first.metadata + group.metadata
        if first.transport is not None and group.transport is not None:
            first.transport = first.transport + group.transport
    return list(found.values())


class LandedEvents(msgspec.Struct, gc=False):
    """Events that landed in one definition, by column; `rows` are their places in what was read.

    `extensions` has the attributes that the definition does not declare, for the few places that have any; `timestamps`
    names the attributes that are RFC 3339 in UTC, with no more than microseconds, or absent. `writers` has the versions
    of the payload schema that headers name; `transport` says what came with the events, where they came by a protocol;
    None where the columns that they came in tell. `undeclared` has what payloads hold and columns do not, by place.
    """

    definition: Definition
    rows: list[int]
    attributes: dict[str, Column]
    variables: dict[str, Column]
    metadata: dict[str, Column]
    extensions: dict[int, dict[str, Any]]
    data: Column | MemberColumns
    timestamps: frozenset[str]
    writers: Writers
    protocol: str
    transport: list[Transport] | None
    undeclared: dict[int, str]


Land = Callable[[LandedEvents], None]
"""What takes events that landed; where it raises, the exact judge judges them."""


def land_groups(groups: Iterable[EventGroup], count: int, land: Land) -> list[int]:
    """Hand the events that surely fit to `land`, group by group; which of so many rows did not land comes back."""
    remaining = bytearray(b"\1") * count
    for group in groups:
        check_deadline()
        try:
            events = judge_group(group)
            if events.rows:
                land(events)
        except DeadlinePassed:
            raise
        except Exception:  # noqa: BLE001, S110 - one payload that a library breaks on: judging one by one finds which
            pass
        else:
            for row in events.rows:
                remaining[row] = 0
    return list(compress(range(count), remaining))


def judge_group(group: EventGroup) -> LandedEvents:
    """The events of a group that surely fit."""
    plan, rows = group.plan, group.rows
    bad: set[int] = set()
    columns = _columns(group)
    if group.structured:
        bodies, types = _structured_bodies(plan, columns, bad)
    else:
        bodies, types = group.bodies, _content_types(columns["datacontenttype"], plan.definition.contenttype)
    variables: dict[str, Column] = {}
    if plan.is_structured and not group.structured:
        bad.update(range(len(rows)))
    timestamps = _check_envelope(plan, columns, variables, bad)
    _check_protocol(plan, group.metadata, variables, bad)
    writers: Writers = {}
    undeclared: dict[int, str] = {}
    data = group.decode(bodies, types, bad, writers, undeclared if group.keeps_undeclared else None)
    transport = group.transport
    metadata: dict[str, Column] = {name: list(map(get, group.metadata)) for name, get in plan.declared}
    extensions = _extensions(group)
    if bad:
        out = sorted(bad)
        if extensions or writers or undeclared:
            kept = drop_rows(list(range(len(rows))), out)
            extensions, writers = _renumbered(extensions, kept), _renumbered(writers, kept)
            undeclared = _renumbered(undeclared, kept)
        transport = drop_rows(transport, out) if transport else transport
        rows, data = (
            drop_rows(rows, out),
            data.drop_rows(out) if isinstance(data, MemberColumns) else drop_rows(data, out),
        )
        columns, variables, metadata = (_thinned(some, out) for some in (columns, variables, metadata))
    values = (columns, variables, metadata, extensions, data, timestamps)
    return LandedEvents(plan.definition, rows, *values, writers, group.protocol, transport, undeclared)


def _renumbered(found: dict[int, T], kept: list[int]) -> dict[int, T]:
    return {new: found[row] for new, row in enumerate(kept) if row in found}


def _thinned(columns: dict[str, Column], rows: list[int]) -> dict[str, Column]:
    return {name: drop_rows(column, rows) for name, column in columns.items()}


def surely_timestamps(texts: Sequence[Any]) -> bool:
    """Whether all that is there of a column is RFC 3339 without doubt, in UTC, with no more than microseconds."""
    try:
        whole = "\n".join(texts)
    except TypeError:  # something is absent, or no text
        texts = [text for text in texts if text is not None]
        if not all(type(text) is str for text in texts):
            return False
        whole = "\n".join(texts)
    if not texts:
        return True
    if not _have_shapes(whole.translate(_ZEROS), len(texts)) or (_TAKES_24 and "T24" in whole):
        return False
    try:
        deque(map(datetime.fromisoformat, texts), maxlen=0)
    except ValueError:
        return False
    return True


def _have_shapes(whole: str, count: int) -> bool:
    """Whether so many lines have the shape of a timestamp each, digits set to zero."""
    first = whole.partition("\n")[0]
    if first in _SHAPES and whole == "\n".join([first] * count):
        return True  # all alike, as nearly always
    shapes = whole.split("\n")
    return len(shapes) == count and _SHAPES.issuperset(shapes)


def _takes_24() -> bool:
    """Whether this Python takes the hour 24, as newer ones do."""
    try:
        datetime.fromisoformat("2026-01-01T24:00:00Z")
    except ValueError:
        return False
    return True


_TAKES_24 = _takes_24()


def _structured_bodies(plan: Plan, columns: dict[str, Column], bad: set[int]) -> tuple[Column, list[str]]:
    """The data of events in structured mode with its content types; what is not plain is in doubt."""
    versions, encoded, data = columns["specversion"], columns.pop("data_base64"), columns.pop("data")
    if versions.count("1.0") != len(versions):
        bad.update(row for row, version in enumerate(versions) if version != "1.0")
    if None not in encoded and not any(data):
        return _unpacked(encoded, bad), _content_types(columns["datacontenttype"], plan.definition.contenttype)
    if set(encoded) != _NOTHING:
        bad.update(row for row, text in enumerate(encoded) if text is not None)
    types = _content_types(columns["datacontenttype"], JSON_DATA)
    if types.count(JSON_DATA) != len(types):
        odd = {content_type for content_type in set(types) if not is_json(content_type)}
        bad.update(row for row, content_type in enumerate(types) if content_type in odd)
        types = [
            JSON_DATA if content_type in odd else content_type for content_type in types
        ]  # decoders of other types take no JSON
    return data, types


def _unpacked(texts: Column, bad: set[int]) -> Column:
    return [body or b"" for body in decode_all(unpack, texts, bad)]


_NOTHING = {None}


def _check_envelope(plan: Plan, columns: dict[str, Column], bound: dict[str, Column], bad: set[int]) -> frozenset[str]:
    """Check the attributes; the names of those columns come back that are timestamps in UTC."""
    timestamps: set[str] = set()
    for name, keeps_rule in plan.implied:
        column = columns[name]
        if column.count(None) != len(column):
            _check_rule(keeps_rule, column, bad)
    for name, check in plan.constants:
        column = columns[name]
        if column.count(check.constant) != len(column):
            _check(check, column, bound, bad)
    for name, check in plan.strings:
        _check_presence(check, columns[name], bad)
    for name, check in plan.envelope:
        column = columns[name]
        if check.keeps_rule is not None:
            is_sure = name == "id" or check.path in _FEW_VALUES or (name == "source" and surely_sources(column))
            if not is_sure:
                _check_rule(check.keeps_rule, column, bad)
        if check.constraint.type == "timestamp" and check.constant is None and surely_timestamps(column):
            timestamps.add(name)
            _check_presence(check, column, bad)
        elif check.template is None and check.takes_any_string and name in STRING_ATTRIBUTES:
            _check_presence(check, column, bad)
        else:
            _check(check, column, bound, bad)
    return frozenset(timestamps)


def _is_implied(check: Check) -> bool:
    is_open = check.template is None and check.constant is None and not check.constraint.required
    return is_open and check.keeps_rule is not None and check.takes_any_string


def _is_constant(check: Check) -> bool:
    return check.constant is not None and check.keeps_rule is None


def _is_string(check: Check) -> bool:
    """Whether any string will do, as long as there is one."""
    is_open = check.template is None and check.constant is None and check.takes_any_string
    keeps_rule = check.keeps_rule is None or check.path == ("id",)  # whose rule is that it is not empty
    return is_open and keeps_rule and check.constraint.required and check.path[0] in STRING_ATTRIBUTES


def _check_protocol(plan: Plan, metadata: list[dict[str, Any]], bound: dict[str, Column], bad: set[int]) -> None:
    for get, check in plan.protocol:
        _check(check, list(map(get, metadata)), bound, bad)


def _check(check: Check, column: Column, bound: dict[str, Column], bad: set[int]) -> None:
    """Check the values of a column by the rules for one value, where no rule for all of them says the same."""
    if check.template is not None:
        _check_presence(check, column, bad)
        _bind(check.template, column, bound, bad)
        if not check.takes_any_string:
            _check_rule(check.has_type, column, bad)
    elif check.path in _FEW_VALUES and _check_distinct(check, column, bad):
        return
    elif _count_equal(check, column) != len(column) or (check.constant is None and check.constraint.required):
        bad.update(row for row, value in enumerate(column) if check.problem(value, {}) is not None)


def _check_rule(keeps_rule: Any, column: Column, bad: set[int]) -> None:
    bad.update(row for row, value in enumerate(column) if value is not None and not keeps_rule(value))


def _check_distinct(check: Check, column: Column, bad: set[int]) -> bool:
    """Check a column in which the same few values occur over and over; False where it cannot be done."""
    try:
        values = set(column)
    except TypeError:  # something that is no text
        return False
    wrong = {value for value in values if check.problem(value, {}) is not None}
    if wrong:
        bad.update(row for row, value in enumerate(column) if value in wrong)
    return True


def _count_equal(check: Check, column: Column) -> int:
    """How many values are the constant, or rightly absent."""
    is_optional = check.constant is not None and not check.constraint.required
    return column.count(check.constant) + (column.count(None) if is_optional else 0)


def _check_presence(check: Check, column: Column, bad: set[int]) -> None:
    # What is there and empty is in doubt as well: an id may not be.
    if check.constraint.required and not all(column):
        bad.update(row for row, value in enumerate(column) if not value)


def _bind(template: Template, values: Column, bound: dict[str, Column], bad: set[int]) -> None:
    columns: list[Any] | None
    try:
        columns = template.columns(values)
    except TypeError:  # something that is no text
        columns = None
    if columns is None:
        columns = _bound_singly(template, values)
    if not all(columns[0]):
        bad.update(row for row, text in enumerate(columns[0]) if not text and values[row] is not None)
        columns = [[text or None for text in column] for column in columns]
    for name, column in zip(template.names, columns, strict=True):
        bound[name] = list(column) if name not in bound else _agreed(bound[name], column, bad)


def _bound_singly(template: Template, values: Column) -> list[Any]:
    nothing = ("",) * len(template.names)
    texts = (value if type(value) is str else "" for value in values)
    found = (template.extract_all([text])[0] if text else None for text in texts)
    return list(zip(*(one or nothing for one in found), strict=True))


def _agreed(known: Column, column: Iterable[Any], bad: set[int]) -> Column:
    """One variable has one value wherever it stands."""
    merged = []
    for row, (one, other) in enumerate(zip(known, column, strict=True)):
        if one is not None and other is not None and one != other:
            bad.add(row)
        merged.append(other if one is None else one)
    return merged


def _content_types(stated: Column, absent: str) -> list[str]:
    content_types = set(stated)
    if len(content_types) == 1:
        return [content_types.pop() or absent] * len(stated)
    return [content_type or absent for content_type in stated]


def _columns(group: EventGroup) -> dict[str, Column]:
    """The attributes that the definition names, and those that every event has; of structured mode also the data."""
    if group.columns is None:
        return _columns_of(group)
    nothing: Column = [None] * len(group.rows)
    wanted = group.plan.members if group.structured else group.plan.attributes
    return {name: group.columns.get(name, nothing) for name, _ in wanted}


def _columns_of(group: EventGroup) -> dict[str, Column]:
    wanted = group.plan.members if group.structured else group.plan.attributes
    return {name: list(map(get, group.events)) for name, get in wanted}


def _extensions(group: EventGroup) -> dict[int, dict[str, Any]]:
    """The attributes that only other definitions declare, for the events that have any."""
    found: dict[int, dict[str, Any]] = {}
    for name in group.plan.undeclared:
        column = list(map(attrgetter(name), group.events)) if group.columns is None else group.columns.get(name, ())
        if column.count(None) != len(column):
            for row, value in enumerate(column):
                if value is not None:
                    found.setdefault(row, {})[name] = value
    return found


def metadata_getter(wire: Wire, path: tuple[str, ...]) -> Callable[[dict[str, Any]], Any]:
    """The value at a path of a record's metadata, found directly where it is spelled as we spell it."""
    option = wire.option(path[0])
    if option is None or len(path) > 2:
        return lambda metadata: wire.lookup(metadata, path)
    name = option.name
    if len(path) == 1:

        def value(metadata: dict[str, Any]) -> Any:
            found = metadata.get(name)
            return wire.lookup(metadata, path) if found is None else found

        return value
    inner = path[1]

    def member(metadata: dict[str, Any]) -> Any:
        container = metadata.get(name)
        found = container.get(inner) if type(container) is dict else None
        return wire.lookup(metadata, path) if found is None else found

    return member
