"""The implied authority of a unit and the URIs of its Versions, where no author wrote them."""

from __future__ import annotations

import msgspec

from postroom.documents.dialects.messagecatalog_ids import catalog_segment
from postroom.registry.changes.provenance import is_absolute, provenance_of, version_uri
from postroom.registry.entities import Entity
from postroom.registry.read.resource_history import load_state, read_states
from postroom.registry.transaction_interface import Transaction
from postroom.replication.replicas.replica_unit import Unit

_CATALOG = "/messagecatalog"


def implied_authority(base: str, xid: str) -> str:
    """The authority of a unit that names none: the API it is served by (S002 2.2.4)."""
    return base + _CATALOG if _is_definition(xid) and base.startswith("http") else base


def with_uris(tx: Transaction, unit: Unit, base: str) -> Unit:
    """A unit whose Versions and former states have their absolute URIs: as they came, or as they are served here."""
    states = read_states(tx, unit.xid) if _is_definition(unit.xid) and unit.versions else []
    uris = {}
    for version_id in unit.versions:
        entity = tx.entity(f"{unit.xid}/versions/{version_id}")
        if entity is not None:
            # Every state of a message is a version of the message catalog; the present one has the highest number.
            uris[version_id] = _uri(tx, entity, len(states), base)
    former = [_uri(tx, load_state(tx, state).version, state.number, base) for state in states if state.until]
    history = unit.history and tuple(
        msgspec.structs.replace(state, uri=uri) for state, uri in zip(unit.history, former, strict=True)
    )
    return msgspec.structs.replace(unit, uris=uris, history=history)


def _uri(tx: Transaction, version: Entity, number: int, base: str) -> str:
    provenance = provenance_of(tx, version)
    if is_absolute(provenance.uri):
        return provenance.uri
    xid = version.xid.rpartition("/versions/")[0]
    authority = provenance.authority or implied_authority(base, xid)
    return version_uri(authority, provenance.uri or _path(xid, version.id, number, authority))


def _path(xid: str, version_id: str, number: int, authority: str) -> str:
    if not _is_definition(xid):
        return plain_path(xid, version_id)
    if not authority.startswith("http"):
        return plain_path(xid, str(number))
    group, definition = map(catalog_segment, xid.split("/")[2::2])
    return f"{_CATALOG}/{group}/messagedefinitions/{definition}/versions/{number}"


def plain_path(xid: str, version_id: str) -> str:
    """What a Version is called below the URL of a registry."""
    return f"{xid.removeprefix('/')}/versions/{version_id}"


def _is_definition(xid: str) -> bool:
    return xid.startswith("/messagegroups/") and xid.count("/") == 4
