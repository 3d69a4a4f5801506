"""Export: a registry as one 1.0-rc4 document that can be loaded elsewhere, without what belongs to one server.

URLs, counts, epochs and the registry's own id and times stay behind; everything that an author wrote, ids, Versions
and their times are kept. A document loaded into an empty registry with the same model and dumped again is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from postroom.catalog.service import read_service
from postroom.catalog.sources import read_parsed
from postroom.documents.dialects.convert import ParsedCatalog
from postroom.documents.dialects.release_candidates import RC4
from postroom.settings import Settings
from postroom.urls import STORE_SCHEMES, scheme_of

if TYPE_CHECKING:
    from postroom.registry.transaction_interface import Transaction

Tree = dict[str, Any]

CHECKS = ("formatvalidated", "formatvalidatedreason", "compatibilityvalidated", "compatibilityvalidatedreason")
SERVER_ATTRIBUTES = ("self", "shortself", "epoch", "isdefault", *CHECKS)
REGISTRY_ATTRIBUTES = ("registryid", "createdat", "modifiedat", "xid", "capabilities", "model")


def export_source(source: str, settings: Settings) -> Tree:
    """The document of a source: of files as it was written, of stores and services without server attributes."""
    return read_portable(source, settings).tree


def read_portable(source: str, settings: Settings) -> ParsedCatalog:
    """The document of a source, the dialect that it was in, and notes of the reader."""
    scheme = scheme_of(source)
    if scheme in ("http", "https"):
        parsed = read_service(source, settings, with_model=True)
        return msgspec.structs.replace(parsed, tree=_portable_registry(parsed.tree))
    if scheme in STORE_SCHEMES:
        return ParsedCatalog(_portable_registry(_read_store(source)), RC4.name)
    return read_parsed(source, settings)


def _read_store(url: str) -> Tree:
    from postroom.catalog.open_store import open_store

    with open_store(url, create=False) as store, store.read() as transaction:
        return _read_everything(transaction)


def portable_document(transaction: Transaction) -> Tree:
    """The registry that a transaction shows, as a document."""
    return _portable_registry(_read_everything(transaction))


def _read_everything(transaction: Transaction) -> Tree:
    from postroom.registry.query.inline import ALL, Inline
    from postroom.registry.read.render import View, render
    from postroom.registry.read.tree import read_registry

    everything = Inline(everything=True, names={"modelsource": ALL})
    return render(read_registry(transaction, everything), View(inline=everything))


def _portable_registry(document: Tree) -> Tree:
    """The registry as a document: its own attributes, its model as it was written, its groups."""
    plain = _portable(document, _portable_group)
    return {name: value for name, value in plain.items() if name not in REGISTRY_ATTRIBUTES}


def _portable_group(group: Tree) -> Tree:
    return _portable(group, _portable_resource)


def _portable_resource(resource: Tree) -> Tree:
    meta = resource.get("meta")
    plain = _portable(resource, _portable_version)
    plain.pop("metaurl", None)
    if not isinstance(meta, dict):
        return _without_proxied(plain)
    identity = {name: value for name, value in meta.items() if name.endswith("id") and name != "defaultversionid"}
    if "xref" in meta:  # FLAG-012: a reference is not a copy, and could not be loaded as one
        reference = {**identity, "xref": meta["xref"]}
        return {**{name: plain[name] for name in identity if name in plain}, "meta": reference}
    plain["meta"] = {
        name: value for name, value in meta.items() if name not in (*SERVER_ATTRIBUTES, "defaultversionurl")
    }
    if len(plain.get("versions") or {}) <= 1:
        plain.pop("versions", None)
    return _without_proxied(plain)


def _portable_version(version: Tree) -> Tree:
    return _without_proxied(_portable(version, _portable_version))


def _without_proxied(version: Tree) -> Tree:
    """A Version without a document that is fetched for every response: its URL is exported instead."""
    proxied = {name.removesuffix("proxyurl") for name in version if name.endswith("proxyurl")}
    fetched = {name for one in proxied for name in (one, one + "base64")}
    return {name: value for name, value in version.items() if name not in fetched}


def _portable(entity: Tree, member: Callable[[Tree], Tree]) -> Tree:
    """An entity without server attributes, and its collections likewise: those it has a URL and a count of."""
    collections = {
        name.removesuffix("count")
        for name in entity
        if name.endswith("count") and name.removesuffix("count") + "url" in entity
    }
    dropped = {name + end for name in collections for end in ("url", "count")} | set(SERVER_ATTRIBUTES)
    plain = {name: value for name, value in entity.items() if name not in dropped}
    for name in collections & plain.keys():
        plain[name] = {one: member(value) for one, value in plain[name].items()}
    return plain
