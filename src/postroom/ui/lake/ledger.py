"""The ledger of a lake: what was read is what landed and what is dead, by source and by batch."""

from __future__ import annotations

from postroom.http.server.response import Response
from postroom.ui.lake.lake_commands import LakeUnreadable, ask_lake, lake_page, require_lake, typed, unreadable
from postroom.ui.page import PageRequest

BATCHES = 100


def answer_ledger(page: PageRequest) -> Response:
    """The ledger with its newest batches."""
    lake = require_lake(page)
    try:
        (report,) = ask_lake(page, ("ledger", "--last", str(BATCHES)))
    except LakeUnreadable as error:
        return unreadable(page, lake, error)
    command = typed("tables", "--check", "--lake", lake)
    return lake_page(page, "lake_ledger.html", "/-/lake/ledger", report, report=report, command=command)
