"""Dialects are told by shape, whatever `specversion` says (C-31)."""

from typing import Any

import pytest

from postroom.documents.dialects.detect import dialect_of


def group(**message: Any) -> dict[str, Any]:
    return {"specversion": "9.9", "messagegroups": {"g": {"messages": {"m": message}}}}


@pytest.mark.parametrize(
    ("document", "dialect"),
    [
        ({"definitionGroups": {}}, "0.5-service"),
        ({"schemaGroupsUrl": "x.cereg"}, "0.5-service"),
        ({"endpoints": {"e": {"definitionGroups": []}}}, "0.5-service"),
        (group(format="CloudEvents/1.0", metadata={}), "0.5-message"),
        (group(binding="MQTT/5.0", message={}), "0.5-message"),
        (group(envelope="CloudEvents/1.0", format="x"), "1.0-rc4"),
        (group(envelope="CloudEvents/1.0", basemessageurl="#/x"), "1.0-rc2"),
        (group(envelope="CloudEvents/1.0", ancestor="1"), "1.0-rc3"),
        ({"messagecatalog": {}}, "catalog"),
        ({"messagedefinitions": []}, "catalog"),
        ({"id": "x", "attributes": {"type": "x"}}, "catalog"),
        ({"publish": {"topicname": "x"}}, "catalog"),
        ({"userproperty": {"a": "b"}}, "catalog"),
        ({"header": {"durable": True}, "properties": {"subject": "heat"}}, "catalog"),
        ({"properties": {"messageid": "", "to": "ovens/{oven}"}}, "catalog"),
        ({"format": "NATS", "subject": "ovens.{oven}"}, "catalog"),
        ({"application-properties": {"oven": "{oven}"}}, "catalog"),
        ({"footer": {"checksum": ""}}, "catalog"),
        ({"version": 1, "subject": "ovens.{oven}", "headers": {"oven": "{oven}"}}, "catalog"),
        ({"id": "hot", "versions": {"1": {"subject": "ovens"}}}, "catalog"),
        ({"format": "MQTT/5.0", "publish": {"topicname": "ovens"}}, "catalog"),
        ({"format": "NATS", "id": "hot", "metadata": {"subject": "ovens"}}, ""),
        ({"format": "NATS", "id": "ovens", "definitions": {}}, ""),
        ({"subject": "a letter", "body": "Dear …"}, ""),
        ({"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "subject": "an event"}, ""),
        ({"footer": {"text": "a page"}, "title": "Ovens"}, ""),
        ({"headers": {"accept": "*/*"}}, ""),
        ({"type": "object", "properties": {"subject": {"type": "string"}}}, ""),
        ({"properties": {"subject": {"type": "string"}}}, ""),
        ({"header": {"durable": True}, "properties": {"other": 1}}, ""),
        ({"name": "no catalog"}, ""),
        ({}, ""),
    ],
)
def test_the_shape_tells(document: dict[str, Any], dialect: str) -> None:
    assert dialect_of(document) == dialect
