"""The ASGI edge: reads requests, hands store work to threads, sends answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from postroom.http.bodies import read_body
from postroom.http.calls import Answer, Call, parse_query
from postroom.http.dispatch import answer, refuse
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store


def create_app(store: Store, settings: Settings) -> ASGIApp:
    """The service over a store; the store is closed when the application stops."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        store.close()

    return Starlette(routes=[Mount("/", app=RegistryEndpoint(store, settings))], lifespan=lifespan)


class RegistryEndpoint:
    """Every path of the service; the model decides at run time which of them exist."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        call = _call(request)
        try:
            body = await read_body(request, self._settings.max_body_mb)
        except RegistryProblem as problem:
            await _response(refuse(problem, call), call)(scope, receive, send)
            return
        call = msgspec.structs.replace(call, body=body)
        made = await run_in_threadpool(answer, call, self._store, self._settings)
        await _response(made, call)(scope, receive, send)


def _call(request: Request) -> Call:
    raw = request.scope.get("raw_path") or request.scope["path"].encode()
    host = request.headers.get("host") or "localhost"
    return Call(
        method=request.method.upper(),
        path=raw.partition(b"?")[0].decode("latin-1") or "/",
        base=f"{request.scope.get('scheme', 'http')}://{host}",
        query=parse_query(request.scope.get("query_string", b"").decode("latin-1")),
        headers=tuple((key.decode("latin-1").lower(), value.decode("latin-1")) for key, value in request.headers.raw),
    )


def _response(made: Answer, call: Call) -> Response:
    headers = dict(made.headers)
    content = made.content
    if made.json is not msgspec.UNSET:
        content = msgspec.json.encode(made.json)
        headers.setdefault("Content-Type", "application/json")
    if call.method == "HEAD":
        content = b""
    return Response(content, status_code=made.status, headers=headers)
