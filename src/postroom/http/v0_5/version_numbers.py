"""Which number a new version gets: one that makes it the latest."""

from __future__ import annotations

import re

from postroom.http.v0_5.current_entities import version_order
from postroom.registry.paths import Place
from postroom.registry.read.tree import require_entity
from postroom.registry.transaction import Transaction

_DOTTED = re.compile(r"(\d{1,18})((?:\.\d+)*)\Z", re.ASCII)


def next_version(tx: Transaction, place: Place) -> str | None:
    """The id of the next version; None where the registry's own count does."""
    taken = [entity.id for entity in tx.entities(f"{place.xid}/versions")]
    number = require_entity(tx, place.xid).counter + 1
    while str(number) in taken:
        number += 1
    latest = max(taken, key=version_order, default="0")
    if not place.resource.setversionid or version_order(str(number)) > version_order(latest):
        return None
    return following(latest)


def following(latest: str) -> str:
    """An id that comes after one in the order of versions, and looks like it where that is made of numbers."""
    found = _DOTTED.match(latest)
    if found is None:
        return "1" + "0" * len(latest)
    return str(int(found[1]) + 1).zfill(len(found[1])) + re.sub(r"\d", "0", found[2])
