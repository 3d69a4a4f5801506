"""What a copy costs: a full pull against an export and an import, and the requests that a change makes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure import Ratio, cpu_of, ratio
from postroom.catalog.open_store import open_store
from postroom.registry.operations import export_document, import_document
from postroom.replication.replicas.link import Link
from postroom.replication.replicas.peers.store import StoreEndpoint
from postroom.replication.replicas.pull import Pull
from postroom.replication.replicas.verify import differences
from postroom.store.interface import Store
from tests.replication.replicas.many_catalogs import RING, STAR, Town

GROUPS, MESSAGES = 20, 500
ROUNDS = 2
WRITES, KILLS, SEED = 300, 12, 11


def catalog() -> dict[str, Any]:
    """10,000 message definitions in 20 groups."""
    return {
        "messagegroups": {
            f"plant.{group}": {
                "envelope": "CloudEvents/1.0",
                "messages": {
                    f"oven.{group}.{number}": {
                        "description": f"Oven {number} of plant {group} says how hot it is.",
                        "envelopemetadata": {
                            "type": {"value": f"example.oven.{group}.{number}"},
                            "source": {"type": "uritemplate", "value": "/plants/{plant}/ovens/{oven}"},
                        },
                    }
                    for number in range(MESSAGES)
                },
            }
            for group in range(GROUPS)
        }
    }


def measure() -> Iterator[Ratio]:
    """CPU time within this process; the source is a store, so that no network counts."""
    with tempfile.TemporaryDirectory() as folder:
        copies = _Copies(Path(folder))
        yield ratio(
            f"pull of {GROUPS * MESSAGES:,} messages / export and import", copies.pulled, copies.imported, 2.0, ROUNDS
        )
        yield from copies.looked_at()
    for name, roads in (("ring", RING), ("star", STAR)):
        yield _storm(name, roads)


def _storm(name: str, roads: dict[str, list[str]]) -> Ratio:
    """Three catalogs in processes of their own that are written to and killed; nothing may be lost."""
    with tempfile.TemporaryDirectory() as folder:
        town = Town(Path(folder), roads)
        with town.alive():
            town.storm(SEED, WRITES, KILLS)
            town.rest()
            assert town.lost() == []
            return Ratio(f"requests / writes, {name} of three, {KILLS} × kill -9", town.requests() / WRITES, 10.0)


class _Copies:
    """New stores, filled from one source again and again; each time it is opened anew, and knows no digests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        with open_store(self._url("source")) as source, source.write() as tx:
            import_document(tx, catalog())

    def imported(self) -> float:
        """The yardstick: everything out of one store and into another."""

        def work() -> None:
            with source.read() as tx:
                document = export_document(tx)
            with target.write() as tx:
                import_document(tx, document)

        with open_store(self._url("source")) as source, self._new() as target:
            return cpu_of(work)

    def pulled(self) -> float:
        """A full pull."""
        with open_store(self._url("source")) as source, self._new() as target:
            return cpu_of(lambda: _pull(source, target))

    def looked_at(self) -> Iterator[Ratio]:
        """What it costs to see that nothing changed, in a process that did so before, against the pull itself."""
        with open_store(self._url("source")) as source, self._new() as target:
            whole = cpu_of(lambda: _pull(source, target))
            yield Ratio("pull of nothing new / pull of everything", cpu_of(lambda: _pull(source, target)) / whole)
            sides = StoreEndpoint(source, "source"), StoreEndpoint(target, "target")
            checked = cpu_of(lambda: list(differences(*sides, Link(id="bench"))))
            yield Ratio("verify a copy / pull of everything", checked / whole)

    def _new(self) -> Store:
        self._count += 1
        return open_store(self._url(f"copy{self._count}"))

    def _url(self, name: str) -> str:
        return f"sqlite:///{self._folder}/{name}.db"


def _pull(source: Store, target: Store) -> None:
    Pull(StoreEndpoint(source, "source"), StoreEndpoint(target, "target"), Link(id="bench")).by_difference()
