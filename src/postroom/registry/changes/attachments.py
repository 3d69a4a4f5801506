"""What the services around a registry keep about one of its entities: it goes when the entity goes."""

from __future__ import annotations

from postroom.registry.entities import Entity
from postroom.registry.transaction import Transaction

_KIND = "attachment"
_MARK = "#"  # no id has it
_PAGE = 8  # bodies come along, and each may be as large as a request


def state_key(version: Entity) -> str:
    """What to attach to when only one state of a Version is meant, for as long as its Resource is there."""
    return f"{version.xid}{_MARK}{version.epoch}"


def attachment(tx: Transaction, owner: str, name: str) -> bytes | None:
    """What is attached to an entity, or to a state of it, under a name."""
    return tx.record(_KIND, f"{owner}{_MARK}{name}")


def attach(tx: Transaction, owner: str, name: str, body: bytes) -> None:
    """Attach something; what was there under the name is replaced."""
    tx.put_record(_KIND, f"{owner}{_MARK}{name}", body)


def detach_all(tx: Transaction, xid: str) -> None:
    """Remove all that is attached to a Group or a Resource, to what is below it, and to their former states.

    The attachments of a Version stay when only it is removed: they belong to the history of its Resource.
    """
    if xid.count("/") > 4:
        return
    for prefix in (xid + _MARK, xid + "/"):
        while found := [one for one, _ in tx.records(_KIND, prefix, _PAGE) if one.startswith(prefix)]:
            for one in found:
                tx.delete_record(_KIND, one)
