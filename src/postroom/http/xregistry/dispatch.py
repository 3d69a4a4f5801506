"""From a call to an answer: which part of the service it is for, is the method allowed, problems as documents."""

from __future__ import annotations

import itertools
import logging
import uuid
from collections.abc import Callable, Iterator

import msgspec

from postroom.deadlines import DeadlinePassed
from postroom.http.older_releases.problems import problem_document, problem_status
from postroom.http.older_releases.releases import OlderRelease, named_release, requested_release
from postroom.http.older_releases.translate import may_need_translation, translate_request, translate_response_to
from postroom.http.server.request import Answer, Call
from postroom.http.server.response import completed
from postroom.http.server.thread_pools import busy
from postroom.http.services.mounts import mounted
from postroom.http.xregistry import configuration, entities
from postroom.http.xregistry.discovery import NAMES
from postroom.http.xregistry.proxied_documents import MustFetch
from postroom.registry.configuration.capabilities import read_capabilities
from postroom.registry.paths import resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.flags import parse_flags
from postroom.registry.read.short_urls import PREFIX as SHORT
from postroom.settings import Settings
from postroom.store.interface import Store

LOG = logging.getLogger("postroom.http")


def answer(call: Call, store: Store, settings: Settings) -> Answer:
    """The answer to a call, whatever happens on the way; with `after`, it waits for `finish`."""
    return _answered(lambda: _begun(call, store, settings), call, store, settings)


def finish(made: Answer, call: Call, store: Store, settings: Settings) -> Answer:
    """The answer with what has to be fetched for it, which may take as long as other hosts do."""
    return _answered(lambda: completed(made.after(made) if made.after else made, call, settings), call, store, settings)


def next_piece(pieces: Iterator[bytes], call: Call, settings: Settings) -> bytes | None:
    """What is to be sent next, None at the end; a problem when there is something to be sent and it cannot be made."""
    try:
        return next(pieces, None)
    except DeadlinePassed:
        raise _late(call, settings) from None
    except RegistryProblem:
        raise
    except Exception as error:
        raise RegistryProblem("server_error", call.path) from error


def _begun(call: Call, store: Store, settings: Settings) -> Answer:
    made = _dispatch(call, store, settings)
    if made.after is not None:
        return made
    if made.pieces is not None:
        made = msgspec.structs.replace(made, pieces=itertools.chain([next(made.pieces, b"")], made.pieces))
    try:
        return completed(made, call, settings, waits=False)
    except MustFetch:
        return msgspec.structs.replace(made, after=lambda given: given)


def _answered(make: Callable[[], Answer], call: Call, store: Store, settings: Settings) -> Answer:
    try:
        return make()
    except RegistryProblem as problem:
        return refuse(problem, call, _release(call, store))
    except DeadlinePassed:
        return refuse(_late(call, settings), call, named_release(call.query))
    except Exception as error:  # noqa: BLE001 - a defect of ours: the client gets an answer, the log says which it was
        return refuse(RegistryProblem("server_error", call.path), call, named_release(call.query), cause=error)


def _late(call: Call, settings: Settings) -> RegistryProblem:
    seconds = f"{settings.request_timeout_s:g} seconds (request_timeout_s)"
    return busy(call.path, f"It was not done after {seconds}. Ask for less: a page, fewer filters, fewer records.")


def refuse(
    problem: RegistryProblem, call: Call, release: OlderRelease | None = None, cause: BaseException | None = None
) -> Answer:
    """A problem as an answer; `instance` lets an operator find the request in the log."""
    instance = f"urn:uuid:{uuid.uuid4()}"
    _log(problem, call, instance, cause)
    document, status = {**problem.document(), "instance": instance}, problem.status
    if release is not None:
        document = {"instance": instance, **problem_document(problem, release, call.base)}
        status = problem_status(problem, release)
    headers = {name.title(): value for name, value in problem.extra_headers.items()}
    return completed(Answer(status=status, headers=headers, json=document), call, Settings())


def _log(problem: RegistryProblem, call: Call, instance: str, cause: BaseException | None) -> None:
    fields = {"fields": {"instance": instance}}
    if cause is None:
        LOG.info("%s %s: %s", call.method, call.path, problem.sentence, extra=fields)
        return
    LOG.error("%s %s failed (%s)", call.method, call.path, instance, exc_info=cause, extra=fields)


def _release(call: Call, store: Store) -> OlderRelease | None:
    if named_release(call.query) is None:
        return None
    with store.read() as tx:
        return requested_release(call.query, read_capabilities(tx))


def _dispatch(call: Call, store: Store, settings: Settings) -> Answer:
    if call.path.startswith(SHORT):
        return configuration.answer_short(call, store)
    if found := mounted(call, store):
        mount, inner = found
        return mount(inner, store, settings)
    if not may_need_translation(call):
        return _native(call, store, settings)
    with store.read() as tx:
        native, release = translate_request(call, tx, settings)
    made = _native(msgspec.structs.replace(native, keeps_json=True), store, settings)
    if release is None:
        return made
    with store.read() as tx:
        return translate_response_to(release, made, call, tx)


def _native(call: Call, store: Store, settings: Settings) -> Answer:
    """The answer to a call in the words of today."""
    name = _fixed_name(call.path, store)
    with store.read() as tx:
        capabilities = read_capabilities(tx)
        allowed = configuration.METHODS[name] if name else entities.METHODS[resolve(tx.model(), call.path).kind]
    if name not in configuration.OURS and name not in NAMES:
        capabilities.require(name or "entities")
        if not capabilities.mutable(name or "entities"):
            allowed = ("GET",)
    methods = ", ".join(sorted((*allowed, "OPTIONS")))
    if call.method == "OPTIONS":
        return Answer(headers={"Allow": methods, "Access-Control-Allow-Methods": methods})
    if call.method not in allowed:
        raise RegistryProblem("action_not_supported", call.path, action=call.method, headers={"allow": methods})
    if name is not None:
        parse_flags(call.query, capabilities, call.path)
        return configuration.answer_configuration(name, call, store, settings)
    return entities.answer_entities(call, store, settings)


def _fixed_name(path: str, store: Store) -> str | None:
    """A fixed name; our own ones give way to a Group type of the same name and then live under `/-/` only."""
    trimmed = path.removeprefix("/").removesuffix("/")
    if trimmed in NAMES:
        return trimmed
    parts = trimmed.split("/")
    if len(parts) == 2 and parts[0] == "-" and parts[1] in configuration.OURS:
        return parts[1]
    if parts[:1] == ["-"]:
        raise RegistryProblem("api_not_found", path)
    if parts[0] not in configuration.METHODS:
        return None
    if len(parts) > 1 and parts[0] not in configuration.OURS:
        raise RegistryProblem("api_not_found", path)
    if parts[0] in configuration.OURS:
        with store.read() as tx:
            model = tx.model()
            return None if parts[0] in model.groups or parts[0] in model.attributes else parts[0]
    return parts[0]
