"""Anything can arrive: always a problem document of the right type, never a 500, nothing written."""

from __future__ import annotations

import socket
import time
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

GROUP = "/messagegroups/ovens"
MESSAGE = f"{GROUP}/messages/heated"
OVEN = "/schemagroups/ovens/schemas/oven"
DEEP = b'{"a":' * 10_000 + b"1" + b"}" * 10_000

BODIES: list[tuple[str, str, str, bytes, int, str]] = [
    ("brace", "PUT", GROUP, b"{", 400, "parsing_data"),
    ("nothing", "PUT", GROUP, b"", 400, "missing_body"),
    ("blank", "PUT", GROUP, b" \r\n\t", 400, "missing_body"),
    ("not utf-8", "PUT", GROUP, b'{"name": "\xff\xfe"}', 400, "parsing_data"),
    ("utf-16", "PUT", GROUP, '{"name": "x"}'.encode("utf-16"), 400, "parsing_data"),
    ("surrogate", "PUT", GROUP, b'{"name": "\\udc00"}', 400, "parsing_data"),
    ("twice", "PUT", GROUP, b'{"name": "a", "name": "b"}', 400, "parsing_data"),
    ("twice deep", "PUT", "/", b'{"messagegroups": {"g": {}, "g": {}}}', 400, "parsing_data"),
    ("infinite", "PUT", GROUP, b'{"x": 1e400}', 400, "parsing_data"),
    ("nan", "PUT", GROUP, b'{"x": NaN}', 400, "parsing_data"),
    ("digits", "PUT", GROUP, b'{"x": ' + b"9" * 10_000 + b"}", 400, "parsing_data"),
    ("deep", "PUT", GROUP, DEEP, 400, "parsing_data"),
    ("deep array", "POST", "/messagegroups", b"[" * 10_000, 400, "parsing_data"),
    ("trailing", "PUT", GROUP, b"{} {}", 400, "parsing_data"),
    ("comment", "PUT", GROUP, b"{/* hello */}", 400, "parsing_data"),
    ("long text", "PUT", GROUP, b'{"name": "' + b"x" * 10_000_000 + b'"}', 400, "invalid_attribute"),
    ("long key", "PUT", GROUP, b'{"labels": {"' + b"x" * 1_000_000 + b'": "y"}}', 400, "invalid_attribute"),
    ("list", "PUT", GROUP, b"[]", 400, "parsing_data"),
    ("text", "PUT", GROUP, b'"x"', 400, "parsing_data"),
    ("number", "PATCH", GROUP, b"5", 400, "parsing_data"),
    ("true", "POST", "/messagegroups", b"true", 400, "parsing_data"),
    ("null", "PUT", GROUP, b"null", 400, "parsing_data"),
    ("delete list", "DELETE", "/messagegroups", b"[]", 400, "parsing_data"),
    ("delete null", "DELETE", "/messagegroups", b"null", 400, "parsing_data"),
    ("delete members", "DELETE", f"{GROUP}/messages", b'"heated"', 400, "parsing_data"),
    ("delete versions", "DELETE", f"{MESSAGE}/versions", b"1", 400, "parsing_data"),
    ("delete number", "DELETE", "/messagegroups", b'{"g": 1}', 400, "bad_request"),
    ("member null", "POST", "/messagegroups", b'{"g": null}', 400, "bad_request"),
    ("member list", "POST", "/messagegroups", b'{"g": []}', 400, "bad_request"),
    ("collection list", "PUT", GROUP, b'{"messages": []}', 400, "invalid_attribute"),
    ("collection text", "PUT", GROUP, b'{"messages": "x"}', 400, "invalid_attribute"),
    ("group null", "PUT", "/", b'{"messagegroups": {"g": null}}', 400, "invalid_attribute"),
    ("groups list", "PATCH", "/", b'{"messagegroups": []}', 400, "invalid_attribute"),
    ("message null", "PUT", GROUP, b'{"messages": {"m": null}}', 400, "invalid_attribute"),
    ("version null", "PUT", MESSAGE, b'{"versions": {"1": null}}', 400, "invalid_attribute"),
    ("meta number", "PATCH", MESSAGE, b'{"meta": 5}', 400, "invalid_attribute"),
    ("meta text", "PUT", GROUP, b'{"messages": {"m": {"meta": "x"}}}', 400, "invalid_attribute"),
    ("registry id type", "PUT", "/", b'{"registryid": 5}', 400, "invalid_attribute"),
    ("group id type", "PUT", GROUP, b'{"messagegroupid": ["ovens"]}', 400, "invalid_attribute"),
    ("resource id type", "PUT", MESSAGE, b'{"messageid": 5}', 400, "invalid_attribute"),
    ("meta id type", "PUT", f"{MESSAGE}/meta", b'{"messageid": true}', 400, "invalid_attribute"),
    ("version id type", "PUT", f"{MESSAGE}/versions/1", b'{"versionid": 1}', 400, "invalid_attribute"),
    ("posted id type", "POST", MESSAGE, b'{"versionid": 1.5}', 400, "invalid_attribute"),
    ("empty id", "POST", "/messagegroups", b'{"": {}}', 400, "malformed_id"),
    ("slash id", "POST", "/messagegroups", b'{"a/b": {}}', 400, "malformed_id"),
    ("dots id", "POST", "/messagegroups", b'{"..": {}}', 400, "malformed_id"),
    ("long id", "POST", "/messagegroups", b'{"' + b"x" * 129 + b'": {}}', 400, "malformed_id"),
    ("null id", "POST", "/messagegroups", b'{"a\\u0000": {}}', 400, "malformed_id"),
    ("meta list", "PUT", MESSAGE, b'{"meta": []}', 400, "invalid_attribute"),
    ("versions text", "PUT", MESSAGE, b'{"versions": "x"}', 400, "invalid_attribute"),
    ("version number", "PUT", MESSAGE, b'{"versions": {"1": 7}}', 400, "invalid_attribute"),
    ("labels list", "PUT", GROUP, b'{"labels": ["a"]}', 400, "invalid_attribute"),
    ("labels deep", "PUT", GROUP, b'{"labels": {"a": {"b": 1}}}', 400, "invalid_attribute"),
    ("name number", "PUT", GROUP, b'{"name": 5}', 400, "invalid_attribute"),
    ("name map", "PUT", GROUP, b'{"name": {}}', 400, "invalid_attribute"),
    ("time", "PUT", GROUP, b'{"createdat": "yesterday"}', 400, "invalid_attribute"),
    ("time number", "PUT", GROUP, b'{"createdat": 5}', 400, "invalid_attribute"),
    ("year", "PUT", GROUP, b'{"createdat": "99999-01-01T00:00:00Z"}', 400, "invalid_attribute"),
    ("deprecated", "PUT", GROUP, b'{"deprecated": "x"}', 400, "invalid_attribute"),
    ("base64", "PUT", f"{OVEN}$details", b'{"format": "T/1", "schemabase64": "a"}', 400, "invalid_attribute"),
    ("base64 type", "PUT", f"{OVEN}$details", b'{"format": "T/1", "schemabase64": 5}', 400, "invalid_attribute"),
    ("url type", "PUT", f"{OVEN}$details", b'{"format": "T/1", "schemaurl": []}', 400, "invalid_attribute"),
    ("proxy type", "PUT", f"{OVEN}$details", b'{"format": "T/1", "schemaproxyurl": {}}', 400, "invalid_attribute"),
    (
        "contenttype",
        "PUT",
        f"{OVEN}$details",
        b'{"format": "T/1", "contenttype": "a\\r\\nb"}',
        400,
        "invalid_attribute",
    ),
    ("xref type", "PUT", f"{MESSAGE}/meta", b'{"xref": 5}', 400, "malformed_xref"),
    ("xref", "PUT", f"{MESSAGE}/meta", b'{"xref": "/nothing"}', 400, "malformed_xref"),
    ("default type", "PUT", MESSAGE, b'{"meta": {"defaultversionid": {}}}', 400, "invalid_attribute"),
    ("versionid type", "PUT", MESSAGE, b'{"versionid": []}', 400, "invalid_attribute"),
    ("ancestor type", "PUT", MESSAGE, b'{"ancestorid": 5}', 400, "invalid_attribute"),
    ("model list", "PUT", "/modelsource", b"[]", 400, "parsing_data"),
    ("model groups", "PUT", "/modelsource", b'{"groups": {"x": 5}}', 400, "parsing_data"),
    ("model attributes", "PUT", "/modelsource", b'{"attributes": {"x": {"type": {}}}}', 400, "parsing_data"),
    ("capabilities", "PUT", "/capabilities", b"[]", 400, "parsing_data"),
    ("registry model", "PUT", "/", b'{"modelsource": 5}', 400, "model_error"),
    ("registry capabilities", "PUT", "/", b'{"capabilities": 5}', 400, "capability_error"),
    ("unknown group type", "POST", "/", b'{"kitchens": {}}', 400, "groups_only"),
]


@pytest.mark.feature("REG-081", "REG-084", "REG-086", "REG-034", "HTTP-006", "ERR-058", "ERR-048", "ERR-017")
@pytest.mark.audit("registry-3", "registry-4", "registry-21")
@pytest.mark.parametrize(
    ("method", "path", "body", "status", "problem"), [row[1:] for row in BODIES], ids=[row[0] for row in BODIES]
)
def test_bodies(asgi: AsgiClient, method: str, path: str, body: bytes, status: int, problem: str) -> None:
    before = asgi.ask("GET", "/?inline=*,modelsource,capabilities").json
    answer = asgi.ask(method, path, body)
    assert (answer.status, answer.problem) == (status, problem), answer.body[:500]
    assert len(answer.body) < 5000
    assert asgi.ask("GET", "/?inline=*,modelsource,capabilities").json == before


@pytest.mark.audit("registry-4")
@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("/", {"messagegroups": 5}, "messagegroups"),
        ("/", {"messagegroups": {"g": 5}}, "messagegroups"),
        (GROUP, {"messages": {"m": []}}, "messages"),
        (MESSAGE, {"versions": {"1": None}}, "versions"),
        (MESSAGE, {"meta": "x"}, "meta"),
    ],
)
def test_what_is_nested_wrongly_is_named(asgi: AsgiClient, path: str, body: object, name: str) -> None:
    assert asgi.ask("PUT", path, body).json["args"]["name"] == name


@pytest.mark.parametrize("epoch", [2**70, -1, 1.5, "1", True, [], {}, 10**400])
def test_epochs(asgi: AsgiClient, epoch: Any) -> None:
    asgi.ask("PUT", GROUP, {})
    answer = asgi.ask("PUT", GROUP, {"epoch": epoch, "name": "x"})
    assert answer.problem in ("mismatched_epoch", "invalid_attribute")
    assert "name" not in asgi.ask("GET", GROUP).json
    assert asgi.ask("DELETE", f"{GROUP}?epoch={2**70}").problem in ("mismatched_epoch", "invalid_attribute")


@pytest.mark.feature("HTTP-002", "ERR-010", "ERR-012", "ERR-041", "ERR-056", "RES-009")
@pytest.mark.audit("registry-6")
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    ("path", "problem"),
    [
        (b"/messagegroups//messages", "malformed_id"),
        (b"/messagegroups//x", "malformed_id"),
        (b"/messagegroups/../model", "api_not_found"),
        (b"/messagegroups/%2e%2e/x", "api_not_found"),
        (b"/messagegroups/a%2fb", "malformed_id"),
        (b"/messagegroups/a%00b", "malformed_id"),
        (b"/messagegroups/%ff", "api_not_found"),
        (b"/messagegroups/\xc3\xb6", "malformed_id"),
        (b"/messagegroups/a b", "malformed_id"),
        (b"/messagegroups/" + b"x" * 129, "malformed_id"),
        (b"/messagegroups/" + b"x" * 50_000, "malformed_id"),
        (b"/messagegroups/g$details", "bad_details"),
        (b"/messagegroups$details", "not_found bad_details"),
        (b"/$details", "bad_details"),
        (b"/messagegroups/g/messages/m/versions/1/x", "api_not_found not_found"),
        (b"/messagegroups/g/messages/m/other", "not_found"),
        (b"/messagegroups/g/other", "not_found"),
        (b"/kitchens", "not_found"),
        (b"/model/x", "api_not_found"),
        (b"/-/x", "api_not_found"),
        (b"/-", "api_not_found"),
        (b"*", "not_found api_not_found"),
    ],
)
def test_paths(asgi: AsgiClient, method: str, path: bytes, problem: str) -> None:
    answer = asgi.ask(method, path, {})
    assert answer.status in (400, 404)
    assert answer.problem in problem.split()
    assert asgi.ask("GET", "/messagegroups").json == {}


@pytest.mark.parametrize(
    "query",
    [
        "inline=" + "messagegroups," * 5000,
        "filter=" + "a=b," * 5000,
        "&".join(["filter=x=y"] * 3000),
        "a=1&" * 20_000,
        "%ff=%ff",
        "inline=%00",
        "epoch=" + "9" * 5000,
        "specversion=" + "x" * 10_000,
        "setdefaultversionid=",
        "sort==&limit=-1",
        "limit=" + "9" * 5000,
        "=&&&==",
        "ignore=*,*,x",
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_queries(asgi: AsgiClient, method: str, query: str) -> None:
    answer = asgi.ask(method, f"{GROUP}?{query}", {})
    assert answer.status in (200, 201, 204, 400, 404)
    assert answer.status < 400 or answer.problem


@pytest.mark.parametrize("host", [b"", b"a b", b"x\r\ny: z", b"\xff", b"h" * 10_000, b"a,b", b'">;rel=x'])
def test_hosts(asgi: AsgiClient, host: bytes) -> None:
    answer = asgi.ask("PUT", GROUP, {}, host=host)
    assert answer.status == (201 if host == b"" else 400)
    assert b"\r\n" not in b"".join(value for _, value in answer.raw)
    assert host == b"" or answer.problem == "bad_request"


def test_control_characters_never_reach_a_header(asgi: AsgiClient) -> None:
    raw = [(b"xregistry-format", b"T/1"), (b"xregistry-name", b"a\x00b\x1fc"), (b"content-type", b"text/x\x01")]
    answer = asgi.ask("PUT", OVEN, b"hot", raw)
    assert (answer.status, answer.problem) == (400, "invalid_attribute")
    answer = asgi.ask("PUT", OVEN, b"hot", raw[:2])
    assert answer.status == 201
    assert answer.headers["xregistry-name"] == "a%00b%1Fc"
    assert not any(byte < 0x20 or byte == 0x7F for _, value in answer.raw for byte in value)


WORDS = (
    "messagegroups messages versions meta labels epoch xref name envelope protocol protocoloptions schema schemabase64 "
    "schemaurl schemaproxyurl format versionid ancestorid defaultversionid createdat $schema defaultversionsticky "
    "modelsource groups attributes type deprecated constraints ovens 1"
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
NAMES = st.sampled_from(WORDS.split()) | st.text(max_size=8)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)
PATHS = st.sampled_from(
    (
        f"/ /messagegroups {GROUP} {GROUP}/messages {MESSAGE} {MESSAGE}/meta {MESSAGE}/versions {MESSAGE}/versions/1 "
        f"{OVEN} {OVEN}$details {OVEN}/versions/2 /modelsource /capabilities /model /export /endpoints/e "
        "/endpoints/e/messages/m /schemagroups /nowhere"
    ).split()
)
READING = "inline inline=* inline=messages doc binary collections filter=name filter=a=b sort=name limit=1"
WRITING = "epoch=1 epoch=x setdefaultversionid=request setdefaultversionid=null ignore ignore=epoch specversion=1.0-rc4"
FLAGS = st.sampled_from([*READING.split(), *WRITING.split()])
HEADERS = st.sampled_from(
    [
        (b"xregistry-name", b"%ff"),
        (b"xregistry-labels.a", b"x"),
        (b"xregistry-epoch", b"7"),
        (b"xregistry-schemaurl", b"null"),
        (b"xregistry-meta.x", b"1"),
        (b"if-match", b'"x"'),
        (b"if-none-match", b"*"),
        (b"content-type", b"\xff"),
        (b"content-encoding", b"gzip"),
        (b"origin", b"null"),
        (b"accept-encoding", b"gzip;q=x"),
    ]
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("fuzz")
    with open_store(f"sqlite:///{folder}/registry.db") as store:
        yield AsgiClient(create_app(store, Settings())), store


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    method=st.sampled_from(["GET", "PUT", "PATCH", "POST", "DELETE", "HEAD", "OPTIONS", "X"]),
    path=PATHS,
    flags=st.lists(FLAGS, max_size=2),
    body=JSON | st.binary(max_size=30),
    headers=st.lists(HEADERS, max_size=2, unique_by=lambda header: header[0]),
)
def test_no_request_breaks_the_server(
    fuzzed: tuple[AsgiClient, Store],
    method: str,
    path: str,
    flags: list[str],
    body: Any,
    headers: list[tuple[bytes, bytes]],
) -> None:
    asgi, store = fuzzed
    before = store.version()
    answer = asgi.ask(method, f"{path}?{'&'.join(flags)}", body, headers)
    assert answer.status < 500, (method, path, flags, body, headers, answer.body)
    if answer.status >= 400:
        assert method == "HEAD" or answer.problem
        assert store.version() == before


def connected(service: str) -> socket.socket:
    address = urlsplit(service)
    return socket.create_connection((address.hostname, address.port), timeout=10)


def request_head(path: str, length: int) -> bytes:
    return f"PUT {path} HTTP/1.1\r\nHost: ovens.localhost\r\nContent-Length: {length}\r\n\r\n".encode()


def test_an_upload_that_stops_changes_nothing(client: httpx.Client, service: str) -> None:
    body = b'{"name": "Ovens"}'
    for sent in (0, 1, len(body) - 1):
        with connected(service) as connection:
            connection.sendall(request_head(GROUP, len(body)) + body[:sent])
            time.sleep(0.05)
    time.sleep(0.3)
    assert client.get("/messagegroups").json() == {}
    assert client.put(GROUP, json={}).status_code == 201


def test_a_slow_upload_holds_nobody_else(client: httpx.Client, service: str) -> None:
    body = b'{"name": "Slow"}'
    with connected(service) as connection:
        connection.sendall(request_head(GROUP, len(body)) + body[:5])
        for number in range(20):
            assert client.put(f"/messagegroups/g{number}", json={}, timeout=5).status_code == 201
        connection.sendall(body[5:])
        assert connection.recv(1000).startswith(b"HTTP/1.1 201")
    assert client.get(GROUP).json()["name"] == "Slow"


def test_what_is_no_http_does_not_stop_the_server(client: httpx.Client, service: str) -> None:
    for garbage in (b"\x16\x03\x01" + b"\x00" * 50, b"GET\r\n\r\n", b"PUT / HTTP/9.9\r\n\r\n", b"\x00" * 5000):
        with connected(service) as connection:
            connection.sendall(garbage)
            connection.settimeout(2)
            try:
                connection.recv(1000)
            except (TimeoutError, ConnectionError):
                continue
    assert client.get("/").status_code == 200
