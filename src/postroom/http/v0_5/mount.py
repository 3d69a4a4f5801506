"""Mount of the 0.5 service: resolves paths, checks methods, dispatches."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import msgspec

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.services.lint import with_findings
from postroom.http.v0_5.delete import EntityDeleter
from postroom.http.v0_5.groups import GroupWriter
from postroom.http.v0_5.names import corrected_version_path, resolve_path, root_of
from postroom.http.v0_5.problems import translate_problem
from postroom.http.v0_5.read import ReadHandler, has_parameter
from postroom.http.v0_5.resources import ResourceWriter
from postroom.http.xregistry.preconditions import check_method, check_preconditions
from postroom.registry.configuration.capabilities import Capabilities, read_capabilities
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.settings import Settings
from postroom.store.checked_write import write_checked
from postroom.store.interface import Store

READS = ("GET", "HEAD")
METADATA = (*READS, "PUT")
METHODS: dict[str, tuple[str, ...]] = {
    "registry": READS,
    "groups": (*READS, "POST", "DELETE"),
    "group": (*READS, "PUT", "DELETE"),
    "resources": (*READS, "POST", "DELETE"),
    "resource": (*READS, "PUT", "POST", "DELETE"),
    "versions": (*READS, "DELETE"),
    "version": (*READS, "PUT", "DELETE"),
}


def answer_v0_5(request: Request, store: Store, settings: Settings) -> Response:
    """Answer a request to the service of 0.5."""
    try:
        return _unlinked(_answer(request, store, settings))
    except RegistryProblem as problem:
        raise translate_problem(problem, request.path) from None


def _unlinked(answer: Response) -> Response:
    """An answer with the links of 0.5 only: the one to the root is a rule of 1.0, and 0.5 prints the form of `Link`."""
    return msgspec.structs.replace(answer, root_link=False)


def _answer(request: Request, store: Store, settings: Settings) -> Response:
    right = corrected_version_path(request.path)
    if right:
        query = f"?{urlencode(request.query, quote_via=quote)}" if request.query else ""
        return Response(status=308, headers={"Location": request.base + right + query})
    with store.read() as tx:
        path = resolve_path(tx.model(), request.path)
        capabilities = read_capabilities(tx)
        capabilities.require("entities")
        if options := check_method(
            request, _methods(request, path, capabilities), reason=capabilities.why_immutable("entities")
        ):
            return options
        if request.method in READS:
            return ReadHandler(tx, request, settings).answer(path)
    return write_checked(store, lambda tx: _written(tx, request, settings))


def _methods(request: Request, path: EntityPath, capabilities: Capabilities) -> tuple[str, ...]:
    if not capabilities.mutable("entities"):
        return READS
    allowed = METHODS[path.kind]
    if path.kind in ("resource", "version") and has_parameter(request, "meta"):
        return tuple(method for method in allowed if method in METADATA)  # metadata cannot be deleted alone
    return allowed


def _written(tx: Transaction, request: Request, settings: Settings) -> Response:
    path = resolve_path(tx.model(), request.path)
    if request.method != "DELETE" and not path.is_collection:
        tx.permissions.require_write(path.xid)
    _check_preconditions(tx, request, path, settings)
    work = UnitOfWork(tx, actor=request.actor)
    answer = _write(work, request, path, settings)
    work.finish()
    return with_findings(answer, msgspec.structs.replace(request, base=root_of(request.base)), path, tx, settings)


def _write(work: UnitOfWork, request: Request, path: EntityPath, settings: Settings) -> Response:
    match request.method, path.kind:
        case "DELETE", "groups" | "resources" | "versions":
            return EntityDeleter(work, request, settings).members(path)
        case "DELETE", _:
            return EntityDeleter(work, request, settings).entity(path)
        case "POST", "groups":
            return GroupWriter(work, request, settings).create(path)
        case "PUT", "group":
            return GroupWriter(work, request, settings).update(path)
        case "POST", "resources":
            return ResourceWriter(work, request, settings).create(path)
        case "POST", _:
            return ResourceWriter(work, request, settings).add_version(path)
        case _:
            return ResourceWriter(work, request, settings).update(path)


def _check_preconditions(tx: Transaction, request: Request, path: EntityPath, settings: Settings) -> None:
    """If-Match and If-None-Match; the tags are those of answers, which name the root of the whole service."""

    def read(reading: Request) -> Response:
        return _unlinked(ReadHandler(tx, msgspec.structs.replace(reading, base=request.base), settings).answer(path))

    check_preconditions(msgspec.structs.replace(request, base=root_of(request.base)), read, settings)
