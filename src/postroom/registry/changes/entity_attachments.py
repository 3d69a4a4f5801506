"""Attachments: data that services keep about an entity, deleted together with the entity."""

from __future__ import annotations

from postroom.registry.entities import Entity
from postroom.registry.transaction_interface import Transaction

_KIND = "attachment"
_SEPARATOR = "#"  # no id has it
_PAGE = 8  # bodies come along, and each may be as large as a request


def state_key(version: Entity) -> str:
    """The owner of an attachment that belongs to one state of a Version."""
    return f"{version.xid}{_SEPARATOR}{version.epoch}"


def attachment(tx: Transaction, owner: str, name: str) -> bytes | None:
    """Read the attachment of an entity, or of a state of it, with a name."""
    return tx.record(_KIND, f"{owner}{_SEPARATOR}{name}")


def attach(tx: Transaction, owner: str, name: str, body: bytes) -> None:
    """Attach bytes under a name, replacing what was there."""
    tx.put_record(_KIND, f"{owner}{_SEPARATOR}{name}", body)


def has_attachments(tx: Transaction, xid: str) -> bool:
    """Whether anything is attached to what is below an entity, or to its former states."""
    return any(one.startswith(xid + "/") for one, _ in tx.records(_KIND, xid + "/", 1))


def detach_all(tx: Transaction, xid: str) -> None:
    """Remove all that is attached to a Group or a Resource, to what is below it, and to their former states.

    The attachments of a Version stay when only it is removed: they belong to the history of its Resource.
    """
    if xid.count("/") > 4:
        return
    for prefix in (xid + _SEPARATOR, xid + "/"):
        while found := [one for one, _ in tx.records(_KIND, prefix, _PAGE) if one.startswith(prefix)]:
            for one in found:
                tx.delete_record(_KIND, one)
