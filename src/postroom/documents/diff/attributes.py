"""Attributes of groups, messages and schemas: which of them are words, and which mean something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.documents.dialects.preserved_members import EXTRAS
from postroom.documents.diff.change import BOTH, CONSUMERS, NOTHING, PRODUCERS, Change, Kind, what
from postroom.messages.definitions.catalog_tree import Tree
from postroom.model.json_pointers import pointer
from postroom.protocols.protocol_table import canonical_protocol

WORDS = frozenset(("name", "description", "documentation", "icon", "labels"))
OF_THE_SERVER = frozenset(("epoch", "createdat", "modifiedat", "self", "shortself", "xid", "ancestorid", "isdefault"))
CHECKS = frozenset(("formatvalidated", "formatvalidatedreason", "compatibilityvalidated"))
IGNORED = OF_THE_SERVER | CHECKS | {EXTRAS, "compatibilityvalidatedreason", "meta", "metaurl", "versions", "versionid"}
SELECTORS = ("envelope", "protocol")

# What a change of an attribute does: the kind, and why.
_MEANING: dict[str, tuple[Kind, str]] = {
    "envelope": (BOTH, "the envelope is another one."),
    "protocol": (BOTH, "the protocol is another one."),
    "channel": (BOTH, "the endpoint is part of another channel."),
    "envelopeoptions": ("compatible", "messages may be written in another mode, and readers take them all."),
    "deprecated": ("compatible", "it is announced what happens to it; nobody has to do anything yet."),
    "constraints": (PRODUCERS, "the group demands something else of its messages."),
    "modelsource": ("compatible", "the model is another one."),
    "readonly": ("compatible", "who may write it changed."),
}


def attribute_changes(place: str, old: Tree, new: Tree, skipped: frozenset[str]) -> Iterator[Change]:
    """Changes of attributes that have no rules of their own."""
    for name in {**old, **new}:
        before, after = old.get(name, NOTHING), new.get(name, NOTHING)
        if name in skipped or before == after:
            continue
        kind, reason = _judged(name, before, after)
        yield Change(place + pointer((name,)), what(before, after), kind, reason)


def _judged(name: str, before: Any, after: Any) -> tuple[Kind, str]:
    if name in WORDS or (name in SELECTORS and _same_selector(before, after)):
        return "editorial", "words only."
    if name == "datacontenttype":
        return _content_type(before, after)
    return _MEANING.get(name, ("compatible", f"{name} is an extension, which no rule here looks at."))


def _same_selector(before: Any, after: Any) -> bool:
    texts = isinstance(before, str) and isinstance(after, str)
    return texts and canonical_protocol(before) == canonical_protocol(after)


def _content_type(before: Any, after: Any) -> tuple[Kind, str]:
    if before is NOTHING:
        return PRODUCERS, f"payloads have to be {after}, which was not said before."
    if after is NOTHING:
        return CONSUMERS, f"payloads need not be {before} any more."
    return BOTH, f"payloads are {after} and not {before} any more."
