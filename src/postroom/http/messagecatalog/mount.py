"""Mount of the message catalog: paths, methods, and the look-up of a version by its URI."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from postroom.http.messagecatalog import definitions, groups, versions
from postroom.http.messagecatalog.openapi import LOOKUP, openapi_document
from postroom.http.messagecatalog.paths import route
from postroom.http.messagecatalog.request import CATALOG, CatalogRequest, root_of, translate_problem
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.services.lint import with_findings
from postroom.http.xregistry.preconditions import check_method, check_preconditions
from postroom.registry.changes.provenance import version_uri
from postroom.registry.configuration.capabilities import read_capabilities
from postroom.registry.paths import resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings
from postroom.store.checked_write import write_checked
from postroom.store.interface import Store

Handler = Callable[[CatalogRequest], Response]

READS = ("GET", "HEAD")
PRINTED_LOOKUP = "message%20definition"
"""What the text calls the look-up: "GET on `/Message definition?uri={uri}`" (C-73)."""
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


def answer_catalog(request: Request, store: Store, settings: Settings) -> Response:
    """Answer a request to a path below the root of the catalog."""
    is_lookup = request.path.rstrip("/").lower() in (LOOKUP, f"/{PRINTED_LOOKUP}")
    if is_lookup and any(name == "uri" for name, _ in request.query):
        return _looked_up(request, store, settings)
    kind, native, version = route(request.path)
    if kind == "catalog" and any(name == "openapi" for name, _ in request.query):
        return check_method(request, READS, CATALOG) or Response(json=openapi_document(request.base))
    handlers, reason = _allowed(HANDLERS[kind], store)
    if options := check_method(request, {*handlers, "HEAD"}, CATALOG + request.path.rstrip("/"), reason):
        return options
    handler = handlers["GET" if request.method in READS else request.method]

    def respond(tx: Transaction, asked: Request, answer: Handler) -> Response:
        path = resolve(tx.model(), native)
        if path.details:
            raise RegistryProblem("not_found", CATALOG + request.path)
        return answer(CatalogRequest(tx, asked, settings, path, version))

    def write(tx: Transaction) -> Response:
        outside = msgspec.structs.replace(request, base=root_of(request.base))

        def read(reading: Request) -> Response:
            return respond(tx, msgspec.structs.replace(reading, base=request.base), handlers["GET"])

        check_preconditions(outside, read, settings)
        return with_findings(respond(tx, request, handler), outside, resolve(tx.model(), native), tx, settings)

    try:
        if request.method in READS:
            with store.read() as tx:
                return respond(tx, request, handler)
        return write_checked(store, write)
    except RegistryProblem as problem:
        raise translate_problem(problem) from None


def answer_lookup(request: Request, store: Store, settings: Settings) -> Response:
    """Answer a request to the look-up beside the catalog: the text names it so, with a blank in the path (C-73)."""
    if request.path != "/":
        raise RegistryProblem("api_not_found", LOOKUP + request.path)
    return _looked_up(
        msgspec.structs.replace(request, base=request.base.removesuffix(LOOKUP) + CATALOG), store, settings
    )


def _looked_up(request: Request, store: Store, settings: Settings) -> Response:
    if options := check_method(request, READS, LOOKUP):
        return options
    wanted = [value for name, value in request.query if name == "uri" and value]
    if len(wanted) != 1:
        raise RegistryProblem("bad_request", LOOKUP, error_detail="it takes one uri, that of a version: ?uri=…")
    with store.read() as tx:
        read_capabilities(tx).require("entities")
        found = versions.find_by_uri(tx, request.base, wanted[0])
        if found is not None:
            return versions.version_answer(found, root_of(request.base))
        try:
            return _at_own_url(tx, request, version_uri(request.base, wanted[0]), settings)
        except RegistryProblem:
            detail = "No version in this catalog has that URI."
            raise RegistryProblem("not_found", wanted[0], detail=detail) from None


def _at_own_url(tx: Transaction, request: Request, url: str, settings: Settings) -> Response:
    """The version at a URL of this catalog, which is the URI of a version that has no other."""
    kind, native, number = route(url.removeprefix(request.base)) if url.startswith(request.base + "/") else ("", "", "")
    if kind != "version":
        raise RegistryProblem("not_found", url)
    return versions.get_version(CatalogRequest(tx, request, settings, resolve(tx.model(), native), number))


def _allowed(handlers: dict[str, Handler], store: Store) -> tuple[dict[str, Handler], str]:
    """The methods that a path takes; where entities cannot be changed only those that read, and the reason."""
    with store.read() as tx:
        capabilities = read_capabilities(tx)
    capabilities.require("entities")
    reason = capabilities.why_immutable("entities")
    return {"GET": handlers["GET"]} if reason else handlers, reason
