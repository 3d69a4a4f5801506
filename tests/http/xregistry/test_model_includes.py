"""Includes of a model are fetched before the store is locked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.request import Request
from postroom.http.xregistry.dispatch import answer
from postroom.settings import Settings


class SlowHost:
    """A host that answers only when it is told to."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.may_answer = threading.Event()
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host.asked.set()
                host.may_answer.wait(30)
                body = json.dumps({"fleets": {"singular": "fleet"}}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/groups.json"


@pytest.fixture
def slow_host() -> Iterator[SlowHost]:
    host = SlowHost()
    threading.Thread(target=host.server.serve_forever, daemon=True).start()
    yield host
    host.may_answer.set()
    host.server.shutdown()
    host.server.server_close()


@pytest.mark.parametrize("path", ["/modelsource", "/"])
def test_a_slow_host_holds_nobody_but_those_who_ask_for_it(slow_host: SlowHost, tmp_path: Path, path: str) -> None:
    settings = Settings(allow_fetch=("127.0.0.1",))
    source = {"groups": {"$include": slow_host.url}}
    body = json.dumps(source if path == "/modelsource" else {"modelsource": source}).encode()
    statuses: list[int] = []
    with open_store(f"sqlite:///{tmp_path}/registry.db", model="none") as store:

        def change_the_model() -> None:
            request = Request(method="PUT", path=path, base="http://test", body=body)
            statuses.append(answer(request, store, settings).status)

        waiting = threading.Thread(target=change_the_model)
        waiting.start()
        assert slow_host.asked.wait(20)
        quick = Request(method="PATCH", path="/", base="http://test", body=b'{"name": "meanwhile"}')
        assert answer(quick, store, settings).status == 200
        slow_host.may_answer.set()
        waiting.join(20)
        assert statuses == [200]
        with store.read() as tx:
            assert list(tx.model().groups) == ["fleets"]
