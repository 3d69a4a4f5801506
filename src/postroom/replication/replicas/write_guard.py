"""Entities that belong to another catalog are not edited here: their home would not know, and undo it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from postroom.registry.entities import Entity
from postroom.registry.problems import RegistryProblem
from postroom.registry.rules import Rules
from postroom.registry.transaction import Transaction
from postroom.registry.write.document_checks import MARKS
from postroom.replication.replicas.origins import living_origin
from postroom.replication.replicas.replica_unit import unit_xid
from postroom.settings import Settings


def guarded(rules: Rules, settings: Settings) -> Rules:
    """Rules that refuse such edits, unless the setting says that they are only flagged."""
    return rules if settings.foreign_edits == "flag" else msgspec.structs.replace(rules, guard=refuse_foreign_edits)


def refuse_foreign_edits(tx: Transaction, before: Mapping[str, Entity | None]) -> None:
    """Refuse a write that changes what came from elsewhere; `before` are the entities that it touched."""
    for xid, entity in before.items():
        unit = unit_xid(xid)
        origin = living_origin(tx, unit) if unit else None
        if origin is not None and _content(entity) != _content(tx.entity(xid)):
            detail = f"It belongs to {origin.authority}; change it there. The setting foreign_edits can allow it here."
            raise RegistryProblem("readonly", xid, detail=detail)


def _content(entity: Entity | None) -> object:
    """What an author wrote. That a member came or went is no edit of a Group, and marks are the server's own."""
    if entity is None:
        return None
    return {n: v for n, v in entity.attributes.items() if n not in MARKS}, entity.document
