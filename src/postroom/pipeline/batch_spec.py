"""One batch of a run, as every task of it must know it."""

from __future__ import annotations

from datetime import datetime

import msgspec


class Job(msgspec.Struct, frozen=True):
    """What every task of a batch must know, and the commit after them.

    Ids of records name the `cluster`, `kafka://<id>`, in place of the brokers in their source; empty for other sources.
    """

    lake: str
    catalog: str
    nulls: str
    run: str
    batch: int
    started: datetime
    max_record_mb: int = 64
    partition_by_date: bool = False
    cluster: str = ""
    keep_undeclared: bool = True
    times: str = "typed"
    text_tables: frozenset[str] = frozenset()
    keep_records: bool = False

    def has_typed_times(self, folder: str) -> bool:
        """Whether a table has times as values; those of `text_tables` and others by the setting have them as text."""
        return self.times == "typed" and folder not in self.text_tables

    @property
    def batch_name(self) -> str:
        """The batch as landed rows name it."""
        return f"{self.run}-{self.batch}"
