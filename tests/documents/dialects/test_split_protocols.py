"""Messages with an envelope and a protocol for the 0.5 service: two definitions, in groups of one format each."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.documents.dialects.convert import read_tree, write_tree
from postroom.documents.dialects.dialect import Tree
from postroom.http.server.app import create_app
from postroom.settings import Settings
from tests.http.requests import AsgiClient
from tests.http.v0_5.requests import V05Client

EVENT = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "oven.hot"}}}


@pytest.fixture
def v0_5(tmp_path: Path) -> Iterator[V05Client]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        yield V05Client(AsgiClient(create_app(store, Settings())))


def over(protocol: str, **options: Any) -> Tree:
    return {**EVENT, "protocol": protocol, "protocoloptions": options}


def catalog(group: Tree, **messages: Tree) -> Tree:
    endpoint = {"usage": ["consumer"], "messagegroups": ["/messagegroups/ovens", "/messagegroups/mixers"]}
    groups = {"ovens": {**group, "messages": messages}, "mixers": {"messages": {}}}
    return {"messagegroups": groups, "endpoints": {"kitchen": endpoint}}


def written(tree: Tree) -> Tree:
    before = copy.deepcopy(tree)
    document = write_tree(tree, "0.5-service").document
    assert tree == before
    return document


def test_the_protocol_goes_into_a_group_of_its_own() -> None:
    hot = {**over("MQTT/5.0", topic_name="ovens"), "description": "An oven is hot."}
    groups = written(catalog({"envelope": "CloudEvents/1.0", "protocol": "MQTT/5.0"}, hot=hot))["definitionGroups"]
    assert groups == {
        "ovens": {
            "format": "CloudEvents/1.0",
            "definitions": {
                "hot": {
                    "format": "CloudEvents/1.0",
                    "description": "An oven is hot.",
                    "metadata": {"attributes": {"type": {"value": "oven.hot"}}},
                }
            },
        },
        "ovens.mqtt": {
            "id": "ovens.mqtt",
            "format": "MQTT/5.0",
            "definitions": {
                "hot": {
                    "format": "MQTT/5.0",
                    "description": "An oven is hot.",
                    "metadata": {"topic-name": {"value": "ovens"}},
                }
            },
        },
        "mixers": {"definitions": {}},
    }


GROUPS: dict[str, tuple[Tree, dict[str, Tree], dict[str, str]]] = {
    "two protocols": (
        {"envelope": "CloudEvents/1.0"},
        {"hot": over("HTTP", method="POST"), "cold": over("KAFKA", topic="ovens")},
        {"ovens": "CloudEvents/1.0", "ovens.http": "HTTP/1.1", "ovens.kafka": "Kafka/0.11"},
    ),
    "two versions of a protocol": (
        {},
        {"hot": over("MQTT/3.1.1", topic_name="ovens"), "cold": over("MQTT/5.0", topic_name="ovens")},
        {"ovens": "CloudEvents/1.0", "ovens.mqtt": "MQTT/3.1.1", "ovens.mqtt-5.0": "MQTT/5.0"},
    ),
    "a group that names the protocol only": (
        {"protocol": "MQTT/5.0"},
        {"hot": over("MQTT/5.0", topic_name="ovens")},
        {"ovens": "CloudEvents/1.0", "ovens.mqtt": "MQTT/5.0"},
    ),
    "a protocol that is inherited from the group": (
        {"protocol": "AMQP/1.0", "envelope": "CloudEvents/1.0"},
        {"hot": {"envelopemetadata": {}, "protocoloptions": {"properties": {"to": {"value": "ovens"}}}}},
        {"ovens": "CloudEvents/1.0", "ovens.amqp": "AMQP/1.0"},
    ),
    "one aspect only": (
        {"protocol": "NATS"},
        {"hot": {"protocol": "NATS", "protocoloptions": {"subject": "ovens"}}},
        {"ovens": "NATS/1.0.0"},
    ),
}


@pytest.mark.parametrize("case", GROUPS)
def test_every_group_has_one_format_and_the_0_5_service_takes_it(case: str, v0_5: V05Client) -> None:
    group, messages, formats = GROUPS[case]
    document = written(catalog(group, **messages))
    groups = document["definitionGroups"]
    assert {name: one["format"] for name, one in groups.items() if one["definitions"]} == formats
    for name, one in groups.items():
        assert {definition["format"] for definition in one["definitions"].values()} <= {one.get("format")}
        if one["definitions"]:
            reply = v0_5.post("/definitionGroups", {"id": name, **one})
            assert reply.status == 201, reply.body


def test_an_endpoint_has_what_was_split_off_its_groups() -> None:
    document = written(catalog({}, hot=over("MQTT/5.0", topic_name="ovens")))
    pointers = ["#/definitionGroups/ovens", "#/definitionGroups/ovens.mqtt", "#/definitionGroups/mixers"]
    assert document["endpoints"]["kitchen"]["definitionGroups"] == pointers
    tree = read_tree(document)
    assert tree is not None
    assert write_tree(tree.tree, "0.5-service").document == document


def test_a_name_that_is_taken_is_left_alone() -> None:
    tree = catalog({}, hot=over("MQTT/5.0", topic_name="ovens"))
    tree["messagegroups"]["ovens.mqtt"] = {"messages": {"warm": EVENT}}
    groups = written(tree)["definitionGroups"]
    assert list(groups["ovens.mqtt"]["definitions"]) == ["warm"]
    assert list(groups["ovens.mqtt-5.0"]["definitions"]) == ["hot"]


def test_only_the_protocol_is_reported_and_where_it_is() -> None:
    losses = write_tree(catalog({}, hot=over("MQTT/5.0", topic_name="ovens")), "0.5-service").losses
    assert [loss.place for loss in losses] == [
        "/messagegroups/ovens/messages/hot/protocol",
        "/messagegroups/ovens/messages/hot/protocoloptions",
    ]
    assert {loss.why for loss in losses} == {
        "0.5-service describes envelope or protocol: the protocol became a definition in a group of its own"
    }


def test_what_an_endpoint_owns_stays_there() -> None:
    endpoint = {"usage": ["consumer"], "messages": {"hot": over("MQTT/5.0", topic_name="ovens")}}
    document = written({"endpoints": {"kitchen": endpoint}})
    assert list(document["endpoints"]["kitchen"]["definitions"]) == ["hot", "hot.mqtt"]
