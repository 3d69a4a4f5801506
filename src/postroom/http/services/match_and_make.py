"""`/match` and `/make`: the definitions of the registry in use, as filters and as templates."""

from __future__ import annotations

import io
import itertools
import random
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NoReturn, TypeVar

import msgspec

from postroom.catalog.catalog import Catalog
from postroom.deadlines import check_deadline
from postroom.errors import DefinitionRefused, DocumentRefused, MakeRefused, MessageUnknown
from postroom.http.server.request import Request
from postroom.http.server.request_body import parse_json
from postroom.http.server.response import Response
from postroom.http.server.response_encoding import JSON_TYPE, encode_json
from postroom.http.services.live_catalog import Catalogs
from postroom.messages.making.make import AUTO, Maker
from postroom.messages.making.make_invalid import make_invalid
from postroom.messages.matching.explain import explain_reason
from postroom.messages.matching.line_batches import match_lines
from postroom.messages.matching.outcome import Match
from postroom.protocols.cloudevents import EVENT_MEDIA, BatchTooLarge, Malformed, Message, media_type
from postroom.protocols.records import Record, render_record
from postroom.registry.permissions import Permissions, Prefixes
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store

T = TypeVar("T")

NDJSON = ("application/x-ndjson", "application/jsonl", "application/ndjson")
BATCH_LINES, BATCH_BYTES = 100, 64 * 1024
"""What is matched at once: between two batches the client may leave, and time may be over."""
BATCH_MADE = 50
MOST_CATALOGS = 8
"""How many views of a store are kept compiled; a process has one store, and principals may see different parts."""
TOO_MANY = 413


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


def catalogs(store: Store, settings: Settings, base: str = "") -> Catalogs:
    """The catalogs of what is seen of a store; whoever may read the same shares them."""
    return _catalogs(store.base, settings, store.permissions.read, base)


@lru_cache(maxsize=MOST_CATALOGS)
def _catalogs(store: Store, settings: Settings, read: Prefixes, base: str) -> Catalogs:
    return Catalogs(store if read.is_everything else store.seen_by(Permissions(read=read)), settings, base)


def answer_match(request: Request, store: Store, settings: Settings) -> Response:
    """Records in, outcomes out: one record or batch as JSON, any number as lines, or one event in binary mode."""
    media = media_type(request.header("content-type") or "")
    event = _binary_event(request) if not media.startswith(EVENT_MEDIA) else None
    is_lines = event is None and media in NDJSON
    if not is_lines and event is None and not request.body.strip():
        raise RegistryProblem("missing_body", request.path)
    if is_lines and request.body.count(b"\n") + (not request.body.endswith(b"\n")) > settings.max_records:
        _refuse_more(request.path, settings)
    matching = Matching(request, _catalog(request, store, settings), settings)
    if is_lines:
        return Response(headers={"Content-Type": NDJSON[0]}, pieces=_as_lines(matching.lines()))
    messages = matching.messages(event)
    if len(messages) == 1 and (event is not None or request.body.lstrip()[:1] != b"["):
        return Response(json=matching.outcome(messages[0]))
    return Response(headers={"Content-Type": JSON_TYPE}, pieces=_as_array(matching.outcomes(messages)))


def _binary_event(request: Request) -> Record | None:
    """The request as a CloudEvent in binary mode, where its headers say that it is one; other headers are its own."""
    if request.header("ce-specversion") is None:
        return None
    kept = [(name, value) for name, value in request.headers if name.startswith("ce-") or name == "content-type"]
    headers = [{"name": name, "value": value} for name, value in kept]
    return Record("HTTP", {"method": request.method, "headers": headers}, request.body)


class Matching:
    """The records of one request and what becomes of them, in batches."""

    def __init__(self, request: Request, catalog: Catalog, settings: Settings) -> None:
        self._call = request
        self._catalog = catalog
        self._settings = settings
        self._explains = any(name == "explain" for name, _ in request.query)

    def lines(self) -> Iterator[list[Any]]:
        """The outcomes of lines, as many as are read at once."""
        count = 0
        for batch in _line_batches(self._call.body):
            try:
                found = list(itertools.chain.from_iterable(match_lines(self._catalog.engine, batch)))
            except BatchTooLarge:
                _refuse_more(self._call.path, self._settings)
            count += len(found)
            if count > self._settings.max_records:
                _refuse_more(self._call.path, self._settings)
            yield [self._shown(match) for match in found]

    def messages(self, event: Record | None) -> list[Message | Malformed]:
        """The messages of the one record that the body is, or that the whole request is."""
        try:
            return self._catalog.engine.opened(self._call.body, event)
        except BatchTooLarge:
            _refuse_more(self._call.path, self._settings)

    def outcomes(self, messages: list[Message | Malformed]) -> Iterator[list[Any]]:
        """What becomes of them."""
        for batch in _batches(messages, BATCH_LINES):
            yield [self.outcome(message) for message in batch]

    def outcome(self, message: Message | Malformed) -> Any:
        """What becomes of one."""
        check_deadline()
        return self._shown(self._catalog.engine.judged(message).match)

    def _shown(self, match: Match) -> Any:
        if not self._explains:
            return match
        return {**msgspec.to_builtins(match), "explanation": self._catalog.explain(match)}


def answer_make(request: Request, store: Store, settings: Settings) -> Response:
    """Messages from a definition, as records."""
    given = parse_json(request.body, settings.max_depth, request.path) if request.body.strip() else None
    if given is None:
        raise RegistryProblem("missing_body", request.path)
    try:
        order = msgspec.convert(given, MakeOrder)
    except msgspec.ValidationError as error:
        _refuse(request.path, str(error))
    if order.count < 1:
        _refuse(request.path, f"count must be from 1 to {settings.max_records}, it is {order.count}")
    if order.count > settings.max_records:
        _refuse_more(request.path, settings)
    made = _made(catalogs(store, settings).get(settings.nulls), order, request.path)
    if (request.header("accept") or "").partition(";")[0] in NDJSON:
        return Response(headers={"Content-Type": NDJSON[0]}, pieces=_as_lines(_batches(made, BATCH_MADE)))
    if order.count == 1:
        return Response(json=next(made))
    return Response(headers={"Content-Type": JSON_TYPE}, pieces=_as_array(_batches(made, BATCH_MADE)))


def _made(catalog: Catalog, order: MakeOrder, path: str) -> Iterator[Any]:
    try:
        maker = catalog.message(order.message).maker
        rng = random.Random(order.seed)  # noqa: S311 - sample data, no secrets
        for _ in range(order.count):
            check_deadline()
            yield _one_made(maker, order, rng)
    except MessageUnknown as error:
        raise RegistryProblem("not_found", path, detail=str(error)) from None
    except (DefinitionRefused, MakeRefused) as error:
        _refuse(path, str(error))


def _one_made(maker: Maker, order: MakeOrder, rng: random.Random) -> Any:
    data = AUTO if order.auto else order.data
    options: dict[str, Any] = {"protocol": order.protocol, "mode": order.mode, "rng": rng}
    if not order.invalid:
        return render_record(maker.make(order.values, data, **options))
    record, reason = make_invalid(maker, order.values, data, **options)
    broken = {**msgspec.structs.asdict(reason), "sentence": explain_reason(reason)}
    return {"record": render_record(record), "broken": broken}


def _catalog(request: Request, store: Store, settings: Settings) -> Catalog:
    query = dict(request.query)
    nulls = query.get("nulls", settings.nulls)
    if nulls not in ("strict", "absent"):
        _refuse(request.path, f"nulls must be strict or absent, it is {nulls!r}")
    try:
        found, endpoint = catalogs(store, settings), query.get("endpoint", "")
        catalog = found.get(nulls, endpoint)
        # Few registries refer to themselves by URL, and which URL is theirs depends on who asks.
        refers_to_itself = request.base in found.registries
        return catalogs(store, settings, request.base).get(nulls, endpoint) if refers_to_itself else catalog
    except DocumentRefused as error:
        _refuse(request.path, error.sentence)


def _line_batches(body: bytes) -> Iterator[list[bytes]]:
    batch, size = [], 0
    for line in io.BytesIO(body):
        if line.strip():
            batch.append(line.rstrip(b"\r\n"))
            size += len(line)
        if len(batch) >= BATCH_LINES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _batches(values: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(values)
    while batch := list(itertools.islice(rest, size)):
        yield batch


def _as_lines(batches: Iterable[list[Any]]) -> Iterator[bytes]:
    for batch in batches:
        yield b"".join(encode_json(one) + b"\n" for one in batch)


def _as_array(batches: Iterable[list[Any]]) -> Iterator[bytes]:
    start = b"["
    for batch in batches:
        yield start + b",".join(map(encode_json, batch))
        start = b","
    yield b"]"


def _refuse(path: str, detail: str) -> NoReturn:
    raise RegistryProblem("bad_request", path, error_detail=detail.rstrip("."))


def _refuse_more(path: str, settings: Settings) -> NoReturn:
    detail = f"one request may have {settings.max_records} records (max_records), and these are more"
    raise RegistryProblem(
        "bad_request", path, error_detail=detail, detail="Send several requests, or raise max_records.", status=TOO_MANY
    )
