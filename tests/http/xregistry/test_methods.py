"""Every path with every method of the binding, and what all answers have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.http.xregistry import configuration, entities
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from tests.http.requests import AsgiClient

GROUP = "/schemagroups/ovens"
OVEN = f"{GROUP}/schemas/oven"
READABLE = ["/", "/schemagroups", GROUP, f"{GROUP}/schemas", f"{OVEN}$details", f"{OVEN}/meta", f"{OVEN}/versions"]
READABLE += [f"{OVEN}/versions/1$details", "/model", "/modelsource", "/capabilities", "/export", "/nowhere/x"]
TEXT: dict[str, Any] = {"format": "Text/1"}


@pytest.fixture
def stocked(asgi: AsgiClient) -> AsgiClient:
    for name in ("oven", "stove"):
        assert asgi.ask("PUT", f"{GROUP}/schemas/{name}$details", TEXT).status == 201
    return asgi


@pytest.mark.feature("HTTP-016", "HTTP-004", "HTTP-020", "HTTP-026", "HTTP-029", "HTTP-035", "HTTP-038")
@pytest.mark.parametrize("path", READABLE)
def test_json_says_what_it_is_and_where_the_registry_is(stocked: AsgiClient, path: str) -> None:
    answer = stocked.ask("GET", path)
    assert answer.status == (404 if path == "/nowhere/x" else 200)
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    links = [value for name, value in answer.raw if name == b"link"]
    assert links[0] == b"<http://ovens.localhost>;rel=xregistry-root"
    assert isinstance(answer.json, dict)


@pytest.mark.feature("HTTP-002", "HTTP-005", "HTTP-007", "ERR-007", "ERR-008")
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "POST", "DELETE", "HEAD", "BREW", "get", "TRACE", "CONNECT"])
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "registry"),
        ("/schemagroups", "groups"),
        (GROUP, "group"),
        (f"{GROUP}/schemas", "resources"),
        (f"{OVEN}$details", "resource"),
        (f"{OVEN}/meta", "meta"),
        (f"{OVEN}/versions", "versions"),
        (f"{OVEN}/versions/1$details", "version"),
        ("/model", "model"),
        ("/export", "export"),
        ("/.xregistry", ".xregistry"),
    ],
)
def test_a_method_is_allowed_or_refused_with_those_that_are(
    stocked: AsgiClient, path: str, kind: str, method: str
) -> None:
    allowed = {**entities.METHODS, **configuration.METHODS}[kind]
    options = stocked.ask("OPTIONS", path)
    assert (options.status, options.body) == (200, b"")
    assert options.headers["allow"] == options.headers["access-control-allow-methods"]
    assert set(options.headers["allow"].split(", ")) == {*allowed, "OPTIONS"}
    answer = stocked.ask(method, path, TEXT if "$details" in path else {})
    if method in allowed:
        assert answer.status < 300, answer.body
    else:
        assert (answer.status, answer.headers["allow"]) == (405, options.headers["allow"])
        assert (answer.body == b"") == (method == "HEAD")
        assert method == "HEAD" or answer.problem == "action_not_supported"


@pytest.mark.feature("HTTP-012", "HTTP-014", "HTTP-018", "HTTP-021", "HTTP-024", "HTTP-027", "HTTP-030", "HTTP-031")
@pytest.mark.feature("HTTP-036", "HTTP-039", "HTTP-008", "HTTP-009", "HTTP-010")
@pytest.mark.parametrize(
    ("method", "path", "body", "status", "location"),
    [
        ("PUT", "/", {"name": "Kitchen"}, 200, None),
        ("PATCH", "/", {"labels": {"a": "b"}}, 200, None),
        ("POST", "/", {"messagegroups": {"new": {}}}, 200, None),
        ("POST", "/messagegroups", {"new": {}}, 200, None),
        ("PATCH", "/messagegroups", {"new": {}}, 200, None),
        ("PUT", "/messagegroups/new", {}, 201, "/messagegroups/new"),
        ("PATCH", "/messagegroups/new", {}, 201, "/messagegroups/new"),
        ("PUT", GROUP, {}, 200, None),
        ("POST", GROUP, {"schemas": {"new": TEXT}}, 200, None),
        ("POST", f"{GROUP}/schemas", {"new": TEXT, "oven": TEXT}, 200, None),
        ("PATCH", f"{GROUP}/schemas", {"new": TEXT, "oven": {}}, 200, None),
        ("PUT", f"{GROUP}/schemas/new$details", TEXT, 201, f"{GROUP}/schemas/new$details"),
        ("PATCH", f"{GROUP}/schemas/new$details", TEXT, 201, f"{GROUP}/schemas/new$details"),
        ("PUT", f"{OVEN}$details", TEXT, 200, None),
        ("PATCH", f"{OVEN}$details", {}, 200, None),
        ("POST", f"{OVEN}$details", TEXT, 201, f"{OVEN}/versions/2$details"),
        ("POST", f"{OVEN}$details", {"versionid": "1", **TEXT}, 200, None),
        ("PUT", f"{OVEN}/meta", {}, 200, None),
        ("PATCH", f"{OVEN}/meta", {}, 200, None),
        ("POST", f"{OVEN}/versions", {"v2": TEXT}, 200, None),
        ("PATCH", f"{OVEN}/versions", {"v2": TEXT, "1": {}}, 200, None),
        ("PUT", f"{OVEN}/versions/v2$details", TEXT, 201, f"{OVEN}/versions/v2$details"),
        ("PATCH", f"{OVEN}/versions/1$details", {}, 200, None),
    ],
)
def test_writes_answer_with_what_they_wrote(
    stocked: AsgiClient, method: str, path: str, body: dict[str, Any], status: int, location: str | None
) -> None:
    answer = stocked.ask(method, path, body)
    assert answer.status == status, answer.body
    expected = f"http://ovens.localhost{location}" if location else None
    assert answer.headers.get("location") == expected
    if location is not None:
        assert answer.json["self"] == expected
        assert stocked.ask("GET", location).json == answer.json
    is_map = (method == "POST" and "$details" not in path) or path.endswith(("groups", "schemas", "versions"))
    assert set(answer.json) == set(body) if is_map else set(answer.json) > set(body)


@pytest.mark.feature("HTTP-013", "HTTP-012", "RES-021", "RES-023")
@pytest.mark.parametrize(
    ("method", "path", "status", "location", "version"),
    [
        ("PUT", f"{GROUP}/schemas/new", 201, f"{GROUP}/schemas/new", f"{GROUP}/schemas/new/versions/1"),
        ("PUT", OVEN, 200, None, f"{OVEN}/versions/1"),
        ("POST", OVEN, 201, f"{OVEN}/versions/2", f"{OVEN}/versions/2"),
        ("PUT", f"{OVEN}/versions/v9", 201, f"{OVEN}/versions/v9", f"{OVEN}/versions/v9"),
        ("PUT", f"{OVEN}/versions/1", 200, None, f"{OVEN}/versions/1"),
    ],
)
def test_documents_say_which_version_they_are(
    stocked: AsgiClient, method: str, path: str, status: int, location: str | None, version: str
) -> None:
    answer = stocked.ask(method, path, b"hot", {"xRegistry-format": "Text/1"})
    assert (answer.status, answer.body) == (status, b"hot")
    assert answer.headers["content-location"] == f"http://ovens.localhost{version}"
    assert answer.headers.get("location") == (f"http://ovens.localhost{location}" if location else None)
    if location is not None:
        assert answer.headers["location"] == answer.headers["xregistry-self"]


@pytest.mark.feature("HTTP-022", "HTTP-025", "HTTP-028", "HTTP-033", "HTTP-037", "HTTP-040", "HTTP-041", "HTTP-042")
@pytest.mark.parametrize(
    ("path", "body", "status", "problem"),
    [
        ("/schemagroups", b"", 204, ""),
        ("/schemagroups", {"ovens": {"epoch": 99}}, 400, "mismatched_epoch"),
        (GROUP, b"", 204, ""),
        (f"{GROUP}?epoch=99", b"", 400, "mismatched_epoch"),
        ("/schemagroups/none", b"", 404, "not_found"),
        (f"{GROUP}/schemas", b"", 204, ""),
        (f"{GROUP}/schemas", {"oven": {"meta": {"epoch": 1}}}, 204, ""),
        (f"{GROUP}/schemas", {"oven": {"epoch": 1}}, 400, "misplaced_epoch"),
        (f"{GROUP}/schemas", {"oven": {"epoch": 99, "meta": {"epoch": 1}}}, 204, ""),
        (f"{GROUP}/schemas", {"oven": {"schemaid": "stove"}}, 400, "mismatched_id"),
        (f"{GROUP}/schemas", {"oven": {"anything": [1]}, "nobody": {}}, 204, ""),
        (OVEN, b"", 204, ""),
        (f"{OVEN}?epoch=99", b"", 400, "mismatched_epoch"),
        (f"{OVEN}/versions", b"", 204, ""),
        (f"{OVEN}/versions/1", b"", 204, ""),
        (f"{OVEN}/versions/none", b"", 404, "not_found"),
    ],
)
def test_deletes(stocked: AsgiClient, path: str, body: Any, status: int, problem: str) -> None:
    answer = stocked.ask("DELETE", path, body)
    assert answer.status == status
    if problem:
        assert answer.problem == problem
        assert set(stocked.ask("GET", f"{GROUP}/schemas").json) == {"oven", "stove"}
    else:
        assert answer.body == b""
        assert "content-length" not in answer.headers
        assert stocked.ask("GET", f"{OVEN}$details").status == 404


@pytest.mark.feature("HTTP-003")
def test_our_own_names_give_way_to_the_model(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/own.db", "none") as store:
        asgi = AsgiClient(create_app(store, Settings()))
        with store.read() as tx:
            assert not set(configuration.OURS) & set(tx.model().attributes)
        assert [asgi.ask("GET", path).json for path in ("/healthz", "/readyz")] == [
            {"status": "ok"},
            {"status": "ready"},
        ]
        model = {"groups": {"healthz": {"singular": "health"}}, "attributes": {"readyz": {"type": "string"}}}
        assert asgi.ask("PUT", "/modelsource", model).status == 200
        assert asgi.ask("GET", "/readyz").status == 404
        assert asgi.ask("GET", "/healthz").json == {}
        assert asgi.ask("PUT", "/healthz/h1", {}).status == 201
        assert asgi.ask("GET", "/-/healthz").json == {"status": "ok"}


@pytest.mark.feature("REG-089", "REG-090")
@pytest.mark.parametrize("path", ["/.well-known/xregistry", "/.xregistry"])
def test_discovery(asgi: AsgiClient, path: str) -> None:
    assert asgi.ask("GET", path).json == {"registries": ["http://ovens.localhost"]}
    assert asgi.ask("PUT", path, {}).problem == "action_not_supported"


@pytest.mark.feature("ERR-001", "ERR-004", "ERR-006")
def test_a_status_of_our_own_keeps_type_and_sentence(asgi: AsgiClient) -> None:
    answer = asgi.ask("PUT", "/messagegroups/ovens", b" " * (17 * 1024 * 1024))
    assert (answer.status, answer.problem) == (413, "bad_request")
    assert answer.json["title"] == "/messagegroups/ovens: the body is larger than 16 MB."
    assert answer.json["subject"] == "/messagegroups/ovens"
    assert RegistryProblem("bad_request", "/", error_detail="x", status=413).document()["status"] == 413


@pytest.mark.feature("ERR-062")
def test_a_store_that_others_hold_is_busy(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/held.db"
    with open_store(url) as held, open_store(url, write_wait_s=0.1) as store:
        asgi = AsgiClient(create_app(store, Settings()))
        with held.write():
            answer = asgi.ask("PUT", "/messagegroups/ovens", {})
            assert (answer.status, answer.problem) == (503, "server_busy")
            assert asgi.ask("GET", "/").status == 200
        assert asgi.ask("PUT", "/messagegroups/ovens", {}).status == 201
