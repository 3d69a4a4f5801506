"""Provenance of Versions: the authority that controls one, and the absolute URI it has in every copy.

Both are extension attributes of Versions, `authority` and `versionuri`, so that they are rendered, copied and kept
in the history like everything else. Where a model allows no extensions they are attached to the Version instead. A
Version without an authority belongs to the registry it is in. Every write that brings a `versionuri` indexes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import quote

import msgspec

from postroom.model.types import ResourceType
from postroom.registry.changes.entity_attachments import attach, attachment, state_key
from postroom.registry.entities import Entity
from postroom.registry.transaction_interface import Transaction
from postroom.urls import join_url

AUTHORITY, VERSION_URI = "authority", "versionuri"
LONGEST_URI = 2048

_ATTACHMENT = "provenance"
_BY_URI = "versionuri"
_SEPARATOR = " "  # no normal URI has it
_PAGE = 100
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_URI_CHARACTERS = "!#$%&'()*+,/:;=?@[]~"


class Provenance(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a version comes from: who controls it (empty: this registry) and its absolute URI (empty: it has none)."""

    authority: str = ""
    uri: str = ""


class _State(msgspec.Struct, frozen=True):
    """One state of one Version, and when it was indexed (empty: before that was noted)."""

    xid: str
    epoch: int
    indexedat: str = ""


_READ_PROVENANCE = msgspec.msgpack.Decoder(Provenance)  # at import: threads may not describe a type together
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


def accepts_provenance(resource_type: ResourceType) -> bool:
    """Whether the model lets Versions of a type have the two attributes."""
    return all(name in resource_type.attributes or "*" in resource_type.attributes for name in (AUTHORITY, VERSION_URI))


def provenance_of(tx: Transaction, version: Entity) -> Provenance:
    """The provenance of a Version in its present or in a former state."""
    attached = attachment(tx, state_key(version), _ATTACHMENT)
    if attached is not None:
        return _READ_PROVENANCE.decode(attached)
    authority, uri = (version.attributes.get(name) for name in (AUTHORITY, VERSION_URI))
    return Provenance(authority if isinstance(authority, str) else "", uri if isinstance(uri, str) else "")


def attach_provenance(tx: Transaction, version: Entity, provenance: Provenance) -> None:
    """Attach the provenance of a Version whose model has no attributes for it."""
    attach(tx, state_key(version), _ATTACHMENT, msgspec.msgpack.encode(provenance))
    if provenance.uri:
        _index(tx, version, provenance.uri)


def find_version(tx: Transaction, uri: str) -> tuple[str, int] | None:
    """The Version with a URI, and its epoch at the time of the write that brought it.

    None when no Version had it, or when its Resource is deleted; the Version may have changed since. Of several the
    one that was written last counts, unless it may not be read.
    """
    key = normal_uri(uri)[:LONGEST_URI]
    indexed = [*filter(None, [tx.record(_BY_URI, key)]), *_namesakes(tx, key + _SEPARATOR)]
    states = [state for state in map(_READ_STATE.decode, indexed) if tx.permissions.read.covers(state.xid)]
    for state in sorted(states, key=lambda one: one.indexedat, reverse=True):
        if tx.entity(state.xid.rpartition("/versions/")[0]) is not None:
            return state.xid, state.epoch
    return None


def _namesakes(tx: Transaction, prefix: str) -> Iterator[bytes]:
    after, page = prefix, tx.records(_BY_URI, prefix, _PAGE)
    while page:
        for after, body in page:
            if not after.startswith(prefix):
                return
            yield body
        page = tx.records(_BY_URI, after, _PAGE) if len(page) == _PAGE else []


def index_version_uri(tx: Transaction, entity: Entity) -> None:
    """Index a Version that is saved by its URI, so that `find_version` finds it."""
    uri = entity.attributes.get(VERSION_URI)
    if uri and isinstance(uri, str) and entity.xid.count("/") == 6:
        _index(tx, entity, uri)


def _index(tx: Transaction, version: Entity, uri: str) -> None:
    """Index a state of a Version, for each Resource apart: whoever does not see that others have the same URI must not
    take it away from them.
    """
    state = _State(version.xid, version.epoch, datetime.now(UTC).isoformat())
    resource = version.xid.rpartition("/versions/")[0]
    key = f"{normal_uri(uri)[:LONGEST_URI]}{_SEPARATOR}{resource}"
    tx.put_record(_BY_URI, key, msgspec.msgpack.encode(state))
