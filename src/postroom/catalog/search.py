"""Search any catalog: a store and a service by their index, files by one that is made for the moment."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeVar
from urllib.parse import urlencode

import msgspec

from postroom.catalog.open_store import open_store
from postroom.catalog.service_client import ServiceClient
from postroom.catalog.sources import read_source
from postroom.errors import ServiceRefused
from postroom.registry.operations import import_document
from postroom.registry.search.field_list import FieldsPage, FieldsRequest, list_fields
from postroom.registry.search.search import SearchRequest, SearchResult, search
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings
from postroom.urls import STORE_SCHEMES, scheme_of

Answer = TypeVar("Answer", SearchResult, FieldsPage)


def search_catalog(source: str, request: SearchRequest, settings: Settings) -> SearchResult:
    """The hits of a page."""
    if scheme_of(source) in ("http", "https"):
        given = {"q": request.q, **request.facets, "limit": request.limit, "offset": request.offset}
        return _ask(source, f"/-/search?{urlencode(given)}", SearchResult, settings)
    with _opened(source, settings) as tx:
        return search(tx, request)


def list_catalog_fields(source: str, request: FieldsRequest, settings: Settings) -> FieldsPage:
    """A page of the fields of payloads."""
    if scheme_of(source) in ("http", "https"):
        shared = "true" if request.is_shared else "false"
        given = {"q": request.q, "shared": shared, "after": request.after, "limit": request.limit}
        return _ask(source, f"/-/fields?{urlencode(given)}", FieldsPage, settings)
    with _opened(source, settings) as tx:
        return list_fields(tx, request)


def _ask(url: str, path: str, answer: type[Answer], settings: Settings) -> Answer:
    client = ServiceClient(url, settings)
    try:
        return msgspec.convert(client.get(path), answer)
    except msgspec.ValidationError:
        raise ServiceRefused("this service cannot be searched.", place=client.name) from None


@contextmanager
def _opened(source: str, settings: Settings) -> Iterator[Transaction]:
    if scheme_of(source) in STORE_SCHEMES:
        with open_store(source, create=False, write_wait_s=settings.write_wait_s) as store, store.read() as tx:
            yield tx
        return
    tree = read_source(source, settings)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="postroom-"))
        store = stack.enter_context(open_store(f"sqlite:///{folder}/catalog.db"))
        with store.write() as tx:
            import_document(tx, tree)
        yield stack.enter_context(store.read())
