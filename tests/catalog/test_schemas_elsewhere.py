"""Schemas and base messages elsewhere: fetched from the hosts that a setting names, and from no other."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.messages.engine import Engine
from postroom.settings import Settings

EVENT = {"specversion": "1.0", "id": "1", "source": "/ovens/7", "type": "reading", "data": {"heat": 5}}
FILES: dict[str, Any] = {
    "/reading.json": {"type": "object", "properties": {"heat": {"$ref": "heat.json"}}},
    "/heat.json": {"type": "integer", "maximum": 300},
    "/base": {"envelope": "CloudEvents/1.0", "envelopemetadata": {"source": {"value": "/ovens/{oven}"}}},
}


class Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        document = FILES.get(self.path)
        self.server.asked.append(self.path)  # type: ignore[attr-defined]  # ours
        self.send_response(200 if document else 404)
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        server.asked = []  # type: ignore[attr-defined]  # ours
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def tree_of(server: ThreadingHTTPServer) -> dict[str, Any]:
    url = f"http://127.0.0.1:{server.server_port}"
    reading = {
        "basemessage": f"{url}/base",
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "reading"}},
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschemauri": f"{url}/reading.json",
    }
    return {"messagegroups": {"ovens": {"messages": {"reading": reading}}}}


def test_without_the_setting_nothing_is_fetched(elsewhere: ThreadingHTTPServer) -> None:
    opened = Catalog(tree_of(elsewhere))
    match = opened.match({**EVENT, "source": "/boats/9", "data": {"heat": "hot"}})
    assert match.outcome == "landed"
    assert elsewhere.asked == []  # type: ignore[attr-defined]  # ours


def test_with_the_setting_schemas_and_bases_are_had(elsewhere: ThreadingHTTPServer) -> None:
    opened = Catalog(tree_of(elsewhere), settings=Settings(allow_fetch=("127.0.0.1",)))
    assert opened.match(EVENT).variables == {"oven": "7"}
    assert opened.match({**EVENT, "source": "/boats/9"}).outcome == "invalid"
    assert opened.match({**EVENT, "data": {"heat": 500}}).reasons[0].at == "/data/heat"
    asked = sorted(elsewhere.asked)  # type: ignore[attr-defined]  # ours
    assert asked == ["/base", "/heat.json", "/reading.json"]
    # A worker gets the catalog with everything in it, and asks nobody.
    shipped = CompiledCatalog.decode(opened.compiled.encode())
    (result,) = Engine(shipped).sort_exactly(json.dumps({**EVENT, "data": {"heat": 500}}).encode())
    assert result.match.outcome == "invalid"
    assert sorted(elsewhere.asked) == asked  # type: ignore[attr-defined]  # ours


def test_what_cannot_be_had_is_a_reason_not_a_crash(elsewhere: ThreadingHTTPServer) -> None:
    tree = tree_of(elsewhere)
    message = tree["messagegroups"]["ovens"]["messages"]["reading"]
    message |= {"basemessage": message["basemessage"] + "x", "dataschemauri": message["dataschemauri"] + "x"}
    opened = Catalog(tree, settings=Settings(allow_fetch=("127.0.0.1",)))
    assert opened.match(EVENT).outcome == "landed"
    assert "cannot be fetched" in (opened.definitions[0].schema or pytest.fail("it has one")).missing
