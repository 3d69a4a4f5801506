"""`/match` and `/make`: the definitions of the registry in use, as filters and as templates."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator
from typing import Any, NoReturn

import msgspec

from postroom.catalog import Catalog
from postroom.errors import DocumentRefused, MakeRefused, MessageUnknown
from postroom.http.bodies import parse_json
from postroom.http.calls import Answer, Call
from postroom.messages.breaking import make_invalid
from postroom.messages.explaining import explain_reason
from postroom.messages.lines import match_lines
from postroom.messages.making import AUTO
from postroom.messages.outcome import Match
from postroom.protocols.records import render_record
from postroom.registry.operations import export_document
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store

NDJSON = ("application/x-ndjson", "application/jsonl", "application/ndjson")
MOST_MADE = 10_000


class MakeOrder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a client wants to have made."""

    message: str
    values: dict[str, Any] = {}
    data: Any = None
    auto: bool = False
    protocol: str = ""
    mode: str = ""
    count: int = 1
    seed: int | None = None
    invalid: bool = False


def answer_match(call: Call, store: Store, settings: Settings) -> Answer:
    """Records in, outcomes out: one record or batch as JSON, any number as lines."""
    query = dict(call.query)
    catalog = _catalog(store, store.version(), _settings(query, settings, call.path), query.get("endpoint", ""))
    chosen = _chosen(catalog, call.path)
    explain = "explain" in query
    if _media_type(call) in NDJSON:
        given = [line for line in call.body.splitlines() if line.strip()]
        matches = itertools.chain.from_iterable(match_lines(chosen.engine, given))
        lines = [msgspec.json.encode(_shown(chosen, match, explain)) for match in matches]
        return Answer(headers={"Content-Type": NDJSON[0]}, content=b"".join(line + b"\n" for line in lines))
    if not call.body.strip():
        raise RegistryProblem("missing_body", call.path)
    found = [_shown(chosen, match, explain) for match in chosen.engine.match_line(call.body)]
    return Answer(json=found if call.body.lstrip()[:1] == b"[" else found[0])


def answer_make(call: Call, store: Store, settings: Settings) -> Answer:
    """Messages from a definition, as records."""
    given = parse_json(call.body, settings.max_depth, call.path) if call.body.strip() else None
    if given is None:
        raise RegistryProblem("missing_body", call.path)
    try:
        order = msgspec.convert(given, MakeOrder)
    except msgspec.ValidationError as error:
        _refuse(call.path, str(error))
    if not 1 <= order.count <= MOST_MADE:
        _refuse(call.path, f"count must be from 1 to {MOST_MADE}, it is {order.count}")
    catalog = _chosen(_catalog(store, store.version(), settings, ""), call.path)
    try:
        made = list(_made(catalog, order))
    except MessageUnknown as error:
        raise RegistryProblem("not_found", call.path, detail=str(error)) from None
    except MakeRefused as error:
        _refuse(call.path, str(error))
    if (call.header("accept") or "").partition(";")[0] in NDJSON:
        lines = b"".join(msgspec.json.encode(one) + b"\n" for one in made)
        return Answer(headers={"Content-Type": NDJSON[0]}, content=lines)
    return Answer(json=made[0] if order.count == 1 else made)


def _made(catalog: Catalog, order: MakeOrder) -> Iterator[Any]:
    maker = catalog.message(order.message).maker
    data = AUTO if order.auto else order.data
    rng = random.Random(order.seed)  # noqa: S311 - sample data, no secrets
    for _ in range(order.count):
        options: dict[str, Any] = {"protocol": order.protocol, "mode": order.mode, "rng": rng}
        if order.invalid:
            record, reason = make_invalid(maker, order.values, data, **options)
            broken = {**msgspec.structs.asdict(reason), "sentence": explain_reason(reason)}
            yield {"record": render_record(record), "broken": broken}
        else:
            yield render_record(maker.make(order.values, data, **options))


@functools.lru_cache(maxsize=4)
def _catalog(store: Store, version: int, settings: Settings, endpoint: str) -> Catalog | str:
    """The catalog in a state of the store, compiled once; a sentence when there is no such endpoint."""
    if endpoint:
        whole = _catalog(store, version, settings, "")
        if isinstance(whole, str):
            return whole
        try:
            return whole.for_endpoint(endpoint)
        except DocumentRefused as error:
            return error.sentence
    with store.read() as tx:
        return Catalog(export_document(tx), settings=settings)


def _chosen(catalog: Catalog | str, path: str) -> Catalog:
    return _refuse(path, catalog) if isinstance(catalog, str) else catalog


def _settings(query: dict[str, str], settings: Settings, path: str) -> Settings:
    nulls = query.get("nulls")
    if nulls is None:
        return settings
    if nulls not in ("strict", "absent"):
        _refuse(path, f"nulls must be strict or absent, it is {nulls!r}")
    return msgspec.structs.replace(settings, nulls=nulls)


def _shown(catalog: Catalog, match: Match, explain: bool) -> Any:
    return {**msgspec.to_builtins(match), "explanation": catalog.explain(match)} if explain else match


def _media_type(call: Call) -> str:
    return (call.header("content-type") or "").partition(";")[0].strip().lower()


def _refuse(path: str, detail: str) -> NoReturn:
    raise RegistryProblem("bad_request", path, error_detail=detail.rstrip("."))
