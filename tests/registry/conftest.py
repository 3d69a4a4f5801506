"""A small registry on a real store, spoken to through the operations that HTTP uses too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.registry import operations
from postroom.registry.paths import resolve
from postroom.registry.query.inline import parse_inline
from postroom.registry.read.render import View, render, render_collection
from postroom.registry.read.tree import read_collection, read_entity
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.store.interface import Store


class RegistryClient:
    """Puts, patches, deletes and shows entities by xid, each in a transaction of its own."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def put(self, xid: str, body: Any, patch: bool = False, default: str | None = "") -> Any:
        with self.store.write() as tx:
            work, path = UnitOfWork(tx), resolve(tx.model(), xid)
            match path.kind:
                case "registry":
                    operations.update_registry(work, body, patch)
                case "group":
                    operations.put_group(work, path, body, patch)
                case "resource":
                    operations.put_resource(work, path, body, patch, default)
                case "meta":
                    operations.put_meta(work, path, body, patch)
                case "version":
                    operations.put_version(work, path, path.ids[5], body, patch, default)
                case "versions":
                    operations.put_versions(work, path, body, patch, default)
                case _:
                    operations.put_members(work, path, body, patch)
            work.finish()
        return self.show(xid)

    def patch(self, xid: str, body: Any) -> Any:
        return self.put(xid, body, patch=True)

    def post_version(self, xid: str, body: Any) -> str:
        with self.store.write() as tx:
            work, path = UnitOfWork(tx), resolve(tx.model(), xid)
            written = operations.put_version(work, path, None, body, False, "")
            work.finish()
        return written.versions[0]

    def delete(self, xid: str, epoch: int | None = None, members: Any = None) -> None:
        with self.store.write() as tx:
            work = UnitOfWork(tx)
            operations.delete(work, resolve(tx.model(), xid), epoch, members, "")
            work.finish()

    def show(self, xid: str, inline: str = "") -> Any:
        with self.store.read() as tx:
            path = resolve(tx.model(), xid)
            wanted = parse_inline(tx.model(), path, [inline] if inline else [])
            view = View(base="http://registry", inline=wanted, root=path.xid)
            if path.is_collection:
                return render_collection(read_collection(tx, path, wanted), view)
            return render(read_entity(tx, path, wanted), view)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as opened:
        yield opened


@pytest.fixture
def registry(store: Store) -> RegistryClient:
    return RegistryClient(store)
