"""Records as programs have them."""

from collections import namedtuple
from types import MappingProxyType
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.protocols.records import Record

MESSAGE = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {"type": {"value": "sale"}},
    "protocol": "KAFKA",
    "protocoloptions": {"topic": "shop.{shop}"},
    "dataschemaformat": "JsonSchema/draft-07",
    "dataschema": {"type": "object", "required": ["cents"]},
}
CATALOG = Catalog({"messagegroups": {"g": {"messages": {"sale": MESSAGE}}}})
HEADERS = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/s", "ce_type": "sale"}
METADATA = {"topic": "shop.4", "headers": HEADERS}
JSON_METADATA = (
    '{"topic": "shop.4", "headers": {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/s", "ce_type": "sale"}}'
)
LINE = f'{{"protocol": "KAFKA", "metadata": {JSON_METADATA}, "payload": "{{\\"cents\\": 5}}"}}'
Row = namedtuple("Row", ["protocol", "metadata", "payload"])


class SparkRow:
    """As pyspark.sql.Row behaves."""

    def __init__(self, **members: Any) -> None:
        self._members = members

    def asDict(self, recursive: bool = False) -> dict[str, Any]:  # noqa: N802 - Spark's name
        assert recursive
        return self._members


TAKEN: dict[str, Any] = {
    "text": LINE,
    "bytes": LINE.encode(),
    "a view of bytes": memoryview(LINE.encode()),
    "a dict": {"protocol": "KAFKA", "metadata": METADATA, "payload": '{"cents": 5}'},
    "a record": Record("KAFKA", METADATA, b'{"cents": 5}'),
    "a mapping": MappingProxyType({"protocol": "KAFKA", "metadata": METADATA, "payload": '{"cents": 5}'}),
    "payload as bytes": {"protocol": "KAFKA", "metadata": METADATA, "payload": b'{"cents": 5}'},
    "payload as base64": {"protocol": "KAFKA", "metadata": METADATA, "payload_base64": "eyJjZW50cyI6IDV9"},
    "headers as bytes": {
        "protocol": "KAFKA",
        "metadata": {"topic": "shop.4", "headers": {name: value.encode() for name, value in HEADERS.items()}},
        "payload": '{"cents": 5}',
    },
    "headers as pairs": {
        "protocol": "KAFKA",
        "metadata": {"topic": "shop.4", "headers": [(name, value.encode()) for name, value in HEADERS.items()]},
        "payload": b'{"cents": 5}',
    },
    "a key of bytes": {
        "protocol": "KAFKA",
        "metadata": {**METADATA, "key": b"\xff\x00"},
        "payload": b'{"cents": 5}',
    },
    "metadata as JSON": {"protocol": "KAFKA", "metadata": JSON_METADATA, "payload": '{"cents": 5}'},
    "a named tuple": Row("KAFKA", METADATA, '{"cents": 5}'),
    "a row of Spark": SparkRow(protocol="KAFKA", metadata=JSON_METADATA, payload=b'{"cents": 5}'),
    "a row with one column": {"value": LINE},
    "a row with one column of bytes": {"value": LINE.encode()},
}


@pytest.mark.parametrize("record", TAKEN.values(), ids=TAKEN)
def test_all_these_are_one_record(record: Any) -> None:
    match = CATALOG.match(record)
    assert (match.outcome, match.variables) == ("landed", {"shop": "4"}), match.reasons


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (None, "a record is a dict, text or bytes, not NoneType"),
        (7, "not int"),
        ("", "not a record"),
        ({}, "neither `protocol`"),
        ("\ud800", "surrogate"),
        ({"protocol": "KAFKA", "payload": "\ud800"}, "surrogate"),
        ({"protocol": "KAFKA", "metadata": "{", "payload": ""}, "metadata is not JSON"),
        ({"protocol": "KAFKA", "metadata": "[]", "payload": ""}, "metadata is not an object"),
        ({"protocol": "KAFKA", "metadata": {"headers": {"ce_type": b"\xff"}}}, "'headers/ce_type' are not UTF-8"),
        ({"protocol": 7, "payload": b""}, "not a record"),
        ({"protocol": "KAFKA", "payload": object()}, "cannot be written as JSON"),
        (Record("KAFKA", {}, None), "A Record|a Record"),  # type: ignore[arg-type]  # what a careless caller does
    ],
)
def test_what_is_no_record_is_malformed_and_says_why(record: Any, says: str) -> None:
    match = CATALOG.match(record)
    assert match.outcome == "malformed"
    assert any(part in match.reasons[0].found for part in says.split("|"))


def test_a_list_of_events_is_a_batch() -> None:
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "sale"}
    assert [match.outcome for match in CATALOG.match_all([event, {}])] == ["unmatched", "malformed"]
