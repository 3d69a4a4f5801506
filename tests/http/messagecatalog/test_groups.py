"""Groups of the message catalog (sections 2.1 and 4.2)."""

from __future__ import annotations

from typing import Any

import pytest

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
        ("MQTT", "MQTT", {}),
        ("NATS", "NATS", {"protocol": "NATS"}),
        ("KAFKA", "KAFKA", {"protocol": "KAFKA"}),
        ("CloudsEvents", "CloudsEvents", {"envelope": "CloudsEvents"}),
        ("Öfen/1", "Öfen/1", {"envelope": "Öfen/1"}),
    ],
)
def test_formats(catalog: CatalogClient, given: str, shown: str, native: dict[str, str]) -> None:
    assert catalog.ask("PUT", "/messagecatalog/ovens", {"format": given}).json["format"] == shown
    group = catalog.native("/messagegroups/ovens")
    assert {name: group[name] for name in ("envelope", "protocol") if name in group} == native


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
