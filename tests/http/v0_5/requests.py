"""The service of 0.5 in this process, and the same registry as 1.0 shows it."""

from __future__ import annotations

from typing import Any

from tests.http.requests import AsgiClient, Reply

BASE = "http://ovens.localhost/v0.5"
EVENT = {"format": "CloudEvents/1.0", "metadata": {"attributes": {"type": {"value": "oven.hot"}}}}
TEXT_SCHEMA = {"type": "object", "properties": {"note": {"type": "string"}}}
WIDER_SCHEMA = {"type": "object", "properties": {"note": {"type": ["string", "integer"]}}}
OTHER_SCHEMA = {"type": "object", "properties": {"note": {"type": "integer"}}}
JSON_SCHEMA = {"Registry-format": "JsonSchema/draft-07", "Content-Type": "application/json"}


class V05Client:
    """Asks below `/v0.5`; `native` asks the registry beside it."""

    def __init__(self, asgi: AsgiClient) -> None:
        self.asgi = asgi

    def ask(self, method: str, path: str, body: Any = b"", headers: dict[str, str] | None = None) -> Reply:
        return self.asgi.ask(method, f"/v0.5{path}", body, headers)

    def get(self, path: str) -> Any:
        """The JSON of a GET that is answered."""
        reply = self.ask("GET", path)
        assert reply.status == 200, reply.body
        return reply.json

    def post(self, path: str, body: Any = b"", **headers: str) -> Reply:
        return self.ask("POST", path, body, _named(headers))

    def put(self, path: str, body: Any = b"", **headers: str) -> Reply:
        return self.ask("PUT", path, body, _named(headers))

    def delete(self, path: str, body: Any = b"") -> Reply:
        return self.ask("DELETE", path, body)

    def native(self, path: str, method: str = "GET", body: Any = b"") -> Any:
        """The JSON of an answer of 1.0."""
        reply = self.asgi.ask(method, path, body)
        assert reply.status in (200, 201, 204), reply.body
        return reply.json if reply.body else None

    def problem(
        self, method: str, path: str, body: Any = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, str]:
        """Status and name of a refusal."""
        reply = self.ask(method, path, body, headers)
        return reply.status, reply.problem


def _named(headers: dict[str, str]) -> dict[str, str]:
    """`name="x"` is `Registry-name: x`; `Content_Type` is no attribute."""
    return {
        "Content-Type" if name == "Content_Type" else f"Registry-{name.replace('__', '.')}": value
        for name, value in headers.items()
    }


def registry_headers(reply: Reply) -> dict[str, str]:
    """The attributes in the headers of an answer."""
    return {n.removeprefix("registry-"): v for n, v in reply.headers.items() if n.startswith("registry-")}
