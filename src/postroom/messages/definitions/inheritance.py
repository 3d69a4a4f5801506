"""Base messages: follow the chain, then lay each message over the one it derives from (MSG-013 to MSG-021, C-25)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from postroom.errors import DefinitionRefused
from postroom.messages.definitions.catalog_tree import Place, Tree, find_message, local_path
from postroom.model.json_pointers import leads, steps_of
from postroom.protocols.protocol_table import canonical_protocol

# The text at a URL; None when it cannot be had.
Fetch = Callable[[str], str | None]

BASE_NAMES = ("basemessage", "basemessageuri", "basemessageurl")

_NEVER_INHERITED = frozenset(
    (
        *BASE_NAMES,
        "messageid",
        "versionid",
        "id",
        "xid",
        "self",
        "shortself",
        "epoch",
        "createdat",
        "modifiedat",
        "labels",
        "isdefault",
        "ancestor",
        "ancestorid",
        "meta",
        "metaurl",
        "versions",
        "versionsurl",
        "versionscount",
        "deprecated",
    )
)
_LONGEST_CHAIN = 100
_OBJECTS = ("envelopemetadata", "envelopeoptions", "protocoloptions")
_SCHEMA_NAMES = ("dataschema", "dataschemauri", "dataschemaxid")


# What authors wrote, message by message, each under its xid; the derived one first.
Chain = list[tuple[str, Tree]]


def resolve(tree: Tree, place: Place, fetch: Fetch | None = None) -> tuple[Tree, tuple[str, ...]]:
    """The effective message and the xids of its bases, nearest first. A base that cannot be had ends the chain."""
    chain = chain_of(tree, place, fetch)
    return merged(chain), tuple(xid for xid, _ in chain[1:])


def chain_of(tree: Tree, place: Place, fetch: Fetch | None = None) -> Chain:
    """A message and its bases. Bases elsewhere are read only where there is a way to fetch them (MSG-019)."""
    chain: Chain = [(place.xid, normalise(place))]
    reference = base_reference(place.message)
    while reference:
        base = _base(tree, reference, fetch)
        if base is None:
            break
        if any(base.xid == xid for xid, _ in chain):
            circle = " → ".join([*(xid for xid, _ in chain), base.xid])
            raise DefinitionRefused(f"its base messages form a circle: {circle}.", place=place.xid)
        if len(chain) > _LONGEST_CHAIN:
            raise DefinitionRefused(f"it has more than {_LONGEST_CHAIN} base messages.", place=place.xid)
        chain.append((base.xid, normalise(base)))
        reference = base_reference(base.message)
    return chain


def merged(chain: Chain) -> Tree:
    """The effective message: each laid over the one it derives from."""
    effective: Tree = {}
    for _, layer in reversed(chain):
        effective = overlay(effective, layer)
    return effective


def declarer(chain: Chain, pointer: str) -> str:
    """The xid of the message that says what the effective message has at a pointer; empty when none does."""
    steps = steps_of(pointer)
    return next((xid for xid, layer in chain if leads(layer, steps)), "")


def _base(tree: Tree, reference: str, fetch: Fetch | None) -> Place | None:
    path = local_path(reference, tree)
    if path is not None:
        return find_message(tree, path)
    text = fetch(reference) if fetch is not None else None
    try:
        message = msgspec.json.decode(text) if text is not None else None
    except (msgspec.DecodeError, RecursionError):
        return None
    return Place(reference, "", "", {}, "", message) if isinstance(message, dict) else None


def base_reference(message: Tree) -> str:
    """What a message derives from, under any of its three names (C-01)."""
    return next((message[name] for name in BASE_NAMES if isinstance(message.get(name), str)), "")


def normalise(place: Place) -> Tree:
    """What the author of one message wrote, in the one shape we work with."""
    message = {
        name: value
        for name, value in place.message.items()
        if name not in _OBJECTS or isinstance(value, dict)  # what is no object says nothing; lint tells its author
    }
    for selector in ("envelope", "protocol"):
        # C-07: a message without a selector has its group's.
        if not message.get(selector) and isinstance(place.owner.get(selector), str):
            message[selector] = place.owner[selector]
    metadata, options = _mapping(message.get("envelopemetadata")), _mapping(message.get("envelopeoptions"))
    if set(metadata) == {"attributes"} and _all_objects(metadata["attributes"]):
        metadata = metadata["attributes"]  # C-03: prose nests under `attributes`
    if not metadata and _all_objects(options):
        metadata, options = options, {}  # C-02: an example puts the attributes into the options
    if metadata:
        message["envelopemetadata"] = metadata
    if options:
        message["envelopeoptions"] = options
    return message


def overlay(base: Tree, derived: Tree) -> Tree:
    """A message laid over its base: objects merge deeply, everything else replaces."""
    inherited = {name: value for name, value in base.items() if name not in _NEVER_INHERITED}
    if _changed(base, derived, "protocol"):
        inherited.pop("protocoloptions", None)
    if _changed(base, derived, "envelope"):
        inherited.pop("envelopemetadata", None)
        inherited.pop("envelopeoptions", None)
    if any(name in derived for name in _SCHEMA_NAMES):
        for name in _SCHEMA_NAMES:
            inherited.pop(name, None)
    return _merge(inherited, derived)


def _changed(base: Tree, derived: Tree, selector: str) -> bool:
    before, after = base.get(selector), derived.get(selector)
    return bool(before and after) and canonical_protocol(str(before)) != canonical_protocol(str(after))


def _merge(base: Tree, derived: Tree) -> Tree:
    merged = dict(base)
    for name, value in derived.items():
        under = merged.get(name)
        merged[name] = _merge(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return merged


def _mapping(value: Any) -> Tree:
    return value if isinstance(value, dict) else {}


def _all_objects(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(item, dict) for item in value.values())
