"""A small company's catalog, its records, and one Spark session for all tests of the pipeline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.errors import MissingSystem
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import DEAD_LETTERS, LEDGER, Lake, create_lake
from postroom.pipeline.sources.file_ranges import WHOLE_FILE
from postroom.pipeline.spark.jars import Libraries, find_jars
from postroom.pipeline.storage.interface import Storage
from postroom.pipeline.storage.object_store import ObjectStorage
from postroom.pipeline.worker.sort_task import TaskResult, write_batch
from tests.object_stores import S3Server, s3_server


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from postroom.pipeline.spark.session import start_spark, stop_spark

    session = start_spark("local[2]", scratch=tmp_path_factory.mktemp("spark"), configuration=delta_configuration())
    yield session
    stop_spark(session)


DELTA = Libraries(("io.delta:delta-spark_4.2_2.13:4.4.0",))


def delta_configuration() -> dict[str, str]:
    """Delta's own library for Spark, so that the session reads our tables as others do; {} where it is not there."""
    try:
        found = find_jars([DELTA])
    except MissingSystem:
        return {}
    # What it brings along for other storage and other catalogs stays out of everybody's class path.
    jars = [path.as_uri() for path in found if path.name.startswith("delta-")]
    return {
        "spark.jars": ",".join(jars),
        # Fifty tasks for the log of a table with three commits take their time.
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }


def fleet_catalog(**position: Any) -> dict[str, Any]:
    """Vehicles that tell where they are, orders, and an alarm over MQTT; `position` changes the schema's properties."""
    properties = {"lat": {"type": "number"}, "lon": {"type": "number"}, "speed": {"type": "integer"}} | position
    return {
        "specversion": "1.0-rc4",
        "schemagroups": {
            "fleet.schemas": {
                "schemas": {
                    "position": {
                        "versions": {
                            "3": {
                                "versionid": "3",
                                "format": "JsonSchema/draft-07",
                                "schema": {"type": "object", "required": ["lat", "lon"], "properties": properties},
                            }
                        }
                    }
                }
            }
        },
        "messagegroups": {
            "fleet": {
                "messages": {
                    "vehicle.position": {
                        "description": "Where a vehicle is.",
                        "envelope": "CloudEvents/1.0",
                        "envelopemetadata": {
                            "type": {"value": "fleet.vehicle.position"},
                            "source": {"type": "uritemplate", "value": "/vehicles/{vin}"},
                            "tenant": {"type": "string"},
                        },
                        "dataschemaformat": "JsonSchema/draft-07",
                        "dataschemauri": "/schemagroups/fleet.schemas/schemas/position",
                    },
                    "vehicle.alarm": {
                        "protocol": "MQTT/5.0",
                        "protocoloptions": {
                            "topic_name": {"type": "uritemplate", "value": "vehicles/{vin}/alarm"},
                            "qos": {"value": 1},
                        },
                        "datacontenttype": "application/json",
                    },
                }
            },
            "shop": {
                "messages": {
                    "order.placed": {
                        "envelope": "CloudEvents/1.0",
                        "envelopemetadata": {
                            "type": {"value": "shop.order.placed"},
                            "source": {"type": "uritemplate", "value": "/stores/{store}"},
                        },
                        "dataschemaformat": "JsonSchema/draft-07",
                        "dataschema": {
                            "type": "object",
                            "required": ["number", "lines"],
                            "properties": {
                                "number": {"type": "string"},
                                "lines": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["sku"],
                                        "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}},
                                    },
                                },
                            },
                        },
                    }
                }
            },
        },
    }


def position_event(number: int, **changes: Any) -> dict[str, Any]:
    event = {
        "specversion": "1.0",
        "id": f"p{number}",
        "type": "fleet.vehicle.position",
        "source": f"/vehicles/VIN{number % 7}",
        "time": "2026-03-01T10:00:00Z",
        "data": {"lat": 47.1, "lon": 8.5, "speed": number % 130},
    }
    return event | changes


def order_event(number: int, **changes: Any) -> dict[str, Any]:
    event = {
        "specversion": "1.0",
        "id": f"o{number}",
        "type": "shop.order.placed",
        "source": "/stores/4",
        "data": {"number": f"A-{number}", "lines": [{"sku": "oven-60", "count": 1}]},
    }
    return event | changes


def alarm_record(vin: str) -> dict[str, Any]:
    metadata = {"topic_name": f"vehicles/{vin}/alarm", "qos": 1}
    return {"protocol": "MQTT/5.0", "metadata": metadata, "payload": '{"code": "hot"}'}


def write_records(path: Path, records: list[Any]) -> Path:
    """One line per record; text is written as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("".join(line + "\n" for line in lines))
    return path


def mixed_records() -> list[Any]:
    """Ten positions, five orders, two alarms; then one message for each way to go wrong, and a batch of three."""
    return [
        *(position_event(n) for n in range(10)),
        *(order_event(n) for n in range(5)),
        alarm_record("VIN1"),
        alarm_record("VIN2"),
        position_event(90, data={"lat": "north", "lon": 8.5}),
        position_event(91, source="/boats/9"),
        {"specversion": "1.0", "id": "x", "type": "fleet.vehicle.sold", "source": "/vehicles/VIN1"},
        "{ this is not JSON",
        "",
        json.dumps([position_event(50), order_event(50), order_event(51, data={"number": "A-51"})]),
    ]


MIXED_LANDED = {
    "/messagegroups/fleet/messages/vehicle.position": 11,
    "/messagegroups/fleet/messages/vehicle.alarm": 2,
    "/messagegroups/shop/messages/order.placed": 6,
}
MIXED_DEAD = {"invalid": 3, "unmatched": 1, "malformed": 1}


class Fleet:
    """The makers of catalogs and records, for tests; a conftest cannot be imported."""

    catalog = staticmethod(fleet_catalog)
    position = staticmethod(position_event)
    order = staticmethod(order_event)
    alarm = staticmethod(alarm_record)
    write = staticmethod(write_records)
    landed = MIXED_LANDED
    dead = MIXED_DEAD

    @staticmethod
    def compiled(**position: Any) -> CompiledCatalog:
        return Catalog(fleet_catalog(**position)).compiled

    @staticmethod
    def job(lake: Lake, catalog: CompiledCatalog, run: str = "run1", batch: int = 0) -> Job:
        return Job(lake.url, lake.keep_catalog(catalog), "strict", run, batch, datetime.now(UTC))

    @staticmethod
    def unknown_files(lake: Lake) -> set[str]:
        """Parquet files in a lake that no table has."""
        folders = [*(place.folder for place in lake.tables()), DEAD_LETTERS, LEDGER]
        known = {uri for folder in folders if lake.has(folder) for uri in lake.table(folder).file_uris()}
        if isinstance(lake.storage, ObjectStorage):
            names = {uri.rpartition("/")[2] for uri in known}
            found = {file.path for file in lake.storage.everything("") if file.path.endswith(".parquet")}
            return {path for path in found if "_delta_log" not in path and path.rpartition("/")[2] not in names}
        return {str(path) for path in lake.root.rglob("*.parquet") if path.parent.name != "_delta_log"} - known

    @staticmethod
    def task(job: Job, *files: Path, storage: Storage | None = None) -> TaskResult:
        """What a Spark task would do with these files, without Spark."""
        rows = [{"path": str(file), "start": 0, "length": WHOLE_FILE} for file in files]
        return write_batch(job, [pa.RecordBatch.from_pylist(rows)], storage)


@pytest.fixture(scope="session")
def fleet() -> Fleet:
    return Fleet()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return create_lake(tmp_path / "lake")


@pytest.fixture
def sorted_lake(fleet: Fleet, lake: Lake, catalog: Catalog, records: Path) -> Lake:
    """A lake with one batch of mixed records, made without Spark."""
    job = fleet.job(lake, catalog.compiled)
    commit_batch(lake, job, "records", [fleet.task(job, records)])
    return lake


@pytest.fixture
def catalog_file(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.json"
    path.write_text(json.dumps(fleet_catalog()))
    return path


@pytest.fixture
def catalog(catalog_file: Path) -> Catalog:
    return open_catalog(str(catalog_file))


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write_records(tmp_path / "records" / "mixed.jsonl", mixed_records())


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """One S3 server for all tests of a worker."""
    with s3_server() as server:
        yield server


@pytest.fixture
def s3_lake(s3: S3Server) -> Lake:
    return create_lake(f"s3://{s3.bucket()}/lakes/plant one", s3.options)
