"""Numbered history of a Resource, oldest state first: what the message catalog calls its versions.

Each write of a Version makes a state. Types like messages keep one Version only, so the others come from the history.
"""

from __future__ import annotations

import msgspec

from postroom.registry.entities import Entity
from postroom.registry.transaction_interface import Transaction


class NumberedState(msgspec.Struct, frozen=True):
    """One state: its number, the Version as it was, and the sequence of the change that ended it (0: it lasts).

    A former state comes without attributes and document: `load_state` reads them.
    """

    number: int
    version: Entity
    until: int = 0


def read_states(tx: Transaction, resource_xid: str) -> list[NumberedState]:
    """The states of a Resource since it was created; none when it is not there. An xref has those of its target.

    The default Version is the newest state. Where a model keeps several Versions, those that are there come last.
    """
    meta = tx.entity(resource_xid)
    if meta is not None and "xref" in meta.attributes:
        meta = tx.entity(meta.attributes["xref"])
    if meta is None or "xref" in meta.attributes:
        return []
    default = meta.attributes["defaultversionid"]
    present = sorted(
        tx.entities(f"{meta.xid}/versions"), key=lambda one: (one.id == default, one.modifiedat, one.epoch)
    )
    found = [*_former(tx.history_below(meta.xid), meta, present), *((0, version) for version in present)]
    return [NumberedState(number, version, until) for number, (until, version) in enumerate(found, 1)]


def load_state(tx: Transaction, state: NumberedState) -> NumberedState:
    """The state with the attributes and the document of its Version."""
    found = tx.superseded(state.version.xid, state.until - 1) if state.until else None
    return msgspec.structs.replace(state, version=found[1]) if found is not None else state


def number_after(states: list[NumberedState], sequence: int) -> int:
    """The number of the state that the change with a sequence led to."""
    return sum(0 < state.until <= sequence for state in states) + 1


def _former(history: list[tuple[int, Entity]], meta: Entity, present: list[Entity]) -> list[tuple[int, Entity]]:
    """The superseded Versions of the Resource as it is now, not of one that had its name before."""
    former = _since_birth(history, meta)
    following = [*(version for _, version in former), *present][1:]
    # What the server writes by itself leaves the epoch as it is: the same state, not another one.
    return [one for one, after in zip(former, following, strict=False) if _state(one[1]) != _state(after)]


def _state(version: Entity) -> tuple[str, int]:
    return version.xid, version.epoch


def _since_birth(history: list[tuple[int, Entity]], meta: Entity) -> list[tuple[int, Entity]]:
    metas = [(sequence, entity) for sequence, entity in history if entity.xid == meta.xid]
    end = 0
    for (sequence, entity), (_, after) in zip(metas, [*metas, (0, meta)][1:], strict=True):
        # Epochs only grow while a Resource is there, and a reference has no Versions of its own.
        if after.epoch <= entity.epoch or "xref" in entity.attributes:
            end = sequence
    versions = [(sequence, entity) for sequence, entity in history if entity.xid != meta.xid and sequence > end]
    while end and versions and versions[0][0] == end + 1:
        # Versions that go with their Resource have the sequences next to its own, before it or after it.
        versions, end = versions[1:], end + 1
    return versions
