"""From a request to an answer: which part of the service it is for, is the method allowed, problems as documents."""

from __future__ import annotations

import itertools
import logging
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import msgspec

from postroom.access.keys import without_secrets
from postroom.deadlines import DeadlinePassed
from postroom.http.older_releases.problems import problem_document, problem_status
from postroom.http.older_releases.releases import OlderRelease, named_release, requested_release
from postroom.http.older_releases.translate import may_need_translation, translate_request, translate_response
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.server.response_encoding import MustFetch, completed
from postroom.http.server.thread_pools import busy, is_small_write
from postroom.http.server.web_pages import WebPages, is_refused_as_page, page_request
from postroom.http.services.mounts import MOUNTS, is_free, links_to_other_apis, mounted, own_refusal
from postroom.http.xregistry import configuration, entities
from postroom.http.xregistry.preconditions import check_method
from postroom.model.includes import Fetch, refuse_fetch
from postroom.registry.configuration.capabilities import Capabilities, read_capabilities
from postroom.registry.paths import DETAILS, EntityPath, resolve
from postroom.registry.permissions import UNRESTRICTED
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.flags import parse_flags
from postroom.registry.read.short_urls import PREFIX as SHORT
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings
from postroom.store.change_follower import part_of
from postroom.store.checked_write import write_checked
from postroom.store.interface import Store

if TYPE_CHECKING:
    from postroom.http.operations.server_process import ServerProcess

SERVICES = frozenset({*MOUNTS, *configuration.METHODS})
"""What no page stands for."""
WRITES = frozenset({"PUT", "PATCH", "POST", "DELETE"})
LOG = logging.getLogger("postroom.http")


def answer(request: Request, store: Store, settings: Settings, process: ServerProcess | None = None) -> Response:
    """The answer to a request, whatever happens on the way; with `after`, it waits for `finish`.

    Everything from here on gets the store as the one who asks may see it.
    """
    store = _seen(store, request)
    pages = process.pages if process is not None else None
    return _answered(lambda: _begun(request, store, settings, process), request, store, settings, pages)


def finish(
    made: Response, request: Request, store: Store, settings: Settings, pages: WebPages | None = None
) -> Response:
    """The answer with what has to be fetched for it, which may take as long as other hosts do."""
    store = _seen(store, request)
    return _answered(
        lambda: completed(made.after(made) if made.after else made, request, settings), request, store, settings, pages
    )


def answer_with(handler: Callable[[Request], Response], request: Request, store: Store, settings: Settings) -> Response:
    """What a handler answers that is no part of the registry, whatever happens on the way."""
    return _answered(lambda: completed(handler(request), request, settings), request, store, settings)


def _seen(store: Store, request: Request) -> Store:
    return store if request.permissions is UNRESTRICTED else store.seen_by(request.permissions)


def next_piece(pieces: Iterator[bytes], request: Request, settings: Settings) -> bytes | None:
    """What is to be sent next, None at the end; a problem when there is something to be sent and it cannot be made."""
    try:
        return next(pieces, None)
    except DeadlinePassed:
        raise _late(request, settings) from None
    except RegistryProblem:
        raise
    except Exception as error:
        raise RegistryProblem("server_error", request.path) from error


def _begun(request: Request, store: Store, settings: Settings, process: ServerProcess | None) -> Response:
    made = _dispatch(request, store, settings, process)
    if made.after is not None:
        return made
    if made.pieces is not None:
        made = msgspec.structs.replace(made, pieces=itertools.chain([next(made.pieces, b"")], made.pieces))
    try:
        return completed(made, request, settings, waits=False)
    except MustFetch:
        return msgspec.structs.replace(made, after=lambda given: given)


def _answered(
    make: Callable[[], Response], request: Request, store: Store, settings: Settings, pages: WebPages | None = None
) -> Response:
    try:
        return make()
    except RegistryProblem as problem:
        return refuse(problem, request, _release(request, store), pages=pages)
    except DeadlinePassed:
        return refuse(_late(request, settings), request, named_release(request.query), pages=pages)
    except Exception as error:  # noqa: BLE001 - a defect of ours: the client gets an answer, the log says which it was
        defect = RegistryProblem("server_error", request.path)
        return refuse(defect, request, named_release(request.query), cause=error, pages=pages)


def _late(request: Request, settings: Settings) -> RegistryProblem:
    seconds = f"{settings.request_timeout_s:g} seconds (request_timeout_s)"
    return busy(request.path, f"It was not done after {seconds}. Ask for less: a page, fewer filters, fewer records.")


def refuse(
    problem: RegistryProblem,
    request: Request,
    release: OlderRelease | None = None,
    cause: BaseException | None = None,
    pages: WebPages | None = None,
) -> Response:
    """A problem as an answer; `instance` lets an operator find the request in the log."""
    instance = f"urn:uuid:{uuid.uuid4()}"
    _log(problem, request, instance, cause)
    if pages is not None and is_refused_as_page(request, SERVICES):
        return pages.refuse(problem, request, instance)
    own = own_refusal(request.path)
    if own is not None:
        return completed(own(problem), request, Settings())
    document, status = {**problem.document(), "instance": instance}, problem.status
    if release is not None:
        document = {"instance": instance, **problem_document(problem, release, request.base)}
        status = problem_status(problem, release)
    headers = {name.title(): value for name, value in problem.extra_headers.items()}
    return completed(Response(status=status, headers=headers, json=document), request, Settings())


def _log(problem: RegistryProblem, request: Request, instance: str, cause: BaseException | None) -> None:
    fields = {"fields": {"instance": instance} | ({"request": request.id} if request.id else {})}
    path = without_secrets(request.path)
    if cause is None:
        LOG.info("%s %s: %s", request.method, path, without_secrets(problem.sentence), extra=fields)
        return
    LOG.error("%s %s failed (%s)", request.method, path, instance, exc_info=cause, extra=fields)


def _release(request: Request, store: Store) -> OlderRelease | None:
    if named_release(request.query) is None:
        return None
    with store.read() as tx:
        return requested_release(request.query, read_capabilities(tx))


def _dispatch(request: Request, store: Store, settings: Settings, process: ServerProcess | None) -> Response:
    if request.path.startswith(SHORT):
        return configuration.answer_short(request, store)
    pages = process.pages if process is not None else None
    if pages is not None and (for_page := page_request(request, store)) is not None:
        return pages.answer(for_page, store, settings)
    if found := mounted(request, store):
        mount, inner = found
        return mount(inner, store, settings)
    name = _fixed_name(request.path, store)
    if name in configuration.SERVICES:
        return _service(name, request, store, settings, process)
    if request.method not in WRITES:
        with store.read() as tx:
            made = _registry(tx, request, name, settings)
        return varying(made) if pages is not None and name is None else made
    fetch = _includes(request, name, store, settings) if configuration.may_have_includes(request) else refuse_fetch
    return write_checked(
        store, lambda tx: _registry(tx, request, name, settings, fetch), is_small=is_small_write(request)
    )


def varying(made: Response) -> Response:
    """An answer about an entity where clients that prefer HTML get a page."""
    return msgspec.structs.replace(made, headers={**made.headers, "Vary": "Accept"})


def _includes(request: Request, name: str | None, store: Store, settings: Settings) -> Fetch:
    if not request.permissions.administers:
        return refuse_fetch
    if settings.allow_fetch:  # nothing is fetched for a write that is not allowed
        with store.read() as tx:
            _check_method(tx, request, name, read_capabilities(tx))
    return configuration.fetch_includes(request, settings)


def _service(name: str, request: Request, store: Store, settings: Settings, process: ServerProcess | None) -> Response:
    if options := check_method(request, configuration.METHODS[name]):
        return options
    with store.read() as tx:
        parse_flags(request.query, read_capabilities(tx), request.path)
    return configuration.answer_service(name, request, store, settings, process)


def _registry(
    tx: Transaction, request: Request, name: str | None, settings: Settings, fetch: Fetch = refuse_fetch
) -> Response:
    """Answer a request for entities or configuration; all of it is in one transaction."""
    if request.method in WRITES and name is None:
        tx.expect(request.path)
    capabilities, release, native = read_capabilities(tx), None, request
    if may_need_translation(request):
        native, release = translate_request(request, tx, capabilities, settings)
        native = msgspec.structs.replace(native, keeps_json=True)
    path, options = _check_method(tx, native, name, capabilities)
    if options is not None:
        made = options
    elif path is not None:
        made = entities.answer_entities(tx, native, path, capabilities, settings, fetch)
        if path.kind == "registry" and request.method not in WRITES:
            made = msgspec.structs.replace(made, more_links=links_to_other_apis(request.base, tx.model()))
    else:
        parse_flags(native.query, capabilities, native.path)
        made = configuration.answer_configuration(tx, name or "", native, capabilities, settings, fetch)
    if release is not None:
        return translate_response(release, made, request, tx)
    return made if path is None else msgspec.structs.replace(made, part=part_of(path.xid, bool(request.query)))


def _check_method(
    tx: Transaction, request: Request, name: str | None, capabilities: Capabilities
) -> tuple[EntityPath | None, Response | None]:
    """The entity or collection that a request is for, None for configuration; and the response to OPTIONS."""
    path = resolve(tx.model(), request.path) if name is None else None
    allowed = entities.METHODS[path.kind] if path else configuration.METHODS[name or ""]
    kind = name or "entities"
    capabilities.require(kind)
    if capabilities.mutable(kind):
        return path, check_method(request, allowed)
    reason = capabilities.why_immutable(kind) if request.method in allowed else ""
    return path, check_method(request, ("GET",), reason=reason)


def _fixed_name(path: str, store: Store) -> str | None:
    """A fixed name; our own ones give way to a Group type of the same name and then live under `/-/` only."""
    trimmed = path.removeprefix("/").removesuffix("/")
    if trimmed in configuration.NAMES:
        return trimmed
    parts = trimmed.split("/")
    if parts[-1].endswith(DETAILS):
        return None
    if len(parts) == 2 and parts[0] == "-" and parts[1] in configuration.OURS:
        return parts[1]
    if parts[:1] == ["-"]:
        raise RegistryProblem("api_not_found", path)
    if parts[0] not in configuration.METHODS or parts[0] in configuration.ONLY_ESCAPED:
        return None
    if len(parts) > 1 and parts[0] not in configuration.OURS:
        raise RegistryProblem("api_not_found", path)
    if parts[0] in configuration.OURS:
        return parts[0] if is_free(parts[0], store) else None
    return parts[0]
