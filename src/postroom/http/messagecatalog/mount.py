"""The way in: paths and methods of the message catalog, and the look-up of a version by its URI."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from postroom.http.messagecatalog import definitions, groups, versions
from postroom.http.messagecatalog.paths import route
from postroom.http.messagecatalog.request import CATALOG, CatalogRequest, root_of, translate_problem
from postroom.http.server.request import Answer, Call
from postroom.http.xregistry.preconditions import check_preconditions
from postroom.registry.changes.provenance import version_uri
from postroom.registry.configuration.capabilities import read_capabilities
from postroom.registry.paths import resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction import Transaction
from postroom.settings import Settings
from postroom.store.checked_write import write_checked
from postroom.store.interface import Store

Handler = Callable[[CatalogRequest], Answer]

LOOKUP = "/messagedefinition"
READS = ("GET", "HEAD")
HANDLERS: dict[str, dict[str, Handler]] = {
    "catalog": {"GET": groups.list_groups},
    "group": {"GET": groups.get_group, "PUT": groups.put_group, "DELETE": groups.delete},
    "definitions": {"GET": definitions.list_definitions, "DELETE": groups.delete},
    "definition": {
        "GET": definitions.get_definition,
        "POST": definitions.post_version,
        "DELETE": groups.delete,
    },
    "versions": {"GET": versions.list_versions},
    "version": {"GET": versions.get_version},
}


def answer_catalog(call: Call, store: Store, settings: Settings) -> Answer:
    """Answer a call to a path below the root of the catalog."""
    if call.path.rstrip("/") == LOOKUP and any(name == "uri" for name, _ in call.query):
        return _looked_up(call, store, settings)
    kind, native, version = route(call.path)
    handlers = _allowed(HANDLERS[kind], store)
    if call.method == "OPTIONS":
        methods = _methods(handlers)
        return Answer(headers={"Allow": methods, "Access-Control-Allow-Methods": methods})
    handler = handlers.get("GET" if call.method in READS else call.method)
    if handler is None:
        subject, headers = CATALOG + call.path.rstrip("/"), {"allow": _methods(handlers)}
        raise RegistryProblem("action_not_supported", subject, action=call.method, headers=headers)

    def visit(tx: Transaction, asked: Call, answer: Handler) -> Answer:
        place = resolve(tx.model(), native)
        if place.details:
            raise RegistryProblem("not_found", CATALOG + call.path)
        return answer(CatalogRequest(tx, asked, settings, place, version))

    def write(tx: Transaction) -> Answer:
        outside = msgspec.structs.replace(call, base=root_of(call.base))

        def read(reading: Call) -> Answer:
            return visit(tx, msgspec.structs.replace(reading, base=call.base), handlers["GET"])

        check_preconditions(outside, read, settings)
        return visit(tx, call, handler)

    try:
        if call.method in READS:
            with store.read() as tx:
                return visit(tx, call, handler)
        return write_checked(store, write)
    except RegistryProblem as problem:
        raise translate_problem(problem) from None


def answer_lookup(call: Call, store: Store, settings: Settings) -> Answer:
    """Answer a call to the look-up beside the catalog: the text names it so, with a blank in the path (C-73)."""
    if call.path != "/":
        raise RegistryProblem("api_not_found", LOOKUP + call.path)
    return _looked_up(msgspec.structs.replace(call, base=call.base.removesuffix(LOOKUP) + CATALOG), store, settings)


def _looked_up(call: Call, store: Store, settings: Settings) -> Answer:
    methods = ", ".join((*READS, "OPTIONS"))
    if call.method == "OPTIONS":
        return Answer(headers={"Allow": methods, "Access-Control-Allow-Methods": methods})
    if call.method not in READS:
        raise RegistryProblem("action_not_supported", LOOKUP, action=call.method, headers={"allow": methods})
    wanted = [value for name, value in call.query if name == "uri" and value]
    if len(wanted) != 1:
        raise RegistryProblem("bad_request", LOOKUP, error_detail="it takes one uri, that of a version: ?uri=…")
    with store.read() as tx:
        read_capabilities(tx).require("entities")
        found = versions.find_by_uri(tx, call.base, wanted[0])
        if found is not None:
            return versions.version_answer(found, root_of(call.base))
        try:
            return _at_own_url(tx, call, version_uri(call.base, wanted[0]), settings)
        except RegistryProblem:
            detail = "No version in this catalog has that URI."
            raise RegistryProblem("not_found", wanted[0], detail=detail) from None


def _at_own_url(tx: Transaction, call: Call, url: str, settings: Settings) -> Answer:
    """The version at a URL of this catalog, which is the URI of a version that has no other."""
    kind, native, number = route(url.removeprefix(call.base)) if url.startswith(call.base + "/") else ("", "", "")
    if kind != "version":
        raise RegistryProblem("not_found", url)
    return versions.get_version(CatalogRequest(tx, call, settings, resolve(tx.model(), native), number))


def _allowed(handlers: dict[str, Handler], store: Store) -> dict[str, Handler]:
    """The methods that a place takes; where entities cannot be changed only those that read."""
    with store.read() as tx:
        capabilities = read_capabilities(tx)
    capabilities.require("entities")
    return handlers if capabilities.mutable("entities") else {"GET": handlers["GET"]}


def _methods(handlers: dict[str, Handler]) -> str:
    return ", ".join(sorted((*handlers, "HEAD", "OPTIONS")))
