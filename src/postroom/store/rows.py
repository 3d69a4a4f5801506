"""Entities and changes as rows, and back."""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from postroom.registry.entities import Change, Document, Entity

ENTITY_COLUMNS = "xid, epoch, createdat, modifiedat, attributes, content, url, text, counter"
OUTLINE_COLUMNS = (
    "xid, epoch, createdat, modifiedat, CASE xid WHEN ? THEN attributes ELSE '{}' END, NULL, NULL, 0, counter"
)
"""The same, but only the one entity has attributes, and none a document."""
CHANGE_COLUMNS = "xid, action, epoch, changed, actor, correlation, time, sequence"

Row = tuple[Any, ...]


def entity_values(entity: Entity) -> Row:
    """The values of ENTITY_COLUMNS."""
    document = entity.document
    return (
        entity.xid,
        entity.epoch,
        entity.createdat,
        entity.modifiedat,
        msgspec.json.encode(entity.attributes),
        document.content if document else None,
        document.url if document else None,
        document.text if document else False,
        entity.counter,
    )


def entity_of(row: Row) -> Entity:
    """The entity of a row of ENTITY_COLUMNS."""
    xid, epoch, createdat, modifiedat, attributes, content, url, text, counter = row
    return Entity(
        xid=xid,
        epoch=epoch,
        createdat=createdat,
        modifiedat=modifiedat,
        attributes=msgspec.json.decode(attributes),
        document=None if content is None else Document(content=content, url=url, text=bool(text)),
        counter=counter,
    )


def change_of(row: Row) -> Change:
    """The change of a row of CHANGE_COLUMNS."""
    xid, action, epoch, changed, actor, correlation, time, sequence = row
    return Change(
        xid=xid,
        action=action,
        epoch=epoch,
        changed=_names(changed),
        actor=actor,
        correlation=correlation,
        time=time,
        sequence=sequence,
    )


@functools.lru_cache(maxsize=4096)
def _names(changed: bytes) -> tuple[str, ...]:
    """The names in a row; most rows have the same few."""
    return msgspec.json.decode(changed, type=tuple[str, ...])
