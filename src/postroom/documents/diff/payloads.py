"""Payload schemas: producers write by the old one what is read by the new one, and the other way round."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.documents.dialects.references import as_xid
from postroom.documents.diff.change import BOTH, CONSUMERS, PRODUCERS, Change, Kind
from postroom.documents.diff.compared_catalog import Side, Written
from postroom.errors import PostroomError
from postroom.formats.format_table import format_named, readable_documents
from postroom.messages.definitions.catalog_tree import Tree


def payload_changes(place: str, before: tuple[Side, Tree], after: tuple[Side, Tree]) -> Iterator[Change]:
    """Changes of what the payloads of a message are; those of a schema itself are told where it is."""
    (old, was), (new, now) = before, after
    one, other = old.payload(was), new.payload(now)
    if one is None or other is None:
        if one is not other:
            kind: Kind = PRODUCERS if one is None else CONSUMERS
            reason = "payloads follow a schema now." if one is None else "payloads follow no schema any more."
            yield Change(
                place + _member(was if other is None else now), "added" if one is None else "removed", kind, reason
            )
        return
    at = place + _member(now)
    if one.place and one.place == other.place:
        if one.fragment != other.fragment:
            reason = f"payloads are of the type {other.fragment or 'of the document'}, not {one.fragment or 'that'}."
            yield Change(at, "changed", BOTH, reason)
        return
    written, read = old.written(one), new.written(other)
    if written is None or read is None:
        if as_xid(one.reference) != as_xid(other.reference):
            yield Change(at, "changed", BOTH, "the schema is elsewhere and cannot be compared with the one before.")
        return
    yield from document_changes(at, written, read)


def _member(message: Tree) -> str:
    names = ("dataschema", "dataschemaxid", "dataschemauri")
    return "/" + next((name for name in names if message.get(name) is not None), names[-1])


def document_changes(place: str, old: Written, new: Written) -> Iterator[Change]:
    """What becomes of producers and of consumers when one schema takes the place of another."""
    if old[:2] == new[:2] or (old[1] == new[1] and _family(old[0]) == _family(new[0])):
        return
    verdicts: list[tuple[Kind, str]] = []
    for kind, writer, reader in ((PRODUCERS, old, new), (CONSUMERS, new, old)):
        try:
            verdict = readable_documents(writer, reader)
        except PostroomError as error:
            verdicts.append((kind, f"nobody can say: {error.sentence}"))
            continue
        if verdict.answer != "compatible":
            shown = f" For example: {verdict.shown}" if verdict.shown else ""
            verdicts.append((kind, (verdict.reason or "the schemas cannot be compared.") + shown))
    if not verdicts:
        yield Change(place, "changed", "compatible", "payloads of either schema can be read with the other.")
    for kind, reason in verdicts:
        yield Change(place, "changed", kind, reason)


def _family(name: str) -> object:
    known = format_named(name)
    return name if known is None else (known.family, known.version)
