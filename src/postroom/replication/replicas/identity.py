"""The implied authority of a unit and the URIs of its Versions, where no author wrote them."""

from __future__ import annotations

from postroom.documents.dialects.messagecatalog_ids import catalog_segment
from postroom.registry.changes.provenance import is_absolute, provenance_of, version_uri
from postroom.registry.read.resource_history import read_states
from postroom.registry.transaction_interface import Transaction
from postroom.replication.replicas.replica_unit import Unit

_CATALOG = "/messagecatalog"


def implied_authority(base: str, xid: str) -> str:
    """The authority of a unit that names none: the API it is served by (S002 2.2.4)."""
    return base + _CATALOG if _is_definition(xid) and base.startswith("http") else base


def version_uris(tx: Transaction, unit: Unit, base: str) -> dict[str, str]:
    """The absolute URIs of the Versions of a Resource: as they came, or as they are served here."""
    uris = {}
    for version_id in unit.versions:
        entity = tx.entity(f"{unit.xid}/versions/{version_id}")
        provenance = provenance_of(tx, entity) if entity is not None else None
        if provenance is not None and is_absolute(provenance.uri):
            uris[version_id] = provenance.uri
        else:
            authority = (provenance.authority if provenance else "") or implied_authority(base, unit.xid)
            uris[version_id] = version_uri(authority, _path(tx, unit.xid, version_id, authority))
    return uris


def _path(tx: Transaction, xid: str, version_id: str, authority: str) -> str:
    if not _is_definition(xid):
        return plain_path(xid, version_id)
    # Every state of a message is a version of the message catalog; the present one has the highest number.
    number = len(read_states(tx, xid))
    if not authority.startswith("http"):
        return plain_path(xid, str(number))
    group, definition = map(catalog_segment, xid.split("/")[2::2])
    return f"{_CATALOG}/{group}/messagedefinitions/{definition}/versions/{number}"


def plain_path(xid: str, version_id: str) -> str:
    """What a Version is called below the URL of a registry."""
    return f"{xid.removeprefix('/')}/versions/{version_id}"


def _is_definition(xid: str) -> bool:
    return xid.startswith("/messagegroups/") and xid.count("/") == 4
