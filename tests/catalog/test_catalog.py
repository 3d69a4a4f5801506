import os

import pytest

import postroom
from postroom.catalog.catalog import Catalog, open_catalog
from postroom.errors import DefinitionRefused, DocumentRefused, MessageUnknown
from postroom.messages.making.make import AUTO


def test_the_public_surface() -> None:
    assert postroom.open_catalog is open_catalog
    assert set(postroom.__all__) == {"Catalog", "PostroomError", "impact", "open_catalog"}
    assert all(hasattr(postroom, name) for name in postroom.__all__)
    with pytest.raises(AttributeError):
        _ = postroom.nothing


def test_an_endpoint_is_a_contract(demo_catalog: Catalog) -> None:
    fleet = demo_catalog.for_endpoint("/endpoints/fleet.kafka")
    assert {definition.group for definition in fleet.definitions} == {"/messagegroups/fleet.telemetry"}
    assert len(demo_catalog.for_endpoint("stations.mqtt").definitions) == 3
    with pytest.raises(DocumentRefused, match=r"it has: .*fleet\.kafka"):
        demo_catalog.for_endpoint("/endpoints/none")


def test_messages_that_endpoints_own_belong_to_them() -> None:
    owned = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "ping"}}}
    catalog = Catalog({"endpoints": {"e": {"messages": {"ping": owned}}}})
    (definition,) = catalog.for_endpoint("e").definitions
    assert definition.xid == "/endpoints/e/messages/ping"


EVENT_DEFINITION = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "ping"}}}
REFERENCES = {
    "xid": "/messagegroups/alarms",
    "pointer": "#/messagegroups/alarms",
    "URL": "https://registry.example/messagegroups/alarms",
    "slash": "/messagegroups/alarms/",
    "escaped": "/messagegroups/al%61rms",
}


@pytest.mark.feature("EP-012", "EP-013")
@pytest.mark.parametrize("reference", REFERENCES.values(), ids=REFERENCES)
def test_the_message_groups_of_an_endpoint_are_named_in_any_way(reference: str) -> None:
    groups = {"alarms": {"messages": {"a": EVENT_DEFINITION}}, "others": {"messages": {"b": EVENT_DEFINITION}}}
    endpoint = {"messagegroups": [reference, "https://elsewhere.example/messagegroups/others", 7]}
    tree = {"self": "https://registry.example/", "messagegroups": groups, "endpoints": {"e": endpoint}}
    assert [found.id for found in Catalog(tree).for_endpoint("/endpoints/e").definitions] == ["a"]


@pytest.mark.feature("EP-012", "EP-013")
def test_borrowed_messages_belong_to_the_contract() -> None:
    borrowed = {"meta": {"xref": "/messagegroups/alarms/messages/a"}}
    tree = {
        "messagegroups": {
            "alarms": {"messages": {"a": EVENT_DEFINITION}},
            "shelf": {"messages": {"mine": borrowed}},
        },
        "endpoints": {
            "by-group": {"messagegroups": ["/messagegroups/shelf"]},
            "itself": {"messages": {"mine": borrowed, "own": EVENT_DEFINITION}},
            "empty": {"messagegroups": "/messagegroups/alarms"},
        },
    }
    catalog = Catalog(tree)
    assert [found.xid for found in catalog.for_endpoint("by-group").definitions] == ["/messagegroups/alarms/messages/a"]
    assert [found.id for found in catalog.for_endpoint("itself").definitions] == ["own", "a"]
    assert catalog.for_endpoint("empty").definitions == ()
    ping = {"specversion": "1.0", "id": "1", "source": "/s", "type": "ping"}
    assert catalog.for_endpoint("by-group").match(ping).message == "/messagegroups/alarms/messages/a"
    assert catalog.for_endpoint("empty").match(ping).outcome == "unmatched"


def test_a_definition_that_cannot_be_used_leaves_the_others_alone() -> None:
    messages = {
        "good": {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "good"}}},
        "bad": {"envelope": "CloudEvents/1.0", "envelopemetadata": {"source": {"value": "/{a}{b}"}}},
        "circle": {"basemessage": "/messagegroups/g/messages/circle"},
    }
    catalog = Catalog({"messagegroups": {"g": {"messages": messages}}})
    assert [definition.id for definition in catalog.definitions] == ["good"]
    assert [error.place for error in catalog.refused] == [
        "/messagegroups/g/messages/bad/envelopemetadata/source",
        "/messagegroups/g/messages/circle",
    ]
    with pytest.raises(DefinitionRefused, match="side by side"):
        catalog.message("/messagegroups/g/messages/bad")


def test_ids_that_several_messages_have_need_the_xid() -> None:
    group = {"messages": {"m": {"envelope": "CloudEvents/1.0"}}}
    catalog = Catalog({"messagegroups": {"a": group, "b": group}})
    with pytest.raises(MessageUnknown, match="several messages are called 'm': .*Give the whole xid"):
        catalog.message("m")


def test_the_digest_names_the_definitions(demo_catalog: Catalog) -> None:
    assert open_catalog("demo/catalog").digest == demo_catalog.digest
    assert demo_catalog.for_endpoint("fleet.kafka").digest != demo_catalog.digest


def test_processes_that_were_forked_make_different_ids(demo_catalog: Catalog) -> None:
    template = demo_catalog.message("station.offline")

    def made() -> str:
        record = template.make(depot="oslo", station="S07", data=AUTO, protocol="MQTT/5.0")
        (found,) = (each["value"] for each in record["metadata"]["user_properties"] if each["name"] == "id")
        return str(found)

    made()
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.write(writing, made().encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as theirs:
        assert theirs.read() != made()
