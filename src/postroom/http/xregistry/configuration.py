"""The paths beside entities: model, modelsource, capabilities, export, match, make, health."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from postroom.http.server.request import Answer, Call
from postroom.http.server.request_body import MEGABYTE, parse_json
from postroom.http.server.response import correlated
from postroom.http.services.match_and_make import answer_make, answer_match
from postroom.http.xregistry.discovery import NAMES, answer_discovery
from postroom.http.xregistry.model_includes import fetched_includes
from postroom.http.xregistry.read import Reading, export_flags
from postroom.model.render import render_model
from postroom.registry.configuration.capabilities import read_capabilities, write_capabilities
from postroom.registry.configuration.model_update import write_modelsource
from postroom.registry.configuration.offered_capabilities import offered
from postroom.registry.paths import DETAILS, Place
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.flags import parse_flags
from postroom.registry.read.render import render
from postroom.registry.read.short_urls import long_path
from postroom.registry.transaction import Transaction
from postroom.registry.write.unit_of_work import Interaction
from postroom.settings import Settings
from postroom.store.checked_write import write_checked
from postroom.store.interface import Store

ROOT = Place(kind="registry", xid="/")

METHODS: dict[str, tuple[str, ...]] = {
    "model": ("GET",),
    "modelsource": ("GET", "PUT"),
    "capabilities": ("GET", "PUT", "PATCH"),
    "capabilitiesoffered": ("GET",),
    "export": ("GET",),
    **dict.fromkeys(NAMES, ("GET",)),
    "match": ("POST",),
    "make": ("POST",),
    "healthz": ("GET", "HEAD"),
    "readyz": ("GET", "HEAD"),
}
OURS = frozenset({"healthz", "make", "match", "readyz"})


def answer_configuration(name: str, call: Call, store: Store, settings: Settings) -> Answer:
    """Answer a request to one of the fixed names; its method is known to be allowed."""
    match name:
        case "healthz":
            return Answer(json={"status": "ok"})
        case "readyz":
            return _ready(store, settings)
        case "match":
            return answer_match(call, store, settings)
        case "make":
            return answer_make(call, store, settings)
        case _ if name in NAMES:
            return answer_discovery(call)
        case "model":
            with store.read() as tx:
                return Answer(json=render_model(tx.model()))
        case "modelsource":
            return _modelsource(call, store, settings)
        case "capabilitiesoffered":
            with store.read() as tx:
                return Answer(json=offered(tx.rules))
        case "capabilities":
            return _capabilities(call, store, settings)
        case _:
            return _export(call, store)


def _ready(store: Store, settings: Settings) -> Answer:
    with store.read() as tx:
        if tx.entity("/") is None:
            return Answer(status=503, json={"status": "empty"}, cacheable=False)
    if trouble := store.trouble(settings.min_free_mb * MEGABYTE):
        return Answer(status=503, json={"status": "full", "detail": trouble}, cacheable=False)
    return Answer(json={"status": "ready"}, cacheable=False)


def _modelsource(call: Call, store: Store, settings: Settings) -> Answer:
    if call.method == "GET":
        with store.read() as tx:
            return Answer(json=tx.modelsource())
    source = required_json(call, settings)
    fetch = fetched_includes(source, settings)

    def write(tx: Transaction) -> Answer:
        interaction = Interaction(tx, actor=call.actor)
        interaction.fetch = fetch
        write_modelsource(interaction, {} if source is None else source)
        interaction.finish()
        return correlated(Answer(json=tx.modelsource()), interaction, settings)

    return write_checked(store, write)


def _capabilities(call: Call, store: Store, settings: Settings) -> Answer:
    if call.method == "GET":
        with store.read() as tx:
            is_offer = any(name == "offered" for name, _ in call.query)  # FLAG-066: the way 1.0-rc2 asked
            return Answer(json=offered(tx.rules) if is_offer else read_capabilities(tx).document())
    written = required_json(call, settings)
    if written is None:
        raise RegistryProblem("capability_error", "/capabilities", error_detail="they must be a JSON object")
    with store.write() as tx:
        interaction = Interaction(tx, actor=call.actor)
        after = write_capabilities(interaction, written, patch=call.method == "PATCH")
        interaction.finish()
        return correlated(Answer(json=after.document()), interaction, settings)


def _export(call: Call, store: Store) -> Answer:
    with store.read() as tx:
        capabilities = read_capabilities(tx)
        flags = export_flags(parse_flags(call.query, capabilities, call.path), capabilities)
        reading = Reading(tx, call, ROOT, flags, capabilities)
        if made := reading.text():
            return made
        tree, view = reading.entity(ROOT)
    return Answer(json=render(tree, view))


def answer_short(call: Call, store: Store) -> Answer:
    """Lead from a short URL to the long one; suffix and flags go along."""
    path = call.path.removesuffix(DETAILS)
    with store.read() as tx:
        xid = long_path(tx, path)
    if xid is None:
        raise RegistryProblem("not_found", call.path)
    query = f"?{urlencode(call.query, quote_via=quote)}" if call.query else ""
    return Answer(status=308, headers={"Location": call.base + xid + call.path[len(path) :] + query})


def required_json(call: Call, settings: Settings) -> Any:
    """The JSON of a body that has to be there."""
    if not call.body.strip():
        raise RegistryProblem("missing_body", call.path)
    return parse_json(call.body, settings.max_depth, call.path)
