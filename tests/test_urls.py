"""Malformed URLs in every place that takes one: each is refused with a sentence, or is text like any other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from postroom.catalog.open_store import open_store
from postroom.cli.main import execute
from postroom.http.server.app import create_app
from postroom.replication.subscriptions.sinks.options import PROTOCOLS
from postroom.settings import Settings
from postroom.urls import join_url, masked, parse_url
from tests.http.requests import AsgiClient, Reply

JSON = {"Content-Type": "application/json"}
BROKEN = (
    "http://[::1",
    "http://[",
    "http://]",
    "http://[::1]x/",
    "http://[1.2.3.4]/",
    "http://[:::::]/",
    "http://[v1.x]:80/",
    "http://ovens.example:x/",
    "http://ovens.example:99999/",
    "http://ovens.example:-1/",
    "http://ovens.example:8080:8080/",
    "http://a\u2100b/",
    "http://user:secret@[::1",
)
"""What the standard library stumbles over, here or there."""
EMPTY = ("http://", "http:///", "http://:80/", "http://?x", "http://@/", "http://user:secret@/")
"""What has no host."""
ODD = ("://", ":", "[", "http:", "\\\\ovens\\x", "//[::1", "http://\x00/", "http://a b/", "//[::1]:x", "#[")
SOME = (*BROKEN[::4], "http://a\u2100b/", "http://", "//[::1", "http://\x00/", "#[")
"""One of each kind, for what takes a while."""
XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:import namespace="?" schemaLocation="?"/>
<xs:include schemaLocation="?"/><xs:element name="a"/></xs:schema>"""


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_url_has_no_parts(text: str) -> None:
    assert parse_url(text) is None


def test_a_url_in_its_parts() -> None:
    url = parse_url("HTTP://user:pw@[::1]:80/a?b#c")
    assert url is not None
    assert (url.scheme, url.host, url.port, url.path, url.query, url.has_user) == ("http", "::1", 80, "/a", "b", True)
    assert (url.netloc, url.host_and_port) == ("user:pw@[::1]:80", "[::1]:80")
    assert join_url("http://a/b/c", "../d") == "http://a/d"
    assert join_url("http://a/b/c", "//[::1") is None


@pytest.mark.parametrize("text", [*BROKEN, *EMPTY, *ODD])
def test_secrets_of_a_broken_address_are_not_shown(text: str) -> None:
    assert "secret" not in masked(text)


@pytest.fixture(scope="module")
def asgi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AsgiClient]:
    settings = Settings(link_hosts=("*",), sink_hosts=("*",), sink_private=True, allow_fetch=("[", "a b"), timeout_s=1)
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('urls')}/registry.db") as store:
        yield AsgiClient(create_app(store, settings))


def refused(reply: Reply) -> bool:
    return reply.status == 400 and bool(reply.problem)


@pytest.mark.parametrize("mode", ["pull", "push", "follow"])
@pytest.mark.parametrize("text", [*BROKEN, *EMPTY, *ODD])
def test_links(asgi: AsgiClient, text: str, mode: str) -> None:
    reply = asgi.ask("PUT", "/-/replication/links/l", {"mode": mode, "remote": text}, JSON)
    assert refused(reply), reply.body
    assert b"secret" not in reply.body


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("text", [*BROKEN, *EMPTY, *ODD])
def test_sinks_of_subscriptions(asgi: AsgiClient, text: str, protocol: str) -> None:
    scheme = next(iter(PROTOCOLS[protocol].ports))
    options = {"topicname": "t"} if protocol.startswith("MQTT") else {"subject": "s"} if protocol == "NATS" else {}
    sink = text.replace("http:", f"{scheme}:")
    document = {"protocol": protocol, "sink": sink, "protocolsettings": options}
    assert refused(asgi.ask("POST", "/subscriptions", document, JSON))


@pytest.mark.parametrize("text", [*BROKEN, *EMPTY, *ODD])
def test_where_tokens_come_from_and_the_source_of_subscriptions(asgi: AsgiClient, text: str) -> None:
    token = {"accesstoken": "a", "accesstokenexpiresutc": "2030-01-01T00:00:00Z", "refreshtoken": "r"}
    credential = {"credentialtype": "REFRESHTOKEN", "refreshtokenendpoint": text, **token}
    document = {"protocol": "HTTP", "sink": "http://ovens.example/", "sinkcredential": credential}
    assert refused(asgi.ask("POST", "/subscriptions", document, JSON))
    plain = {"protocol": "HTTP", "sink": "http://ovens.example/", "source": text}
    assert asgi.ask("POST", "/subscriptions", plain, JSON).status in (201, 400)


@pytest.mark.parametrize("text", [*BROKEN, *EMPTY, *ODD])
def test_documents_that_are_elsewhere(asgi: AsgiClient, text: str) -> None:
    path = "/schemagroups/g/schemas/s"
    for name in ("schemaurl", "schemaproxyurl"):
        written = asgi.ask("PUT", f"{path}$details", {"format": "Text/1", name: text}, JSON)
        assert written.status in (200, 201, 400), written.body
        if written.status != 400:
            assert asgi.ask("GET", path).status in (200, 303, 502)
            assert asgi.ask("GET", f"{path}$details?inline=schema").status == 200
            assert asgi.ask("GET", "/export").status == 200


@pytest.mark.parametrize("text", [*BROKEN, *EMPTY, *ODD])
@pytest.mark.parametrize("directive", ["$include", "$includes"])
def test_includes_of_models(asgi: AsgiClient, text: str, directive: str) -> None:
    include = {directive: [text] if directive == "$includes" else text}
    assert refused(asgi.ask("PUT", "/modelsource", {"groups": include}, JSON))


def schemas(text: str) -> Iterator[tuple[str, Any]]:
    for draft, keyword in (("draft-04", "id"), ("draft-07", "$id"), ("2020-12", "$id")):
        yield f"JsonSchema/{draft}", {keyword: text, "properties": {"a": {"$ref": "#/definitions/b"}}}
        yield f"JsonSchema/{draft}", {"properties": {"a": {"$ref": text}}}
        yield f"JsonSchema/{draft}", {"$id": "http://ovens.example/", "properties": {"a": {"$ref": f"{text}#/a"}}}
    yield "JsonSchema/draft-07", {"$schema": text}
    yield "JsonStructure/draft-02", {"$id": text, "$schema": text, "name": "A", "type": "object", "properties": {}}
    yield "JsonStructure/draft-02", {"$id": "http://a/", "name": "A", "type": "object", "$import": text}
    yield "JsonStructure/draft-02", {"$id": "http://a/", "name": "A", "type": {"$ref": text}}
    yield "Avro/1.11.0", {"type": "record", "name": text, "fields": [{"name": "a", "type": text}]}
    yield "Protobuf/3", f'syntax = "proto3"; import {json.dumps(text)}; message A {{}}'
    yield "XSD/1.0", XSD.replace("?", text.replace("\x00", "").replace('"', ""))


@pytest.mark.parametrize("text", SOME)
def test_references_in_schemas(asgi: AsgiClient, text: str) -> None:
    for number, (form, schema) in enumerate(schemas(text)):
        path = f"/schemagroups/refs/schemas/s{number}$details"
        assert asgi.ask("PUT", path, {"format": form, "schema": schema}, JSON).status in (200, 201, 400)
        message = {
            "envelope": "CloudEvents/1.0",
            "envelopemetadata": {"type": {"value": f"t{number}"}},
            "dataschemaformat": form,
            "dataschemauri": f"/schemagroups/refs/schemas/s{number}",
        }
        assert asgi.ask("PUT", f"/messagegroups/refs/messages/m{number}", message, JSON).status in (200, 201, 400)
    records = b"".join(
        json.dumps({"specversion": "1.0", "id": "1", "source": "x", "type": f"t{number}", "data": {"a": 1}}).encode()
        + b"\n"
        for number in range(20)
    )
    assert asgi.ask("POST", "/match", records, {"Content-Type": "application/x-ndjson"}).status == 200
    assert asgi.ask("DELETE", "/messagegroups").status == asgi.ask("DELETE", "/schemagroups").status == 204


@pytest.mark.parametrize("text", [*BROKEN, *EMPTY, *ODD])
def test_references_in_definitions_and_the_message_catalog(asgi: AsgiClient, text: str) -> None:
    body = {"envelope": "CloudEvents/1.0", "dataschemauri": text, "basemessage": text, "authority": text}
    assert asgi.ask("PUT", "/messagegroups/uris/messages/m", body, JSON).status in (200, 201, 400)
    assert asgi.ask("PUT", "/endpoints/uris", {"usage": ["producer"], "messagegroups": [text]}, JSON).status in (
        201,
        400,
    )
    record = {"specversion": "1.0", "id": "1", "source": text, "type": "t", "dataschema": text}
    assert asgi.ask("POST", "/match", record, JSON).status == 200
    query = f"?authority={quote(text, safe='')}&id={quote(text, safe='')}"
    definition = {"attributes": {"type": "heated"}, "schemaurl": text, "dataschema": text}
    posted = asgi.ask("POST", f"/messagecatalog/uris/messagedefinitions/n{query}", definition, JSON)
    assert posted.status in (200, 201, 400, 404, 409), posted.body
    for path in (
        f"/messagedefinition?uri={quote(text, safe='')}",
        "/messagecatalog/uris/messagedefinitions/n",
        "/v0.5/",
        "/-/replication/overview",
        "/export",
    ):
        assert asgi.ask("GET", path).status in (200, 400, 404), path
    for path in ("/messagegroups", "/endpoints"):
        assert asgi.ask("DELETE", path).status == 204


@pytest.mark.parametrize("text", [*(text for text in SOME if "\x00" not in text), "http://user:secret@[::1", "://"])
def test_sources_and_targets_of_commands(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    document = tmp_path / "catalog.json"
    document.write_text('{"messagegroups": {"g": {"messages": {}}}}')
    kafka = text.replace("http:", "kafka:")
    for arguments in (
        ["match", "--catalog", text, "--input", "/dev/null"],
        ["make", "--catalog", text, "m"],
        ["lint", text],
        ["dump", "--from", text],
        ["convert", text, "--dialect", "catalog"],
        ["load", str(document), "--to", text],
        ["load", text, "--to", f"sqlite:///{tmp_path}/a.db"],
        ["diff", str(document), text],
        ["log", "/messagegroups/g", "--catalog", text],
        ["replicate", "pull", "--from", text, "--to", f"sqlite:///{tmp_path}/b.db"],
        ["replicate", "push", "--from", str(document), "--to", text],
        ["replicate", "verify", "--from", str(document), "--to", text],
        ["sort", "--catalog", str(document), "--source", kafka, "--lake", str(tmp_path / "lake")],
        ["serve", "--db", text],
        ["serve", "--db", f"sqlite:///{tmp_path}/c.db", "--model", text],
    ):
        assert execute(arguments) in (1, 2, 3), arguments
        error = capsys.readouterr().err
        assert "Traceback" not in error
        assert len(error.strip().splitlines()) == 1, (arguments, error)
        assert "secret" not in error or "replicate" not in arguments
