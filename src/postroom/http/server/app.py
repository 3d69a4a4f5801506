"""The ASGI edge: answers kept GETs at once, hands everything else to threads, sends what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

import msgspec

from postroom.access.authentication import Admission, Authenticator, MustVerify
from postroom.access.upkeep import AccessUpkeep
from postroom.http.access.doors import NOBODY, OPEN, PRIVATE, Doors
from postroom.http.older_releases.releases import named_release
from postroom.http.operations.access_log import PRINCIPAL, REQUEST_ID, AccessLog
from postroom.http.operations.measured_store import MeasuredStore
from postroom.http.operations.request_observer import RequestObserver
from postroom.http.operations.server_process import ServerProcess
from postroom.http.operations.tracing import open_tracing
from postroom.http.server.allowed_hosts import AllowedHosts
from postroom.http.server.asgi import ASGIApp, Message, Receive, Scope, Send, run_lifespan
from postroom.http.server.base_url import BaseUrlReader
from postroom.http.server.cors import READING, refuse_foreign_writes, sharing_headers
from postroom.http.server.event_streams import GuardedStream, Streams
from postroom.http.server.representation import RawHeaders, Representation, matches, represent, takes_gzip
from postroom.http.server.request import Request, parse_query
from postroom.http.server.request_body import MEGABYTE, read_body
from postroom.http.server.response import Response, Stream
from postroom.http.server.response_cache import ResponseCache
from postroom.http.server.response_encoding import completed
from postroom.http.server.thread_pools import ClientGone, Pools, RequestRunner, listening
from postroom.http.server.web_pages import prefers_page
from postroom.http.services.match_and_make import NDJSON, MakeOrder
from postroom.http.xregistry.configuration import answer_probe
from postroom.http.xregistry.dispatch import answer, answer_with, finish, next_piece, refuse, varying
from postroom.http.xregistry.plain_read import PlainReader
from postroom.model.types import Model
from postroom.registry.configuration.capabilities import Access, Capabilities
from postroom.registry.permissions import UNRESTRICTED, Permissions
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.page import Cursor
from postroom.replication.replicas.link_runner import LinkRunner
from postroom.replication.subscriptions.dispatcher import EventDispatcher
from postroom.settings import Settings
from postroom.store.change_follower import ChangeFollower
from postroom.store.interface import Store

NOT_MODIFIED_HEADERS = (b"content-type", b"content-encoding", b"content-length")
LONGEST_ACTOR = 200
STREAM_TYPE = b"text/event-stream"
PIECE = 256 * 1024
"""How much of a body is handed to the connection at once; the rest waits until the client has read."""
SCHEMA_REGISTRY = "/-/confluent"
UNKNOWN_BASE = "http://localhost"

Key = tuple[str, str, bytes, bool, bool, int]
"""What answers differ by: base URL, path, query, whether they may be compressed or are to be pages, what is visible."""

# msgspec describes a type when it is first used, and two threads that make it do so at once crash the process.
for _type in (Access, Capabilities, Cursor, MakeOrder, Model):
    msgspec.json.Decoder(_type)


def create_app(store: Store, settings: Settings, process: ServerProcess | None = None) -> ASGIApp:
    """The service over a store; the store is closed when the application stops."""
    process = process or ServerProcess()
    log = AccessLog(settings.access_log) if settings.access_log else None
    tracing = open_tracing(settings)
    store = MeasuredStore(store, process.metrics, *([tracing] if tracing is not None else []))

    @contextmanager
    def running() -> Iterator[None]:
        if log is not None:
            log.start()
        dispatcher = EventDispatcher(store, settings, permissions_of=edge.permissions_of)
        dispatcher.start()
        links = LinkRunner(store, settings)
        links.start()
        edge.start(dispatcher, links)
        yield
        edge.stop()
        links.stop()
        dispatcher.stop()
        store.close()
        if tracing is not None:
            tracing.stop()
        if log is not None:
            log.stop()

    edge = Edge(store, settings, process)
    serve = RequestObserver(edge.serve, process.metrics, log, tracing, edge.client_of)

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await run_lifespan(running(), receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close"})
        elif process.is_stopping:
            await serve(_below_registry(scope, settings), receive, _closing(send))
        else:
            await serve(_below_registry(scope, settings), receive, send)

    return front


class Edge:
    """Every path of the service; the model decides at run time which of them exist."""

    def __init__(self, store: Store, settings: Settings, process: ServerProcess) -> None:
        self._store = store
        self._settings = settings
        self._process = process
        self._base_urls = BaseUrlReader(settings.trusted_proxies, AllowedHosts(settings))
        self._doors: Doors | None = None
        self._common: RawHeaders = []
        """What every answer has."""
        self._upkeep: AccessUpkeep | None = None
        if settings.access == "on":
            authenticator = Authenticator(store, settings)
            self._doors = Doors(authenticator, settings, self._base_urls)
            self._upkeep = AccessUpkeep(store, authenticator, self._doors.journal, settings)
            self._common = PRIVATE
        self._origins = frozenset(settings.cors_origins)
        self._cache = ResponseCache(settings.cache_mb * MEGABYTE)
        self._follower = ChangeFollower(store)
        self._plain = PlainReader(store, settings, self._follower)
        self._noticed_in: asyncio.AbstractEventLoop | None = None
        """The loop in whose present turn changes were looked for."""
        self._streams = Streams(store, settings.max_streams)
        self._pools = Pools(settings)

    def start(self, dispatcher: EventDispatcher, links: LinkRunner) -> None:
        """Begin what is done beside requests."""
        self._process.start(dispatcher, links, self._pools, self._streams)
        if self._upkeep is not None:
            self._upkeep.start()

    def stop(self) -> None:
        """End it."""
        self._process.stop()
        if self._upkeep is not None:
            self._upkeep.stop()

    def permissions_of(self, principal: str) -> Permissions | None:
        """What a principal may do now, for what is done in their name."""
        return UNRESTRICTED if self._doors is None else self._doors.authenticator.permissions_of(principal)

    def client_of(self, scope: Scope) -> str:
        """The address of the client of a request."""
        return self._base_urls.client_address(scope)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: find out who asks, then give what is kept for them, or make an answer."""
        headers, lost = _first_headers(scope), self.notice_changes()
        if lost is not None:
            await self._answer_without_store(lost, scope, receive, send)
            return
        admission: Admission | RegistryProblem = OPEN
        if self._doors is not None:
            admission = self._known(self._doors, scope, headers) or await self.admit(self._doors, scope, headers)
        if REQUEST_ID in scope:
            scope[PRINCIPAL] = self._principal(scope, headers, admission)
        if not await self.answer_at_once(scope, headers, admission, send):
            await self(scope, receive, send, admission)

    async def _answer_without_store(self, problem: RegistryProblem, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer probes at once, for the process itself is well; everybody else is told that the store is away."""
        given = answer_probe(_path(scope), problem) if scope["method"] in ("GET", "HEAD") else None
        if given is None:
            await self(scope, receive, send, problem)
            return
        request = self._request(scope, NOBODY)
        made = represent(completed(given, request, self._settings), request.method, gzips=False)
        await self._send(made, request, send)

    def _known(self, doors: Doors, scope: Scope, headers: dict[bytes, bytes]) -> Admission | None:
        try:
            return doors.known(scope, headers, self._follower.version)
        except RegistryProblem:  # the store is away: whoever asks is told so
            return None

    async def admit(self, doors: Doors, scope: Scope, headers: dict[bytes, bytes]) -> Admission | RegistryProblem:
        """Whoever sent a request, or why they are not let in; what takes a while to find out is done in a thread."""
        try:
            try:
                return doors.admit(scope, headers, waits=False)
            except MustVerify:
                return await self._pools.sign_ins.run(lambda: doors.admit(scope, headers, waits=True), "/")
        except RegistryProblem as problem:
            return problem

    def notice_changes(self) -> RegistryProblem | None:
        """Forget answers that are no longer true, or say why that cannot be known at present.

        Once in a turn of the event loop is enough: all requests whose turn it is were received before. Those that are
        received later have their turn after what is put into the queue here.
        """
        loop = asyncio.get_running_loop()
        if self._noticed_in is loop:
            return None
        try:
            changed = self._follower.look()
        except RegistryProblem as problem:
            return problem
        if changed is not None:
            self._cache.drop(changed)
            if changed.everything:
                self._plain.forget()
        self._noticed_in = loop
        loop.call_soon(self._end_turn)
        return None

    def _end_turn(self) -> None:
        self._noticed_in = None

    async def answer_at_once(
        self, scope: Scope, headers: dict[bytes, bytes], admission: Admission | RegistryProblem, send: Send
    ) -> bool:
        """Answer a GET whose answer is kept and still true, or takes less than finding a thread; False for others."""
        if scope["method"] != "GET" or isinstance(admission, RegistryProblem):
            return False
        if STREAM_TYPE in headers.get(b"accept", b""):
            return False
        try:
            base = self._base_urls.base(scope, headers)
        except RegistryProblem:
            return False
        key = _key(base, scope, headers, admission)
        made = self._cache.get(key)
        if made is not None:
            self._process.metrics.hits += 1
        else:
            self._process.metrics.misses += 1
            made = self._read_plainly(key, admission)
            if made is None:
                return False
        if b"origin" in headers:
            await self._send(made, self._request(scope, admission), send)
            return True
        condition = headers.get(b"if-none-match")
        if condition is not None and matches(condition.decode("latin-1"), made.etag):
            await _send_whole(304, _unchanged(made.headers), b"", send)
        else:
            await _send_whole(made.status, [*made.headers, _content_length(made.body)], made.body, send)
        return True

    def _read_plainly(self, key: Key, admission: Admission) -> Representation | None:
        base, path, query, gzips, is_page, _ = key
        if query or (is_page and self._process.pages is not None):
            return None
        given = self._plain.answer(Request(method="GET", path=path, base=base, permissions=admission.permissions))
        if given is None:
            return None
        given = varying(given) if self._process.pages is not None else given
        return self._kept(key, self._cache.revision, represent(given, "GET", gzips), given.part)

    def _kept(self, key: Key, revision: int, made: Representation, part: str) -> Representation:
        """A representation that is kept, with all that says who may share it."""
        complete = msgspec.structs.replace(made, headers=[*made.headers, *self._privacy(made.headers)])
        self._cache.put(key, revision, complete, part)
        return complete

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, admission: Admission | RegistryProblem = OPEN
    ) -> None:
        """Answer one request; nothing of the body is read for somebody who is not let in."""
        request, problem = self._accepted(scope, admission)
        admitted = admission if isinstance(admission, Admission) else NOBODY
        if problem is None:
            try:
                body = await read_body(scope, receive, self._settings)
                request = msgspec.structs.replace(request, body=body)
                refuse_foreign_writes(request, self._origins)
            except RegistryProblem as found:
                problem = found
        if problem is not None:
            refused = refuse(problem, request, named_release(request.query), pages=self._process.pages)
            await self._send(represent(refused, request.method, gzips=False), request, send)
            return
        with suppress(ClientGone):
            await self._respond(request, scope, receive, send, admitted)

    async def _respond(
        self, request: Request, scope: Scope, receive: Receive, send: Send, admission: Admission
    ) -> None:
        revision = self._cache.revision
        async with listening(receive) as client:
            runner = RequestRunner(request, self._pools, self._settings, client)
            made, given = await self._make(runner, request, is_old=scope.get("http_version") == "1.0")
            if made.pieces is not None:
                await self._send_pieces(made, made.pieces, runner, request, send)
                return
        if given.stream is not None:
            await self._stream(self._guarded(given.stream, scope, admission), made, request, scope, receive, send)
            return
        if self._doors is not None and given.status == 403:
            self._doors.note_forbidden(request)
        if request.method not in READING:
            self._streams.nudge()
        if request.method == "GET" and given.status in (200, 303) and given.cacheable:
            key = _key(request.base, scope, _first_headers(scope), admission)
            made = self._kept(key, revision, made, given.part)
        await self._send(made, request, send)

    def _accepted(self, scope: Scope, admission: Admission | RegistryProblem) -> tuple[Request, RegistryProblem | None]:
        try:
            if isinstance(admission, RegistryProblem):
                return self._request(scope, NOBODY), admission
            return self._request(scope, admission), None
        except RegistryProblem as problem:
            return Request(method=scope["method"], path=_path(scope), base=UNKNOWN_BASE), problem

    def _request(self, scope: Scope, admission: Admission) -> Request:
        first = _first_headers(scope)
        return Request(
            method=scope["method"],
            path=_path(scope),
            base=self._base_urls.base(scope, first),
            address="" if self._doors is None else self._base_urls.client_address(scope),
            actor=self._principal(scope, first, admission),
            id=scope.get(REQUEST_ID, ""),
            permissions=admission.permissions,
            query=parse_query(scope.get("query_string", b"").decode("utf-8", "replace")),
            headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]),
        )

    def _principal(self, scope: Scope, headers: dict[bytes, bytes], admission: Admission | RegistryProblem) -> str:
        """Who asks, as the service knows it, or as a trusted proxy says; empty for those who are not let in."""
        if self._doors is None:
            return self._actor(scope, headers)
        return admission.permissions.principal if isinstance(admission, Admission) else ""

    def _actor(self, scope: Scope, headers: dict[bytes, bytes]) -> str:
        name = self._settings.actor_header.lower().encode("latin-1", "replace")
        if not name or not self._base_urls.trusts(scope):
            return ""
        return headers.get(name, b"").decode("utf-8", "replace").strip()[:LONGEST_ACTOR]

    def _guarded(self, stream: Stream, scope: Scope, admission: Admission) -> Stream:
        """A stream that ends when whoever follows it may do less, or more, than when it began."""
        doors, headers = self._doors, _first_headers(scope)
        if doors is None:
            return stream
        return GuardedStream(stream, lambda: doors.still_admits(admission, scope, headers))

    async def _stream(
        self, stream: Stream, made: Representation, request: Request, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if self._streams.is_full:
            busy = RegistryProblem("server_busy", request.path, headers={"retry-after": "10"})
            await self._send(represent(refuse(busy, request), request.method, gzips=False), request, send)
            return
        headers = [(name, value) for name, value in made.headers if name != b"etag"]
        await self._streams.serve(stream, headers + self._always(request, headers), scope, receive, send)

    async def _make(self, runner: RequestRunner, request: Request, is_old: bool) -> tuple[Representation, Response]:
        sign_in = self._doors.sign_in_handler(request.path) if self._doors is not None else None
        try:
            if sign_in is not None:
                make = partial(answer_with, sign_in, request, self._store, self._settings)
                return await runner.run(lambda: self._represented(make(), request), self._pools.fetches)
            made, given = await runner.run(
                lambda: self._represented(answer(request, self._store, self._settings, self._process), request)
            )
            if given.after is not None:
                ready = partial(finish, given, request, self._store, self._settings, self._process.pages)
                made, given = await runner.run(lambda: self._represented(ready(), request), self._pools.fetches)
            if made.pieces is not None and is_old:  # HTTP/1.0 has no chunks, so what it gets has to be whole
                body = b"".join([piece async for piece in self._pieces(made.pieces, runner, request)])
                made = msgspec.structs.replace(made, pieces=None, body=body)
        except RegistryProblem as problem:
            release, pages = named_release(request.query), self._process.pages
            given = refuse(problem, request, release, problem.__cause__, pages)
            made = represent(given, request.method, gzips=False)
        return made, given

    def _represented(self, given: Response, request: Request) -> tuple[Representation, Response]:
        return represent(given, request.method, takes_gzip(request.header("accept-encoding") or "")), given

    async def _pieces(self, pieces: Iterator[bytes], runner: RequestRunner, request: Request) -> AsyncIterator[bytes]:
        while (piece := await runner.run(lambda: next_piece(pieces, request, self._settings))) is not None:
            yield piece

    async def _send_pieces(
        self, made: Representation, pieces: Iterator[bytes], runner: RequestRunner, request: Request, send: Send
    ) -> None:
        """Send a body while it is made. One that cannot be completed is not ended either: the server closes the
        connection, and no client takes it for whole. Lines end in one that says why.
        """
        headers = [*made.headers, *self._always(request, made.headers)]
        await send({"type": "http.response.start", "status": made.status, "headers": headers})
        try:
            async for piece in self._pieces(pieces, runner, request):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except RegistryProblem as problem:
            last = refuse(problem, request, cause=problem.__cause__).content + b"\n"
            is_lines = (b"content-type", NDJSON[0].encode()) in made.headers
            await send({"type": "http.response.body", "body": last if is_lines else b"", "more_body": True})
            return
        await send({"type": "http.response.body", "body": b""})

    async def _send(self, made: Representation, request: Request, send: Send) -> None:
        condition = request.header("if-none-match") if made.etag else None
        headers, status, body = list(made.headers), made.status, made.body
        if condition is not None and matches(condition, made.etag):
            headers, status, body = _unchanged(headers), 304, b""
        headers += self._always(request, headers)
        if status not in (204, 304):
            headers.append(_content_length(body))
        await _send_whole(status, headers, b"" if request.method == "HEAD" else body, send)

    def _always(self, request: Request, given: RawHeaders) -> RawHeaders:
        """The headers of every answer: who may share it, and for how long."""
        shared = sharing_headers(request, self._origins, (name.decode("latin-1") for name, _ in given))
        sharing = [(name.lower().encode(), value.encode("latin-1")) for name, value in shared.items()]
        return sharing + self._privacy(given)

    def _privacy(self, given: RawHeaders) -> RawHeaders:
        """What keeps answers from others where access is on; an answer with a stricter Cache-Control keeps that one."""
        if not self._common or self._common[0] in given:
            return []
        is_stricter = any(name == b"cache-control" for name, _ in given)
        return [one for one in self._common if one[0] != b"cache-control"] if is_stricter else self._common


def _below_registry(scope: Scope, settings: Settings) -> Scope:
    """A request as it is: one to the port of the schema registry means what is below its name."""
    server = scope.get("server")
    if settings.schema_registry_port < 0 or not server or server[1] != settings.schema_registry_port:
        return scope
    raw = scope.get("raw_path") or scope["path"].encode()
    return {**scope, "path": SCHEMA_REGISTRY + scope["path"], "raw_path": SCHEMA_REGISTRY.encode() + raw}


def _path(scope: Scope) -> str:
    raw = scope.get("raw_path") or scope["path"].encode()
    path: str = raw.partition(b"?")[0].decode("latin-1")
    return "/" + path.lstrip("/")  # clients join a base that ends in a slash with a path that begins with one


def _first_headers(scope: Scope) -> dict[bytes, bytes]:
    """The headers by name; of several with one name the first counts."""
    return dict(reversed(scope["headers"]))


def _key(base: str, scope: Scope, headers: dict[bytes, bytes], admission: Admission) -> Key:
    """The dialect is part of the query (`specversion`)."""
    gzips = takes_gzip(headers.get(b"accept-encoding", b"").decode("latin-1"))
    is_page = prefers_page(headers.get(b"accept", b"").decode("latin-1"))
    return base, _path(scope), scope.get("query_string", b""), gzips, is_page, admission.visibility


def _unchanged(headers: RawHeaders) -> RawHeaders:
    """The headers of an answer whose body the client has."""
    return [one for one in headers if one[0] not in NOT_MODIFIED_HEADERS]


def _closing(send: Send) -> Send:
    """Say with the answer that the connection will be closed: its client goes elsewhere with the next request."""

    def sending(message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        return send(message)

    return sending


def _content_length(body: bytes) -> tuple[bytes, bytes]:
    return b"content-length", b"%d" % len(body)


async def _send_whole(status: int, headers: RawHeaders, body: bytes, send: Send) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    last = max(0, len(body) - 1) // PIECE * PIECE
    for start in range(0, last, PIECE):
        await send({"type": "http.response.body", "body": body[start : start + PIECE], "more_body": True})
    await send({"type": "http.response.body", "body": body[last:]})
