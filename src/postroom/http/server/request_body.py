"""Request bodies: bytes within limits, and JSON that is exactly JSON."""

from __future__ import annotations

import asyncio
import json
import math
import re
import zlib
from typing import Any, NoReturn

import msgspec

from postroom.http.server.asgi import Receive, Scope
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings

_CONTAINERS = frozenset({dict, list})
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
MEGABYTE = 1024 * 1024
OVERSIZE_FACTOR = 16
CODINGS = {"": False, "identity": False, "gzip": True, "x-gzip": True}


async def read_body(scope: Scope, receive: Receive, settings: Settings) -> bytes:
    """The body without its content coding; problems when it is too long, takes too long or is coded in another way.

    What is too much is read and forgotten, up to a point: a client that is still sending would not see the answer.
    """
    path, limit = str(scope["path"]), settings.max_body_mb * MEGABYTE
    given = next((value for name, value in scope["headers"] if name == b"content-encoding"), b"identity")
    coding = given.decode("latin-1").strip().lower()
    try:
        async with asyncio.timeout(settings.upload_timeout_s):
            body = await _received(receive, limit)
    except TimeoutError:
        raise RegistryProblem("bad_request", path, error_detail="the body took too long", status=408) from None
    except EOFError:
        raise RegistryProblem("parsing_data", path, error_detail="the body ended early") from None
    if coding not in CODINGS:
        detail = f"the content coding {coding[:40]!r} is not read here"
        raise RegistryProblem("bad_request", path, error_detail=detail, status=415)
    if body is not None and CODINGS[coding]:
        body = await asyncio.to_thread(_unzipped, body, limit, path)
    if body is None:
        detail = f"the body is larger than {settings.max_body_mb} MB"
        remedy = "Send it in parts, or raise the setting max_body_mb of the service."
        raise RegistryProblem("bad_request", path, detail=remedy, error_detail=detail, status=413)
    return body


async def _received(receive: Receive, limit: int) -> bytes | None:
    chunks, size, is_whole = [], 0, False
    while not is_whole and size <= limit * OVERSIZE_FACTOR:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise EOFError
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= limit:
            chunks.append(chunk)
        is_whole = not message.get("more_body", False)
    return b"".join(chunks) if size <= limit else None


def _unzipped(body: bytes, limit: int, path: str) -> bytes | None:
    inflater = zlib.decompressobj(wbits=31)
    try:
        content = inflater.decompress(body, limit)
    except zlib.error:
        _refuse("the body is no gzip, as its header says", path)
    if inflater.unconsumed_tail:
        return None
    if not inflater.eof or inflater.unused_data:
        _refuse("the gzip body is cut short, or more follows it", path)
    return content


def parse_json(body: bytes, max_depth: int, subject: str) -> Any:
    """The value of a JSON text; duplicate keys, NaN, numbers out of range and deep nesting are refused."""
    try:
        value = _quickly(body)
        if value is msgspec.UNSET:
            text = body.decode("utf-8-sig")
            value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except UnicodeDecodeError:
        _refuse("the body is not UTF-8", subject)
    except json.JSONDecodeError as error:
        _refuse(f"{error.msg} at line {error.lineno}, column {error.colno}", subject)
    except RecursionError:
        _refuse("it is nested too deeply", subject)
    except ValueError as error:
        _refuse(str(error), subject)
    if _depth_exceeds(value, max_depth):
        _refuse(f"it is nested more than {max_depth} levels deep", subject)
    if _SURROGATE.search(body):
        _refuse_lone_surrogates(value, subject)
    return value


def _quickly(body: bytes) -> Any:
    """The value of a text in which all is well; UNSET for others, and for those in which one cannot tell.

    Without escapes, a string has two quotation marks, in the text and in that of its value: there are fewer of these
    if a key was there twice.
    """
    if b"\\" in body:
        return msgspec.UNSET
    try:
        value = msgspec.json.decode(body)
        is_whole = msgspec.json.encode(value).count(b'"') == body.count(b'"')
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return msgspec.UNSET
    return value if is_whole else msgspec.UNSET


def _refuse(detail: str, subject: str) -> NoReturn:
    raise RegistryProblem("parsing_data", subject, error_detail=detail) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        doubled = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {doubled!r} is there twice")
    return made


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is out of range")
    return number


def _depth_exceeds(value: Any, limit: int) -> bool:
    level = [value] if type(value) in _CONTAINERS else []
    for _ in range(limit):
        level = [
            member
            for one in level
            for member in (one.values() if type(one) is dict else one)
            if type(member) in _CONTAINERS
        ]
        if not level:
            return False
    return True


def _refuse_lone_surrogates(value: Any, subject: str) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        _refuse("it holds half of a surrogate pair", subject)
