"""Breaking: a message that violates exactly one declared rule, for testing what comes after."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from postroom.errors import MakeRefused, SchemaRefused
from postroom.messages.definitions.constraints import Check
from postroom.messages.making.make import AUTO, Draft, Maker
from postroom.messages.making.metadata_placement import put, without
from postroom.messages.matching.outcome import Reason
from postroom.protocols.cloudevents import is_json
from postroom.protocols.protocol_table import wire_named
from postroom.protocols.records import Record

# Tried in turn for a payload member, until the schema objects to exactly one thing.
_WRONG_VALUES: tuple[Any, ...] = (None, "wrong", -1_000_000_000, [], {})
_KEPT = ("specversion", "type")


def make_invalid(
    maker: Maker,
    variables: Mapping[str, Any],
    data: Any = AUTO,
    *,
    protocol: str = "",
    mode: str = "",
    rng: random.Random,
) -> tuple[Record, Reason]:
    """A record that breaks one rule of the definition, and the rule it breaks."""
    draft = maker.draft(variables, data, protocol=protocol, mode=mode, rng=rng)
    broken = list(_broken(maker, draft))
    rng.shuffle(broken)
    for candidate in broken:
        record = candidate.record()
        matches = [result.match for result in maker.engine.sort(record)]
        match = matches[0]
        named = match.outcome == "invalid" and match.message == maker.definition.xid
        if named and len(matches) == len(match.reasons) == 1:
            return record, match.reasons[0]
    raise MakeRefused("no way was found to break exactly one rule of this definition.", place=maker.definition.xid)


def _broken(maker: Maker, draft: Draft) -> Iterator[Draft]:
    yield from _broken_envelope(maker, draft)
    yield from _broken_metadata(maker, draft)
    yield from _broken_payload(maker, draft)


def _broken_envelope(maker: Maker, draft: Draft) -> Iterator[Draft]:
    if draft.attributes is None:
        return
    for check in maker.envelope:
        name = check.path[0]
        if name in _KEPT or name not in draft.attributes:
            continue
        rest = {key: value for key, value in draft.attributes.items() if key != name}
        if check.constraint.required:
            yield replace(draft, attributes=rest)
        wrong = _wrong(check, draft.attributes[name])
        if wrong is not None:
            yield replace(draft, attributes={**rest, name: wrong})


def _broken_metadata(maker: Maker, draft: Draft) -> Iterator[Draft]:
    wire = wire_named(draft.protocol)
    for placement in maker.placements:
        check, path = placement.check, placement.path
        value = wire.lookup(draft.metadata, path)
        if not check.constraint.decides or value is None:
            continue
        if check.constraint.required:
            yield replace(draft, metadata=without(wire, draft.metadata, path))
        wrong = _wrong(check, value)
        if wrong is not None:
            changed = without(wire, draft.metadata, path)
            put(changed, wire, path, wrong)
            yield replace(draft, metadata=changed)


def _broken_payload(maker: Maker, draft: Draft) -> Iterator[Draft]:
    schema = maker.engine.schema(maker.definition)
    if schema is None:
        return
    contenttype = maker.definition.contenttype
    value, violations = schema.validate(draft.body, contenttype)
    if violations:
        return
    if (draft.mode == "binary" and draft.protocol) or not is_json(contenttype):
        yield replace(draft, body=draft.body[: len(draft.body) // 2])
        if not is_json(contenttype):
            yield replace(draft, body=draft.body + b"\xff")
    for changed in _changed(value):
        try:
            body = schema.encode(changed, contenttype)
        except SchemaRefused:  # a value that the format cannot even write
            continue
        if len(schema.validate(body, contenttype)[1]) == 1:
            yield replace(draft, body=body)


def _changed(value: Any) -> Iterator[Any]:
    """The value with one member left out or wrong, or another value altogether."""
    yield from _WRONG_VALUES
    for name in value if isinstance(value, dict) else ():
        yield {key: member for key, member in value.items() if key != name}
        yield from ({**value, name: wrong} for wrong in _WRONG_VALUES)


def _wrong(check: Check, value: Any) -> Any:
    if check.constant is not None:
        return f"{value}-wrong"
    if check.template is not None and not check.template.alone:
        return "::nowhere::"
    return {"timestamp": "yesterday", "integer": "many", "boolean": "maybe", "uri": "not a uri"}.get(
        check.constraint.type
    )
