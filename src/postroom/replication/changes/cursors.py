"""Cursors into the change log, as consumers keep them: valid over restarts, and never for another log.

A cursor is the mark of the last change that its owner has seen, which is also the `id` of that change's event. The
checksum in it tells a log that went back in time (a restored backup) from the one that the cursor was given for.
"""

from __future__ import annotations

import re

from postroom.errors import CursorBroken, CursorForeign, CursorTooOld
from postroom.registry.transaction_interface import Transaction
from postroom.store.retention import FORGOTTEN, KIND

LAST = "last"
"""Stands for the newest change there is: whoever starts here gets what comes from now on."""

_CURSOR = re.compile(r"([0-9a-f]{1,15})-([0-9a-f]{8})\Z")
_RESYNC = "Read the whole registry anew, then go on from the cursor `last`."


def sequence_of(tx: Transaction, cursor: str) -> int:
    """The sequence a cursor stands for; empty means the beginning of what is kept. Raises when it does not hold."""
    if not cursor:
        return 0
    if cursor == LAST:
        newest = tx.last_change()
        return newest.sequence if newest else 0
    found = _CURSOR.match(cursor)
    if found is None:
        raise CursorBroken("this is no cursor.", place=cursor[:80], remedy="Use one that a page of changes gave.")
    sequence = int(found[1], 16)
    if not _holds(tx, cursor, sequence):
        raise CursorForeign("this cursor is not of this registry's present change log.", place=cursor, remedy=_RESYNC)
    return sequence


def _holds(tx: Transaction, cursor: str, sequence: int) -> bool:
    row = tx.change(sequence)
    if row is not None:
        return row.mark == cursor
    forgotten = (tx.record(KIND, FORGOTTEN) or b"").decode()
    newest = tx.last_change()
    if newest is None or newest.sequence < sequence or not forgotten:
        return False
    last = int(forgotten.partition("-")[0], 16)
    if sequence < last:
        raise CursorTooOld("changes after this cursor are no longer kept.", place=cursor, remedy=_RESYNC)
    return forgotten == cursor
