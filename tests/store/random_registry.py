"""A registry with something of everything that one may hold, the same for the same seed."""

from __future__ import annotations

import random

from postroom.access.grants import parse_grant
from postroom.access.keys import create_key
from postroom.catalog.open_store import open_store
from postroom.registry import operations
from postroom.registry.paths import resolve
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.replication.replicas.service_links import LinkConfig, put_link
from postroom.replication.subscriptions import subscription_store
from postroom.replication.subscriptions.delivery_progress import DeliveryProgress
from postroom.store.interface import Store
from postroom.store.retention import Retention

TEXTS = ["", "Öfen", "oven\u0000room", "\U0001f525", "'; --", "\\x00", "a\tb\nc", "é" * 300]
IDS = ["Alpha", "beta", "gamma.1", "Z-9", "_x", "a~b", "0"]


def fill(url: str, seed: int, writes: int = 40) -> None:
    """Write to a registry, and forget what is old."""
    rng = random.Random(seed)
    with open_store(url, retention=Retention(count=30)) as store:
        for _ in range(writes):
            _write(store, rng)
        with store.write() as tx:
            create_key(tx, f"baker-{seed}", [parse_grant(f"key:baker-{seed}", "write", "/messagegroups/Alpha")])
            put_link(tx, "mill", LinkConfig(mode="pull", remote="https://mill.example/"))
            newest = tx.last_change()
            cursor = newest.mark if newest else ""
            subscription_store.put_progress(tx, "s1", DeliveryProgress(cursor=cursor, delivered=seed))
            for _ in range(5):
                tx.put_record("kind", rng.choice(TEXTS).replace("\0", ""), rng.randbytes(rng.randrange(2000)))


def _write(store: Store, rng: random.Random) -> None:
    group = f"/{rng.choice(['messagegroups', 'schemagroups'])}/{rng.choice(IDS)}"
    resource = f"{group}/{'messages' if 'message' in group else 'schemas'}/{rng.choice(IDS)}"
    with store.write() as tx:
        work = UnitOfWork(tx, actor=rng.choice(TEXTS).replace("\0", ""))
        if rng.random() < 0.15 and tx.entity(group) is not None:
            operations.delete(work, resolve(tx.model(), group), None, None, "")
        else:
            body = {"description": rng.choice(TEXTS), "labels": {"size": str(rng.random())}}
            if "schema" in resource:
                body |= {"schema": rng.choice([{"type": "object"}, rng.choice(TEXTS)]), "format": "Own/1.0"}
            operations.put_resource(work, resolve(tx.model(), resource), body, False, "")
        work.finish()
