"""What delivering events to a web hook on this machine costs, against a bare loop that posts the same bodies."""

from __future__ import annotations

import asyncio
import functools
import http.client
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from urllib.parse import urlsplit

import msgspec

from bench.measure import Ratio, cpu_of, ratio
from bench.processes import seconds_of
from postroom.catalog.open_store import open_store
from postroom.registry import operations
from postroom.registry.paths import resolve
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.replication.subscriptions import subscription_store
from postroom.replication.subscriptions.delivery import SubscriptionDelivery
from postroom.replication.subscriptions.delivery_progress import DeliveryProgress, RetryPolicy
from postroom.replication.subscriptions.delivery_store import DeliveryStore
from postroom.replication.subscriptions.sinks.sink_table import open_sink
from postroom.replication.subscriptions.subscription import Subscription
from postroom.settings import Settings
from postroom.store.interface import Store

EVENTS = 4000
SETTINGS = Settings(sink_hosts=("127.0.0.1",), sink_private=True, sink_handshake=False, webhook_secret="open sesame")  # noqa: S106
KIND = "io.xregistry.group.created"
BASE = "https://bench.example"
GOAL = 3.33


def measure() -> Iterator[Ratio]:
    """The same events, signed and noted, and posted by the standard library alone."""
    sink = subprocess.Popen([sys.executable, "-m", "bench.delivery"], stdout=subprocess.PIPE, text=True)
    try:
        assert sink.stdout is not None
        url = sink.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as folder, open_store(f"sqlite:///{folder}/bench.db") as store:
            subscription, bodies = _prepare(store, url)
            ours, bare = partial(_deliver, store, subscription), partial(_post, url, bodies)
            yield _measured("deliver an event / post its body, by the clock", seconds_of, ours, bare)
            yield _measured("deliver an event / post its body, CPU time", cpu_of, ours, bare)
    finally:
        sink.terminate()
        sink.wait()


def _measured(
    name: str, cost: Callable[[Callable[[], object]], float], ours: Callable[[], object], bare: Callable[[], object]
) -> Ratio:
    return ratio(name, lambda: cost(ours), lambda: cost(bare), GOAL, 5)


def _prepare(store: Store, url: str) -> tuple[Subscription, list[bytes]]:
    document = {"sink": url, "protocol": "HTTP", "types": [KIND], "config": {"after": ""}}
    with store.write() as tx:
        work = UnitOfWork(tx)
        groups: dict[str, object] = {f"group-{number}": {} for number in range(EVENTS)}
        operations.put_members(work, resolve(tx.model(), "/messagegroups"), groups, False)
        work.finish()
        subscription = subscription_store.create(tx, document, BASE, SETTINGS)
    deliveries, cursor, bodies, more = DeliveryStore(store), "", [], True
    while more:
        batch = deliveries.batch(subscription, cursor)
        made = (event for _, events in batch.changes for event in events if event["type"] == KIND)
        bodies += [msgspec.json.encode(event) for event in made]
        cursor, more = batch.cursor, batch.more
    assert len(bodies) == EVENTS
    return subscription, bodies


def _deliver(store: Store, subscription: Subscription) -> None:
    deliveries = DeliveryStore(store)
    claim = store.claim("bench")
    assert claim is not None
    delivery = SubscriptionDelivery(
        subscription,
        DeliveryProgress(cursor=""),
        deliveries.batch,
        functools.partial(deliveries.note, claim),
        deliveries.permissions,
        RetryPolicy(),
        threading.Event(),
    )
    while delivery.progress.delivered < EVENTS:
        delivery.work(lambda wanted: open_sink(wanted, SETTINGS, lambda *_: None), "")
        assert not delivery.progress.error, delivery.progress.error
    delivery.close()
    claim.close()


def _post(url: str, bodies: list[bytes]) -> None:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc)
    for body in bodies:
        connection.request("POST", parts.path, body, {"Content-Type": "application/cloudevents+json"})
        with connection.getresponse() as answer:
            answer.read()
            assert answer.status == 204
    connection.close()


class _Hook(asyncio.Protocol):
    """The least that takes requests one after the other: it answers when a body is whole."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._read = b""

    def data_received(self, data: bytes) -> None:
        """Some of a request came."""
        self._read += data
        head, end, body = self._read.partition(b"\r\n\r\n")
        if end and len(body) >= int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]):
            self._read = b""
            self._transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Hook, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
