"""The numbers of the Versions of a schema, 1, 2, 3 …, beside their free ids, and deleted Versions that are kept.

A Version whose id is a number has that number, any other one gets the next in the order in which they come and states
it. Numbers that were given to Versions which are gone are not given again, as long as those are kept.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from postroom.registry.entities import Document, Entity
from postroom.registry.numbering.schema_ids import SchemaIds, SchemaUse, stated_ids, with_prefix
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction

NUMBER = "schemaversion"
HIGHEST = 2**31 - 1
_DELETED = "schemadeleted"
_SEPARATOR = "#"
_NUMERIC = re.compile(r"[1-9][0-9]{0,9}\Z")


class SchemaVersion(msgspec.Struct, frozen=True):
    """A Version with its number, in the registry or, deleted, kept beside it."""

    number: int
    entity: Entity
    is_deleted: bool = False

    @property
    def ids(self) -> list[int]:
        """Its ids, the one that counts first."""
        return stated_ids(self.entity)


class _KeptVersion(msgspec.Struct, frozen=True, array_like=True):
    """A deleted Version as it is stored."""

    xid: str
    epoch: int
    createdat: str
    modifiedat: str
    attributes: dict[str, Any]
    content: bytes
    text: bool


_READ_KEPT = msgspec.msgpack.Decoder(_KeptVersion)


def number_of(version: Entity) -> int:
    """The number of a stored Version; 0 when it has none."""
    stated = version.attributes.get(NUMBER)
    if isinstance(stated, int) and not isinstance(stated, bool):
        return stated
    return _own_number(version.id)


def _own_number(version_id: str) -> int:
    number = int(version_id) if _NUMERIC.match(version_id) else 0
    return number if number <= HIGHEST else 0


def choose_number(version: Entity, taken: set[int]) -> int | None:
    """The number that a new Version has to state, beside those that are taken; None where its id says it."""
    stated = version.attributes.get(NUMBER)
    own = _own_number(version.id)
    if stated is not None and stated not in taken:  # one that is taken came along from another Version
        if not 0 < stated <= HIGHEST:
            detail = "it must be a number from 1 on"
            name = NUMBER
            raise RegistryProblem("invalid_attribute", version.xid, name=name, error_detail=detail, pointer=f"/{name}")
        return int(stated)
    if own and own not in taken:
        return None
    return max(taken, default=0) + 1


def kept_versions(tx: Transaction, resource: str) -> list[SchemaVersion]:
    """The deleted Versions of a schema that are kept, oldest first."""
    return [_version(key, body) for key, body in with_prefix(tx, _DELETED, resource + _SEPARATOR)]


def kept_version(tx: Transaction, resource: str, number: int) -> SchemaVersion | None:
    """One of them."""
    key = f"{resource}{_SEPARATOR}{number:010d}"
    body = tx.record(_DELETED, key)
    return None if body is None else _version(key, body)


def keeps_any(tx: Transaction, group: str) -> bool:
    """Whether deleted Versions of a Group are kept."""
    return next(with_prefix(tx, _DELETED, f"/schemagroups/{group}/schemas/"), None) is not None


def kept_resources(tx: Transaction, group: str) -> list[str]:
    """The xids of the schemas of a Group that have deleted Versions which are kept."""
    found = with_prefix(tx, _DELETED, f"/schemagroups/{group}/schemas/")
    return list(dict.fromkeys(key.rpartition(_SEPARATOR)[0] for key, _ in found))


def keep_version(tx: Transaction, version: SchemaVersion) -> None:
    """Keep a Version that is deleted."""
    entity = version.entity
    resource = entity.xid.rpartition("/versions/")[0]
    document = entity.document or Document()
    kept = _KeptVersion(
        entity.xid,
        entity.epoch,
        entity.createdat,
        entity.modifiedat,
        entity.attributes,
        document.content,
        document.text,
    )
    tx.put_record(_DELETED, f"{resource}{_SEPARATOR}{version.number:010d}", msgspec.msgpack.encode(kept))
    for schema_id in version.ids:
        _ids(tx, resource).use(schema_id, _use(version))


def forget_version(tx: Transaction, version: SchemaVersion) -> None:
    """Delete a kept Version for good."""
    resource = version.entity.xid.rpartition("/versions/")[0]
    tx.delete_record(_DELETED, f"{resource}{_SEPARATOR}{version.number:010d}")
    for schema_id in version.ids:
        _ids(tx, resource).release(schema_id, _use(version))


def forget_all_below(tx: Transaction, xid: str) -> None:
    """Delete all that is kept of a schema, or of the schemas of a Group, for good."""
    prefix = xid + _SEPARATOR if xid.count("/") == 4 else xid + "/"
    for key, body in list(with_prefix(tx, _DELETED, prefix)):
        forget_version(tx, _version(key, body))


def _ids(tx: Transaction, resource: str) -> SchemaIds:
    return SchemaIds(tx, resource.split("/")[2])


def _use(version: SchemaVersion) -> SchemaUse:
    _, _, _, _, resource, _, version_id = version.entity.xid.split("/")
    return SchemaUse(resource, version_id, version.number)


def _version(key: str, body: bytes) -> SchemaVersion:
    kept = _READ_KEPT.decode(body)
    entity = Entity(
        xid=kept.xid,
        epoch=kept.epoch,
        createdat=kept.createdat,
        modifiedat=kept.modifiedat,
        attributes=kept.attributes,
        document=Document(content=kept.content, text=kept.text),
    )
    return SchemaVersion(int(key.rpartition(_SEPARATOR)[2]), entity, is_deleted=True)
