"""Breaking: a message that violates exactly one declared rule, for testing what comes after."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from postroom.errors import MakeRefused, SchemaRefused
from postroom.messages.constraints import Check
from postroom.messages.making import AUTO, Draft, Maker
from postroom.messages.outcome import Reason
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
        if len(matches) == 1 and matches[0].outcome == "invalid" and len(matches[0].reasons) == 1:
            return record, matches[0].reasons[0]
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
    for check in maker.protocol:
        if not check.constraint.decides or len(check.path) > 1 or check.path[0] not in draft.metadata:
            continue
        wrong = _wrong(check, draft.metadata[check.path[0]])
        if wrong is not None:
            yield replace(draft, metadata={**draft.metadata, check.path[0]: wrong})


def _broken_payload(maker: Maker, draft: Draft) -> Iterator[Draft]:
    schema = maker.engine.schema(maker.definition)
    if schema is None:
        return
    contenttype = maker.definition.contenttype
    value, violations = schema.judge(draft.body, contenttype)
    if violations:
        return
    if draft.mode == "binary" and draft.protocol:
        yield replace(draft, body=draft.body[: len(draft.body) // 2])
    for changed in _changed(value):
        try:
            body = schema.encode(changed, contenttype)
        except SchemaRefused:  # a value that the format cannot even write
            continue
        if len(schema.judge(body, contenttype)[1]) == 1:
            yield replace(draft, body=body)


def _changed(value: Any) -> Iterator[Any]:
    """The value with one member left out or wrong."""
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
