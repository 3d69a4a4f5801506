"""The change events of a Postroom: pages of its change log, and one request whose response goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import msgspec

from postroom.errors import ServiceRefused, ServiceUnreachable
from postroom.outbound.policy import NoAnswer
from postroom.replication.replicas.peers.client import ReplicaClient
from postroom.replication.replicas.peers.peer import ChangedUnits
from postroom.replication.replicas.replica_unit import unit_xid

CHANGES = "/-/changes"
SILENCE_SECONDS = 60.0
"""The other side gives a sign of life every quarter of a minute."""
_ASK_SECONDS = 1.0
_MOST_BYTES = 16_000_000
_CURSOR_LOST = (409, 410)


class _Event(msgspec.Struct):
    """What counts of a change event."""

    subject: str = ""


class _Page(msgspec.Struct):
    """A page of the change log."""

    events: list[_Event]
    cursor: str
    more: bool = False


class ChangeFeed:
    """The changes of a Postroom from cursors on, as units; a request that goes on is kept between two questions.

    `path` is where they are, `events` the kind of events that is asked for, and `unit` tells the unit of a subject.
    """

    def __init__(
        self,
        client: ReplicaClient,
        path: str = CHANGES,
        events: str = "xregistry",
        unit: Callable[[str], str] = unit_xid,
    ) -> None:
        self.client = client
        self.path = path
        self.events = events
        self.unit = unit
        self._listener: EventListener | None = None

    def changes(self, after: str, xid: str, wait: float) -> ChangedUnits | None:
        """The units that changed after a cursor, waiting for some; None when the log does not reach back that far."""
        if not wait:
            return self._page(after, xid)
        if self._listener is None or (self._listener.cursor, self._listener.xid) != (after, xid):
            self.stop()
            try:
                self._listener = EventListener(self, after, xid)
            except ServiceRefused:  # it has enough listeners already, so it is asked again and again
                time.sleep(min(wait, _ASK_SECONDS))
                return self._page(after, xid)
        try:
            found = self._listener.next()
        except BaseException:
            self.stop()
            raise
        if found is None:
            self.stop()
        return found

    def stop(self) -> None:
        """End the request that goes on."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def last(self, xid: str) -> str:
        """The cursor of the newest change; empty when there is no such feed."""
        reply = self.client.ask("GET", self.url("last", xid, limit=1))
        try:
            return msgspec.json.decode(reply.body, type=_Page).cursor if reply.is_success else ""
        except msgspec.DecodeError:
            return ""

    def url(self, after: str, xid: str, **more: int) -> str:
        """Where the changes after a cursor are."""
        return f"{self.path}?{urlencode({'after': after, 'xid': xid, 'events': self.events, **more})}"

    def read(self, subjects: list[str], cursor: str) -> ChangedUnits:
        """What changed, by the subjects of events."""
        xids = dict.fromkeys(map(self.unit, subjects))
        xids.pop("", None)
        return ChangedUnits(xids=tuple(xids), cursor=cursor, count=len(subjects))

    def _page(self, after: str, xid: str) -> ChangedUnits | None:
        reply = self.client.ask("GET", self.url(after or "last", xid, limit=10_000))
        if reply.status in _CURSOR_LOST or reply.status == 404:
            return None
        self.client.json(reply, CHANGES)
        try:
            page = msgspec.json.decode(reply.body, type=_Page)
        except msgspec.DecodeError as error:
            raise ServiceRefused(f"{CHANGES} answers something else: {error}.", place=self.client.name) from None
        return self.read([event.subject for event in page.events], page.cursor)


class EventListener:
    """An open stream of events from a cursor on; `cursor` is how far it was read."""

    def __init__(self, feed: ChangeFeed, after: str, xid: str) -> None:
        self.cursor = after
        self.xid = xid
        self.name = feed.client.name
        self._feed = feed
        self._rest = b""
        self._chunks = self._open(feed.client)

    def next(self) -> ChangedUnits | None:
        """What came next, which may be only a sign of life; None when the change log has lost the cursor."""
        try:
            chunk = next(self._chunks)
        except StopIteration:
            raise ServiceUnreachable("the service ended the stream of changes.", place=self.name) from None
        except NoAnswer as error:
            sentence = f"the stream of changes broke off ({error.error_type})."
            raise ServiceUnreachable(sentence, place=self.name) from None
        *frames, self._rest = (self._rest + chunk).split(b"\n\n")
        if len(self._rest) > _MOST_BYTES:
            raise ServiceRefused("an event of the stream has no end.", place=self.name)
        subjects = []
        for frame in frames:
            fields = dict(line.partition(b": ")[::2] for line in frame.split(b"\n"))
            if fields.get(b"event") == b"error":
                return None
            self.cursor = fields.get(b"id", b"").decode() or self.cursor
            subjects += [_subject(fields[b"data"])] if b"data" in fields else []
        return self._feed.read(subjects, self.cursor)

    def close(self) -> None:
        """End the request, also for a thread that waits for its next piece."""
        self._stream.close()

    def _open(self, client: ReplicaClient) -> Iterator[bytes]:
        self._stream = stream = client.stream(self._feed.url(self.cursor, self.xid), SILENCE_SECONDS)
        if stream.status in _CURSOR_LOST:
            return iter([b"event: error\n\n"])
        if stream.status != 200 or "text/event-stream" not in stream.headers.get("content-type", ""):
            self.close()
            raise ServiceRefused(f"{CHANGES} answers {stream.status}, no stream.", place=client.name)
        return iter(stream)


def _subject(data: bytes) -> str:
    try:
        return msgspec.json.decode(data, type=_Event).subject
    except msgspec.DecodeError:
        return ""
