"""The metaschemas of the message catalog (section 3): what documents may say, and what the registry makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.http.messagecatalog.metaschema_validation import violations
from tests.http.messagecatalog.requests import CatalogClient, varied


def wrong(document: dict[str, Any], form: str) -> list[str]:
    return [one.pointer for one in violations(document, form)]


def amqp(section: str, **fields: Any) -> dict[str, Any]:
    return {section: fields}


@pytest.mark.feature("CAT-011")
@pytest.mark.parametrize(
    "value", ["literal", "", None, "/{container}/{filepath}", "a{b}c{b}", "{alone}", "{+path}", "{a,b}", "{/x}"]
)
def test_values_are_literals_templates_anything_or_nothing(value: Any) -> None:
    assert wrong(varied(subject="x") | {"attributes": {"type": "t", "subject": value}}, "CloudEvents") == []
    assert wrong(amqp("properties", to=value), "AMQP") == []
    assert wrong({"publish": {"responsetopic": value, "qos": value if value in ("", None) else 1}}, "MQTT") == []


@pytest.mark.audit("services-C7")
@pytest.mark.feature("CAT-011")
@pytest.mark.parametrize("value", ["{unclosed", "closed}", "{}", "{a b}", '{"a": 1}', "{=a}", ["a"], {"value": "a"}])
def test_what_is_no_template_is_refused(catalog: CatalogClient, value: Any) -> None:
    catalog.group()
    refused = catalog.post(varied(subject=value))
    assert (refused.problem, refused.json["pointer"]) == ("invalid_attribute", "/attributes/subject")
    assert catalog.get().status == 404


@pytest.mark.audit("services-C7")
@pytest.mark.feature("CAT-011")
@pytest.mark.parametrize(
    ("value", "native", "subject", "variables"),
    [
        ("{+path}", "{path}", "ovens/3/doors", {"path": "ovens/3/doors"}),
        ("ovens{/hall,oven}", "ovens/{hall}/{oven}", "ovens/a/3", {"hall": "a", "oven": "3"}),
        ("{hall,oven}", "{hall},{oven}", "a,3", {"hall": "a", "oven": "3"}),
        ("ovens{?hall}", "ovens?hall={hall}", "ovens?hall=a", {"hall": "a"}),
        ("{a}{b}", "{a_b}", "hot", {"a_b": "hot"}),
    ],
)
def test_expressions_of_all_levels_are_kept_and_matched(
    catalog: CatalogClient, value: str, native: str, subject: str, variables: dict[str, str]
) -> None:
    catalog.group()
    document = {"attributes": {"type": "com.example.oven.heated", "subject": value}}
    assert catalog.post(document).status == 201
    assert catalog.get().json == document
    assert catalog.native()["envelopemetadata"]["subject"] == {"type": "uritemplate", "value": native}
    event = {"specversion": "1.0", "id": "1", "source": "/", "type": "com.example.oven.heated", "subject": subject}
    matched = catalog.ask("POST", "/match", event, {"Content-Type": "application/cloudevents+json"}).json
    assert (matched["outcome"], matched["variables"]) == ("landed", variables)
    assert catalog.post(document).json["version"] == 2  # what the message says stays the same


@pytest.mark.feature("CAT-011")
def test_what_the_registry_makes_of_values(catalog: CatalogClient) -> None:
    catalog.group()
    catalog.post(varied(subject="{oven}", source="", time="{now}", dataschema=None, partitionkey=7, urgent=True))
    metadata = catalog.native()["envelopemetadata"]
    assert metadata["subject"] == {"type": "uritemplate", "value": "{oven}"}
    assert (metadata["source"], metadata["time"]) == ({}, {"value": "{now}"})
    assert (metadata["partitionkey"], metadata["urgent"]) == ({"value": 7}, {"value": True})
    assert "dataschema" not in metadata


@pytest.mark.feature("CAT-012")
@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({}, "/attributes"),
        ({"attributes": None}, "/attributes"),
        ({"attributes": []}, "/attributes"),
        ({"attributes": {}}, "/attributes/type"),
        ({"attributes": {"type": ""}}, "/attributes/type"),
        ({"attributes": {"type": None}}, "/attributes/type"),
        ({"attributes": {"type": 5}}, "/attributes/type"),
        ({"attributes": {"type": "oven.{state}"}}, "/attributes/type"),
        (varied(specversion="0.3"), "/attributes/specversion"),
        (varied(source="not a uri"), "/attributes/source"),
        (varied(dataschema="/relative"), "/attributes/dataschema"),
        (varied(datacontenttype="json"), "/attributes/datacontenttype"),
        (varied(time="yesterday"), "/attributes/time"),
        (varied(Upper="x"), "/attributes/Upper"),
        (varied(data="x"), "/attributes/data"),
        (varied(half=0.5), "/attributes/half"),
        (varied(large=2**31), "/attributes/large"),
        ({**varied(), "id": "another"}, "/id"),
        ({**varied(), "id": 5}, "/id"),
        ({**varied(), "version": "one"}, "/version"),
        ({**varied(), "description": ["long"]}, "/description"),
        ({**varied(), "atributes": {}}, "/atributes"),
    ],
)
def test_cloudevents(catalog: CatalogClient, document: dict[str, Any], pointer: str) -> None:
    catalog.group()
    refused = catalog.post(document)
    assert (refused.status, refused.json["pointer"]) == (400, pointer), refused.body
    assert refused.json["subject"] == "/messagecatalog/ovens/messagedefinitions/heated"


@pytest.mark.feature("CAT-012")
def test_the_id_in_an_event_s_document_is_its_type(catalog: CatalogClient) -> None:
    catalog.group()
    assert catalog.post({"id": "com.example.x", "attributes": {"type": "com.example.x"}}).status == 201
    assert catalog.post({"attributes": {"type": "com.example.x", "time": "0000-01-01T00:00:00Z"}}).status == 201
    assert catalog.native()["envelopemetadata"]["type"] == {"value": "com.example.x"}


@pytest.mark.feature("CAT-012")
def test_several_mistakes_are_told_at_once(catalog: CatalogClient) -> None:
    catalog.group()
    refused = catalog.post(varied(time="x", source="not a uri", data=1)).json
    assert refused["pointer"] == "/attributes/source"
    assert "/attributes/time: must be an RFC 3339 timestamp; /attributes/data: the name must" in refused["detail"]


JOB: dict[str, Any] = {
    "header": {"durable": True, "priority": 4, "ttl": 60000},
    "deliveryannotations": {"x-opt-Hall": "3"},
    "messageannotations": {"x-opt-key": "{key}"},
    "properties": {
        "messageid": "{id}",
        "userid": "YmFrZXI=",
        "to": "ovens/{oven}",
        "subject": "heat",
        "replyto": "answers",
        "correlationid": "",
        "contenttype": "application/json",
        "contentencoding": "gzip",
        "absoluteexpirytime": "2030-01-01T00:00:00Z",
        "creationtime": "{now}",
        "groupid": "g",
        "groupsequence": "7",
        "replytogroupid": None,
    },
    "applicationproperties": {"Temperature": 230.5, "urgent": False},
    "applicationdata": {"dataschema": "https://schemas.example.com/job", "amqpencoding": "Value"},
    "footer": {"checksum": "{sum}"},
}


@pytest.mark.feature("CAT-013")
def test_amqp_in_the_registry(catalog: CatalogClient) -> None:
    catalog.group("jobs", "AMQP")
    assert catalog.post(JOB, "jobs/messagedefinitions/heat").status == 201
    native = catalog.native("/messagegroups/jobs/messages/heat")
    options = native["protocoloptions"]
    assert (native["protocol"], native["dataschemauri"]) == ("AMQP/1.0", "https://schemas.example.com/job")
    assert options["header"] == {"durable": True, "priority": 4, "ttl": 60000}
    assert options["properties"]["message-id"] == {"type": "uritemplate", "value": "{id}"}
    assert options["properties"]["correlation-id"] == {}
    assert "reply-to-group-id" not in options["properties"]
    assert options["application-properties"] == {"Temperature": {"value": 230.5}, "urgent": {"value": False}}
    assert options["delivery-annotations"] == {"x-opt-Hall": {"value": "3"}}
    assert options["footer"] == {"checksum": {"type": "uritemplate", "value": "{sum}"}}


@pytest.mark.feature("CAT-013")
@pytest.mark.parametrize(
    ("section", "fields", "pointer"),
    [
        ("header", {"durable": "yes"}, "/header/durable"),
        ("header", {"priority": 256}, "/header/priority"),
        ("header", {"priority": True}, "/header/priority"),
        ("header", {"ttl": -1}, "/header/ttl"),
        ("header", {"first-acquirer": True}, "/header/first-acquirer"),
        ("header", {"deliverycount": 1}, "/header/deliverycount"),
        ("properties", {"message-id": "x"}, "/properties/message-id"),
        ("properties", {"messageid": 5}, "/properties/messageid"),
        ("properties", {"userid": "no base64!"}, "/properties/userid"),
        ("properties", {"creationtime": "noon"}, "/properties/creationtime"),
        ("properties", {"groupsequence": []}, "/properties/groupsequence"),
        ("applicationproperties", {"a\nb": 1}, "/applicationproperties/a\nb"),
        ("applicationproperties", {"größe": 1}, "/applicationproperties/größe"),
        ("applicationproperties", {"a": {"value": 1}}, "/applicationproperties/a"),
        ("applicationdata", {"amqpencoding": "Stream"}, "/applicationdata/amqpencoding"),
        ("applicationdata", {"dataschema": "a b"}, "/applicationdata/dataschema"),
        ("attributes", {"type": "x"}, "/attributes"),
    ],
)
def test_amqp(section: str, fields: dict[str, Any], pointer: str) -> None:
    assert wrong({section: fields}, "AMQP") == [pointer]


@pytest.mark.feature("CAT-014")
@pytest.mark.parametrize(
    ("document", "pointers"),
    [
        ({"publish": {"topicname": "ovens/{oven}", "qos": 2, "retain": False}}, []),
        ({"publish": {"correlationdata": "aG90", "expiryinterval": 5, "payloadformat": 1, "contenttype": "a/b"}}, []),
        ({"publish": {"mqttversion": "3.1.1", "qos": 1}, "payload": {"dataschema": "https://x.example/1"}}, []),
        ({"userproperty": {"Hall": "3", "öfen": "{oven}", "": 1}}, ["/userproperty/"]),
        ({"publish": {"mqttversion": "4"}}, ["/publish/mqttversion"]),
        ({"publish": {"mqttversion": "{version}"}}, ["/publish/mqttversion"]),
        ({"publish": {"qos": 3}}, ["/publish/qos"]),
        ({"publish": {"retain": 1}}, ["/publish/retain"]),
        ({"publish": {"topicname": "ovens/#"}}, ["/publish/topicname"]),
        ({"publish": {"topicname": 5}}, ["/publish/topicname"]),
        ({"publish": {"topic_name": "x"}}, ["/publish/topic_name"]),
        ({"publish": {"correlationdata": 5}}, ["/publish/correlationdata"]),
        ({"publish": {"mqttversion": "3.1.1", "contenttype": "a/b"}}, ["/publish/contenttype"]),
        ({"publish": {"mqttversion": "3.1.1"}, "userproperty": {"a": "b"}}, ["/userproperty"]),
        ({"publish": ["x"], "payload": "x"}, ["/publish", "/payload"]),
    ],
)
def test_mqtt(document: dict[str, Any], pointers: list[str]) -> None:
    assert wrong(document, "MQTT") == pointers


@pytest.mark.feature("CAT-014")
def test_mqtt_in_the_registry(catalog: CatalogClient) -> None:
    catalog.group("jobs", "MQTT")
    older = {"publish": {"mqttversion": "3.1.1", "topicname": "ovens/{oven}"}}
    publish = {"topicname": "ovens", "expiryinterval": 9, "mqttversion": None}
    newer = {"publish": publish, "userproperty": {"Hall": "3", "No": None}, "payload": {}}
    assert catalog.post(older, "jobs/messagedefinitions/old").status == 201
    assert catalog.post(newer, "jobs/messagedefinitions/new").status == 201
    assert catalog.native("/messagegroups/jobs/messages/old")["protocol"] == "MQTT/3.1.1"
    native = catalog.native("/messagegroups/jobs/messages/new")
    assert native["protocol"] == "MQTT/5.0"
    assert native["protocoloptions"] == {
        "topic_name": "ovens",
        "message_expiry_interval": 9,
        "user_properties": [{"name": "Hall", "value": "3"}],
    }


@pytest.mark.feature("CAT-002")
@pytest.mark.parametrize(
    ("document", "pointers"),
    [
        ({"subject": "ovens.{oven}", "replyto": "", "headers": {"Hall": "3", "Any": "", "No": None}}, []),
        ({"subject": 5}, ["/subject"]),
        ({"headers": {"a:b": "3"}}, ["/headers/a:b"]),
        ({"publish": {}}, ["/publish"]),
        ({"subjct": "ovens"}, ["/subjct"]),
        ({"foo": 1}, ["/foo"]),
    ],
)
@pytest.mark.audit("services-C11")
def test_nats(catalog: CatalogClient, document: dict[str, Any], pointers: list[str]) -> None:
    catalog.group("jobs", "NATS")
    assert wrong(document, "NATS") == pointers
    posted = catalog.post(document, "jobs/messagedefinitions/heat")
    assert posted.status == (400 if pointers else 201)
    if not pointers:
        assert catalog.native("/messagegroups/jobs/messages/heat")["protocoloptions"] == {
            "subject": "ovens.{oven}",
            "reply-to": {},
            "headers": [{"name": "Hall", "value": "3"}, {"name": "Any"}],
        }
