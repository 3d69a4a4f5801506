"""What access costs: a request with a key against one without access, and a collection of which little may be read."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator

import msgspec

from bench.latency import message_definition
from bench.measure import Ratio, cpu_of, ratio
from bench.serving import cost, loaded_registry, server
from postroom.access.grants import parse_grant
from postroom.access.keys import create_key
from postroom.catalog.open_store import open_store
from postroom.http.server.request import Request
from postroom.http.xregistry.dispatch import answer
from postroom.registry.permissions import UNRESTRICTED, Permissions, Prefixes
from postroom.settings import Settings
from postroom.store.interface import Store

ALL, SHOWN = 10_000, 100
READS = 20
GROUP = "/messagegroups/all/messages"
SCATTERED = ALL // SHOWN


def measure() -> Iterator[Ratio]:
    """One message over sockets, then collections in this process, where nothing is kept."""
    with tempfile.TemporaryDirectory() as folder:
        yield _one_message(f"sqlite:///{folder}/demo.db")
        yield from _collections(folder)


def _one_message(url: str) -> Ratio:
    """A message that was asked for before."""
    command = loaded_registry(url)
    with open_store(url) as store, store.write() as tx:
        _, key = create_key(tx, "bench", [parse_grant("key:bench", "read", "/messagegroups/shop.*")])
    line = f"Authorization: Bearer {key}\r\n"
    with server(command) as registry, server([*command, "--access", "on"]) as guarded:
        return ratio(
            "GET a message with a key / with access off",
            lambda: cost(*guarded, line),
            lambda: cost(*registry),
            1 / 0.85,
            7,
        )


def _collections(folder: str) -> Iterator[Ratio]:
    """A collection of 10,000 of which 100 may be read, against one of 100 and a count of 10,000."""
    names = [f"{'mine' if number % SCATTERED == 0 else 'others'}.{number:05}" for number in range(ALL)]
    mine = [name for name in names if name.startswith("mine.")]
    everything, alone = _filled(f"sqlite:///{folder}/all.db", names), _filled(f"sqlite:///{folder}/alone.db", mine)
    for what, path, prefixes in (
        ("messages that begin alike", GROUP, [f"{GROUP}/mine.*"]),
        ("messages granted one by one", GROUP, [f"{GROUP}/{name}" for name in mine]),
        ("groups that begin alike", "/messagegroups", ["/messagegroups/mine.*"]),
    ):
        by = Permissions(principal="key:bench", read=Prefixes(prefixes))
        yield ratio(
            f"GET 10,000 of which 100 may be read, {what} / the 100 alone + a count",
            _reading(everything, path, by),
            _sum(_reading(alone, path, UNRESTRICTED), _counting(everything, path)),
            1.2,
            7,
        )


def _filled(url: str, names: list[str]) -> Store:
    """A registry with messages and groups of these names."""
    store = open_store(url)
    messages = {name: message_definition(0, number) for number, name in enumerate(names)}
    for path, body in ((GROUP, messages), ("/messagegroups", {name: {} for name in names})):
        content = msgspec.json.encode(body)
        assert (
            answer(Request(method="POST", path=path, base="http://bench", body=content), store, Settings()).status < 300
        )
    return store


def _reading(store: Store, path: str, by: Permissions) -> Callable[[], float]:
    request = Request(method="GET", path=path, base="http://bench", permissions=by, query=(("limit", str(ALL)),))

    def read() -> None:
        for _ in range(READS):
            found = msgspec.json.decode(answer(request, store, Settings()).content)
            if not SHOWN <= len(found) <= SHOWN + 1:
                sys.exit(f"bench: {path} shows {len(found)}")

    return lambda: cpu_of(read)


def _counting(store: Store, path: str) -> Callable[[], float]:
    def count() -> None:
        for _ in range(READS):
            with store.read() as tx:
                tx.count(path)

    return lambda: cpu_of(count)


def _sum(one: Callable[[], float], other: Callable[[], float]) -> Callable[[], float]:
    return lambda: one() + other()
