"""A catalog on every way into the product: what one of them says about a message, all of them say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec

from postroom.catalog.catalog import open_catalog
from postroom.catalog.export import export_source
from postroom.catalog.sources import read_source
from postroom.catalog.targets import write_target
from postroom.settings import Settings
from tests.http.running_service import serving

Tree = dict[str, Any]

WAYS = ("file", "store", "dump", "service", "POST /match")
_KINDS = ("messagegroups", "schemagroups", "endpoints")


class Service:
    """A running service that is emptied before each catalog."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = httpx.Client(base_url=url, timeout=30)

    def take(self, document: Tree) -> None:
        for kind in _KINDS:
            assert self.client.delete(f"/{kind}").status_code == 204
        write_target(document, self.url, Settings())

    def match(self, record: Any) -> list[Tree]:
        answer = self.client.post("/match", json=record)
        assert answer.status_code == 200, answer.text
        found = answer.json()
        return found if isinstance(found, list) else [found]


@contextmanager
def running_service(folder: Path) -> Iterator[Service]:
    """A service with a registry of its own."""
    with serving(f"sqlite:///{folder}/service.db") as (_, url):
        service = Service(url)
        yield service
        service.client.close()


def opened(way: str, document: Tree, folder: Path, service: Service) -> Any:
    """Something with `match(record)`: the document after it came in one way."""
    path = folder / "catalog.json"
    path.write_text(json.dumps(document))
    if way == "file":
        return open_catalog(str(path))
    tree = read_source(str(path), Settings())
    if way in ("service", "POST /match"):
        service.take(tree)
        return open_catalog(service.url) if way == "service" else service
    store = f"sqlite:///{folder}/registry.db"
    write_target(tree, store, Settings())
    if way == "store":
        return open_catalog(store)
    (folder / "dump.json").write_text(json.dumps(export_source(store, Settings())))
    return open_catalog(str(folder / "dump.json"))


def outcome(opened: Any, record: Any) -> Tree:
    """The outcome of one record, as `postroom match` prints it."""
    if isinstance(opened, Service):
        return opened.match(record)[0]
    found: Tree = msgspec.to_builtins(opened.match(record))
    return found
