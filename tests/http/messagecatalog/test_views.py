"""One registry, two views: what is written in one is seen in the other, and nothing that only one knows is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.catalog.sources import read_source
from postroom.documents.dialects.convert import read_tree
from postroom.http.server.app import create_app
from postroom.settings import Settings
from tests.http.messagecatalog.requests import HEATED, CatalogClient, varied
from tests.http.messagecatalog.test_metaschema_validation import JOB

DEMO = Path(__file__).parents[3] / "demo" / "catalog"
XID = "/messagegroups/ovens/messages/heated"
PATH = "ovens/messagedefinitions/heated"


@pytest.mark.feature("CAT-003", "CAT-021")
@pytest.mark.parametrize(
    ("form", "document"),
    [
        ("CloudEvents", HEATED),
        ("AMQP", JOB),
        ("MQTT", {"publish": {"topicname": "ovens/{oven}", "qos": 1}, "userproperty": {"Hall": "3"}}),
        ("NATS", {"subject": "ovens.{oven}", "headers": {"Hall": "3"}}),
        ("Mixers/2", {"envelopemetadata": {"speed": {"value": 3}}, "dataschemauri": "https://schemas.example.com/m"}),
    ],
)
def test_a_document_is_natively_what_a_file_of_it_would_be(
    catalog: CatalogClient, form: str, document: dict[str, Any]
) -> None:
    catalog.group("ovens", form)
    assert catalog.post(document).status == 201
    definitions = {"heated": {"versions": {"1": {**document, "format": form}}}}
    reading = read_tree({"messagecatalog": {"ovens": {"format": form, "messagedefinitions": definitions}}})
    assert reading is not None
    message = reading.tree["messagegroups"]["ovens"]["messages"]["heated"]
    native = catalog.native()
    assert {name: native.get(name) for name in message} == message


@pytest.mark.feature("CAT-004")
def test_native_writes_add_versions(catalog: CatalogClient) -> None:
    catalog.group()
    catalog.post(contenttype="application/first+json")
    said = {"envelopemetadata": {"type": {"value": "com.example.oven.heated"}, "tray": {"value": 3, "required": True}}}
    assert catalog.ask("PUT", XID, {**said, "description": "natively"}).status == 200
    assert catalog.get(f"{PATH}/versions").json == [1, 2]
    latest = catalog.get()
    assert latest.headers["content-type"] == "application/json"
    assert latest.headers["message-definition-description"] == "natively"
    assert latest.json == {
        "description": "natively",
        "format": "CloudEvents",
        "version": 2,
        "attributes": {"type": "com.example.oven.heated", "tray": 3},
    }
    first = catalog.get(f"{PATH}/versions/1")
    assert (first.json, first.headers["content-type"]) == (HEATED, "application/first+json")
    catalog.ask("POST", XID, {**said, "envelope": "CloudEvents/1.0"})
    assert catalog.post().json["version"] == 4
    assert catalog.native()["versionscount"] == 1


@pytest.mark.feature("CAT-003", "CAT-015", "CAT-019", "CAT-025")
def test_what_was_there_before_is_in_the_catalog(catalog: CatalogClient) -> None:
    messages = {
        "event": {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "a"}}},
        "kafka": {"protocol": "KAFKA", "protocoloptions": {"topic": "ovens"}},
        "plain": {"dataschemaformat": "JsonSchema/draft-07", "dataschema": {"type": "object"}},
    }
    catalog.ask("PUT", "/messagegroups/mixed", {"messages": messages})
    assert catalog.get("").json == ["mixed"]
    assert catalog.get("mixed/messagedefinitions").json == ["event", "kafka", "plain"]
    shown = {name: catalog.get(f"mixed/messagedefinitions/{name}") for name in messages}
    assert {name: reply.headers["message-definition-format"] for name, reply in shown.items()} == {
        "event": "CloudEvents",
        "kafka": "KAFKA",
        "plain": "xRegistry",
    }
    assert shown["event"].json["attributes"] == {"type": "a"}
    assert shown["kafka"].json["protocoloptions"] == {"topic": "ovens"}
    assert shown["plain"].json["dataschema"] == {"type": "object"}


def test_a_new_version_keeps_what_no_document_can_say(catalog: CatalogClient) -> None:
    catalog.group()
    native = {
        "name": "Oven heated",
        "labels": {"hall": "3"},
        "protocol": "KAFKA",
        "protocoloptions": {"topic": "ovens"},
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschema": {"type": "object"},
        "envelopemetadata": {
            "type": {"value": "com.example.oven.heated"},
            "subject": {"type": "uritemplate", "value": "{oven}", "required": True, "description": "which oven"},
            "source": {"value": "/ovens", "required": True},
            "time": {"required": True},
        },
    }
    catalog.ask("PUT", XID, native)
    attributes = {"type": "com.example.oven.heated", "subject": "{oven}", "source": "/mixers", "partitionkey": "p"}
    assert catalog.post({"attributes": attributes}).status == 201
    after = catalog.native()
    for name in ("name", "labels", "protocol", "protocoloptions", "dataschema", "dataschemaformat"):
        assert after[name] == native[name]
    assert after["envelopemetadata"] == {
        "type": {"value": "com.example.oven.heated"},
        "subject": {"type": "uritemplate", "value": "{oven}", "required": True, "description": "which oven"},
        "source": {"value": "/mixers", "required": True},
        "partitionkey": {"value": "p"},
    }
    catalog.post(varied(dataschema="https://schemas.example.com/2"))
    after = catalog.native()
    assert after["dataschemauri"] == "https://schemas.example.com/2"
    assert not {"dataschema", "dataschemaformat"} & after.keys()
    assert after["labels"] == {"hall": "3"}


def test_the_same_document_again_leaves_the_message_as_it_is(catalog: CatalogClient) -> None:
    catalog.group()
    base = {"envelopemetadata": {"type": {"value": "t"}, "source": {"value": "/s", "required": True}}}
    catalog.ask("PUT", "/messagegroups/ovens/messages/any", base)
    derived = {"basemessage": "/messagegroups/ovens/messages/any", "envelopemetadata": {"subject": {"value": "x"}}}
    catalog.ask("PUT", XID, {**derived, "dataschemaxid": "/schemagroups/ovens/schemas/heated"})
    shown = catalog.get().json
    assert shown["attributes"] == {
        "type": "t",
        "source": "/s",
        "subject": "x",
        "dataschema": "http://ovens.localhost/schemagroups/ovens/schemas/heated",
    }
    before = catalog.native()
    assert catalog.post(shown).json["version"] == 2
    after = catalog.native()
    moving = ("epoch", "versionid", "createdat", "modifiedat", "ancestorid")
    assert {name: value for name, value in after.items() if name not in moving} == {
        name: value for name, value in before.items() if name not in moving
    }
    changed = {**shown, "attributes": {**shown["attributes"], "source": "/other"}}
    catalog.post(changed)
    assert "basemessage" not in catalog.native()
    assert catalog.native()["envelopemetadata"] == {
        "type": {"value": "t"},
        "source": {"value": "/other", "required": True},
        "subject": {"value": "x"},
    }


def test_bases_in_a_circle_or_elsewhere_give_nothing(catalog: CatalogClient) -> None:
    catalog.group()
    for name, base in (("a", "b"), ("b", "a")):
        target = f"/messagegroups/ovens/messages/{base}"
        catalog.ask("PUT", f"/messagegroups/ovens/messages/{name}", {"basemessage": target})
    catalog.ask("PUT", XID, {"basemessage": "https://elsewhere.example/m"})
    for name in ("a", "b", "heated"):
        assert catalog.get(f"ovens/messagedefinitions/{name}").json["attributes"] == {}


def test_a_reference_is_read_and_not_written(catalog: CatalogClient) -> None:
    catalog.group()
    catalog.post()
    assert catalog.ask("PUT", "/messagegroups/ovens/messages/same", {"meta": {"xref": XID}}).status == 201
    same = "ovens/messagedefinitions/same"
    assert catalog.get(same).json == HEATED
    catalog.post()
    assert catalog.get(f"{same}/versions").json == [1, 2]
    assert catalog.post(path=same).problem == "bad_request"
    dangling = {"meta": {"xref": "/messagegroups/ovens/messages/nowhere"}}
    catalog.ask("PUT", "/messagegroups/ovens/messages/gone", dangling)
    assert catalog.get("ovens/messagedefinitions/gone").problem == "not_found"
    assert catalog.get("ovens/messagedefinitions/gone/versions").json == []


def test_group_words_are_kept_in_their_spelling(catalog: CatalogClient) -> None:
    catalog.ask("PUT", "/messagegroups/ovens", {"envelope": "cloudevents/1.0"})
    assert catalog.post().status == 201
    assert catalog.native()["envelope"] == "cloudevents/1.0"


@pytest.mark.feature("CAT-028")
def test_schemas_are_on_the_same_endpoint(catalog: CatalogClient) -> None:
    schema = "/schemagroups/ovens/schemas/heated"
    headers = {"xRegistry-format": "JsonSchema/draft-07", "Content-Type": "application/json"}
    assert catalog.ask("PUT", schema, {"type": "object"}, headers).status == 201
    catalog.group()
    catalog.post(varied(dataschema=f"http://ovens.localhost{schema}"))
    reference = catalog.get().json["attributes"]["dataschema"]
    assert catalog.ask("GET", reference.removeprefix("http://ovens.localhost")).json == {"type": "object"}


def test_a_model_that_keeps_several_versions_and_has_no_room_for_more(tmp_path: Path) -> None:
    model = {
        "groups": {
            "messagegroups": {
                "singular": "messagegroup",
                "attributes": {"envelope": {"type": "string"}, "protocol": {"type": "string"}},
                "resources": {
                    "messages": {
                        "singular": "message",
                        "hasdocument": False,
                        "maxversions": 0,
                        "attributes": {
                            "envelope": {"type": "string"},
                            "envelopemetadata": {"type": "any"},
                            "dataschemauri": {"type": "uri"},
                        },
                    }
                },
            }
        }
    }
    (tmp_path / "model.json").write_text(json.dumps(model))
    with open_store(f"sqlite:///{tmp_path}/several.db", str(tmp_path / "model.json")) as store:
        catalog = CatalogClient(create_app(store, Settings()))
        catalog.group()
        bakery = "https://bakery.example/messagecatalog"
        catalog.post(Authority=bakery, Id=f"{bakery}/1")
        catalog.ask("PATCH", f"{XID}/meta", {"defaultversionid": "1"})
        catalog.post(varied(subject="two"))
        assert catalog.get().json["attributes"]["subject"] == "two"
        assert catalog.get().headers["message-definition-authority"] == bakery
        assert catalog.get(f"{PATH}/versions").json == [1, 2]
        assert catalog.get(f"{PATH}/versions/1").headers["message-definition-id"] == f"{bakery}/1"
        found = catalog.ask("GET", f"/messagedefinition?uri={bakery}/1")
        assert (found.json, found.headers["message-definition-version"]) == (HEATED, "1")
        assert catalog.native()["versionscount"] == 2


def test_documents_that_are_made_of_messages_can_be_posted_and_change_nothing(catalog: CatalogClient) -> None:
    tree = read_source(str(DEMO), Settings())
    for kind in ("schemagroups", "messagegroups"):
        assert catalog.ask("POST", f"/{kind}", tree[kind]).status == 200
    moving = ("epoch", "versionid", "createdat", "modifiedat", "ancestorid")
    for group in catalog.get("").json:
        for name in catalog.get(f"{group}/messagedefinitions").json:
            before = catalog.native(f"/messagegroups/{group}/messages/{name}")
            shown = catalog.get(f"{group}/messagedefinitions/{name}")
            if "type" not in shown.json.get("attributes", {"type": ""}):
                continue  # a base of others is no event by itself
            posted = catalog.post(shown.body, f"{group}/messagedefinitions/{name}")
            assert posted.status == 201, (name, posted.body, shown.body)
            assert posted.json["version"] == 2
            after = catalog.native(f"/messagegroups/{group}/messages/{name}")
            assert {k: v for k, v in after.items() if k not in moving} == {
                k: v for k, v in before.items() if k not in moving
            }


def test_in_a_group_of_several_formats_each_definition_goes_on_in_its_own(catalog: CatalogClient) -> None:
    messages = {"event": {"envelope": "CloudEvents/1.0"}, "job": {"protocol": "AMQP/1.0"}, "plain": {"name": "x"}}
    catalog.ask("PUT", "/messagegroups/mixed", {"messages": messages})
    assert catalog.get("mixed").json["format"] == "CloudEvents"
    assert catalog.post({"properties": {"to": "q"}}, "mixed/messagedefinitions/job").json["format"] == "AMQP"
    assert catalog.post(HEATED, "mixed/messagedefinitions/event").json["format"] == "CloudEvents"
    assert catalog.post(HEATED, "mixed/messagedefinitions/job").status == 400
    assert catalog.post(HEATED, "mixed/messagedefinitions/new").json["format"] == "CloudEvents"
    assert catalog.post({"dataschema": {}}, "mixed/messagedefinitions/plain").json["format"] == "xRegistry"
    assert catalog.native("/messagegroups/mixed/messages/plain")["dataschema"] == {}


@pytest.mark.feature("CAT-002")
def test_a_message_without_a_format_has_that_of_its_group(catalog: CatalogClient) -> None:
    catalog.group("ovens", "MQTT")
    catalog.ask("PUT", XID, {"name": "natively"})
    assert catalog.get().headers["message-definition-format"] == "MQTT"
    assert catalog.post({"publish": {"topicname": "ovens"}}).json["format"] == "MQTT"
    assert catalog.native()["protocoloptions"] == {"topic_name": "ovens"}
