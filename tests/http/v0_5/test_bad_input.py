"""Whatever a client sends: a clear refusal, nothing half-written, never a failure of the server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.settings import Settings
from tests.http.requests import AsgiClient
from tests.http.v0_5.requests import EVENT, JSON_SCHEMA, TEXT_SCHEMA, V05Client

GROUP = "/definitionGroups/ovens"
HOT = f"{GROUP}/definitions/oven.hot"
DEEP = b'{"format": "CloudEvents/1.0", "x": ' + b"[" * 500 + b"]" * 500 + b"}"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/messagegroups", 404),
        ("GET", f"{GROUP}/messages", 404),
        ("GET", "/nothing", 404),
        ("GET", f"{HOT}/meta", 404),
        ("GET", f"{HOT}$details", 404),
        ("GET", f"{HOT}/versions/1/more", 404),
        ("GET", "/definitionGroups//definitions", 400),
        ("GET", "/definitionGroups/%FF", 404),
        ("GET", "/definitionGroups/..", 404),
        ("GET", f"/definitionGroups/{'x' * 129}", 400),
        ("GET", "/definitionGroups/a%20b", 400),
        ("GET", "/definitionGroups?limit=0", 400),
        ("GET", "/definitionGroups?limit=many", 400),
        ("GET", "/definitionGroups?cursor=made-up", 400),
        ("GET", "/definitionGroups?limit=18446744073709551615", 200),
        ("GET", "/definitiongroups/ovens", 200),
        ("POST", f"{GROUP}/definitions/nowhere", 404),
        ("POST", "/definitionGroups/nowhere/definitions", 404),
        ("DELETE", "/definitionGroups/nowhere/definitions", 404),
        ("DELETE", f"{GROUP}/definitions/nowhere/versions", 404),
        ("DELETE", f"{GROUP}/definitions/nowhere/versions/1", 404),
        ("PUT", "/", 405),
        ("POST", "/", 405),
        ("DELETE", "/", 405),
        ("PUT", "/definitionGroups", 405),
        ("POST", GROUP, 405),
        ("PATCH", HOT, 405),
        ("POST", f"{HOT}/versions", 405),
        ("POST", f"{HOT}/versions/1", 405),
        ("TRACE", HOT, 405),
    ],
)
def test_paths_and_methods(ovens: V05Client, method: str, path: str, status: int) -> None:
    reply = ovens.ask(method, path, EVENT if method in ("POST", "PUT") else b"")
    assert reply.status == status
    if status == 405:
        assert "GET" in reply.headers["allow"]


def test_what_can_be_done_at_a_place(ovens: V05Client) -> None:
    allowed = {path: ovens.ask("OPTIONS", path).headers["allow"] for path in ("/", GROUP, HOT)}
    assert allowed == {
        "/": "GET, HEAD, OPTIONS",
        GROUP: "DELETE, GET, HEAD, OPTIONS, PUT",
        HOT: "DELETE, GET, HEAD, OPTIONS, POST, PUT",
    }


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "missing_body"),
        (b"   ", "missing_body"),
        (b"{", "parsing_data"),
        (b"\xff\xfe", "parsing_data"),
        (b'{"name": "a", "name": "b"}', "parsing_data"),
        (b'{"name": NaN}', "parsing_data"),
        (DEEP, "parsing_data"),
        (b"[]", "bad_request"),
        (b"null", "bad_request"),
        (b'"text"', "bad_request"),
        (b"{}", "required_attribute_missing"),
        ({"format": 7}, "invalid_attribute"),
        ({"format": "CloudEvents/1.0", "name": []}, "invalid_attribute"),
        ({"format": "CloudEvents/1.0", "dialectextras": []}, "invalid_attribute"),
        ({"format": "CloudEvents/1.0", "id": "x" * 129}, "malformed_id"),
        ({"format": "CloudEvents/1.0", "id": 7}, "malformed_id"),
        ({"format": "CloudEvents/1.0", "id": ""}, "malformed_id"),
        ({"format": "CloudEvents/1.0", "id": "a$details"}, "malformed_id"),
        ({"format": "CloudEvents/1.0", "id": "../../etc"}, "malformed_id"),
    ],
)
def test_bodies_of_groups(v0_5: V05Client, body: Any, problem: str) -> None:
    assert v0_5.problem("POST", "/definitionGroups", body) == (400, problem)
    assert v0_5.get("/definitionGroups") == {}


@pytest.mark.parametrize(
    ("headers", "problem"),
    [
        ([(b"registry-name", b"a"), (b"registry-name", b"b")], "header_error"),
        ([(b"registry-name", b"%FF")], "header_error"),
        ([(b"registry-", b"x")], "header_error"),
        ([(b"registry-createdon", b"yesterday")], "invalid_attribute"),
        ([(b"registry-tags", b"all")], "invalid_attribute"),
        ([(b"registry-tags.-", b"x")], "invalid_attribute"),
        ([(b"registry-docs", b"ftp://x.example")], "invalid_attribute"),
        ([(b"registry-metadata", b"{}")], "bad_request"),
        ([(b"registry-dialectextras", b"x")], "invalid_attribute"),
        ([(b"registry-epoch", b"1e9")], "invalid_attribute"),
        ([(b"registry-epoch", b"9" * 5000)], "invalid_attribute"),
        ([(b"registry-definitionuri", b"https://x.example")], "extra_xregistry_header"),
    ],
)
def test_headers(ovens: V05Client, headers: list[tuple[bytes, bytes]], problem: str) -> None:
    reply = ovens.asgi.ask("PUT", f"/v0.5{HOT}", EVENT, headers)
    assert (reply.status, reply.problem) == (400, problem)
    assert ovens.get(f"{HOT}?meta")["epoch"] == 1


@pytest.mark.parametrize("name", ["schema", "schemabase64", "contenttype"])
def test_a_document_is_in_the_body(notes: V05Client, name: str) -> None:
    note = "/schemaGroups/payloads/schemas/note"
    assert notes.problem("PUT", note, TEXT_SCHEMA, {f"Registry-{name}": "x"}) == (400, "extra_xregistry_header")


def test_attributes_of_odd_types_do_no_harm(ovens: V05Client) -> None:
    ovens.native("/messagegroups/ovens", "PATCH", {"type": [], "origin": {}, "config": 7})
    ovens.native("/messagegroups/ovens/messages/oven.hot", "PATCH", {"type": {}, "definitionuri": 7, "uri": []})
    for path in (GROUP, HOT, f"{HOT}?meta"):
        assert ovens.ask("GET", path).status == 200
        assert ovens.put(path, {"format": "CloudEvents/1.0", "metadata": {}}).status in (200, 400)
    ovens.native("/schemagroups/s/schemas/x$details", "PUT", {"format": "Free/1", "schema": "a", "type": []})
    assert ovens.put("/schemaGroups/s/schemas/x?meta", {"name": "X"}).status == 200


def test_words_of_other_dialects_do_no_harm(ovens: V05Client) -> None:
    odd = {"meta": {"readonly": True}, "versions": {"9": {}}, "readonly": True, "defaultversionid": "9", "xid": "/"}
    assert ovens.put(HOT, {**EVENT, **odd}).status == 200
    assert ovens.get(HOT)["metadata"] == EVENT["metadata"]
    assert list(ovens.get(f"{HOT}/versions")) == ["1"]
    assert ovens.put(HOT, {**EVENT, "name": "Still to be written"}).status == 200


def test_a_problem_speaks_of_the_paths_and_names_of_0_5(ovens: V05Client) -> None:
    reply = ovens.put(GROUP, {"format": "CloudEvents/1.0", "docs": "a b"})
    assert (reply.status, reply.json["subject"], reply.json["args"]["name"]) == (400, GROUP, "docs")


def test_a_registry_that_is_not_to_be_changed(ovens: V05Client) -> None:
    ovens.native("/capabilities", "PATCH", {"available": {"capabilities": {}, "entities": {}, "model": {}}})
    assert ovens.problem("PUT", GROUP, {"format": "CloudEvents/1.0"}) == (405, "action_not_supported")
    assert ovens.get(GROUP)["name"] == "Ovens"


NAMES = st.sampled_from(
    [
        *("id", "name", "format", "metadata", "schema", "schemaurl", "schemaformat", "uri", "tags", "docs", "config"),
        *("usage", "deprecated", "definitionGroups", "definitions", "schemas", "versions", "version", "epoch", "type"),
        *(
            "createdOn",
            "createdBy",
            "protocol",
            "binding",
            "envelope",
            "messages",
            "attributes",
            "endpoints",
            "options",
        ),
        *(
            "value",
            "strict",
            "user-properties",
            "headers",
            "query",
            "origin",
            "xref",
            "meta",
            "definition",
            "schemaURI",
        ),
    ]
)
WORDS = st.sampled_from(
    ["CloudEvents/1.0", "AMQP/1.0", "MQTT/5.0", "Kafka", "HTTP", "consumer", "#/a/b", "http://x", ""]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=12,
)
BODIES = st.dictionaries(NAMES, VALUES, max_size=6) | VALUES
PATHS = st.sampled_from(
    [
        *("/definitionGroups", "/endpoints", "/schemaGroups", GROUP, f"{GROUP}/definitions", HOT, f"{HOT}?meta"),
        *(f"{HOT}/versions/1", f"{HOT}/versions", "/schemaGroups/payloads/schemas", "/endpoints/bakery"),
        *(
            "/schemaGroups/payloads/schemas/note",
            "/schemaGroups/payloads/schemas/note?meta",
            "/endpoints/bakery/definitions",
        ),
    ]
)
HEADERS = st.dictionaries(
    NAMES.map(lambda name: f"Registry-{name}"),
    st.sampled_from(["", "1", "CloudEvents/1.0", "x", "http://x"]),
    max_size=2,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(method=st.sampled_from(["POST", "PUT", "DELETE"]), path=PATHS, body=BODIES, headers=HEADERS)
def test_nothing_makes_the_server_fail(
    sturdy: V05Client, method: str, path: str, body: Any, headers: dict[str, str]
) -> None:
    reply = sturdy.ask(method, path, json.dumps(body).encode(), headers)
    assert reply.status < 500, (method, path, body, reply.body)
    for target in ("/?inline", "/definitionGroups?inline"):
        assert sturdy.ask("GET", target).status == 200
    assert sturdy.native("/export") is not None


NATIVE = st.sampled_from(
    ["/messagegroups/ovens", "/messagegroups/ovens/messages/oven.hot", "/endpoints/bakery", "/schemagroups/payloads"]
)
NATIVE_NAMES = NAMES | st.sampled_from(
    [
        *("envelopemetadata", "envelopeoptions", "protocoloptions", "basemessage", "dataschema", "dataschemauri"),
        *("documentation", "labels", "definitionuri", "description", "messagegroups", "channel", "dialectextras"),
    ]
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=NATIVE, body=st.dictionaries(NATIVE_NAMES, VALUES, max_size=4))
def test_nothing_that_1_0_takes_makes_it_fail(sturdy: V05Client, path: str, body: dict[str, Any]) -> None:
    if sturdy.asgi.ask("PATCH", path, body).status != 200:
        return
    for target in (GROUP, HOT, f"{HOT}?meta", "/endpoints/bakery"):
        reply = sturdy.ask("GET", target)
        assert reply.status in (200, 307, 404), (path, body, target)
        if reply.status == 200:
            assert sturdy.put(target, reply.json).status in (200, 400), (path, body, target)
    assert sturdy.ask("GET", "/?inline").status == 200


@pytest.fixture(scope="module")
def sturdy(tmp_path_factory: pytest.TempPathFactory) -> V05Client:
    folder: Path = tmp_path_factory.mktemp("sturdy")
    v0_5 = V05Client(AsgiClient(create_app(open_store(f"sqlite:///{folder}/registry.db"), Settings())))
    v0_5.post("/definitionGroups", {"id": "ovens", "format": "CloudEvents/1.0", "definitions": {"oven.hot": EVENT}})
    v0_5.post("/schemaGroups", {"id": "payloads"})
    v0_5.ask("POST", "/schemaGroups/payloads/schemas", TEXT_SCHEMA, {"Registry-id": "note", **JSON_SCHEMA})
    v0_5.post("/endpoints", {"id": "bakery", "usage": "consumer"})
    return v0_5


REFUSED: list[tuple[str, Any, str, str]] = [
    (
        "/endpoints",
        {"config": {"protocol": "HTTP", "endpoints": ["https://baker:secret@x"]}},
        "config.endpoints[0]",
        "/config/endpoints/0",
    ),
    (
        "/endpoints",
        {"config": {"protocol": "MQTT/5.0", "options": {"qos": "x"}}},
        "config.options.qos",
        "/config/options/qos",
    ),
    (
        "/endpoints",
        {"config": {"protocol": "MQTT/3.1.1", "options": {"clean-session": 1}}},
        "config.options.clean-session",
        "/config/options/clean-session",
    ),
    (
        "/endpoints",
        {"config": {"protocol": "MQTT/5.0", "options": {"clean-session": 1}}},
        "config.options.clean-session",
        "/config/options/clean-session",
    ),
    ("/endpoints", {"definitionGroups": ["a b"]}, "definitionGroups[0]", "/definitionGroups/0"),
    ("/endpoints", {"deprecated": {"removal": "soon"}}, "deprecated.removal", "/deprecated/removal"),
    (
        f"{GROUP}/definitions",
        {"metadata": {"attributes": {"subject": {"required": "x"}}}},
        "metadata.attributes.subject.required",
        "/metadata/attributes/subject/required",
    ),
    (
        "/definitionGroups/queues/definitions",
        {"metadata": {"properties": {"message-id": {"required": "x"}}}},
        "metadata.properties.message-id.required",
        "/metadata/properties/message-id/required",
    ),
]


@pytest.mark.audit("services-A22")
@pytest.mark.parametrize(("path", "body", "name", "pointer"), REFUSED)
def test_problems_have_the_names_of_0_5(ovens: V05Client, path: str, body: Any, name: str, pointer: str) -> None:
    ovens.post("/definitionGroups", {"id": "queues", "format": "AMQP/1.0"})
    reply = ovens.post(path, {"usage": "consumer", **body} if path == "/endpoints" else body)
    assert (reply.json["args"]["name"], reply.json["pointer"]) == (name, pointer)
    assert not any(word in reply.body.decode() for word in ("protocoloptions", "envelopemetadata", "messagegroups"))


@pytest.mark.audit("services-A22")
def test_a_name_of_1_0_is_not_found_under_the_name_that_was_asked_for(v0_5: V05Client) -> None:
    reply = v0_5.ask("GET", "/schemagroups")
    assert (reply.json["title"], reply.json["detail"]) == (
        "/schemagroups does not exist.",
        "0.5 calls them schemaGroups.",
    )


@pytest.mark.audit("services-A22")
def test_a_problem_with_a_header_names_the_header(notes: V05Client) -> None:
    reply = notes.put("/schemaGroups/payloads/schemas/note", b"{}", schemaURI="https://elsewhere.example/note")
    assert reply.json["args"]["name"] == "Registry-schemaURI"


@pytest.mark.audit("services-A22")
def test_a_definition_that_is_an_empty_object_lacks_its_metadata(ovens: V05Client) -> None:
    assert ovens.problem("POST", f"{GROUP}/definitions", {}) == (400, "required_attribute_missing")
    assert ovens.problem("PUT", HOT, {}) == (400, "required_attribute_missing")


@pytest.mark.audit("services-A21", "services-A22")
def test_answers_have_no_headers_of_1_0(tmp_path: Path) -> None:
    settings = Settings(correlation_header="always")
    asgi = AsgiClient(create_app(open_store(f"sqlite:///{tmp_path / 'r.db'}"), settings))
    reply = V05Client(asgi).post("/definitionGroups", {"id": "ovens", "format": "CloudEvents/1.0"})
    assert reply.status == 201
    assert not {"link", "xregistry-xregcorrelationid"} & reply.headers.keys()
