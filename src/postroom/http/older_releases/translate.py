"""Requests of clients that speak an older version, as native ones; native answers as that client reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from postroom.http.older_releases import capabilities as lists
from postroom.http.older_releases.models import read_source, write_model, write_source
from postroom.http.older_releases.releases import ANY, FLAG, OlderRelease, requested_release
from postroom.http.older_releases.request_entities import RequestTranslator, is_renamed
from postroom.http.older_releases.response_entities import ResponseTranslator
from postroom.http.older_releases.walk_entities import Tree, entity_types, translate_entities
from postroom.http.server.request import Request
from postroom.http.server.request_body import parse_json
from postroom.http.server.response import Response
from postroom.http.xregistry.attribute_headers import PREFIX
from postroom.model.types import ResourceType
from postroom.registry.configuration.capabilities import Capabilities, read_capabilities
from postroom.registry.paths import EntityPath, resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings

WRITES = frozenset({"PUT", "PATCH", "POST"})
CONFIGURATION = ("model", "modelsource", "capabilities", "capabilitiesoffered")
NAMED_IN_VALUES = ("filter", "sort")
SHOWN_PREFIX = "xRegistry-"
ROOT = EntityPath(kind="registry", xid="/")


def may_need_translation(request: Request) -> bool:
    """Whether a request may be in other words than today's; most are not, and are not looked at any further."""
    return any(name == FLAG for name, _ in request.query) or _has_old_ancestor(request)


def _has_old_ancestor(request: Request) -> bool:
    """FLAG-067: the older name of `ancestorid` is read in every request."""
    if request.method not in WRITES:
        return False
    return b'"ancestor"' in request.body or any(name == f"{PREFIX}ancestor" for name, _ in request.headers)


def translate_request(
    request: Request, tx: Transaction, capabilities: Capabilities, settings: Settings
) -> tuple[Request, OlderRelease | None]:
    """The request as a client of today would make it, and the version that the answer has to be in."""
    release = requested_release(request.query, capabilities)
    if release is not None:
        return _translated(release, request, tx, capabilities, settings), release
    return _with_ancestor(request, tx, capabilities, settings) if _has_old_ancestor(request) else request, None


def _translated(
    release: OlderRelease, request: Request, tx: Transaction, capabilities: Capabilities, settings: Settings
) -> Request:
    name = request.path.strip("/")
    request = msgspec.structs.replace(request, query=_read_query(release, request, name, capabilities))
    if request.method not in WRITES:
        return request
    configuration = partial(_read_configuration, release, capabilities=capabilities, patch=request.method == "PATCH")
    if name in CONFIGURATION:
        return _with_body(request, settings, lambda body: configuration({name: body})[name])
    return _read_entities(
        release, RequestTranslator(release, request.path, configuration), request, tx, capabilities, settings
    )


def translate_response(release: OlderRelease, answer: Response, request: Request, tx: Transaction) -> Response:
    """A native answer in the words of a version."""
    headers = _write_headers(release, answer.headers)
    if answer.json is msgspec.UNSET:
        return msgspec.structs.replace(answer, headers=headers)
    return msgspec.structs.replace(answer, headers=headers, json=_written(release, answer.json, request, tx))


def _written(release: OlderRelease, document: Any, request: Request, tx: Transaction) -> Any:
    name = request.path.strip("/")
    if name in CONFIGURATION:
        is_offer = (
            name == "capabilities" and request.method == "GET" and any(flag == "offered" for flag, _ in request.query)
        )
        name = "capabilitiesoffered" if is_offer else name
        return _write_configuration(release, {name: document})[name]
    path = ROOT if name == "export" else _path(request, tx)
    if path is None:
        return document
    capabilities = read_capabilities(tx)
    is_document = name == "export" or _has_flag(request, "doc", capabilities)
    base = request.base if is_document and capabilities.shortself else ""
    translator = ResponseTranslator(release, partial(_write_configuration, release), base)
    return translate_entities(translator, entity_types(tx.model()), path, document)


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
    request: Request,
    tx: Transaction,
    capabilities: Capabilities,
    settings: Settings,
) -> Request:
    path = _path(request, tx)
    if path is None:
        return request
    if path.has_document and not path.details and not _has_flag(request, "doc", capabilities):
        return msgspec.structs.replace(request, headers=_read_headers(release, path.resource, request))
    if release.is_rc2 and request.method == "PUT" and path.kind in ("resource", "version") and not path.has_document:
        # rc2, Creating or Updating Resources: an empty body means that no attribute shall be there.
        request = msgspec.structs.replace(request, body=request.body.strip() or b"{}")

    def change(body: Any) -> Any:
        source = body.get("modelsource") if path.kind == "registry" and isinstance(body, dict) else None
        return translate_entities(translator, entity_types(tx.model(), source), path, body)

    return _with_body(request, settings, change)


def _with_ancestor(request: Request, tx: Transaction, capabilities: Capabilities, settings: Settings) -> Request:
    """A native request that uses the older name of `ancestorid`; where both stand, the older one is an extension."""
    if request.path.strip("/") in CONFIGURATION:
        return request
    with suppress(RegistryProblem):
        return _read_entities(ANY, RequestTranslator(ANY, request.path), request, tx, capabilities, settings)
    return request


def _with_body(request: Request, settings: Settings, change: Callable[[Any], Any]) -> Request:
    try:
        body = parse_json(request.body, settings.max_depth, request.path)
    except RegistryProblem:
        return request  # refused in its place among all other reasons
    return msgspec.structs.replace(request, body=json.dumps(change(body)).encode())


def _read_query(
    release: OlderRelease, request: Request, name: str, capabilities: Capabilities
) -> tuple[tuple[str, str], ...]:
    query = tuple((flag, _read_flag(release, flag, value)) for flag, value in request.query)
    if release.is_rc2 and name in ("model", "modelsource"):
        lists.check_forms([value for flag, value in query if flag == "schema"], request.path)
    if release.exported and name == "export" and not _has_flag(request, "inline", capabilities):
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


def _has_flag(request: Request, flag: str, capabilities: Capabilities) -> bool:
    return flag in capabilities.flags and any(name == flag for name, _ in request.query)


def _path(request: Request, tx: Transaction) -> EntityPath | None:
    with suppress(RegistryProblem):
        return resolve(tx.model(), request.path)
    return None


def _read_headers(release: OlderRelease, resource_type: ResourceType, request: Request) -> tuple[tuple[str, str], ...]:
    """The headers of a document write, in the names of today."""
    given = {name for name, _ in request.headers}
    return tuple((_ours(release, resource_type, name, given, request.path), value) for name, value in request.headers)


def _ours(release: OlderRelease, resource_type: ResourceType, header: str, given: set[str], subject: str) -> str:
    if not header.startswith(PREFIX):
        return header
    name, mark, key = _split(header.removeprefix(PREFIX), release.map_separator)
    ours = release.attributes.get(name, name)
    if ours != name and is_renamed(resource_type.plural, name, ours, resource_type.attributes):
        if PREFIX + ours in given:
            detail = f"{PREFIX}{ours} is there, too, and is the same"
            raise RegistryProblem("header_error", subject, name=header, error_detail=detail)
        name = ours
    return PREFIX + name + (f".{key}" if mark else "")


def _split(text: str, mark: str) -> tuple[str, str, str]:
    """The attribute and the key of a map: names of attributes have neither dots nor hyphens."""
    name, *rest = re.split(rf"([.{re.escape(mark)}])", text, maxsplit=1)
    return (name, rest[0], rest[1]) if rest else (name, "", "")


def _write_headers(release: OlderRelease, headers: dict[str, str]) -> dict[str, str]:
    """The headers of an answer, in the names of the version."""
    names = release.theirs
    made = {}
    for header, value in headers.items():
        name, mark, key = header.removeprefix(SHOWN_PREFIX).partition(".")
        if not header.startswith(SHOWN_PREFIX):
            made[header] = value
        elif name not in release.hidden:
            shown = names[name] if name in names and SHOWN_PREFIX + names[name] not in headers else name
            made[SHOWN_PREFIX + shown + (release.map_separator + key if mark else "")] = value
    return made
