"""Groups of the message catalog (sections 2.1 and 4.2)."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.documents.dialects.messagecatalog_sections import MQTT_CONSTRAINTS
from tests.http.messagecatalog.requests import CatalogClient


@pytest.mark.feature("CAT-015")
def test_groups_are_listed_as_an_array_of_ids(catalog: CatalogClient) -> None:
    assert catalog.get("").json == []
    for group in ("ovens", "org.example.bakery", "events@example.com", "Mixers"):
        catalog.group(group)
    assert catalog.get("").json == ["events@example.com", "Mixers", "org.example.bakery", "ovens"]


@pytest.mark.feature("CAT-001", "CAT-016", "CAT-017")
def test_a_group_is_put_and_read(catalog: CatalogClient) -> None:
    put = catalog.ask("PUT", "/messagecatalog/ovens", {"format": "CloudEvents", "description": "Hot things"})
    assert put.status == 201
    assert put.headers["location"] == "http://ovens.localhost/messagecatalog/ovens"
    group = catalog.get("ovens").json
    assert group == put.json
    assert {name: group[name] for name in ("id", "format", "description")} == {
        "id": "ovens",
        "format": "CloudEvents",
        "description": "Hot things",
    }
    assert group["createdtimeutc"] == group["updatedtimeutc"] == catalog.native("/messagegroups/ovens")["createdat"]


@pytest.mark.feature("CAT-017")
def test_a_group_is_updated(catalog: CatalogClient) -> None:
    first = catalog.ask("PUT", "/messagecatalog/ovens", {"format": "CloudEvents", "description": "Hot things"}).json
    again = catalog.ask("PUT", "/messagecatalog/ovens", {**first, "description": "Very hot things"})
    assert (again.status, again.json["description"]) == (200, "Very hot things")
    assert again.json["createdtimeutc"] == first["createdtimeutc"] < again.json["updatedtimeutc"]
    assert "description" not in catalog.ask("PUT", "/messagecatalog/ovens", {"format": "CloudEvents"}).json


@pytest.mark.feature("CAT-002")
@pytest.mark.parametrize(
    ("given", "shown", "native"),
    [
        ("CloudEvents", "CloudEvents", {"envelope": "CloudEvents/1.0"}),
        ("cloudevents", "CloudEvents", {"envelope": "CloudEvents/1.0"}),
        ("AMQP", "AMQP", {"protocol": "AMQP/1.0"}),
        ("amqp/1.0", "AMQP", {"protocol": "AMQP/1.0"}),
        ("MQTT", "MQTT", {"constraints": MQTT_CONSTRAINTS}),
        ("NATS", "NATS", {"protocol": "NATS"}),
        ("KAFKA", "KAFKA", {"protocol": "KAFKA"}),
        ("CloudsEvents", "CloudsEvents", {"envelope": "CloudsEvents"}),
        ("Öfen/1", "Öfen/1", {"envelope": "Öfen/1"}),
    ],
)
def test_formats(catalog: CatalogClient, given: str, shown: str, native: dict[str, Any]) -> None:
    assert catalog.ask("PUT", "/messagecatalog/ovens", {"format": given}).json["format"] == shown
    group = catalog.native("/messagegroups/ovens")
    assert {name: group[name] for name in ("envelope", "protocol", "constraints") if name in group} == native


@pytest.mark.feature("CAT-002")
def test_the_format_is_frozen_while_there_are_definitions(catalog: CatalogClient) -> None:
    catalog.group()
    assert catalog.ask("PUT", "/messagecatalog/ovens", {"format": "AMQP"}).json["format"] == "AMQP"
    assert "envelope" not in catalog.native("/messagegroups/ovens")
    catalog.group("ovens", "CloudEvents")
    catalog.post()
    refused = catalog.ask("PUT", "/messagecatalog/ovens", {"format": "AMQP"})
    assert refused.status == 409
    assert "the format is CloudEvents and cannot become AMQP while there are definitions" in refused.json["title"]
    assert catalog.get("ovens").json["format"] == "CloudEvents"
    assert catalog.ask("PUT", "/messagecatalog/ovens", {"format": "CloudEvents"}).status == 200
    assert catalog.ask("DELETE", "/messagecatalog/ovens/messagedefinitions").status == 204
    assert catalog.ask("PUT", "/messagecatalog/ovens", {"format": "AMQP"}).json["format"] == "AMQP"


@pytest.mark.feature("CAT-002")
@pytest.mark.parametrize(
    ("group", "messages", "form"),
    [
        ({"envelope": "CloudEvents/1.0", "protocol": "MQTT/5.0"}, {}, "CloudEvents"),
        ({"protocol": "mqtt/3.1.1"}, {}, "MQTT"),
        ({"protocol": "KAFKA"}, {}, "KAFKA"),
        ({}, {"heated": {"protocol": "AMQP/1.0"}}, "AMQP"),
        ({}, {}, "xRegistry"),
    ],
)
def test_groups_that_were_written_natively_have_a_format(
    catalog: CatalogClient, group: dict[str, Any], messages: dict[str, Any], form: str
) -> None:
    assert catalog.ask("PUT", "/messagegroups/ovens", {**group, "messages": messages}).status == 201
    assert catalog.get("ovens").json["format"] == form


def test_what_the_registry_says_meanwhile_goes_before_what_was_put(catalog: CatalogClient) -> None:
    catalog.group("ovens", "MQTT")
    catalog.ask("PATCH", "/messagegroups/ovens", {"envelope": "CloudEvents/1.0"})
    assert catalog.get("ovens").json["format"] == "CloudEvents"


@pytest.mark.audit("services-C2")
def test_every_api_shows_the_format_of_an_mqtt_group(catalog: CatalogClient) -> None:
    catalog.group("ovens", "MQTT")
    assert catalog.get("ovens").json["format"] == "MQTT"
    allowed = catalog.native("/messagegroups/ovens")["constraints"]["messages.protocol"]["enum"]
    assert allowed == ["MQTT/3.1.1", "MQTT/5.0"]
    group = catalog.ask("GET", "/v0.5/definitionGroups/ovens").json
    assert group["format"] == "MQTT/5.0"
    assert "constraints" not in group


@pytest.mark.audit("services-C2")
@pytest.mark.parametrize("version", ["3.1.1", "5.0"])
def test_an_mqtt_group_has_definitions_of_both_versions(catalog: CatalogClient, version: str) -> None:
    catalog.group("ovens", "MQTT")
    assert catalog.post({"publish": {"mqttversion": version, "topicname": "ovens"}}).status == 201
    assert catalog.native()["protocol"] == f"MQTT/{version}"
    assert catalog.ask("PUT", "/messagegroups/ovens/messages/cold", {"protocol": f"MQTT/{version}"}).status == 201
    assert catalog.ask("GET", "/v0.5/definitionGroups/ovens/definitions/heated").status == 200


@pytest.mark.audit("services-C2")
def test_no_api_puts_an_event_or_another_protocol_into_an_mqtt_group(catalog: CatalogClient) -> None:
    catalog.group("ovens", "MQTT")
    event = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "oven.heated"}}}
    for message in (event, {**event, "protocol": "MQTT/5.0"}, {"protocol": "AMQP/1.0"}):
        assert catalog.ask("PUT", "/messagegroups/ovens/messages/heated", message).problem == "constraint_failure"
    old = {"id": "heated", "format": "CloudEvents/1.0", "metadata": {"attributes": {"type": {"value": "oven.heated"}}}}
    refused = catalog.ask("POST", "/v0.5/definitionGroups/ovens/definitions?meta", old)
    assert (refused.status, refused.problem) == (400, "invalid_attribute")
    assert catalog.get("ovens/messagedefinitions").json == []


@pytest.mark.audit("services-C2")
def test_a_put_of_what_0_5_shows_changes_nothing_in_an_mqtt_group(catalog: CatalogClient) -> None:
    catalog.group("ovens", "MQTT")
    catalog.post({"publish": {"mqttversion": "3.1.1", "topicname": "ovens"}})
    for path in ("definitionGroups/ovens", "definitionGroups/ovens/definitions/heated"):
        shown = catalog.ask("GET", f"/v0.5/{path}")
        names = ("id", "name", "epoch", "format", "metadata")
        same = {name: value for name, value in shown.json.items() if name in names}
        assert catalog.ask("PUT", f"/v0.5/{path}", same).status == 200
    assert catalog.get("ovens").json["format"] == "MQTT"
    assert catalog.native()["protocol"] == "MQTT/3.1.1"
    assert catalog.native("/messagegroups/ovens")["constraints"] == MQTT_CONSTRAINTS


@pytest.mark.audit("services-C2")
@pytest.mark.parametrize("api", ["messagecatalog", "v0.5"])
def test_an_empty_mqtt_group_may_become_another_one(catalog: CatalogClient, api: str) -> None:
    catalog.group("ovens", "MQTT")
    if api == "v0.5":
        assert catalog.ask("PUT", "/v0.5/definitionGroups/ovens", {"format": "AMQP/1.0"}).status == 200
    else:
        catalog.group("ovens", "AMQP")
    native = catalog.native("/messagegroups/ovens")
    assert (native.get("protocol"), native.get("constraints")) == ("AMQP/1.0", None)
    assert catalog.get("ovens").json["format"] == "AMQP"
    assert catalog.post({"properties": {"subject": "ovens"}}).status == 201


@pytest.mark.audit("services-C2")
def test_constraints_of_the_registry_stay_when_the_format_of_a_group_changes(catalog: CatalogClient) -> None:
    own = {"messages.datacontenttype": {"enum": ["application/json"]}}
    catalog.ask("PUT", "/messagegroups/ovens", {"constraints": own})
    for form, expected in (("MQTT", {**MQTT_CONSTRAINTS, **own}), ("NATS", own)):
        catalog.group("ovens", form)
        assert catalog.native("/messagegroups/ovens")["constraints"] == expected


def test_a_put_leaves_alone_what_the_catalog_does_not_know(catalog: CatalogClient) -> None:
    native = {"envelope": "CloudEvents", "labels": {"hall": "3"}, "name": "Ovens"}
    catalog.ask("PUT", "/messagegroups/ovens", native)
    catalog.ask("PUT", "/messagecatalog/ovens", {"format": "CloudEvents", "description": "Hot things"})
    assert native.items() <= catalog.native("/messagegroups/ovens").items()


@pytest.mark.feature("CAT-018")
def test_a_group_is_deleted_with_its_definitions(catalog: CatalogClient) -> None:
    catalog.group()
    catalog.post()
    assert catalog.ask("DELETE", "/messagecatalog/ovens").status == 204
    assert catalog.get("ovens").problem == "not_found"
    assert catalog.get().problem == "not_found"
    assert catalog.ask("DELETE", "/messagecatalog/ovens").problem == "not_found"
    catalog.group("ovens", "AMQP")
    assert catalog.get("ovens/messagedefinitions").json == []
