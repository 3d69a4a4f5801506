"""Ids that lead nowhere and registries that misbehave: each has one defined end."""

from __future__ import annotations

import base64
import json
import threading
import time
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.catalog.open_store import open_store
from postroom.catalog.subjects import schema_registry
from postroom.catalog.subjects.schema_registry import RegistryWatch, read_registry
from postroom.errors import PostroomError, ServiceRefused, ServiceUnreachable
from postroom.http.confluent.import_subjects import LocalRegistry, import_subjects
from postroom.messages.matching.outcome import Sorted
from postroom.pipeline.catalog_reload import CatalogWatch
from postroom.settings import Settings
from tests.http.confluent.subject_client import SubjectClient, avro
from tests.http.principals import permitted

OVEN, HOT = avro("Oven", "id"), avro("Oven", "id", ("heat", "warm"))
JSON = '{"type": "object", "properties": {"id": {"type": "string"}}}'


@pytest.fixture
def topic() -> str:
    return f"ovens_{uuid.uuid4().hex[:8]}"


@pytest.fixture
def estate(registry_url: str, topic: str) -> httpx.Client:
    """A subject with two versions, the first of them deleted, and one of another format."""
    client = httpx.Client(base_url=registry_url, timeout=30)
    for subject, body in (
        (f"{topic}-value", {"schema": OVEN}),
        (f"{topic}-value", {"schema": HOT}),
        (f"{topic}-json-value", {"schema": JSON, "schemaType": "JSON"}),
        ("other-value", {"schema": avro("Other", "id")}),
        (f":.old:{topic}-value", {"schema": avro("Old", "id")}),
    ):
        client.post(f"/subjects/{subject}/versions", json=body).raise_for_status()
    client.delete(f"/subjects/{topic}-value/versions/1").raise_for_status()
    return client


def id_of(estate: httpx.Client, subject: str, version: int = 1) -> int:
    found = estate.get(f"/subjects/{subject}/versions/{version}?deleted=true").raise_for_status()
    return int(found.json()["id"])


def catalog(folder: Path, topic: str, url: str, group: str = "default", schema: str = "", **settings: Any) -> Catalog:
    message = {
        "protocol": "KAFKA",
        "protocoloptions": {"topic": topic},
        "dataschemauri": f"/schemagroups/{group}/schemas/{schema or topic}-value",
    }
    file = folder / f"{group}.json"
    file.write_text(json.dumps({"messagegroups": {"ovens": {"messages": {"oven": message}}}}))
    return open_catalog(str(file), settings=Settings(schema_registry=url, **settings))


def sort(known: Catalog, topic: str, payload: bytes) -> Sorted:
    body = base64.b64encode(payload).decode()
    line = {"protocol": "KAFKA", "metadata": {"topic": topic}, "payload_base64": body}
    return known.engine.sort_exactly(json.dumps(line).encode())[0]


def end_of(found: Sorted) -> str:
    """What became of a message, in a word."""
    return found.match.reasons[0].code if found.match.reasons else found.match.outcome


def framed(schema_id: int, body: bytes = b"\2a\2b") -> bytes:
    return b"\0" + schema_id.to_bytes(4) + body


def test_every_id_that_leads_nowhere_has_its_reason(
    estate: httpx.Client, registry_url: str, topic: str, tmp_path: Path
) -> None:
    known = catalog(tmp_path, topic, registry_url)
    own = id_of(estate, f"{topic}-value", 2)
    ends = {
        "own": sort(known, topic, framed(own)),
        "deleted": sort(known, topic, framed(id_of(estate, f"{topic}-value"), b"\2a")),
        "another subject's": sort(known, topic, framed(id_of(estate, "other-value"), b"\2a")),
        "another format's": sort(known, topic, framed(id_of(estate, f"{topic}-json-value"), b'{"id": "a"}')),
        "zero": sort(known, topic, framed(0)),
        "none so small": sort(known, topic, framed(7)),
    }
    assert {name: end_of(found) for name, found in ends.items()} == {
        "own": "landed",
        "deleted": "landed",
        "another subject's": "schema_id_unknown",
        "another format's": "schema_id_unknown",
        "zero": "schema_id_unknown",
        "none so small": "schema_id_unknown",
    }
    assert ends["deleted"].data == {"id": "a", "heat": "warm"}
    # An id that large is none that a registry gives; what stands behind it fits, so it is one all the same.
    assert end_of(sort(known, topic, framed(2**32 - 1))) == "schema_id_unknown"


def test_what_is_cut_off_is_invalid_and_what_is_no_header_is_read_as_it_is(
    estate: httpx.Client, registry_url: str, topic: str, tmp_path: Path
) -> None:
    known = catalog(tmp_path, topic, registry_url)
    whole = framed(id_of(estate, f"{topic}-value", 2))
    cut = [sort(known, topic, whole[:length]) for length in range(len(whole)) if length != 2]
    assert {found.match.outcome for found in cut} == {"invalid"}
    # Two empty strings are zero bytes as well, and no header.
    assert sort(known, topic, b"\0\0").data == {"id": "", "heat": ""}


def test_two_registries_that_gave_the_same_id_are_two_contexts(
    estate: httpx.Client, registry_url: str, topic: str, tmp_path: Path
) -> None:
    here, there = id_of(estate, f"{topic}-value"), id_of(estate, f":.old:{topic}-value")
    old = catalog(tmp_path, topic, registry_url, "old")
    assert sort(old, topic, framed(there, b"\2a")).data == {"id": "a"}
    if here != there:
        assert end_of(sort(old, topic, framed(here, b"\2a"))) == "schema_id_unknown"


def test_the_id_of_a_deleted_version_is_unknown_to_the_registry_s_own_catalog(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/own.db"
    with open_store(url) as store:
        subjects = SubjectClient(store, permitted(admin=True))
        first = subjects.register("ovens-value", OVEN)
        subjects.register("ovens-value", HOT)
        subjects.good("DELETE", "/subjects/ovens-value/versions/1")
        message = {"protocol": "KAFKA", "dataschemauri": "/schemagroups/default/schemas/ovens-value"}
        assert subjects.ask("PUT", "/messagegroups/o/messages/oven", message).status < 300
    found = sort(open_catalog(url), "any", framed(first, b"\2a"))
    assert end_of(found) == "schema_id_unknown"


def test_schemas_that_refer_to_each_other_in_a_circle_are_unusable_and_nothing_more(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/circle.db") as store:
        subjects = SubjectClient(store, permitted(admin=True))
        for name, other in (("a", "b"), ("b", "a")):
            fields = [{"name": other, "type": ["null", other.upper()], "default": None}]
            version = {
                "format": "Avro/1.12",
                "schema": {"type": "record", "name": name.upper(), "fields": fields},
                "references": [{"name": other.upper(), "xid": f"/schemagroups/default/schemas/{other}/versions/1"}],
            }
            reply = subjects.ask("PUT", f"/schemagroups/default/schemas/{name}/versions/1$details", version)
            assert reply.status < 500
        status, found = subjects.call("GET", "/schemas")
        assert status == 200
        with open_store(f"sqlite:///{tmp_path}/target.db") as target:
            report = import_subjects(read_registry(LocalRegistry(store, Settings())), LocalRegistry(target, Settings()))
        assert len(report.left_out) + report.created == len(found)


class _Registry(BaseHTTPRequestHandler):
    """A registry that answers as a test tells it."""

    status, wait, body = 200, 0.0, b"[]"

    def do_GET(self) -> None:
        time.sleep(type(self).wait)
        self.send_response(type(self).status)
        self.end_headers()
        self.wfile.write(type(self).body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def moody() -> Iterator[tuple[type[_Registry], str]]:
    handler = type("Moody", (_Registry,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield handler, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, b"{}", ServiceRefused),
        (503, b"{}", ServiceUnreachable),
        (404, b"{}", PostroomError),
        (200, b"<html>", PostroomError),
        (200, b'[{"subject": "a"}]', PostroomError),
    ],
)
def test_a_registry_that_answers_otherwise_is_told_at_the_start_and_waited_for_later(
    moody: tuple[type[_Registry], str], monkeypatch: pytest.MonkeyPatch, status: int, body: bytes, error: Any
) -> None:
    handler, url = moody
    monkeypatch.setattr(schema_registry, "_RETRY_S", 0.0)
    watch = RegistryWatch(Settings(schema_registry=url))
    held = watch()
    handler.status, handler.body = status, body
    assert watch() is held
    with pytest.raises(error):
        RegistryWatch(Settings(schema_registry=url))()
    handler.status, handler.body = 200, b'[{"subject": "a", "version": 1, "id": 1, "schema": "\\"string\\""}]'
    assert watch().versions.keys() == {("a", 1)}


def test_a_registry_that_is_slow_does_not_hold_up_every_batch(
    moody: tuple[type[_Registry], str], tmp_path: Path
) -> None:
    handler, url = moody
    (tmp_path / "catalog.json").write_text('{"messagegroups": {"o": {"messages": {"m": {"protocol": "KAFKA"}}}}}')
    watch = CatalogWatch(str(tmp_path / "catalog.json"), Settings(schema_registry=url, timeout_s=0.5))
    before = watch()
    handler.wait = 2.0
    asked: list[str] = []
    original = handler.do_GET
    handler.do_GET = lambda self: (asked.append(self.path), original(self))[1]  # type: ignore[method-assign]
    assert [watch() for _ in range(5)] == [before] * 5
    assert len(asked) == 1
