"""A schema registry, of whatever make: how it is asked, and what it holds."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any, Protocol
from urllib.parse import quote

import msgspec

from postroom.catalog.service_client import ServiceClient
from postroom.errors import DocumentRefused, PostroomError, ServiceRefused, ServiceUnreachable
from postroom.settings import Settings

log = logging.getLogger(__name__)

Tree = dict[str, Any]

_SAID = ("schema", "schemaType", "references", "metadata", "ruleSet")
_RETRY_S = 30.0
_ALL = "subjectPrefix=" + quote(":*:")


class SchemaRegistry(Protocol):
    """Something that answers the requests of schema registry clients."""

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of an answer."""


class RemoteRegistry:
    """A schema registry, of whatever make, at a URL."""

    def __init__(self, url: str, settings: Settings) -> None:
        self._client = ServiceClient(url, settings)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Ask it; ServiceUnreachable when it does not answer."""
        answer = self._client.ask(method, path, json=body)
        try:
            return answer.status, msgspec.json.decode(answer.body) if answer.body else None
        except msgspec.DecodeError:
            return answer.status, None


def registry_of(settings: Settings) -> RemoteRegistry:
    """The schema registry that the settings name, asked with its own credentials only."""
    own = msgspec.structs.replace(settings, key=settings.schema_registry_key)
    return RemoteRegistry(settings.schema_registry, own)


class Held(msgspec.Struct, frozen=True):
    """What a schema registry holds."""

    versions: dict[tuple[str, int], Tree]
    deleted: frozenset[tuple[str, int]] = frozenset()
    configs: dict[str, Tree] = {}
    """By subject; that of all subjects without a name."""
    modes: dict[str, Tree] = {}


def read_registry(registry: SchemaRegistry) -> Held:
    """What a running schema registry holds; DocumentRefused when it is none."""
    schemas = read_schemas(registry)
    subjects = {subject for subject, _ in schemas.versions}
    scopes = ["", *sorted({_context(one) for one in subjects} - {""}), *sorted(subjects)]
    configs, modes = (_settings(registry, kind, scopes) for kind in ("config", "mode"))
    return msgspec.structs.replace(schemas, configs=configs, modes=modes)


def read_schemas(registry: SchemaRegistry) -> Held:
    """The versions of a running schema registry, the deleted ones among them; DocumentRefused when it is none."""
    live, every = (_schemas(registry, more) for more in ("", "&deleted=true"))
    return Held({**every, **live}, frozenset(every.keys() - live.keys()))


def _context(subject: str) -> str:
    """The name by which the settings of the context of a subject are asked for; empty for the default one."""
    return f"{subject[: subject.index(':', 1) + 1]}" if subject.startswith(":.") and ":" in subject[2:] else ""


def _schemas(registry: SchemaRegistry, more: str) -> dict[tuple[str, int], Tree]:
    status, found = registry.ask("GET", f"/schemas?{_ALL}{more}")
    if status in (401, 403):
        sentence = "the schema registry wants credentials, or more than these are for."
        raise ServiceRefused(sentence, remedy="Give a user and a password, as in `--key USER:PASSWORD`.")
    if status >= 500 or status == 429:
        raise ServiceUnreachable(f"the schema registry cannot answer now ({status}).", remedy="Try again later.")
    if status != 200 or not isinstance(found, list):
        sentence = f"GET /schemas is answered with {status}, so this is no schema registry, or one older than 6.0."
        raise DocumentRefused(sentence)
    return by_version(found)


def by_version(schemas: Iterable[Any]) -> dict[tuple[str, int], Tree]:
    try:
        return {(str(one["subject"]), int(one["version"])): _plain(one) for one in schemas}
    except (TypeError, KeyError, ValueError):
        raise DocumentRefused("a schema has to have a subject, a version, an id and a schema.") from None


def _plain(schema: Tree) -> Tree:
    said = {name: schema[name] for name in _SAID if schema.get(name)}
    guid = {"guid": schema["guid"]} if schema.get("guid") else {}
    return {"schemaType": "AVRO", **said, "id": int(schema["id"]), **guid}


def _settings(registry: SchemaRegistry, kind: str, scopes: Iterable[str]) -> dict[str, Tree]:
    found = {}
    for scope in scopes:
        status, tree = registry.ask("GET", f"/{kind}/{quote(scope, safe='')}" if scope else f"/{kind}")
        if status == 200 and isinstance(tree, dict):
            found[scope] = tree
    return found


class RegistryWatch:
    """The schema registry that the settings name, read again and again; while it cannot be read, what it had stays."""

    def __init__(self, settings: Settings) -> None:
        self._registry = registry_of(settings)
        self._held: Held | None = None
        self._ask_at = 0.0

    def __call__(self) -> Held:
        """What it holds now; the same object as before where nothing changed. The first time it has to answer."""
        if self._held is None:
            self._held = read_schemas(self._registry)
        elif time.monotonic() >= self._ask_at:
            self._held = self._read_again(self._held)
        return self._held

    def _read_again(self, before: Held) -> Held:
        try:
            held = read_schemas(self._registry)
        except PostroomError as error:
            log.warning("the schema registry cannot be read and what it had stays: %s", error)
            # One that is slow must not hold up every batch.
            self._ask_at = time.monotonic() + _RETRY_S
            return before
        return before if held == before else held
