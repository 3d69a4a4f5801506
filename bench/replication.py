"""What a copy costs: a full pull against an export and an import, and the requests that a change makes."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure import Ratio, cpu_of, ratio
from postroom.registry.operations import export_document, import_document
from postroom.replication.links import Link
from postroom.replication.pulling import Pull
from postroom.replication.sides.store import StoreSide
from postroom.replication.verifying import differences
from postroom.store import open_store
from postroom.store.interface import Store
from tests.replication.town import RING, STAR, Town

GROUPS, MESSAGES = 20, 500
ROUNDS = 3
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
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        source = stack.enter_context(open_store(f"sqlite:///{folder}/source.db"))
        with source.write() as tx:
            import_document(tx, catalog())
        copies = _Copies(folder, source)
        yield ratio(
            f"pull of {GROUPS * MESSAGES:,} messages / export and import", copies.pulled, copies.imported, 2.0, ROUNDS
        )
        yield ratio("pull of nothing new / pull of everything", copies.pulled_again, copies.pulled, None, ROUNDS)
        yield ratio("verify a copy / pull of everything", copies.verified, copies.pulled, None, ROUNDS)
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
    """New stores that are filled from one source, again and again."""

    def __init__(self, folder: Path, source: Store) -> None:
        self._folder = folder
        self._source = source
        self._count = 0

    def imported(self) -> float:
        """The yardstick: everything out of one store and into another."""

        def work() -> None:
            with self._source.read() as tx:
                document = export_document(tx)
            with target.write() as tx:
                import_document(tx, document)

        with self._new() as target:
            return cpu_of(work)

    def pulled(self) -> float:
        """A full pull, by somebody who sees both for the first time."""
        with self._new() as target:
            return cpu_of(lambda: self._pull(target))

    def pulled_again(self) -> float:
        """A pull when nothing changed."""
        with self._new() as target:
            self._pull(target)
            source, side = StoreSide(self._source, "source"), StoreSide(target, "target")
            return cpu_of(lambda: Pull(source, side, Link(id="bench")).by_difference())

    def verified(self) -> float:
        """A comparison of two equal catalogs."""
        with self._new() as target:
            self._pull(target)
            source, side = StoreSide(self._source, "source"), StoreSide(target, "target")
            return cpu_of(lambda: list(differences(source, side, Link(id="bench"))))

    def _pull(self, target: Store) -> None:
        source = StoreSide(self._source, "source")
        report = Pull(source, StoreSide(target, "target"), Link(id="bench")).by_difference()
        assert len(report.outcome.taken) == GROUPS * (MESSAGES + 1)

    def _new(self) -> Store:
        self._count += 1
        return open_store(f"sqlite:///{self._folder}/copy{self._count}.db")
