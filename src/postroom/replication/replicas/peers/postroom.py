"""Another Postroom as an endpoint of a link: it has digests and a change log, and decides by itself what it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from postroom.errors import ServiceRefused
from postroom.outbound.policy import OutboundResponse
from postroom.replication.replicas.apply_units import BatchResult, ReplicaBatch
from postroom.replication.replicas.peers.client import ReplicaClient
from postroom.replication.replicas.peers.event_listener import ChangeFeed
from postroom.replication.replicas.peers.peer import ChangedUnits, Overview
from postroom.replication.replicas.replica_unit import Unit, UnitEntry
from postroom.replication.replicas.scope import LinkScope

Result = TypeVar("Result")

MOUNT = "/-/replication"
_TOO_LARGE = 413
MOST_UNITS = 500
"""So many units are asked for at once; the other side may answer with fewer, and is asked for the rest."""


class UnitPage(msgspec.Struct, frozen=True):
    """Some of the units that were asked for, and those that did not fit into the answer."""

    units: list[Unit]
    rest: list[str] = []


class PostroomEndpoint:
    """A Postroom that answers below a URL."""

    def __init__(self, client: ReplicaClient) -> None:
        self._client = client
        self.name = client.name
        self._feed = ChangeFeed(client)

    @property
    def requests(self) -> int:
        """How many requests it took so far."""
        return self._client.requests

    def overview(self, scope: LinkScope, known: str = "") -> Overview | None:
        """What it has; None when that is what has the known digest. One request either way."""
        return self.read_overview(self._client.ask("GET", overview_path(scope, known)), known)

    def read_overview(self, reply: OutboundResponse, known: str) -> Overview | None:
        """The answer to such a request."""
        found = self._read(Overview, reply, "/overview")
        return None if known and found.digest == known else found

    def entries(self, groups: Sequence[str]) -> dict[str, UnitEntry]:
        """The entries of some Groups and of what is in them."""
        return self._send(dict[str, UnitEntry], "/entries", list(groups)) if groups else {}

    def units(self, xids: Sequence[str]) -> Iterator[Unit]:
        """Some units."""
        left = list(xids)
        while left:
            asked, left = left[:MOST_UNITS], left[MOST_UNITS:]
            page = self._send(UnitPage, "/units", asked)
            for unit in page.units:
                if not unit.is_whole:
                    raise ServiceRefused(f"{unit.xid} has no meta with versions or an xref.", place=self.name)
                yield unit
            if len(page.rest) >= len(asked):
                raise ServiceRefused("it answers none of the units it was asked for.", place=self.name)
            left = page.rest + left

    def changes(self, after: str, scope: LinkScope, wait: float) -> ChangedUnits | None:
        """The units that changed after a cursor."""
        return self._feed.changes(after, scope.xid, wait)

    def state(self, link: str) -> bytes:
        """What was kept for a link."""
        reply = self._client.ask("GET", f"{MOUNT}/states/{quote(link, safe='')}")
        return reply.body if reply.is_success else b""

    def apply(self, batch: ReplicaBatch) -> BatchResult:
        """Let it take a batch in; one that is larger than what it reads goes in parts."""
        reply = self._client.ask("POST", f"{MOUNT}/batches", json=batch)
        if reply.status != _TOO_LARGE or not batch.units:
            return self._read(BatchResult, reply, "/batches")
        units, middle = batch.units, len(batch.units) // 2
        if not middle:
            sentence = "it is larger, with all its versions, than what the target reads: its setting max_body_mb."
            outcome = BatchResult(refused={units[0].xid: sentence})
            rest = msgspec.structs.replace(batch, units=())
        else:
            outcome = self.apply(msgspec.structs.replace(batch, units=units[:middle], claims={}, state=""))
            rest = msgspec.structs.replace(batch, units=units[middle:], gone=())
        outcome.add(self.apply(rest))
        return outcome

    def close(self) -> None:
        """Close the connections."""
        self._feed.stop()
        self._client.close()

    def _send(self, kind: type[Result], path: str, body: object) -> Result:
        return self._read(kind, self._client.ask("POST", MOUNT + path, json=body), path)

    def _read(self, kind: type[Result], reply: OutboundResponse, path: str) -> Result:
        self._client.json(reply, MOUNT + path)
        try:
            return msgspec.json.decode(reply.body, type=kind)
        except msgspec.DecodeError as error:
            raise ServiceRefused(f"{MOUNT}{path} answers something else: {error}.", place=self.name) from None


def overview_path(scope: LinkScope, known: str = "") -> str:
    """Where the overview of a part is."""
    return f"{MOUNT}/overview?" + urlencode({"scope": scope.xid, "known": known})


def is_postroom(client: ReplicaClient) -> bool:
    """Whether the service has our replication API."""
    return client.ask("GET", f"{MOUNT}/").is_success
