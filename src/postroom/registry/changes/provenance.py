"""Who controls an entity, and the absolute URI that a version of it has in every catalog which holds a copy.

Both are extension attributes of Versions, `authority` and `versionuri`, so that they are seen, copied and kept in the
history like everything else. Where a model has no room for extensions they are kept beside the Version instead. An
entity without an authority belongs to the registry it is in; the authority of a Resource is that of its default
Version. Every write that brings a `versionuri` makes the version one that can be found by it.
"""

from __future__ import annotations

import re
from urllib.parse import quote

import msgspec

from postroom.model.types import ResourceType
from postroom.registry.changes.attachments import attach, attachment, state_key
from postroom.registry.entities import Entity
from postroom.registry.transaction import Transaction
from postroom.urls import join_url

AUTHORITY, VERSION_URI = "authority", "versionuri"
LONGEST_URI = 2048

_BESIDE = "provenance"
_BY_URI = "versionuri"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_URI_CHARACTERS = "!#$%&'()*+,/:;=?@[]~"


class Provenance(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a version comes from: who controls it (empty: this registry) and its absolute URI (empty: it has none)."""

    authority: str = ""
    uri: str = ""


class _State(msgspec.Struct, frozen=True):
    """One state of one Version."""

    xid: str
    epoch: int


_READ_PROVENANCE = msgspec.msgpack.Decoder(Provenance)  # here, for threads may not describe a type at the same time
_READ_STATE = msgspec.msgpack.Decoder(_State)


def version_uri(authority: str, version_id: str) -> str:
    """The URI of a version: its id with the authority as the base (message catalog, section 2.2.2).

    An absolute id stands alone; below an authority that is no path (`urn:…`) the id follows a colon (C-72).
    """
    reference = normal_uri(version_id)
    if is_absolute(reference):
        return reference
    scheme, _, rest = authority.partition(":")
    if not rest.startswith("/"):
        return f"{authority.rstrip(':')}:{reference}"
    # Schemes that have paths are known by name where URLs are joined; every URI that has one is to be joined alike.
    joined = join_url(f"http:{rest.rstrip('/')}/", reference)
    if joined is None:  # what someone wrote as authority is no URI
        return f"{authority.rstrip('/')}/{reference.lstrip('/')}"
    return scheme + joined.removeprefix("http")


def normal_uri(text: str) -> str:
    """A URI or a reference with everything percent-encoded that cannot stand in one; blanks are met in practice."""
    return quote(text.strip(), safe=_URI_CHARACTERS)


def is_absolute(uri: str) -> bool:
    """Whether a URI has a scheme."""
    return _SCHEME.match(uri) is not None


def accepts_provenance(kind: ResourceType) -> bool:
    """Whether Versions of a type can have the two attributes."""
    return all(name in kind.attributes or "*" in kind.attributes for name in (AUTHORITY, VERSION_URI))


def provenance_of(tx: Transaction, version: Entity) -> Provenance:
    """Where a Version, in its present or in a former state, comes from."""
    beside = attachment(tx, state_key(version), _BESIDE)
    if beside is not None:
        return _READ_PROVENANCE.decode(beside)
    authority, uri = (version.attributes.get(name) for name in (AUTHORITY, VERSION_URI))
    return Provenance(authority if isinstance(authority, str) else "", uri if isinstance(uri, str) else "")


def authority_of(tx: Transaction, xid: str) -> str:
    """Who controls a Resource or a Version; empty when this registry does, or when it is not there."""
    entity = tx.entity(xid)
    if entity is not None and xid.count("/") == 4:
        entity = tx.entity(f"{xid}/versions/{entity.attributes.get('defaultversionid')}")
    return provenance_of(tx, entity).authority if entity is not None else ""


def attach_provenance(tx: Transaction, version: Entity, provenance: Provenance) -> None:
    """Keep the provenance of a Version whose model has no attributes for it."""
    attach(tx, state_key(version), _BESIDE, msgspec.msgpack.encode(provenance))
    if provenance.uri:
        _index(tx, version, provenance.uri)


def find_version(tx: Transaction, uri: str) -> tuple[str, int] | None:
    """The Version that a URI stands for, and the epoch it had when it came with it.

    None when no Version had it, or when its Resource is gone; the Version may have become another since.
    """
    found = tx.record(_BY_URI, normal_uri(uri)[:LONGEST_URI])
    if found is None:
        return None
    state = _READ_STATE.decode(found)
    return (state.xid, state.epoch) if tx.entity(state.xid.rpartition("/versions/")[0]) else None


def index_version_uri(tx: Transaction, entity: Entity) -> None:
    """Note the URI of a Version that is saved, so that it can be found by it."""
    uri = entity.attributes.get(VERSION_URI)
    if uri and isinstance(uri, str) and entity.xid.count("/") == 6:
        _index(tx, entity, uri)


def _index(tx: Transaction, version: Entity, uri: str) -> None:
    state = _State(version.xid, version.epoch)
    tx.put_record(_BY_URI, normal_uri(uri)[:LONGEST_URI], msgspec.msgpack.encode(state))
