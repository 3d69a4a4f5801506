"""Base messages: follow the chain, then lay each message over the one it derives from (MSG-013 to MSG-021, C-25)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from postroom.errors import DefinitionRefused
from postroom.messages.definitions.catalog_tree import CatalogMessage, Tree, find_base, local_path
from postroom.model.json_pointers import leads, steps_of
from postroom.protocols.cloudevents import ENVELOPE
from postroom.protocols.protocol_table import canonical_protocol

# Fetches the document at a URL; None when that fails.
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
_MAX_BASES = 100
_OBJECTS = ("envelopemetadata", "envelopeoptions", "protocoloptions")
_SCHEMA_NAMES = ("dataschema", "dataschemauri", "dataschemaxid")


# What authors wrote, message by message, each under its xid; the derived one first.
Chain = list[tuple[str, Tree]]


def resolve(tree: Tree, entry: CatalogMessage, fetch: Fetch | None = None) -> tuple[Tree, tuple[str, ...]]:
    """The effective message and the xids of its bases, nearest first. A base that is not found ends the chain."""
    chain = chain_of(tree, entry, fetch)
    return merged(chain), tuple(xid for xid, _ in chain[1:])


def chain_of(tree: Tree, entry: CatalogMessage, fetch: Fetch | None = None) -> Chain:
    """A message and its bases. Bases outside the catalog are read only with `fetch` (MSG-019)."""
    chain: Chain = [(entry.xid, normalise(entry))]
    reference = base_reference(entry.message)
    while reference:
        base = _base(tree, reference, fetch)
        if base is None:
            break
        if any(base.xid == xid for xid, _ in chain):
            circle = " → ".join([*(xid for xid, _ in chain), base.xid])
            raise DefinitionRefused(f"its base messages form a circle: {circle}.", place=entry.xid)
        if len(chain) > _MAX_BASES:
            raise DefinitionRefused(f"it has more than {_MAX_BASES} base messages.", place=entry.xid)
        chain.append((base.xid, normalise(base)))
        reference = base_reference(base.message)
    return chain


def merged(chain: Chain) -> Tree:
    """The effective message: each laid over the one it derives from."""
    effective: Tree = dict(chain[-1][1]) if chain else {}
    for _, layer in reversed(chain[:-1]):
        effective = overlay(effective, layer)
    return effective


def declarer(chain: Chain, pointer: str) -> str:
    """The xid of the message that declares the value at a pointer of the effective message; empty when none does."""
    steps = steps_of(pointer)
    return next((xid for xid, layer in chain if leads(layer, steps)), "")


def _base(tree: Tree, reference: str, fetch: Fetch | None) -> CatalogMessage | None:
    path = local_path(reference, tree)
    if path is not None:
        return find_base(tree, path)
    document = fetch(reference) if fetch is not None else None
    try:
        message = msgspec.json.decode(document) if document is not None else None
    except (msgspec.DecodeError, RecursionError):
        return None
    return CatalogMessage(reference, "", "", {}, "", message) if isinstance(message, dict) else None


def base_reference(message: Tree) -> str:
    """What a message derives from, under any of its three names (C-01)."""
    return next((message[name] for name in BASE_NAMES if isinstance(message.get(name), str)), "")


def normalise(entry: CatalogMessage) -> Tree:
    """One message as its author wrote it, in the shape that the rest of the code expects."""
    message = {
        name: value
        for name, value in entry.message.items()
        if name not in _OBJECTS or isinstance(value, dict)  # lint reports what is no object
    }
    for selector in ("envelope", "protocol"):
        # C-07: a message without a selector has its group's.
        if not message.get(selector) and isinstance(entry.owner.get(selector), str):
            message[selector] = entry.owner[selector]
    if metadata := unwrapped(_mapping(envelope_attributes(message))):
        message["envelopemetadata"] = metadata
    return message


def envelope_attributes(message: Tree) -> Any:
    """The attributes of the envelope as a message states them; an example puts them into the options (C-02)."""
    metadata, options = message.get("envelopemetadata"), _mapping(message.get("envelopeoptions"))
    return options if not metadata and _all_objects(options) else metadata


def envelope_of(message: Tree) -> str:
    """The envelope of an effective message. Attributes of one that is not named are those of CloudEvents, the only
    envelope that the texts define: without it the definition would take every message."""
    stated = message.get("envelope")
    if isinstance(stated, str) and stated:
        return stated
    return ENVELOPE if message.get("envelopemetadata") else ""


def unwrapped(attributes: Tree) -> Tree:
    """The attributes of an envelope, also where a lone member `attributes` holds them, as the prose has it (C-03)."""
    nested = attributes.get("attributes") if len(attributes) == 1 else None
    return nested if isinstance(nested, dict) and all(isinstance(one, dict) for one in nested.values()) else attributes


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
