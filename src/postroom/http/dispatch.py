"""From a call to an answer: which part of the service it is for, is the method allowed, problems as documents."""

from __future__ import annotations

import logging
import uuid

from postroom.http import configuration, entities
from postroom.http.answers import completed
from postroom.http.calls import Answer, Call
from postroom.http.dialects.problems import problem_document, problem_status
from postroom.http.dialects.releases import Release, asked, spoken
from postroom.http.dialects.translating import is_foreign, rendered_in, understood
from postroom.http.discovery import NAMES
from postroom.http.mounts import mounted
from postroom.registry.capabilities import read_capabilities
from postroom.registry.flags import parse_flags
from postroom.registry.places import resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.shortcuts import PREFIX as SHORT
from postroom.settings import Settings
from postroom.store.interface import Store

LOG = logging.getLogger("postroom.http")


def answer(call: Call, store: Store, settings: Settings) -> Answer:
    """The answer to a call, whatever happens on the way."""
    try:
        made = _dispatch(call, store, settings)
        return completed(made.after(made) if made.after else made, call, settings)
    except RegistryProblem as problem:
        return refuse(problem, call, _release(call, store))
    except Exception as error:  # noqa: BLE001 - a defect of ours: the client gets an answer, the log says which it was
        return refuse(RegistryProblem("server_error", call.path), call, asked(call.query), cause=error)


def refuse(
    problem: RegistryProblem, call: Call, release: Release | None = None, cause: Exception | None = None
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


def _log(problem: RegistryProblem, call: Call, instance: str, cause: Exception | None) -> None:
    fields = {"fields": {"instance": instance}}
    if cause is None:
        LOG.info("%s %s: %s", call.method, call.path, problem.sentence, extra=fields)
        return
    LOG.error("%s %s failed (%s)", call.method, call.path, instance, exc_info=cause, extra=fields)


def _release(call: Call, store: Store) -> Release | None:
    if asked(call.query) is None:
        return None
    with store.read() as tx:
        return spoken(call.query, read_capabilities(tx))


def _dispatch(call: Call, store: Store, settings: Settings) -> Answer:
    if call.path.startswith(SHORT):
        return configuration.answer_short(call, store)
    if found := mounted(call, store):
        mount, inner = found
        return mount(inner, store, settings)
    if not is_foreign(call):
        return _native(call, store, settings)
    with store.read() as tx:
        native, release = understood(call, tx, settings)
    made = _native(native, store, settings)
    if release is None:
        return made
    with store.read() as tx:
        return rendered_in(release, made, call, tx)


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
