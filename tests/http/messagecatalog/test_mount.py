"""Paths, methods and bad input: the right status, a sentence, nothing half-written, and never a 500."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.catalog.open_store import open_store
from postroom.http.messagecatalog.mount import HANDLERS
from postroom.http.messagecatalog.openapi import PATHS
from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.messagecatalog.requests import HEATED, CatalogClient

ROOT = "/messagecatalog"
HEAT = f"{ROOT}/ovens/messagedefinitions/heated"
ID = "x" * 129


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("", "GET, HEAD, OPTIONS"),
        ("/ovens", "DELETE, GET, HEAD, OPTIONS, PUT"),
        ("/ovens/messagedefinitions", "DELETE, GET, HEAD, OPTIONS"),
        ("/ovens/messagedefinitions/heated", "DELETE, GET, HEAD, OPTIONS, POST"),
        ("/ovens/messagedefinitions/heated/versions", "GET, HEAD, OPTIONS"),
        ("/ovens/messagedefinitions/heated/versions/1", "GET, HEAD, OPTIONS"),
    ],
)
def test_methods(catalog: CatalogClient, path: str, methods: str) -> None:
    catalog.group()
    catalog.post()
    options = catalog.ask("OPTIONS", ROOT + path)
    assert (options.status, options.headers["allow"]) == (200, methods)
    for method in ("GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "TRACE"):
        if method not in methods:
            refused = catalog.ask(method, ROOT + path, b"{}")
            assert (refused.problem, refused.status) == ("action_not_supported", 405)
            assert refused.headers["allow"] == methods
    assert catalog.get().status == 200


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/ovens/messagedefinition", "api_not_found"),
        ("/ovens/messages/heated", "api_not_found"),
        ("/ovens/messagedefinitions/heated/versions/1/more", "api_not_found"),
        ("/ovens/messagedefinitions/heated/meta", "api_not_found"),
        ("//ovens", "api_not_found"),
        ("/..", "api_not_found"),
        ("/%2e%2e", "api_not_found"),
        ("/../messagegroups", "api_not_found"),
        ("/ovens//heated", "api_not_found"),
        ("/ovens/messagedefinitions/%2e%2e/versions", "api_not_found"),
        ("/ovens/messagedefinitions/%ff", "api_not_found"),
        ("/ovens%2fmessagedefinitions", "not_found"),
        ("/ovens/messagedefinitions/a%20b", "not_found"),
        ("/ovens/messagedefinitions/a%00b", "malformed_id"),
        ("/ovens/messagedefinitions/my(oven)", "not_found"),
        (f"/{ID}", "malformed_id"),
        (f"/ovens/messagedefinitions/{ID}", "malformed_id"),
        ("/ovens$details", "not_found"),
        ("/ovens/messagedefinitions/heated$details", "not_found"),
        ("/mixers", "not_found"),
        ("/mixers/messagedefinitions", "not_found"),
        ("/mixers/messagedefinitions/heated", "not_found"),
        ("/ovens/messagedefinitions/cooled", "not_found"),
        ("/ovens/messagedefinitions/Heated", "not_found"),
        ("/ovens/messagedefinitions/cooled/versions", "not_found"),
        ("/ovens/messagedefinitions/cooled/versions/1", "not_found"),
    ],
)
def test_paths_that_lead_nowhere(catalog: CatalogClient, path: str, problem: str) -> None:
    catalog.group()
    catalog.post()
    reply = catalog.ask("GET", ROOT + path)
    assert reply.problem == problem
    assert reply.status in (400, 404)
    assert "messagegroups" not in reply.json["subject"].replace("/../messagegroups", "")


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "a body is needed"),
        (b"{", 400, "line 1"),
        (b"[]", 400, "must be a JSON object"),
        (b"\xff", 400, "UTF-8"),
        (b'{"format": "AMQP", "format": "MQTT"}', 400, "twice"),
        (b"[" * 100000, 400, "nested too deeply"),
        ({}, 400, "needs a format"),
        ({"format": ""}, 400, "needs a format"),
        ({"format": "  "}, 400, "needs a format"),
        ({"format": None}, 400, "needs a format"),
        ({"format": 5}, 400, "needs a format"),
        ({"format": ["AMQP"]}, 400, "needs a format"),
        ({"format": "x" * 129}, 400, "at most 128 characters"),
        ({"format": "a\nb"}, 400, "at most 128 characters"),
        ({"format": "AMQP", "description": 5}, 400, "description must be a text"),
        ({"format": "AMQP", "id": "mixers"}, 400, "must be the one in the path"),
        ({"format": "AMQP", "id": 5}, 400, "must be the one in the path"),
        ({"format": "AMQP", "messages": {}}, 400, "a group has no messages"),
        ({"format": "AMQP", "epoch": 1}, 400, "a group has no epoch"),
        ({"format": "AMQP", "description": "\x00" * 5000}, 400, ""),
    ],
)
def test_bad_groups(catalog: CatalogClient, body: Any, status: int, words: str) -> None:
    refused = catalog.ask("PUT", f"{ROOT}/ovens", body)
    assert (refused.status, words in refused.json["title"]) == (status, True), refused.body
    assert refused.problem
    assert catalog.get("").json == []


@pytest.mark.parametrize("group", [ID, "a:b", "%00", "a%0Ab", "%C3%BC" * 22])
def test_bad_ids_of_groups(catalog: CatalogClient, group: str) -> None:
    assert catalog.ask("PUT", f"{ROOT}/{group}", {"format": "AMQP"}).problem == "malformed_id"


def test_ids_that_differ_in_case_only(catalog: CatalogClient) -> None:
    catalog.group()
    catalog.post()
    for target, body in ((f"{ROOT}/OVENS", {"format": "AMQP"}),):
        assert "exists already in another case" in catalog.ask("PUT", target, body).json["title"]
    assert "exists already in another case" in catalog.post(path="ovens/messagedefinitions/Heated").json["title"]


@pytest.mark.parametrize(
    ("body", "query", "headers", "status", "words"),
    [
        (b"", "", {}, 400, "a body is needed"),
        (b" \n", "", {}, 400, "a body is needed"),
        (b"{", "", {}, 400, "cannot be parsed"),
        (b'{"attributes": {"type": NaN}}', "", {}, 400, "NaN is not JSON"),
        (b"5", "", {}, 400, "must be a JSON object"),
        (b"null", "", {}, 400, "must be a JSON object"),
        (b'{"a":' * 2000 + b"1" + b"}" * 2000, "", {}, 400, "nested"),
        (b'{"attributes": {"type": "\\ud800"}}', "", {}, 400, "surrogate"),
        (HEATED, "", {"Content-Type": "application/xml"}, 415, "application/xml is not"),
        (HEATED, "", {"Content-Type": "application/x-www-form-urlencoded"}, 415, "is JSON"),
        (HEATED, "", {"Content-Type": "nonsense"}, 415, "must be a media type"),
        (HEATED, "", {"Content-Type": "a/b" * 100}, 415, "must be a media type"),
        (HEATED, "?format=AMQP", {}, 400, "must be that of the group, CloudEvents"),
        ({**HEATED, "format": "AMQP"}, "", {}, 400, "must be that of the group, CloudEvents"),
        (HEATED, "", {"Message-Definition-Format": "unknown"}, 400, "must be that of the group"),
        (HEATED, "?authority=bakery", {}, 400, "has no scheme"),
        (HEATED, "?authority=https://a/%3Cb%3E&id=x", {}, 201, ""),
        (HEATED, f"?authority=https://a/{'x' * 3000}", {}, 400, "at most 2048"),
        (HEATED, f"?id={'x' * 3000}", {}, 400, "at most 2048"),
        (HEATED, "?authority=https://%5B&id=x", {}, 201, ""),
        (HEATED, "?description=a&description=b", {}, 400, "is given as 'a' and 'b'"),
        (HEATED, "?description=a", {"Message-Definition-Description": "b"}, 400, "is given as 'a' and 'b'"),
        (HEATED, "?description=a", {"Message-Definition-Description": "a"}, 201, ""),
        (HEATED, "", {"Message-Definition-Description": "%ff"}, 400, "not UTF-8"),
        (HEATED, "?description=" + "x" * 5000, {}, 400, "description"),
        (HEATED, "?unknown=1&version=7&createdtimeutc=x", {}, 201, ""),
        ({"attributes": {"type": "x" * 5000}}, "", {}, 201, ""),
        ({"attributes": {"type": "t", **{f"a{n}": n for n in range(500)}}}, "", {}, 201, ""),
    ],
)
def test_bad_versions(
    catalog: CatalogClient, body: Any, query: str, headers: dict[str, str], status: int, words: str
) -> None:
    catalog.group()
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    reply = catalog.ask("POST", HEAT + query, content, {"Content-Type": "application/json", **headers})
    assert reply.status == status, reply.body
    if status == 201:
        assert catalog.get().body == content
        return
    assert words in reply.json["title"], reply.json
    assert reply.problem
    assert catalog.get("ovens/messagedefinitions").json == []


def test_a_version_needs_a_group(catalog: CatalogClient) -> None:
    refused = catalog.post()
    assert (refused.problem, refused.json["title"]) == ("not_found", "/messagecatalog/ovens does not exist.")


def test_a_registry_without_messages(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/registry.db", "none") as store:
        catalog = CatalogClient(create_app(store, Settings()))
        for method, path, body in (
            ("GET", "", b""),
            ("PUT", "/ovens", {"format": "AMQP"}),
            ("POST", "/ovens/messagedefinitions/heated", HEATED),
        ):
            assert catalog.ask(method, ROOT + path, body).problem == "not_found"
        assert catalog.ask("GET", "/messagedefinition?uri=x").problem == "not_found"
        model = {"groups": {"messagegroups": {"singular": "messagegroup"}}}
        assert catalog.ask("PUT", "/modelsource", model).status == 200
        assert catalog.ask("GET", f"{ROOT}/ovens/messagedefinitions").problem == "not_found"


def test_a_registry_that_may_only_be_read(store: Store) -> None:
    catalog = CatalogClient(create_app(store, Settings()))
    catalog.group()
    catalog.post()
    available = catalog.ask("GET", "/capabilities").json["available"]
    changed = {"available": {**available, "entities": {"mutable": False}}}
    assert catalog.ask("PATCH", "/capabilities", changed).status == 200
    refused = catalog.post()
    assert (refused.problem, refused.headers["allow"]) == ("action_not_supported", "GET, HEAD, OPTIONS")
    assert catalog.get().json == HEATED


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | st.just("{a}"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=6,
)
_NAMES = st.sampled_from(
    [
        *("attributes", "header", "properties", "publish", "userproperty", "headers", "payload", "subject", "footer"),
        *("applicationdata", "applicationproperties", "id", "format", "version", "description", "dataschemauri"),
        *("envelopemetadata", "protocoloptions", "protocol", "envelope", "type"),
    ]
)
_FIELDS = st.sampled_from(
    [
        "type",
        "time",
        "dataschema",
        "qos",
        "mqttversion",
        "topicname",
        "messageid",
        "groupsequence",
        "to",
        "ttl",
        "a",
        "A",
    ]
)
_DOCUMENTS = st.dictionaries(_NAMES, _VALUES | st.dictionaries(_FIELDS, _VALUES, max_size=4), max_size=5)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(form=st.sampled_from(["CloudEvents", "AMQP", "MQTT", "NATS", "KAFKA", "Own"]), document=_DOCUMENTS)
def test_whatever_a_document_says_it_is_taken_or_refused(
    catalog: CatalogClient, form: str, document: dict[str, Any]
) -> None:
    if catalog.get(form).status == 404:
        catalog.group(form, form)
    reply = catalog.post(document, f"{form}/messagedefinitions/any")
    assert reply.status in (201, 400, 409), (reply.status, reply.body)
    if reply.status == 201:
        number = reply.json["version"]
        assert catalog.get(f"{form}/messagedefinitions/any/versions/{number}").body == json.dumps(document).encode()
        assert catalog.native(f"/messagegroups/{form}/messages/any")["messageid"] == "any"
        touched = catalog.ask("PATCH", f"/messagegroups/{form}/messages/any", {"labels": {"a": "b"}})
        assert touched.status == 200
        assert catalog.get(f"{form}/messagedefinitions/any").json["version"] == number + 1


@pytest.mark.audit("services-C11")
def test_the_openapi_document_has_all_paths_and_methods(catalog: CatalogClient) -> None:
    document = catalog.ask("GET", f"{ROOT}?openapi").json
    assert document["openapi"] == "3.1.0"
    assert document["servers"] == [{"url": "http://ovens.localhost/messagecatalog"}]
    for kind, handlers in HANDLERS.items():
        shown = {name.upper() for name in document["paths"][PATHS[kind]] if name != "parameters"}
        assert shown == set(handlers)
    assert len(document["paths"]) == len(HANDLERS) + 1
    operations = [
        one["operationId"] for path in document["paths"].values() for name, one in path.items() if name != "parameters"
    ]
    assert len(set(operations)) == len(operations)
    parameters = document["paths"][PATHS["version"]]["parameters"]
    assert [one["name"] for one in parameters] == ["group", "definition", "version"]
    assert catalog.ask("PUT", f"{ROOT}?openapi", b"{}").status == 405
