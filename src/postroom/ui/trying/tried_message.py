"""What became of a pasted message: its parts, each with the reasons that are about it, and one that would fit."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from postroom.catalog.catalog import Catalog
from postroom.deadlines import check_deadline
from postroom.errors import PostroomError
from postroom.formats.schema import PayloadSchema
from postroom.messages.making.make import AUTO
from postroom.messages.making.payload_encoding import PayloadEncoder
from postroom.messages.matching.explain import explain_reason
from postroom.messages.matching.outcome import Match, Reason
from postroom.messages.matching.remedies import remedy
from postroom.model.json_pointers import steps_of
from postroom.protocols.cloudevents import Malformed, Message
from postroom.ui.entities.examples import make_example

MOST_PARTS = 400
MOST_FITTING = 20
MOST_TRIED = 500
LONGEST_VALUE = 300
NAMED_LISTS = frozenset({"headers", "user_properties", "query"})


class ShownReason(msgspec.Struct, frozen=True):
    """A reason in words, with what helps."""

    message: str
    sentence: str
    remedy: str


class MessagePart(msgspec.Struct, frozen=True, kw_only=True):
    """An attribute, a property, or a member of the payload, with what is wrong with it."""

    section: str
    """envelope, protocol or payload"""
    name: str
    depth: int = 0
    value: str = ""
    is_missing: bool = False
    reasons: tuple[ShownReason, ...] = ()


class TriedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message and its outcome."""

    match: Match
    parts: tuple[MessagePart, ...] = ()
    others: tuple[ShownReason, ...] = ()
    """Reasons that are about no part of it."""
    suggestion: str = ""
    fitting: tuple[str, ...] = ()
    """Definitions whose payload schema takes it, where it is no more than a payload."""

    @property
    def sections(self) -> list[tuple[str, list[MessagePart]]]:
        """The parts by what they belong to."""
        found = {name: [part for part in self.parts if part.section == name] for name in _SECTIONS.values()}
        return [(name, parts) for name, parts in found.items() if parts]


def judge(catalog: Catalog, message: Message | Malformed, *, is_payload: bool = False) -> TriedMessage:
    """What becomes of a message."""
    match = catalog.engine.judged(message).match
    if isinstance(message, Malformed):
        return TriedMessage(match=match, others=tuple(_shown(catalog, match, one) for one in match.reasons))
    target = match.message or next((one.message for one in match.reasons if one.message), "")
    parts = list(_parts(message))
    by_part: dict[int, list[ShownReason]] = {}
    others: list[ShownReason] = []
    added: list[MessagePart] = []
    for reason in match.reasons:
        shown = _shown(catalog, match, reason)
        place = _place(reason, message)
        index = _index(place, parts) if place is not None else None
        if index is not None:
            by_part.setdefault(index, []).append(shown)
        elif place is not None and reason.code in ("required_missing", "payload_required"):
            name = reason.expected if reason.code == "payload_required" else place[-1]
            section = _SECTIONS[steps_of(reason.at)[0]]
            added.append(MessagePart(section=section, name=str(name).strip("'"), is_missing=True, reasons=(shown,)))
        else:
            others.append(shown)
    shown_parts = [
        msgspec.structs.replace(part, reasons=tuple(by_part.get(index, ()))) for index, (_, part) in enumerate(parts)
    ]
    for one in added:
        last = max((index for index, part in enumerate(shown_parts) if part.section == one.section), default=-1)
        shown_parts.insert(last + 1, one)
    fits_not = match.outcome in ("invalid", "unmatched") and not is_payload
    return TriedMessage(
        match=match,
        parts=tuple(shown_parts),
        others=tuple(others),
        suggestion=_suggestion(catalog, target, message) if fits_not and target else "",
        fitting=tuple(_fitting(catalog, message)) if is_payload else (),
    )


_SECTIONS = {"envelopemetadata": "envelope", "protocoloptions": "protocol", "data": "payload"}


def _shown(catalog: Catalog, match: Match, reason: Reason) -> ShownReason:
    constraint = catalog.compiled.constraints([reason.message]).get((reason.message, reason.at))
    other = reason.message if reason.message != match.message else ""
    return ShownReason(other, explain_reason(reason) + ".", remedy(reason, constraint))


Place = tuple[str, ...]


def _parts(message: Message) -> Iterator[tuple[Place, MessagePart]]:
    for name, value in (message.attributes or {}).items():
        yield ("envelope", name), MessagePart(section="envelope", name=name, value=_text(value))
    for name, value in message.metadata.items():
        if message.attributes is not None and message.mode == "binary" and name in NAMED_LISTS:
            value = [one for one in _pairs(value) if not one[0].lower().startswith(("ce-", "ce_"))]  # noqa: PLW2901
        if name in NAMED_LISTS:
            for header, content in value if isinstance(value, list) and _is_pairs(value) else _pairs(value):
                yield (
                    ("protocol", name, header),
                    MessagePart(section="protocol", name=f"{name} › {header}", value=content),
                )
        else:
            yield ("protocol", name), MessagePart(section="protocol", name=name, value=_text(value))
    yield from _payload_parts(message.body)


def _is_pairs(value: list[Any]) -> bool:
    return all(isinstance(one, tuple) for one in value)


def _pairs(value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [(str(name), _text(one)) for name, one in value.items()]
    listed = value if isinstance(value, list) else []
    return [(str(one.get("name")), _text(one.get("value"))) for one in listed if isinstance(one, dict)]


def _payload_parts(body: bytes) -> Iterator[tuple[Place, MessagePart]]:
    if not body:
        return
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        yield (
            ("payload",),
            MessagePart(section="payload", name="", value=body[:LONGEST_VALUE].decode("utf-8", "replace")),
        )
        return
    for place, name, depth, shown in islice(_members(value, ("payload",), 0), MOST_PARTS):
        yield place, MessagePart(section="payload", name=name, depth=depth, value=shown)


def _members(value: Any, above: Place, depth: int) -> Iterator[tuple[Place, str, int, str]]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield above, "", depth, _text(value)
        return
    for key, inner in items:
        place = (*above, str(key))
        if isinstance(inner, dict | list) and inner and depth < 20:
            yield place, str(key), depth, ""
            yield from _members(inner, place, depth + 1)
        else:
            yield place, str(key), depth, _text(inner)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"


def _place(reason: Reason, message: Message) -> Place | None:
    """The part that a reason is about."""
    steps = steps_of(reason.at)
    section = _SECTIONS.get(steps[0]) if steps else None
    if section is None:
        return None
    if section == "protocol" and len(steps) > 2:
        listed = message.metadata.get(steps[1])
        name = steps[2]
        if isinstance(listed, list) and name.isdecimal() and int(name) < len(listed):
            name = str(listed[int(name)].get("name", name)) if isinstance(listed[int(name)], dict) else name
        return section, steps[1], name
    return (section, *steps[1:])


def _index(place: Place, parts: list[tuple[Place, MessagePart]]) -> int | None:
    """The part at a place, or the nearest around it in the payload."""
    places = {one: index for index, (one, _) in enumerate(parts)}
    while len(place) > 1 or place == ("payload",):
        if place in places:
            return places[place]
        if place[0] != "payload" or len(place) == 1:
            return None
        place = place[:-1]
    return None


def _suggestion(catalog: Catalog, xid: str, message: Message) -> str:
    """A record like the message that fits the definition; empty where none can be made."""
    try:
        maker = catalog.message(xid).maker
        given = {**(message.attributes or {})}
        variables: dict[str, str] = {}
        for check in (*maker.envelope, *(one.check for one in maker.placements)):
            if check.template is not None:
                source = given if check.path[0] in given else message.metadata
                bound = check.template.extract(str(source.get(check.path[-1], "")))
                variables |= {name: value for name, value in (bound or {}).items() if name in maker.variables}
        protocol = maker.definition.protocol or message.protocol or "HTTP"
        mode = message.mode if message.mode in ("binary", "structured") and maker.is_event else ""
        data = _repaired(maker.payloads, message.body)
        made, _ = make_example(maker, variables, protocol, mode, 1, data)
    except PostroomError:
        return ""
    return msgspec.json.format(msgspec.json.encode(made), indent=2).decode()


def _repaired(payloads: PayloadEncoder, body: bytes) -> Any:
    """The payload with the members that do not fit taken from one that does; made anew where that does not help."""
    schema = payloads.schema
    if schema is None:
        return body.decode("utf-8", "replace") if body else None
    try:
        value = msgspec.json.decode(body)
        sample = schema.sample(random.Random(1))  # noqa: S311 - sample data, no secrets
        for _ in range(20):
            _, violations = schema.validate(msgspec.json.encode(value), "application/json")
            if not violations:
                return value
            for one in violations:
                _repair(value, sample, one.at, one.code, one.expected)
    except (msgspec.DecodeError, PostroomError, TypeError, KeyError, IndexError, ValueError):
        pass
    return AUTO


def _repair(value: Any, sample: Any, at: str, code: str, expected: str) -> None:
    steps = steps_of(at.removeprefix("/data"))
    if code.endswith("required"):
        steps = [*steps, expected.strip("'")]
    for step in steps[:-1]:
        value = value[int(step)] if isinstance(value, list) else value[step]
        sample = sample[0] if isinstance(sample, list) else sample[step]
    last = steps[-1]
    if isinstance(value, list):
        value[int(last)] = sample[0]
    elif last in sample:
        value[last] = sample[last]
    else:
        del value[last]


def _fitting(catalog: Catalog, message: Message) -> Iterator[str]:
    """The definitions whose payload schema takes a payload; those without a schema take all of them."""
    found = 0
    for definition in catalog.definitions[:MOST_TRIED]:
        check_deadline()
        schema: PayloadSchema | None = None
        try:
            schema = catalog.message(definition.xid).maker.payloads.schema if definition.schema is not None else None
        except PostroomError:
            continue
        if schema is not None and not schema.validate(message.body, "application/json")[1]:
            yield definition.xid
            found += 1
            if found >= MOST_FITTING:
                return
