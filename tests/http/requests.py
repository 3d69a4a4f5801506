"""The whole HTTP stack in this process, asked with requests that no well-meaning client library would send."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import msgspec

from postroom.http.server.asgi import ASGIApp, Message

RawHeaders = list[tuple[bytes, bytes]]


class Reply(msgspec.Struct, frozen=True):
    """An answer as it went out."""

    status: int
    raw: RawHeaders
    body: bytes

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode("latin-1"): value.decode("latin-1") for name, value in self.raw}

    @property
    def json(self) -> Any:
        return json.loads(gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else self.body)

    @property
    def problem(self) -> str:
        """The name of the error type; the form of the document is checked on the way."""
        document = self.json
        assert self.headers["content-type"] == "application/json; charset=utf-8"
        assert self.headers["link"].endswith(";rel=xregistry-root")
        assert document["status"] == self.status
        assert document["title"].endswith((".", "…"))
        return str(document["type"]).rpartition("#")[2]


class AsgiClient:
    """Requests to an ASGI application; headers may be given twice and bytes may be anything."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def ask(self, *request: Any, **more: Any) -> Reply:
        """The answer to a request, which has an event loop of its own; the arguments are those of `send`."""
        return asyncio.run(self.send(*request, **more))

    async def send(
        self,
        method: str,
        target: str | bytes,
        body: bytes | Any = b"",
        headers: dict[str, str] | RawHeaders | None = None,
        *,
        host: bytes = b"ovens.localhost",
        peer: str = "203.0.113.9",
        scheme: str = "http",
    ) -> Reply:
        """The answer to a request, in the event loop that runs; several may be on their way there."""
        path, _, query = (target if isinstance(target, bytes) else target.encode()).partition(b"?")
        given = headers if isinstance(headers, list) else _raw(headers or {})
        scope = {
            "type": "http",
            "method": method,
            "path": path.decode("latin-1"),
            "raw_path": path,
            "query_string": query,
            "headers": [(b"host", host), *given],
            "client": (peer, 4711),
            "scheme": scheme,
            "root_path": "",
        }
        return await self._send(scope, body if isinstance(body, bytes) else json.dumps(body).encode())

    async def _send(self, scope: dict[str, Any], body: bytes) -> Reply:
        sent: list[Message] = []

        parts = iter([{"type": "http.request", "body": body, "more_body": False}])

        left = asyncio.Event()

        async def receive() -> Message:
            for part in parts:
                return part
            await left.wait()  # a client that waits for its answer, and for the first piece of one without an end
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if message.get("body") and _is_stream(sent[0]["headers"]):
                left.set()

        await self._app(scope, receive, send)
        start, *rest = sent
        return Reply(start["status"], start["headers"], b"".join(message["body"] for message in rest))


def _is_stream(headers: RawHeaders) -> bool:
    return (b"content-type", b"text/event-stream") in headers


def _raw(headers: dict[str, str]) -> RawHeaders:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
