"""What a write breaks of the texts on messages, schemas and endpoints: told in lenient mode, refused in strict mode."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.catalog.targets import write_target
from postroom.catalog.wiring import rules_of
from postroom.errors import PostroomError
from postroom.http.server.app import create_app
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

pytestmark = pytest.mark.audit("messages-D13")

GROUP, OVEN = "/messagegroups/ovens", "/messagegroups/ovens/messages/hot"
EVENT = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "oven.hot"}}}
STRICT = Settings(write_rules="strict")
HEADER = "postroom-findings"
BROKEN = {
    "metadata_missing": {"envelope": "CloudEvents/1.0"},
    "schema_twice": {**EVENT, "dataschema": {}, "dataschemauri": "/x", "dataschemaformat": "JsonSchema/draft-07"},
    "dataschemaformat_missing": {**EVENT, "dataschemauri": "https://a.example/s"},
    "required_attribute_optional": {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "oven.hot"}, "id": {"required": False}},
    },
    "specversion_other": {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "oven.hot"}, "specversion": {"value": "0.3"}},
    },
    "options_exclusive": {"protocol": "HTTP/1.1", "protocoloptions": {"method": "POST", "status": "200"}},
    "option_of_mqtt5": {"protocol": "MQTT/3.1.1", "protocoloptions": {"topic_name": "t", "content_type": "a/b"}},
    "option_out_of_range": {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": "t", "qos": 3}},
    "schema_reference_malformed": {**EVENT, "dataschemaformat": "Avro/1.12", "dataschemaxid": OVEN},
    "dataschemaformat_malformed": {**EVENT, "dataschemaformat": "Avro"},
    "base_malformed": {**EVENT, "basemessage": "msg1"},
    "base_circle": {**EVENT, "basemessage": OVEN},
}


@pytest.fixture
def strict_store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/strict.db", rules=rules_of(STRICT)) as opened:
        yield opened


@pytest.fixture
def strict(strict_store: Store) -> AsgiClient:
    client = AsgiClient(create_app(strict_store, STRICT))
    assert client.ask("PUT", GROUP, {}).status == 201
    return client


@pytest.mark.parametrize("code", BROKEN)
def test_strict_writes_refuse_what_lint_calls_an_error(strict: AsgiClient, code: str) -> None:
    refused = strict.ask("PUT", OVEN, BROKEN[code])
    assert (refused.status, refused.problem) == (400, "invalid_attribute")
    assert f"This is {code} of lint" in refused.json["detail"]
    assert refused.json["subject"] == OVEN
    assert strict.ask("GET", OVEN).status == 404


@pytest.mark.parametrize("code", BROKEN)
def test_lenient_writes_say_how_many_findings_there_are_and_where(asgi: AsgiClient, code: str) -> None:
    assert asgi.ask("PUT", GROUP, {}).headers[HEADER] == "0"
    written = asgi.ask("PUT", OVEN, BROKEN[code])
    assert written.status == 201
    count, _, url = written.headers[HEADER].partition("; url=")
    assert url == f'"http://ovens.localhost/-/lint?xid={OVEN}"'
    told = asgi.ask("GET", f"/-/lint?xid={OVEN}").json
    assert told["xid"] == OVEN
    assert len(told["findings"]) == int(count)
    assert code in {one["code"] for one in told["findings"] if one["severity"] == "error"}
    assert set(told["findings"][0]) == {"severity", "code", "pointer", "sentence", "remedy"}


def test_a_definition_that_is_right_has_no_findings(asgi: AsgiClient) -> None:
    asgi.ask("PUT", GROUP, {})
    assert asgi.ask("PUT", OVEN, EVENT).headers[HEADER] == "0"
    assert asgi.ask("GET", f"/-/lint?xid={OVEN}").json == {"xid": OVEN, "findings": []}


def test_findings_are_about_the_written_entity_only(asgi: AsgiClient) -> None:
    asgi.ask("PUT", GROUP, {"messages": {"cold": BROKEN["metadata_missing"]}})
    written = asgi.ask("PUT", OVEN, {**EVENT, "basemessage": f"{GROUP}/messages/cold"})
    assert written.headers[HEADER] == "0"
    assert asgi.ask("PATCH", GROUP, {"name": "Ovens"}).headers[HEADER] == "0"


@pytest.mark.parametrize(
    "reference",
    [{"dataschemauri": "/schemagroups/s/schemas/later", "dataschemaformat": "JsonSchema/draft-07"}, {}],
)
def test_a_reference_that_leads_out_is_a_warning(strict: AsgiClient, reference: dict[str, Any]) -> None:
    written = strict.ask("PUT", OVEN, {**EVENT, "basemessage": f"{GROUP}/messages/later", **reference})
    assert written.status == 201
    told = strict.ask("GET", f"/-/lint?xid={OVEN}").json["findings"]
    assert {one["severity"] for one in told} == {"warning"}


def test_a_request_is_judged_as_one_unit(strict: AsgiClient) -> None:
    base = {**EVENT, "dataschemaformat": "JsonSchema/draft-07"}
    derived = {"basemessage": OVEN, "dataschemauri": "https://a.example/s"}  # its format is the base's
    assert strict.ask("PATCH", GROUP, {"messages": {"warm": derived, "hot": base}}).status == 200
    broken = {"messages": {"warm": derived, "cold": BROKEN["metadata_missing"]}}
    assert strict.ask("PATCH", GROUP, broken).problem == "invalid_attribute"
    assert strict.ask("GET", f"{GROUP}/messages/cold").status == 404


def test_a_member_may_join_a_group_that_was_wrong_before(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/grown.db"
    write_target({"messagegroups": {"ovens": {"messages": {"cold": BROKEN["metadata_missing"]}}}}, database, Settings())
    with open_store(database, rules=rules_of(STRICT)) as opened:
        strict = AsgiClient(create_app(opened, STRICT))
        assert strict.ask("PUT", OVEN, EVENT).status == 201
        assert strict.ask("DELETE", f"{GROUP}/messages/cold").status == 204


def test_older_services_obey_the_setting(strict: AsgiClient) -> None:
    definition = {"format": "CloudEvents/1.0", "metadata": {"attributes": {"id": {"required": False}}}}
    headers = {"Registry-id": "cold"}
    refused = strict.ask("POST", "/v0.5/definitionGroups/ovens/definitions", definition, headers)
    assert refused.status == 400
    assert "required_attribute_optional" in refused.json["detail"]


def test_older_services_say_how_many_findings_there_are(asgi: AsgiClient) -> None:
    message = f"{GROUP}/messages/cold"
    asgi.ask("PUT", message, EVENT)
    right = {"format": "CloudEvents/1.0", "attributes": {"type": "cold"}}
    written = asgi.ask("POST", "/messagecatalog/ovens/messagedefinitions/warm", right)
    assert (written.status, written.headers[HEADER]) == (201, "0")
    wrong = {"format": "CloudEvents/1.0", "metadata": {"attributes": {"type": {"required": False}}}}
    written = asgi.ask("PUT", "/v0.5/definitionGroups/ovens/definitions/cold", wrong)
    count, _, url = written.headers[HEADER].partition("; url=")
    assert url == f'"http://ovens.localhost/-/lint?xid={message}"'
    assert len(asgi.ask("GET", f"/-/lint?xid={message}").json["findings"]) == int(count) > 0


@pytest.mark.audit("registry-13", "services-A7")
@pytest.mark.parametrize(
    "endpoint",
    [
        {"usage": ["producer", "consumer"]},
        {"usage": ["consumer"], "protocol": "KAFKA", "protocoloptions": {"topic": "ovens"}},
        {"usage": ["producer"], "protocol": "HTTP", "protocoloptions": {"endpoints": [{"uri": "ftp://ovens.example"}]}},
    ],
)
def test_what_only_clients_of_an_endpoint_have_to_check_is_a_warning_in_strict_mode_too(
    strict: AsgiClient, endpoint: dict[str, Any]
) -> None:
    assert strict.ask("PUT", "/endpoints/ovens", endpoint).status == 201
    (told,) = strict.ask("GET", "/-/lint?xid=/endpoints/ovens").json["findings"]
    assert told["severity"] == "warning"
    assert strict.ask("PUT", "/endpoints/ovens", {"usage": []}).problem == "invalid_attribute"
    assert strict.ask("PUT", "/endpoints/ovens", {"usage": ["baker"]}).problem == "invalid_attribute"


def test_load_obeys_the_setting(tmp_path: Path) -> None:
    document = {"messagegroups": {"ovens": {"messages": {"hot": BROKEN["metadata_missing"]}}}}
    target = f"sqlite:///{tmp_path}/loaded.db"
    with pytest.raises((PostroomError, RegistryProblem), match="envelopemetadata is missing"):
        write_target(document, target, STRICT)
    write_target(document, target, Settings())


@pytest.mark.parametrize(
    ("xid", "status"), [("", 400), ("ovens", 400), ("/messagegroups/none", 404), ("/nothing/x", 404)]
)
def test_lint_of_what_is_no_entity(asgi: AsgiClient, xid: str, status: int) -> None:
    assert asgi.ask("GET", f"/-/lint?xid={xid}").status == status


def test_a_schema_may_stand_for_another_one_in_strict_mode_too(strict: AsgiClient) -> None:
    schemas = {"heat": {"format": "JsonSchema/draft-07", "schema": {"type": "object"}}}
    assert strict.ask("PUT", "/schemagroups/ovens", {"schemas": schemas}).status == 201
    strict.ask("PUT", "/schemagroups/shared", {})
    borrowed = strict.ask("PUT", "/schemagroups/shared/schemas/heat/meta", {"xref": "/schemagroups/ovens/schemas/heat"})
    assert borrowed.status == 201
    assert borrowed.json["xref"] == "/schemagroups/ovens/schemas/heat"


def test_an_endpoint_goes_with_the_messages_of_its_groups_in_strict_mode(strict: AsgiClient) -> None:
    assert strict.ask("PUT", OVEN, {**EVENT, "protocol": "NATS", "protocoloptions": {"subject": "o"}}).status == 201
    endpoint = {"usage": ["consumer"], "messagegroups": [GROUP], "envelope": "CloudEvents/1.0"}
    assert strict.ask("PUT", "/endpoints/ovens", {**endpoint, "protocol": "NATS"}).status == 201
    refused = strict.ask("PUT", "/endpoints/ovens", {**endpoint, "protocol": "MQTT/5.0"})
    assert refused.status == 400
    assert "messagegroup_of_other_kind" in refused.json["detail"]
