import json
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.formats.column_types import BINARY, STRING, StructOf
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.messages.engine import Engine
from postroom.settings import Settings

EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "reading"}


def catalog(schema: Any = None, nulls: str = "strict", **more: Any) -> Catalog:
    message: dict[str, Any] = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "reading"}},
        **more,
    }
    if schema is not None:
        message |= {"dataschemaformat": "JsonSchema/draft-07", "dataschema": schema}
    return Catalog({"messagegroups": {"g": {"messages": {"reading": message}}}}, settings=Settings(nulls=nulls))


READING = {
    "type": "object",
    "required": ["sensor"],
    "properties": {"sensor": {"type": "string"}, "value": {"type": "integer"}},
}


@pytest.mark.feature("MSG-131")
@pytest.mark.parametrize(
    ("data", "nulls", "codes"),
    [
        ({"sensor": "a", "value": 1}, "strict", []),
        ({"sensor": "a", "value": 1.0}, "strict", []),
        ({"sensor": "a", "value": None}, "strict", ["null_not_allowed"]),
        ({"sensor": "a", "value": None}, "absent", []),
        ({"sensor": None}, "absent", ["payload_required"]),
        ({"value": 1}, "strict", ["payload_required"]),
        ({"sensor": "a", "value": "high"}, "strict", ["payload_type"]),
        ({"sensor": "a", "value": 2**70}, "strict", ["column_mismatch"]),
    ],
)
def test_payloads_are_judged(data: Any, nulls: str, codes: list[str]) -> None:
    (match,) = catalog(READING, nulls).match_all({**EVENT, "data": data})
    assert [reason.code for reason in match.reasons] == codes
    assert match.outcome == ("invalid" if codes else "landed")


def test_a_payload_reason_says_where_what_and_what_instead() -> None:
    (reason,) = catalog(READING).match({**EVENT, "data": {"sensor": "a", "value": "high"}}).reasons
    assert (reason.at, reason.expected, reason.found) == ("/data/value", "integer", '"high"')


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[", b"[]", b'{"a":1}', b"\xff\xfe", b"null", b'{"protocol":"KAFKA","payload_base64":"%"}', b"[1,2]"],
)
def test_lines_that_are_no_messages_are_malformed_and_never_raise(line: bytes) -> None:
    results = catalog(READING).engine.sort_exactly(line)
    assert {result.match.outcome for result in results} == {"malformed"}
    assert all(result.match.reasons for result in results)


def test_a_line_longer_than_the_limit_is_malformed() -> None:
    engine = Engine(catalog(READING).compiled, max_record_mb=1)
    (result,) = engine.sort_exactly(json.dumps({**EVENT, "data": "x" * 1_100_000}).encode())
    assert [(r.code, r.found) for r in result.match.reasons] == [("record_too_large", "1.1 MB")]


def test_a_batch_of_three_counts_three() -> None:
    events = [{**EVENT, "data": {"sensor": "a"}}, {**EVENT, "data": {}}, {**EVENT, "type": "x"}]
    outcomes = [result.match.outcome for result in catalog(READING).engine.sort_exactly(json.dumps(events).encode())]
    assert outcomes == ["landed", "invalid", "unmatched"]


def test_a_schema_that_cannot_be_had_lands_unchecked() -> None:
    missing = catalog(dataschemauri="/schemagroups/x/schemas/y", dataschemaformat="JsonSchema/draft-07")
    (result,) = missing.engine.sort_exactly(json.dumps({**EVENT, "data": {"a": 1}}).encode())
    assert (result.match.outcome, result.checked, result.data) == ("landed", False, '{"a": 1}')


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"pattern": "("}, [1], {"$ref": "https://elsewhere.example/s"}]
)
def test_a_schema_that_is_not_usable_lands_unchecked(schema: Any) -> None:
    (result,) = catalog(schema).engine.sort_exactly(json.dumps({**EVENT, "data": 1}).encode())
    assert (result.match.outcome, result.checked) == ("landed", False)


def test_the_data_column_follows_the_schema_or_the_content_type() -> None:
    for made, expected in (
        (catalog(READING), StructOf),
        (catalog(), type(STRING)),
        (catalog(datacontenttype="application/octet-stream"), type(BINARY)),
    ):
        assert isinstance(made.engine.data_column(made.definitions[0]), expected)


def test_a_compiled_catalog_survives_its_encoding() -> None:
    made = catalog(READING)
    again = CompiledCatalog.decode(made.compiled.encode())
    assert again == made.compiled
    assert again.digest == made.digest
    (result,) = Engine(again).sort_exactly(json.dumps({**EVENT, "data": {"sensor": "a"}}).encode())
    assert result.match.outcome == "landed"


def test_landed_rows_have_attributes_metadata_and_shaped_data() -> None:
    made = catalog(READING, protocol="KAFKA", protocoloptions={"topic": "t", "headers": {"x": {"value": "1"}}})
    headers = {"ce_" + name: value for name, value in EVENT.items()} | {"x": "1"}
    record = {"protocol": "KAFKA", "metadata": {"topic": "t", "headers": headers}, "payload": '{"sensor": "a"}'}
    (result,) = made.engine.sort_exactly(json.dumps(record).encode())
    assert result.attributes["id"] == "1"
    assert result.metadata == {"topic": "t", "headers_x": "1"}
    assert result.data == {"sensor": "a"}


@pytest.mark.parametrize(("asserted", "outcome"), [(False, "landed"), (True, "invalid")])
def test_formats_are_remarks_unless_a_setting_makes_them_rules(asserted: bool, outcome: str) -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}
    made = catalog(schema)
    opened = Catalog(made.tree, settings=Settings(assert_formats=asserted))
    assert opened.match({**EVENT, "data": {"at": "yesterday"}}).outcome == outcome
    shipped = CompiledCatalog.decode(opened.compiled.encode())
    (result,) = Engine(shipped).sort_exactly(json.dumps({**EVENT, "data": {"at": "yesterday"}}).encode())
    assert result.match.outcome == outcome
