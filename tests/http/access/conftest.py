"""A service with access on, over a store with some keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from postroom.access.grants import parse_grant
from postroom.access.keys import create_key
from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

MakeKey = Callable[..., str]


@pytest.fixture
def make_key(store: Store) -> MakeKey:
    """Make a key with grants such as `read:/`; what its holder sends."""

    def make(name: str, *grants: str, **options: object) -> str:
        rows = [parse_grant(f"key:{name}", *grant.split(":", 1)) for grant in grants]
        with store.write() as tx:
            return create_key(tx, name, rows, **options)[1]  # type: ignore[arg-type]

    return make


@pytest.fixture
def guarded(store: Store, tmp_path: Path) -> Callable[..., AsgiClient]:
    """The service over the store with access on, and other settings as given."""

    def start(**settings: object) -> AsgiClient:
        return AsgiClient(create_app(store, Settings(access="on", **settings)))  # type: ignore[arg-type]

    return start
