"""Invalid messages: each violates exactly one rule of its definition, for testing consumers and pipelines."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from postroom.errors import MakeRefused, SchemaRefused
from postroom.messages.definitions.constraints import Check
from postroom.messages.making.compiled_template import MessageDraft
from postroom.messages.making.make import AUTO, Maker
from postroom.messages.making.metadata_placement import put, without
from postroom.messages.matching.outcome import Reason
from postroom.protocols.cloudevents import is_json
from postroom.protocols.protocol_table import wire_named
from postroom.protocols.records import Record

# Tried in turn for a payload member, until the schema objects to exactly one thing.
_WRONG_VALUES: tuple[Any, ...] = (None, "wrong", -1_000_000_000, [], {})
_OTHER_TYPE = "application/x-other"
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
    """Make a record that violates one rule of the definition; return it with that violation."""
    draft = maker.draft(variables, data, protocol=protocol, mode=mode, rng=rng)
    candidates = list(_invalid_drafts(maker, draft))
    rng.shuffle(candidates)
    for candidate in candidates:
        record = maker.with_schema_id(candidate.record(), candidate.mode)
        matches = [result.match for result in maker.engine.sort(record)]
        match = matches[0]
        is_own = match.outcome == "invalid" and match.message == maker.definition.xid
        if is_own and len(matches) == len(match.reasons) == 1:
            return record, match.reasons[0]
    raise MakeRefused("no way was found to break exactly one rule of this definition.", place=maker.definition.xid)


def _invalid_drafts(maker: Maker, draft: MessageDraft) -> Iterator[MessageDraft]:
    yield from _invalid_envelopes(maker, draft)
    yield from _invalid_metadata(maker, draft)
    yield from _invalid_payloads(maker, draft)


def _invalid_envelopes(maker: Maker, draft: MessageDraft) -> Iterator[MessageDraft]:
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


def _invalid_metadata(maker: Maker, draft: MessageDraft) -> Iterator[MessageDraft]:
    wire = wire_named(draft.protocol)
    if draft.contenttype and not wire.content_type(draft.metadata):
        yield replace(draft, contenttype=_OTHER_TYPE)
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


def _invalid_payloads(maker: Maker, draft: MessageDraft) -> Iterator[MessageDraft]:
    schema = maker.engine.schema(maker.definition)
    if schema is None:
        return
    contenttype = maker.definition.contenttype
    value, violations = schema.validate(draft.payload, contenttype)
    if violations:
        return
    if (draft.mode == "binary" and draft.protocol) or not is_json(contenttype):
        yield replace(draft, payload=draft.payload[: len(draft.payload) // 2])
        if not is_json(contenttype):
            yield replace(draft, payload=draft.payload + b"\xff")
    for changed in _changed(value):
        try:
            payload = schema.encode(changed, contenttype)
        except SchemaRefused:  # a value that the format cannot even write
            continue
        if len(schema.validate(payload, contenttype)[1]) == 1:
            yield replace(draft, payload=payload)


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
