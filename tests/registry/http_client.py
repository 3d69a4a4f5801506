"""The service without a socket: requests straight into the ASGI application, as fast as a function call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from postroom.http.server.app import create_app
from postroom.http.server.asgi import ASGIApp
from postroom.settings import Settings
from postroom.store.interface import Store

HOST = "registry.localhost"
BASE = f"http://{HOST}"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def problem(self) -> str:
        """The name of the error, or nothing."""
        return str(self.json["type"]).rpartition("#")[2] if self.status >= 400 else ""


class Wire:
    """Speaks HTTP to a store."""

    def __init__(self, store: Store, settings: Settings | None = None) -> None:
        self.store = store
        self._app: ASGIApp = create_app(store, settings or Settings())
        self._loop = asyncio.new_event_loop()

    def close(self) -> None:
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def send(
        self, method: str, target: str, body: Any = None, headers: Mapping[str, str] | None = None, raw: bytes = b""
    ) -> Answer:
        """One request; `body` is sent as JSON, `raw` as it is."""
        content = raw if body is None else json.dumps(body).encode()
        path, _, query = target.partition("?")
        given = {"host": HOST, "content-length": str(len(content)), **(headers or {})}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 1),
            "server": (HOST, 80),
        }
        return self._loop.run_until_complete(self._call(scope, content))

    async def _call(self, scope: dict[str, Any], content: bytes) -> Answer:
        sent: list[dict[str, Any]] = []
        asked = iter([{"type": "http.request", "body": content, "more_body": False}])

        async def receive() -> Any:
            return next(asked, None) or await asyncio.Future()  # a client that waits for its answer

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        headers = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:]))

    def get(self, target: str) -> Any:
        """The JSON of a GET that has to succeed."""
        answer = self.send("GET", target)
        assert answer.status == 200, answer.content
        return answer.json

    def ok(self, method: str, target: str, body: Any = None, **more: Any) -> Any:
        """The JSON of a request that has to succeed."""
        answer = self.send(method, target, body, **more)
        assert answer.status < 300, answer.content
        return answer.json if answer.content else None

    def refusal(self, method: str, target: str, body: Any = None, **more: Any) -> str:
        """The error of a request that has to be refused and to leave everything as it was."""
        before = self.send("GET", "/?inline=*,model,modelsource,capabilities").content
        answer = self.send(method, target, body, **more)
        assert 400 <= answer.status < 500, (answer.status, answer.content)
        assert self.send("GET", "/?inline=*,model,modelsource,capabilities").content == before
        return answer.problem
