from __future__ import annotations

import pytest

from postroom.catalog.catalog import Catalog
from postroom.formats.column_types import BOOLEAN, INT64, STRING, TIMESTAMP
from postroom.messages.definitions.definition import Constraint, Definition
from postroom.pipeline.worker.table_layout import layout_of, table_folder


@pytest.mark.parametrize(
    ("xid", "folder"),
    [
        ("/messagegroups/fleet/messages/vehicle.position", "fleet/vehicle.position"),
        ("/messagegroups/_fleet/messages/urn:alarm@1", "~5Ffleet/urn~3Aalarm~401"),
        ("/endpoints/broker/messages/alarm", "_endpoints/broker/alarm"),
    ],
)
def test_tables_lie_where_the_contract_says(xid: str, folder: str) -> None:
    assert table_folder(xid) == folder


def test_event_table_has_envelope_variables_payload_and_control_columns(catalog: Catalog) -> None:
    definition = next(d for d in catalog.definitions if d.id == "vehicle.position")
    layout = layout_of(definition, catalog.engine.data_column(definition))
    names = [column.name for column in layout.columns]
    assert {"ce_id", "ce_source", "ce_type", "ce_time", "ce_tenant", "var_vin", "data"} <= set(names)
    assert names[-10:] == [
        "_record_id",
        "_definition",
        "_definition_version",
        "_schema_version",
        "_schema_id",
        "_checked",
        "_landed_at",
        "_source",
        "_position",
        "_batch",
    ]
    assert next(column.type for column in layout.columns if column.name == "ce_time") == TIMESTAMP


def test_message_without_envelope_has_its_options(catalog: Catalog) -> None:
    definition = next(d for d in catalog.definitions if d.id == "vehicle.alarm")
    columns = {column.name: column.type for column in layout_of(definition, STRING).columns}
    assert columns["meta_topic_name"] == STRING
    assert columns["meta_qos"] == INT64
    assert not any(name.startswith("ce_") for name in columns)


def test_names_that_tables_refuse_or_confuse_are_escaped() -> None:
    def header(name: str, kind: str = "string") -> Constraint:
        return Constraint(at="", path=("headers", name), type=kind)

    definition = Definition(
        xid="/messagegroups/fleet/messages/alarm",
        version="1",
        group="/messagegroups/fleet",
        id="alarm",
        protocol_constraints=(header("Trace Id"), header("trace id", "boolean"), header("a=b")),
    )
    columns = {column.name: column for column in layout_of(definition, STRING).columns}
    assert columns["meta_headers_Trace~20Id"].member == "headers_Trace Id"
    assert columns["meta_headers_trace~20id~~2"].type == BOOLEAN
    assert columns["meta_headers_a~3Db"].type == STRING
