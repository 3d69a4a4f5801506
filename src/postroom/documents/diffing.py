"""What changed between two catalogs, and for whom: readers of words, consumers or producers of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from postroom.documents.dialects.names import RESOURCES
from postroom.documents.dialects.walking import objects
from postroom.errors import DefinitionRefused, PostroomError
from postroom.formats.table import readable_documents
from postroom.messages.bases import resolve
from postroom.messages.tree import Tree, default_version, find_message
from postroom.model.pointers import pointer
from postroom.protocols.table import canonical_protocol

Kind = Literal["editorial", "compatible", "breaking for consumers", "breaking for producers", "breaking for both"]

EDITORIAL = frozenset(("name", "description", "documentation", "icon", "labels", "deprecated", "dialectextras"))
IGNORED = frozenset(("epoch", "createdat", "modifiedat", "self", "shortself", "xid", "ancestorid", "isdefault", "meta"))
_SCHEMA = ("dataschema", "dataschemauri", "dataschemaxid", "dataschemaformat")
_SELECTORS = ("envelope", "protocol")
_CONSTRAINTS = ("envelopemetadata", "protocoloptions")
_PROPERTY = frozenset(("value", "type", "required", "description", "specurl", "name"))
_NOTHING: Any = object()


class Change(msgspec.Struct, frozen=True):
    """One change: where, what happened, whom it breaks, and why."""

    place: str
    change: Literal["added", "removed", "changed"]
    kind: Kind
    reason: str

    @property
    def breaks(self) -> bool:
        """Whether somebody has to do something."""
        return self.kind.startswith("breaking")


def differences(old: Tree, new: Tree) -> list[Change]:
    """All changes from one catalog to another."""
    found: list[Change] = []
    for kind, collection in RESOURCES.items():
        for name, before, after in _pairs(objects(old, kind), objects(new, kind)):
            place = pointer((kind, name))
            if before is None or after is None:
                found.append(_come_or_gone(place, kind[:-1], after is None))
                continue
            found += _attributes(place, before, after, skipped=(collection, *IGNORED))
            compare = _schema if collection == "schemas" else _message
            for one, was, now in _pairs(objects(before, collection), objects(after, collection)):
                below = place + pointer((collection, one))
                if was is None or now is None:
                    found.append(_come_or_gone(below, collection[:-1], now is None))
                else:
                    found += compare(below, (kind, name, one), (old, was), (new, now))
    return found


def _pairs(old: Tree, new: Tree) -> Iterator[tuple[str, Tree | None, Tree | None]]:
    for name in {**old, **new}:
        yield name, old.get(name), new.get(name)


def _come_or_gone(place: str, noun: str, gone: bool) -> Change:
    if gone:
        return Change(place, "removed", "breaking for both", f"the {noun} is not there any more.")
    return Change(place, "added", "compatible", f"a new {noun}.")


def _attributes(place: str, old: Tree, new: Tree, skipped: tuple[str, ...]) -> Iterator[Change]:
    for name in {**old, **new}:
        before, after = old.get(name, _NOTHING), new.get(name, _NOTHING)
        if name in skipped or before == after:
            continue
        kind: Kind = "editorial" if name in EDITORIAL else "compatible"
        if name in ("usage", "channel", "messagegroups", *_SELECTORS, *_CONSTRAINTS):
            kind = "breaking for both"
            if name in _SELECTORS and _same_selector(before, after):
                kind = "editorial"
        reason = "words only." if kind == "editorial" else f"{name} says something else."
        yield Change(f"{place}/{name}", _what(before, after), kind, reason)


def _same_selector(before: Any, after: Any) -> bool:
    texts = isinstance(before, str) and isinstance(after, str)
    return texts and canonical_protocol(before) == canonical_protocol(after)


def _what(before: Any, after: Any) -> Literal["added", "removed", "changed"]:
    return "added" if before is _NOTHING else "removed" if after is _NOTHING else "changed"


def _message(
    place: str, steps: tuple[str, str, str], before: tuple[Tree, Tree], after: tuple[Tree, Tree]
) -> Iterator[Change]:
    old, new = (_effective(tree, steps, message) for tree, message in (before, after))
    yield from _attributes(place, old, new, skipped=(*_CONSTRAINTS, *_SCHEMA, "basemessage", "versions", *IGNORED))
    for name in _CONSTRAINTS:
        yield from _constraints(f"{place}/{name}", old.get(name, {}), new.get(name, {}))
    yield from _payload(place, (before[0], old), (after[0], new))


def _effective(tree: Tree, steps: tuple[str, str, str], message: Tree) -> Tree:
    kind, group, name = steps
    found = find_message(tree, f"/{kind}/{group}/messages/{name}")
    try:
        return resolve(tree, found)[0] if found is not None else message
    except DefinitionRefused:
        return message


def _constraints(place: str, old: Any, new: Any) -> Iterator[Change]:
    """Constraints of a message, down to the properties."""
    if old == new:
        return
    nested = [one for one in (old, new) if isinstance(one, dict) and not (one and one.keys() <= _PROPERTY)]
    if len(nested) == 2 and isinstance(old, dict) and isinstance(new, dict):
        for name in {**old, **new}:
            yield from _constraints(place + pointer((name,)), old.get(name, _NOTHING), new.get(name, _NOTHING))
        return
    kind, reason = _property(_as_property(old), _as_property(new))
    yield Change(place, _what(old, new), kind, reason)


def _as_property(value: Any) -> Tree | None:
    if value is _NOTHING:
        return None
    return value if isinstance(value, dict) else {"value": value, "required": True}


def _property(old: Tree | None, new: Tree | None) -> tuple[Kind, str]:
    was, now = old or {}, new or {}
    if was.get("value") != now.get("value") and "value" in was and "value" in now:
        return "breaking for both", f"the value {was['value']!r} became {now['value']!r}."
    if old is not None and new is not None and was.get("type") != now.get("type"):
        return "breaking for both", f"the type {was.get('type')!r} became {now.get('type')!r}."
    stricter = bool(now.get("required")) > bool(was.get("required")) or ("value" in now and "value" not in was)
    looser = bool(was.get("required")) > bool(now.get("required")) or ("value" in was and "value" not in now)
    if stricter and looser:
        return "breaking for both", "it demands more in one way and promises less in another."
    if stricter:
        return "breaking for producers", "messages have to have what they need not have had before."
    if looser:
        return "breaking for consumers", "messages need not have any more what they had before."
    if old is None or new is None:
        return "compatible", "an optional property."
    return "editorial", "words only."


def _payload(place: str, old: tuple[Tree, Tree], new: tuple[Tree, Tree]) -> Iterator[Change]:
    was, now = ([side[1].get(name) for name in _SCHEMA] for side in (old, new))
    if was == now:
        return  # the schema itself is compared where it is
    before, after = (_document(*side) for side in (old, new))
    if before is None or after is None:
        what = _what(None if any(was) else _NOTHING, None if any(now) else _NOTHING)
        kind: Kind = "breaking for producers" if what == "added" else "breaking for consumers"
        reason = "payloads follow a schema that cannot be compared with the one before."
        yield Change(f"{place}/dataschemauri", what, kind if what != "changed" else "breaking for both", reason)
        return
    yield from _documents(f"{place}/dataschemauri", before, after)


def _document(tree: Tree, message: Tree) -> tuple[str, Any] | None:
    if "dataschema" in message:
        return str(message.get("dataschemaformat", "")), message["dataschema"]
    reference = message.get("dataschemaxid") or message.get("dataschemauri")
    steps = str(reference).removeprefix("#").strip("/").split("/")
    if len(steps) < 4 or steps[0] != "schemagroups":
        return None
    schema = objects(objects(tree, "schemagroups").get(steps[1]), "schemas").get(steps[3])
    return _schema_document(schema) if schema is not None else None


def _schema_document(schema: Tree) -> tuple[str, Any] | None:
    version = default_version(schema)
    return (str(version.get("format", "")), version["schema"]) if "schema" in version else None


def _schema(
    place: str, steps: tuple[str, str, str], before: tuple[Tree, Tree], after: tuple[Tree, Tree]
) -> Iterator[Change]:
    old, new = before[1], after[1]
    yield from _attributes(place, old, new, skipped=("versions", "schema", "versionid", "format", *IGNORED))
    was, now = _schema_document(old), _schema_document(new)
    if was is None or now is None:
        if was != now:
            yield Change(place, "changed", "breaking for both", "a schema document came or went.")
    elif was != now:
        yield from _documents(place, was, now)


def _documents(place: str, old: tuple[str, Any], new: tuple[str, Any]) -> Iterator[Change]:
    """Producers write by the old schema what is read by the new one, consumers read by the old what is written anew."""
    verdicts: list[tuple[Kind, str]] = []
    sides: tuple[tuple[Kind, Callable[[], Any]], ...] = (
        ("breaking for producers", lambda: readable_documents((*old, None), (*new, None))),
        ("breaking for consumers", lambda: readable_documents((*new, None), (*old, None))),
    )
    for kind, ask in sides:
        try:
            verdict = ask()
        except PostroomError as error:
            verdicts.append((kind, f"nobody can say: {error.sentence}"))
            continue
        if verdict.answer != "compatible":
            verdicts.append((kind, verdict.reason or "the schemas cannot be compared."))
    if not verdicts:
        yield Change(place, "changed", "compatible", "payloads of either schema can be read with the other.")
    for kind, reason in verdicts:
        yield Change(place, "changed", kind, reason)
