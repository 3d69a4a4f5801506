"""Numbers for the schemas of a registry that was made before there were any."""

from __future__ import annotations

import logging

from postroom.registry.entities import Entity
from postroom.registry.numbering.numbered_writes import GROUPS, SCHEMAS, has_room
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.unit_of_work import UnitOfWork

LOG = logging.getLogger("postroom")
_DONE = "schemanumbering"


def is_numbered(tx: Transaction) -> bool:
    """Whether all schemas of a registry had their turn."""
    return tx.record(_DONE, "/") is not None


def mark_numbered(tx: Transaction) -> None:
    """Note that they had."""
    tx.put_record(_DONE, "/", b"")


def number_existing(tx: Transaction) -> None:
    """Give all schemas their ids, oldest first. An id that two different schemas state is that of the older one."""
    if is_numbered(tx):
        return
    mark_numbered(tx)
    if not has_room(tx.model()):
        return
    work = UnitOfWork(tx)
    for version in sorted(_versions(tx), key=lambda one: (one.createdat, one.xid)):
        try:
            numbered = work.numbering.numbered(version, None, is_new_resource=False)
        except RegistryProblem as problem:
            LOG.warning("%s %s", problem.sentence, problem.detail)
            continue
        if numbered.attributes != version.attributes:
            work.save(numbered)  # REG-027: what the server notes by itself is no update
    work.finish()


def _versions(tx: Transaction) -> list[Entity]:
    return [
        version
        for group in tx.entities(f"/{GROUPS}")
        for resource in tx.entities(f"{group.xid}/{SCHEMAS}")
        for version in tx.entities(f"{resource.xid}/versions")
    ]
