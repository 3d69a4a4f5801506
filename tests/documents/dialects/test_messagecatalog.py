"""Message catalogs: three forms, literals and templates, versions (CAT-001 to CAT-014)."""

from typing import Any

import pytest

from postroom.documents.dialects.convert import read_tree, write_tree
from postroom.documents.dialects.dialect_table import DIALECTS
from postroom.documents.dialects.messagecatalog_sections import MQTT_CONSTRAINTS

CREATED = {
    "id": "com.example.storage.object.created",
    "description": "Raised when an object has been created",
    "format": "CloudEvents",
    "version": 1,
    "attributes": {
        "type": "com.example.storage.object.created",
        "subject": "/{container}/{filepath}",
        "time": "",
        "source": None,
        "dataschema": "http://schemas.example.com/objectcreated/1",
    },
}


def tree_of(document: dict[str, Any]) -> dict[str, Any]:
    reading = read_tree(document)
    assert reading is not None
    assert reading.dialect == "catalog"
    return reading.tree


def test_one_version_alone() -> None:
    (group,) = tree_of(CREATED)["messagegroups"].values()
    message = group["messages"]["com.example.storage.object.created"]
    assert message["versionid"] == "1"
    assert message["dataschemauri"] == "http://schemas.example.com/objectcreated/1"
    assert message["envelopemetadata"] == {
        "type": {"value": "com.example.storage.object.created"},
        "subject": {"type": "uritemplate", "value": "/{container}/{filepath}"},
        "time": {},
    }


@pytest.mark.parametrize("definitions", [[CREATED], {CREATED["id"]: CREATED}])
def test_a_group(definitions: Any) -> None:
    tree = tree_of({"id": "storage", "format": "CloudEvents", "messagedefinitions": definitions})
    assert tree["messagegroups"]["storage"]["envelope"] == "CloudEvents/1.0"
    assert set(tree["messagegroups"]["storage"]["messages"]) == {CREATED["id"]}


SECTIONS = [
    ("AMQP", {"applicationproperties": {"oven": "o1"}}, {"application-properties": {"oven": {"value": "o1"}}}),
    ("AMQP", {"application-properties": {"oven": "o1"}}, {"application-properties": {"oven": {"value": "o1"}}}),
    ("AMQP", {"footer": {"sum": "1"}}, {"footer": {"sum": {"value": "1"}}}),
    ("AMQP", {"messageannotations": {"x-opt-a": "1"}}, {"message-annotations": {"x-opt-a": {"value": "1"}}}),
    ("MQTT", {"publish": {"topicname": "ovens"}}, {"topic_name": "ovens"}),
    ("MQTT", {"userproperty": {"oven": "o1"}}, {"user_properties": [{"name": "oven", "value": "o1"}]}),
    ("NATS", {"subject": "ovens", "replyto": "desk"}, {"subject": "ovens", "reply-to": "desk"}),
]
PROTOCOLS = {"AMQP": "AMQP/1.0", "MQTT": "MQTT/5.0", "NATS": "NATS"}


@pytest.mark.audit("services-C10")
@pytest.mark.parametrize(("form", "sections", "options"), SECTIONS)
def test_the_sections_of_a_definition_tell_its_format(form: str, sections: Any, options: Any) -> None:
    """With or without a format, in any spelling of it, and wherever the definition stands."""
    spellings = ({}, {"format": form}, {"format": form.lower()}, {"format": PROTOCOLS[form]})
    versions = [{"id": "hot", **sections, **stated} for stated in spellings]
    definitions = [*versions, *({"id": "hot", **stated, "versions": {"1": sections}} for stated in spellings)]
    documents = [
        *definitions,
        *({"messagedefinitions": {"hot": one}} for one in definitions),
        *({"messagecatalog": {"ovens": {"id": "ovens", "messagedefinitions": {"hot": one}}}} for one in definitions),
        *(
            {"messagecatalog": {"ovens": {"id": "ovens", **stated, "messagedefinitions": {"hot": sections}}}}
            for stated in spellings
        ),
    ]
    for document in documents:
        (group,) = tree_of(document)["messagegroups"].values()
        hot = group["messages"]["hot"]
        assert (hot["protocol"], hot["protocoloptions"]) == (PROTOCOLS[form], options), document
        assert group.get("protocol", PROTOCOLS[form]) == PROTOCOLS[form]


def test_mqtt_amqp_and_the_newest_version() -> None:
    definitions = {
        "hot": {
            "authority": "urn:ovens",
            "versions": {
                "9": {"publish": {"mqttversion": "3.1.1", "topicname": "a"}},
                "10": {"publish": {"mqttversion": "3.1.1", "topicname": "ovens/{oven}", "expiryinterval": 5}},
            },
        }
    }
    properties = {"messageid": "", "replyto": "q"}
    amqp = {"job": {"version": 1, "properties": properties, "applicationdata": {"amqpencoding": "Value"}}}
    document = {
        "messagecatalog": {
            "ovens": {"format": "MQTT", "messagedefinitions": definitions},
            "jobs": {"format": "AMQP", "messagedefinitions": amqp},
        }
    }
    tree = tree_of(document)
    hot = tree["messagegroups"]["ovens"]["messages"]["hot"]
    assert (hot["versionid"], hot["protocol"], hot["authority"]) == ("10", "MQTT/3.1.1", "urn:ovens")
    assert hot["protocoloptions"] == {"topic_name": "ovens/{oven}", "message_expiry_interval": 5}
    job = tree["messagegroups"]["jobs"]["messages"]["job"]
    assert job["protocoloptions"] == {"properties": {"message-id": {}, "reply-to": {"value": "q"}}}
    written = write_tree(tree, "catalog").document["messagecatalog"]
    assert written["ovens"] == document["messagecatalog"]["ovens"]
    assert written["jobs"]["messagedefinitions"]["job"]["versions"]["1"] == amqp["job"]


def test_messages_without_a_metaschema_are_reported() -> None:
    tree = {"messagegroups": {"g": {"messages": {"k": {"protocol": "KAFKA"}, "n": {"protocol": "NATS"}}}}}
    written = write_tree(tree, "catalog")
    assert [loss.place for loss in written.losses] == ["/messagegroups/g/messages/k"]
    assert written.document["messagecatalog"]["g"]["format"] == "NATS"


def test_a_template_where_1_0_has_no_templates_is_a_value_without_a_type() -> None:
    properties = {"creationtime": "{now}", "groupsequence": "{n}", "subject": "{n}"}
    event = {"attributes": {"type": "oven.hot", "time": "{now}"}, "format": "CloudEvents"}
    (group,) = tree_of(event)["messagegroups"].values()
    (message,) = group["messages"].values()
    assert message["envelopemetadata"]["time"] == {"value": "{now}"}
    definitions = {"job": {"versions": {"1": {"properties": properties}}}}
    tree = tree_of({"messagecatalog": {"jobs": {"format": "AMQP", "messagedefinitions": definitions}}})
    assert tree["messagegroups"]["jobs"]["messages"]["job"]["protocoloptions"]["properties"] == {
        "creation-time": {"value": "{now}"},
        "group-sequence": {"value": "{n}"},
        "subject": {"type": "uritemplate", "value": "{n}"},
    }


def test_nats_headers_are_a_list_in_1_0() -> None:
    document = {"subject": "ovens.{oven}", "headers": {"Hall": "3", "Any": "", "No": None}}
    definitions = {"hot": {"versions": {"1": document}}}
    tree = tree_of({"messagecatalog": {"ovens": {"format": "NATS", "messagedefinitions": definitions}}})
    options = tree["messagegroups"]["ovens"]["messages"]["hot"]["protocoloptions"]
    assert options["headers"] == [{"name": "Hall", "value": "3"}, {"name": "Any"}]
    written = write_tree(tree, "catalog", extras=False).document["messagecatalog"]["ovens"]["messagedefinitions"]
    assert written["hot"]["versions"]["1"]["headers"] == {"Hall": "3", "Any": ""}


def test_the_header_of_amqp_has_bare_values_in_1_0() -> None:
    header = {"durable": True, "ttl": "", "priority": None}
    definitions = {"job": {"versions": {"1": {"header": header}}}}
    tree = tree_of({"messagecatalog": {"jobs": {"format": "AMQP", "messagedefinitions": definitions}}})
    assert tree["messagegroups"]["jobs"]["messages"]["job"]["protocoloptions"]["header"] == {"durable": True, "ttl": {}}
    written = write_tree(tree, "catalog", extras=False).document["messagecatalog"]["jobs"]["messagedefinitions"]
    assert written["job"]["versions"]["1"]["header"] == {"durable": True, "ttl": ""}


@pytest.mark.audit("services-C6", "services-C7")
def test_ids_and_templates_that_only_a_catalog_has() -> None:
    definition = {"id": "myMessage definition", "versions": {"1": {"attributes": {"type": "t", "subject": "a{/b}"}}}}
    group = {"id": "a+b", "format": "CloudEvents", "messagedefinitions": {"myMessage definition": definition}}
    tree = tree_of({"messagecatalog": {"a+b": group}})
    message = tree["messagegroups"]["a:2Bb"]["messages"]["myMessage:20definition"]
    assert (tree["messagegroups"]["a:2Bb"]["messagegroupid"], message["messageid"]) == (
        "a:2Bb",
        "myMessage:20definition",
    )
    assert message["envelopemetadata"]["subject"] == {"type": "uritemplate", "value": "a/{b}"}
    written = write_tree(tree, "catalog").document["messagecatalog"]["a+b"]
    assert written == group
    assert write_tree(tree, "catalog").losses == ()


@pytest.mark.audit("services-C2")
@pytest.mark.parametrize(
    ("dialect", "groups", "expected"),
    [
        ("0.5-service", "definitionGroups", {"format": "MQTT/5.0"}),
        ("0.5-message", "messagegroups", {"binding": "MQTT/5.0"}),
        ("catalog", "messagecatalog", {"format": "MQTT"}),
    ],
)
def test_a_group_of_the_format_mqtt_has_a_format_in_every_dialect(
    dialect: str, groups: str, expected: dict[str, str]
) -> None:
    group = {"constraints": MQTT_CONSTRAINTS, "messages": {"hot": {"protocol": "MQTT/5.0"}}}
    written = DIALECTS[dialect].from_rc4({"messagegroups": {"ovens": group}})[groups]["ovens"]
    assert expected.items() <= written.items()
    assert "constraints" not in written


@pytest.mark.audit("services-C2")
def test_a_group_with_both_versions_of_mqtt_is_the_same_after_the_way_through_0_5() -> None:
    messages = {"hot": {"protocol": "MQTT/5.0"}, "old": {"protocol": "MQTT/3.1.1"}}
    tree = {"messagegroups": {"ovens": {"constraints": MQTT_CONSTRAINTS, "messages": messages}}}
    dialect = DIALECTS["0.5-service"]
    again = dialect.to_rc4(dialect.from_rc4(tree))[0]["messagegroups"]["ovens"]
    assert again["constraints"] == MQTT_CONSTRAINTS
    assert "protocol" not in again
    assert {name: one["protocol"] for name, one in again["messages"].items()} == {
        name: one["protocol"] for name, one in messages.items()
    }
