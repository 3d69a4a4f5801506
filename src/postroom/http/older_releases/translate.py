"""Calls of clients that speak an older version, as native ones; native answers as that client reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from postroom.http.older_releases import capabilities as lists
from postroom.http.older_releases.attribute_headers import read_headers, write_headers
from postroom.http.older_releases.models import read_source, write_model, write_source
from postroom.http.older_releases.releases import ANY, FLAG, OlderRelease, requested_release
from postroom.http.older_releases.request_entities import RequestTranslator
from postroom.http.older_releases.response_entities import ResponseTranslator
from postroom.http.older_releases.walk import Tree, entity_types, translate_entities
from postroom.http.server.request import Answer, Call
from postroom.http.server.request_body import parse_json
from postroom.http.xregistry.attribute_headers import PREFIX
from postroom.registry.configuration.capabilities import Capabilities, read_capabilities
from postroom.registry.paths import Place, resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction import Transaction
from postroom.settings import Settings

WRITES = frozenset({"PUT", "PATCH", "POST"})
CONFIGURATION = ("model", "modelsource", "capabilities", "capabilitiesoffered")
NAMED_IN_VALUES = ("filter", "sort")
ROOT = Place(kind="registry", xid="/")


def may_need_translation(call: Call) -> bool:
    """Whether a call may be in other words than today's; most are not, and are not looked at any further."""
    return any(name == FLAG for name, _ in call.query) or _has_old_ancestor(call)


def _has_old_ancestor(call: Call) -> bool:
    """FLAG-067: the older name of `ancestorid` is read in every request."""
    if call.method not in WRITES:
        return False
    return b'"ancestor"' in call.body or any(name == f"{PREFIX}ancestor" for name, _ in call.headers)


def translate_request(call: Call, tx: Transaction, settings: Settings) -> tuple[Call, OlderRelease | None]:
    """The call as a client of today would make it, and the version that the answer has to be in."""
    capabilities = read_capabilities(tx)
    release = requested_release(call.query, capabilities)
    if release is not None:
        return _translated(release, call, tx, capabilities, settings), release
    return _with_ancestor(call, tx, capabilities, settings) if _has_old_ancestor(call) else call, None


def _translated(
    release: OlderRelease, call: Call, tx: Transaction, capabilities: Capabilities, settings: Settings
) -> Call:
    name = call.path.strip("/")
    call = msgspec.structs.replace(call, query=_read_query(release, call, name, capabilities))
    if call.method not in WRITES:
        return call
    configuration = partial(_read_configuration, release, capabilities=capabilities, patch=call.method == "PATCH")
    if name in CONFIGURATION:
        return _with_body(call, settings, lambda body: configuration({name: body})[name])
    return _read_entities(
        release, RequestTranslator(release, call.path, configuration), call, tx, capabilities, settings
    )


def translate_response(answer: Answer, call: Call, tx: Transaction) -> Answer:
    """A native answer in the words of the call; unchanged when those are of today."""
    release = requested_release(call.query, read_capabilities(tx))
    return answer if release is None else translate_response_to(release, answer, call, tx)


def translate_response_to(release: OlderRelease, answer: Answer, call: Call, tx: Transaction) -> Answer:
    """A native answer in the words of a version."""
    headers = write_headers(release, answer.headers)
    if answer.json is msgspec.UNSET:
        return msgspec.structs.replace(answer, headers=headers)
    return msgspec.structs.replace(answer, headers=headers, json=_written(release, answer.json, call, tx))


def _written(release: OlderRelease, document: Any, call: Call, tx: Transaction) -> Any:
    name = call.path.strip("/")
    if name in CONFIGURATION:
        is_offer = name == "capabilities" and call.method == "GET" and any(flag == "offered" for flag, _ in call.query)
        name = "capabilitiesoffered" if is_offer else name
        return _write_configuration(release, {name: document})[name]
    place = ROOT if name == "export" else _place(call, tx)
    if place is None:
        return document
    capabilities = read_capabilities(tx)
    is_document = name == "export" or _has_flag(call, "doc", capabilities)
    base = call.base if is_document and capabilities.shortself else ""
    translator = ResponseTranslator(release, partial(_write_configuration, release), base)
    return translate_entities(translator, entity_types(tx.model()), place, document)


def _write_configuration(release: OlderRelease, document: Tree) -> Tree:
    changes: dict[str, Callable[[Tree], Tree]] = {
        "model": partial(write_model, release),
        "modelsource": partial(write_source, release),
        "capabilities": lists.with_versions,
        "capabilitiesoffered": lists.with_offered_versions,
    }
    if release.is_rc2:
        changes |= {"capabilities": lists.write_capabilities, "capabilitiesoffered": lists.write_offered}
    shown = {name: change(document[name]) for name, change in changes.items() if isinstance(document.get(name), dict)}
    return {**document, **shown}


def _read_configuration(release: OlderRelease, document: Tree, *, capabilities: Capabilities, patch: bool) -> Tree:
    made = dict(document)
    if isinstance(made.get("modelsource"), dict):
        made["modelsource"] = read_source(release, made["modelsource"], "/modelsource")
    if isinstance(made.get("capabilities"), dict):
        written = lists.without_versions(made["capabilities"])
        is_rc2, before = release.is_rc2, capabilities.document()
        made["capabilities"] = lists.read_capabilities(written, before, patch) if is_rc2 else written
    return made


def _read_entities(
    release: OlderRelease,
    translator: RequestTranslator,
    call: Call,
    tx: Transaction,
    capabilities: Capabilities,
    settings: Settings,
) -> Call:
    place = _place(call, tx)
    if place is None:
        return call
    if place.has_document and not place.details and not _has_flag(call, "doc", capabilities):
        return msgspec.structs.replace(call, headers=read_headers(release, place.resource, call))
    if release.is_rc2 and call.method == "PUT" and place.kind in ("resource", "version") and not place.has_document:
        # rc2, Creating or Updating Resources: an empty body means that no attribute shall be there.
        call = msgspec.structs.replace(call, body=call.body.strip() or b"{}")

    def change(body: Any) -> Any:
        source = body.get("modelsource") if place.kind == "registry" and isinstance(body, dict) else None
        return translate_entities(translator, entity_types(tx.model(), source), place, body)

    return _with_body(call, settings, change)


def _with_ancestor(call: Call, tx: Transaction, capabilities: Capabilities, settings: Settings) -> Call:
    """A native call that uses the older name of `ancestorid`; where both stand, the older one is an extension."""
    if call.path.strip("/") in CONFIGURATION:
        return call
    with suppress(RegistryProblem):
        return _read_entities(ANY, RequestTranslator(ANY, call.path), call, tx, capabilities, settings)
    return call


def _with_body(call: Call, settings: Settings, change: Callable[[Any], Any]) -> Call:
    try:
        body = parse_json(call.body, settings.max_depth, call.path)
    except RegistryProblem:
        return call  # refused in its place among all other reasons
    return msgspec.structs.replace(call, body=json.dumps(change(body)).encode())


def _read_query(
    release: OlderRelease, call: Call, name: str, capabilities: Capabilities
) -> tuple[tuple[str, str], ...]:
    query = tuple((flag, _read_flag(release, flag, value)) for flag, value in call.query)
    if release.is_rc2 and name in ("model", "modelsource"):
        lists.check_forms([value for flag, value in query if flag == "schema"], call.path)
    if release.exported and name == "export" and not _has_flag(call, "inline", capabilities):
        shown = [one for one in release.exported if one in capabilities.available]
        return (*query, ("inline", ",".join(["*", *shown])))
    return query


def _read_flag(release: OlderRelease, flag: str, value: str) -> str:
    """Names of attributes in the paths of filters and orders."""
    if flag not in NAMED_IN_VALUES:
        return value
    for theirs, ours in release.attributes.items():
        value = re.sub(rf"((?:^|,)(?:[^,.=<>!]+\.)*){theirs}(?=$|[,=<>!])", rf"\g<1>{ours}", value)
    return value


def _has_flag(call: Call, flag: str, capabilities: Capabilities) -> bool:
    return flag in capabilities.flags and any(name == flag for name, _ in call.query)


def _place(call: Call, tx: Transaction) -> Place | None:
    with suppress(RegistryProblem):
        return resolve(tx.model(), call.path)
    return None
