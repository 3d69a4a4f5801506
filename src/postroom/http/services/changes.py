"""`/changes`: the change log as a page of events, as an audit with values, or as a stream that goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from postroom.errors import CursorBroken, CursorForeign, CursorTooOld, PostroomError
from postroom.http.server.request import Request
from postroom.http.server.response import Response, StreamChunk
from postroom.http.server.response_encoding import encode_json
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.replication.changes.audit import AuditEntry, entry_of
from postroom.replication.changes.events import Event, catalog_events_of, events_of
from postroom.replication.changes.feed import MOST_CHANGES, ChangePage, logged_xid, note_reader, page_of
from postroom.settings import Settings
from postroom.store.interface import Store

NAME = "/changes"
XREGISTRY, MESSAGECATALOG = "xregistry", "messagecatalog"
METHODS = "GET, HEAD, OPTIONS"
STREAM_TYPE = "text/event-stream"
USUAL, MOST_AUDITED, MOST_STREAMED = 1000, 1000, 1000
AUDITED_BYTES = 8 * 1024 * 1024
"""No further values are put into a page that has so many."""
RETRY_MS = 2000
STATUS: dict[type[PostroomError], int] = {CursorBroken: 400, CursorForeign: 409, CursorTooOld: 410}
STREAM_HEADERS = {"Content-Type": STREAM_TYPE, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}

Events = Callable[..., Iterable[tuple[int, Event]]]
"""What makes events of rows: events_of and its like."""


class ChangesQuery(msgspec.Struct, frozen=True):
    """What a request asks for."""

    after: str
    limit: int
    xid: str
    values: bool
    events: Events


def answer_changes(request: Request, store: Store, settings: Settings) -> Response:
    """Answer a request to `/changes`."""
    if request.path != "/":
        raise RegistryProblem("api_not_found", NAME + request.path)
    if request.method == "OPTIONS":
        return Response(headers={"Allow": METHODS, "Access-Control-Allow-Methods": METHODS})
    if request.method not in ("GET", "HEAD"):
        raise RegistryProblem("action_not_supported", NAME, action=request.method, headers={"allow": METHODS})
    query = _parse_query(request)
    note_reader(store)
    try:
        if request.method == "GET" and STREAM_TYPE in (request.header("accept") or ""):
            return _stream(request, query, store, settings)
        return _page(request, query, store, settings)
    except (CursorBroken, CursorForeign, CursorTooOld) as error:
        raise _problem(error) from None


def _parse_query(request: Request) -> ChangesQuery:
    given = dict(reversed(request.query))
    values = "values" in given
    limit = min(_limit(given.get("limit")), MOST_AUDITED if values else MOST_CHANGES)
    xid = logged_xid(given.get("xid", "/"), NAME)
    return ChangesQuery(given.get("after", ""), limit, xid, values, _events(given.get("events", XREGISTRY)))


def _events(name: str) -> Events:
    if name == XREGISTRY:
        return events_of
    if name == MESSAGECATALOG:
        return catalog_events_of
    detail = f"events are those of {XREGISTRY} or of {MESSAGECATALOG}"
    raise RegistryProblem("bad_request", NAME, error_detail=detail)


def _limit(text: str | None) -> int:
    if text is None:
        return USUAL
    if not text.isascii() or not text.isdigit() or len(text) > 20 or int(text) == 0:
        raise RegistryProblem("bad_request", NAME, error_detail="limit must be a whole number from 1 on")
    return int(text)


def _page(request: Request, query: ChangesQuery, store: Store, settings: Settings) -> Response:
    with store.read() as tx:
        page = page_of(tx, query.after, query.limit, query.xid)
        shown: dict[str, Any] = {}
        if query.values:
            shown["changes"], page = _audited(tx, page)
        else:
            names = settings.changes_name_attributes
            shown["events"] = [one for _, one in query.events(tx, page.changes, _root(request), names=names)]
    headers = {"Cache-Control": "no-cache"}
    if page.more:
        kept = [(name, value) for name, value in request.query if name != "after"]
        parameters = urlencode([("after", page.cursor), *kept], quote_via=quote)
        headers["Link"] = f"<{request.base}?{parameters}>;rel=next"
    return Response(headers=headers, json={**shown, "cursor": page.cursor, "more": page.more})


def _audited(tx: Transaction, page: ChangePage) -> tuple[list[AuditEntry], ChangePage]:
    """The entries of a page, and the page as far as they go: values may be as large as requests are."""
    entries: list[AuditEntry] = []
    size = 0
    for change in page.changes:
        entries.append(entry_of(tx, change))
        size += len(encode_json(entries[-1]))
        if size > AUDITED_BYTES and len(entries) < len(page.changes):
            return entries, ChangePage(page.changes[: len(entries)], change.mark, more=True)
    return entries, page


def _stream(request: Request, query: ChangesQuery, store: Store, settings: Settings) -> Response:
    if query.values or any(name == "limit" for name, _ in request.query):
        raise RegistryProblem("bad_request", NAME, error_detail="a stream takes neither values nor limit")
    after = request.header("last-event-id") or query.after
    with store.read() as tx:
        page_of(tx, after, 1)  # refused now, with a status, rather than in the stream
    made = partial(query.events, base=_root(request), names=settings.changes_name_attributes)
    stream = ChangeStream(store, after, query.xid, made)
    return Response(headers=STREAM_HEADERS, stream=stream, cacheable=False)


class ChangeStream:
    """Server-sent events from a cursor on; the id of each is the cursor to resume from."""

    def __init__(self, store: Store, after: str, xid: str, made: Events) -> None:
        self._store = store
        self._cursor = after
        self._xid = xid
        self._made = made
        self._sent_id = ""
        self._is_new = True

    def pull(self) -> StreamChunk:
        """What happened since the last time."""
        opening = f"retry: {RETRY_MS}\n\n".encode() if self._is_new else b""
        self._is_new = False
        try:
            with self._store.read() as tx:
                page = page_of(tx, self._cursor, MOST_STREAMED, self._xid)
                events = list(self._made(tx, page.changes))
        except (CursorForeign, CursorTooOld) as error:
            document = encode_json(_problem(error).document())
            return StreamChunk(data=b"%bevent: error\ndata: %b\n\n" % (opening, document), ends=True)
        self._cursor = page.cursor
        marks = {change.sequence: change.mark for change in page.changes}
        if events:
            self._sent_id = marks[events[-1][0]]
        frames = [b"id: %b\ndata: %b\n\n" % (marks[row].encode(), encode_json(event)) for row, event in events]
        return StreamChunk(data=opening + b"".join(frames), more=page.more)

    def beat(self) -> bytes:
        """A sign of life; it moves the client's place on past changes that were not for it."""
        if self._cursor == self._sent_id:
            return b":\n\n"
        self._sent_id = self._cursor
        return f"id: {self._cursor}\n\n".encode()


def _root(request: Request) -> str:
    return request.base.removesuffix(NAME).removesuffix("/-")


def _problem(error: PostroomError) -> RegistryProblem:
    return RegistryProblem(
        "bad_request",
        NAME,
        error_detail=error.sentence.rstrip("."),
        detail=error.remedy,
        status=STATUS[type(error)],
        code=error.code,
    )
