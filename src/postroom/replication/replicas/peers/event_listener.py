"""The change events of a Postroom: pages of its change log, and one request whose response goes on."""

from __future__ import annotations

from collections.abc import Iterator
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


def read_page(client: ReplicaClient, after: str, xid: str) -> ChangedUnits | None:
    """What changed after a cursor so far; None when its change log does not reach back that far."""
    path = f"{CHANGES}?{urlencode({'after': after or 'last', 'xid': xid, 'limit': 10_000})}"
    reply = client.ask("GET", path)
    if reply.status in _CURSOR_LOST or reply.status == 404:
        return None
    client.json(reply, CHANGES)
    try:
        page = msgspec.json.decode(reply.body, type=_Page)
    except msgspec.DecodeError as error:
        raise ServiceRefused(f"{CHANGES} answers something else: {error}.", place=client.name) from None
    return _changes([event.subject for event in page.events], page.cursor)


class EventListener:
    """An open stream of events from a cursor on; `cursor` is how far it was read."""

    def __init__(self, client: ReplicaClient, after: str, xid: str) -> None:
        self.cursor = after
        self.xid = xid
        self.name = client.name
        self._rest = b""
        self._chunks = self._open(client)

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
        return _changes(subjects, self.cursor)

    def close(self) -> None:
        """End the request, also for a thread that waits for its next piece."""
        self._stream.close()

    def _open(self, client: ReplicaClient) -> Iterator[bytes]:
        path = f"{CHANGES}?{urlencode({'after': self.cursor, 'xid': self.xid})}"
        self._stream = stream = client.stream(path, SILENCE_SECONDS)
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


def _changes(subjects: list[str], cursor: str) -> ChangedUnits:
    xids = dict.fromkeys(map(unit_xid, subjects))
    xids.pop("", None)
    return ChangedUnits(xids=tuple(xids), cursor=cursor, count=len(subjects))
