"""From Kafka's columns through Spark into a lake, a member declared later, and its backfill."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from postroom.catalog.catalog import Catalog
from postroom.pipeline import backfill, sort
from postroom.pipeline.lake.lake import open_lake
from postroom.pipeline.lake.reconciliation import differences

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

COLUMNS = (
    "topic string, partition int, offset long, key binary, value binary, timestamp timestamp, timestampType int, "
    "headers array<struct<key: string, value: binary>>"
)


def catalog(**properties: Any) -> Catalog:
    message = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "reading"}},
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschema": {"type": "object", "properties": {"sensor": {"type": "string"}, **properties}},
    }
    return Catalog({"messagegroups": {"plant": {"messages": {"reading": message}}}})


def test_what_nobody_declared_lands_and_is_lifted_later(spark: Any, tmp_path: Path) -> None:
    sent = datetime(2026, 3, 1, 10, 0, 0, 123000, tzinfo=UTC)
    attributes = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/s", "ce_type": "reading", "trace": "t"}
    headers = [(name, value.encode()) for name, value in attributes.items()]
    values = [b'{"sensor": "a", "quality": 7, "note": 1.10}', b'{"sensor": "b"}']
    rows = [("readings", 3, n, b"k", value, sent, 0, headers) for n, value in enumerate(values)]
    lake = tmp_path / "lake"
    sort(spark, spark.createDataFrame(rows, COLUMNS), catalog(), lake)
    done = backfill(lake, catalog(quality={"type": "integer"}))
    assert [(table.rows, table.members) for table in done.tables] == [(1, 1)]
    found = DeltaTable(lake / "plant" / "reading").to_pyarrow_table().sort_by("_position").to_pylist()
    assert [row["data"] for row in found] == [{"sensor": "a", "quality": 7}, {"sensor": "b", "quality": None}]
    assert [row["_rescued"] for row in found] == ['{"note":1.10}', None]
    for row in found:
        assert (row["_protocol"], row["_channel"], row["_key"], row["_sent_at"]) == ("KAFKA", "readings", b"k", sent)
        assert row["_extra"] == '{"headers":[{"name":"trace","value":"t"}],"partition":3}'
    assert list(differences(open_lake(lake))) == []
    sort(spark, spark.createDataFrame(rows[1:], COLUMNS), catalog(quality={"type": "integer"}), lake)
    assert DeltaTable(lake / "plant" / "reading").to_pyarrow_table().num_rows == 3
