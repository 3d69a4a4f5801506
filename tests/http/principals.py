"""Requests with the permissions of a principal, answered in this process; who they are is not asked."""

from __future__ import annotations

import json
from typing import Any

from postroom.http.server.representation import represent
from postroom.http.server.request import Request, parse_query
from postroom.http.server.response import Response
from postroom.http.xregistry.dispatch import answer, finish
from postroom.registry.permissions import Permissions, Prefixes
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import Reply

BASE = "http://registry.example"


def permitted(*, read: str = "", write: str = "", name: str = "anna", admin: bool = False) -> Permissions:
    """Permissions with prefixes that are given as words."""
    everywhere = ["/"] if admin else []
    own = Prefixes(everywhere)
    writes = Prefixes([*write.split(), *everywhere])
    reads = Prefixes([*read.split(), *write.split(), *everywhere])
    return Permissions(principal=name, read=reads, write=writes, own=own, is_admin=admin)


class Principal:
    """Somebody with permissions, and a store to use them on."""

    def __init__(self, store: Store, permissions: Permissions, settings: Settings | None = None) -> None:
        self.store = store
        self.permissions = permissions
        self.settings = settings or Settings()

    def ask(self, method: str, target: str, body: Any = b"", headers: dict[str, str] | None = None) -> Reply:
        """The reply to a request, as it would go out."""
        path, _, query = target.partition("?")
        request = Request(
            method=method,
            path=path,
            base=BASE,
            query=parse_query(query),
            headers=tuple((headers or {}).items()),
            body=body if isinstance(body, bytes) else json.dumps(body).encode(),
            permissions=self.permissions,
        )
        given: Response = answer(request, self.store, self.settings)
        if given.after is not None:
            given = finish(given, request, self.store, self.settings)
        made = represent(given, method, gzips=False)
        return Reply(made.status, made.headers, b"".join(made.pieces) if made.pieces is not None else made.body)

    def get(self, target: str) -> Any:
        """The JSON of a GET that is answered with 200."""
        reply = self.ask("GET", target)
        assert reply.status == 200, reply.body
        return reply.json

    def refused(self, method: str, target: str, body: Any = b"") -> tuple[int, str]:
        """Status and, where one is missing, the grant."""
        reply = self.ask(method, target, body)
        return reply.status, reply.json.get("args", {}).get("grant", "") if reply.body else ""
