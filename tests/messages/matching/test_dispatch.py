"""Each message goes to the handler of its definition."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.errors import MessageUnknown, RecordRefused
from postroom.messages.matching.dispatch import DispatchedMessage
from postroom.messages.matching.outcome import Match
from postroom.protocols.records import Record

EVENT = {"specversion": "1.0", "id": "1", "source": "/ovens/7", "type": "reading", "data": {"heat": 5}}


@pytest.fixture
def catalog() -> Catalog:
    def message(kind: str) -> dict[str, Any]:
        source = {"type": "uritemplate", "value": "/ovens/{oven}"}
        schema = {"type": "object", "properties": {"heat": {"type": "integer"}}}
        return {
            "envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": kind}, "source": source},
            "dataschemaformat": "JsonSchema/draft-07", "dataschema": schema,
        }  # fmt: skip

    return Catalog({"messagegroups": {"ovens": {"messages": {kind: message(kind) for kind in ("reading", "alarm")}}}})


def test_each_definition_has_its_handler(catalog: Catalog) -> None:
    def read(message: DispatchedMessage) -> tuple[Any, ...]:
        return message.variables["oven"], message.data["heat"], message.attributes["id"]

    dispatch = catalog.dispatcher({"reading": read, "/messagegroups/ovens/messages/alarm": lambda _: "alarm"})
    assert dispatch(EVENT) == [("7", 5, "1")]
    assert dispatch([EVENT, {**EVENT, "type": "alarm"}]) == [("7", 5, "1"), "alarm"]
    assert dispatch({**EVENT, "type": "other"}) == [None]


@pytest.mark.feature("MSG-130")
def test_messages_without_a_handler_go_to_otherwise(catalog: Catalog) -> None:
    rest: list[str] = []

    def otherwise(match: Match, record: Record) -> None:
        rest.append(match.outcome)
        assert record.payload

    dispatch = catalog.dispatcher({"reading": lambda _: 1}, otherwise)
    for sent in ({**EVENT, "type": "alarm"}, {**EVENT, "data": {"heat": "hot"}}, [1], {**EVENT, "type": "other"}):
        dispatch(sent)
    assert rest == ["landed", "invalid", "malformed", "unmatched"]


def test_what_is_no_record_is_an_error(catalog: Catalog) -> None:
    with pytest.raises(RecordRefused):
        catalog.dispatcher({"reading": lambda _: 1})(b"{")


def test_a_handler_of_an_unknown_message_is_an_error(catalog: Catalog) -> None:
    with pytest.raises(MessageUnknown):
        catalog.dispatcher({"nothing": lambda _: 1})
