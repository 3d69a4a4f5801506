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

    @property
    def batch_name(self) -> str:
        """The batch as landed rows name it."""
        return f"{self.run}-{self.batch}"
