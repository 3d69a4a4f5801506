"""Messages as people paste them: records, CloudEvents, lines or lists of them, curl commands, plain JSON."""

from __future__ import annotations

import shlex
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from postroom.protocols.records import Record, line_of, render_record
from postroom.urls import parse_url

MOST_PASTED = 100
_WITH_VALUE = frozenset(
    {"-X", "--request", "-H", "--header", "-d", "--data", "--data-raw", "--data-binary", "--json", "--url"}
    | {"-o", "-u", "-A", "-e", "-m"}
)
_DATA = frozenset({"-d", "--data", "--data-raw", "--data-binary", "--json"})


class PastedMessage(msgspec.Struct, frozen=True):
    """One of the messages: the line that the engine takes, and whether somebody gave no more than a payload."""

    line: bytes
    is_payload: bool = False


def read_pasted(text: str) -> list[PastedMessage]:
    """The messages of a text, no more than `MOST_PASTED`. What is none of the known forms is left for the engine."""
    text = text.strip()
    if not text:
        return []
    if text.startswith("curl"):
        return [PastedMessage(line_of(render_record(_curl(text))))]
    try:
        value = msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        lines = [line for line in text.splitlines() if line.strip()]
        return [_pasted_line(line) for line in lines[:MOST_PASTED]]
    if isinstance(value, list) and value and all(isinstance(one, dict) and "protocol" in one for one in value):
        return [_pasted(one) for one in value[:MOST_PASTED]]
    return [_pasted(value)]


def _pasted_line(line: str) -> PastedMessage:
    try:
        return _pasted(msgspec.json.decode(line.encode()))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return PastedMessage(line.encode("utf-8", "replace"))


def _pasted(value: Any) -> PastedMessage:
    is_batch = isinstance(value, list) and all(isinstance(one, dict) and "specversion" in one for one in value)
    if is_batch or (isinstance(value, dict) and ("protocol" in value or "specversion" in value)):
        return PastedMessage(msgspec.json.encode(value))
    headers = [{"name": "content-type", "value": "application/json"}]
    payload = msgspec.json.encode(value).decode()
    record = {"protocol": "HTTP", "metadata": {"method": "POST", "headers": headers}, "payload": payload}
    return PastedMessage(msgspec.json.encode(record), is_payload=True)


def _curl(text: str) -> Record:
    """The request that a curl command would send."""
    try:
        words = shlex.split(text.replace("\\\n", " ").replace("\\\r\n", " "))[1:]
    except ValueError:
        words = text.split()[1:]
    method, url, body, headers = "", "", "", []
    position = 0
    while position < len(words):
        word = words[position]
        value = words[position + 1] if word in _WITH_VALUE and position + 1 < len(words) else ""
        position += 2 if word in _WITH_VALUE else 1
        if word in ("-X", "--request"):
            method = value
        elif word in ("-H", "--header"):
            name, _, content = value.partition(":")
            headers.append({"name": name.strip(), "value": content.strip()})
        elif word in _DATA:
            body = f"{body}&{value}" if body else value
            if word == "--json":
                headers.append({"name": "content-type", "value": "application/json"})
        elif word == "--url" or not word.startswith("-"):
            url = value or word
    parts = parse_url(url if "://" in url else f"//{url}")  # None for what is no URL, of which nothing is known then
    metadata: dict[str, Any] = {"method": method or ("POST" if body else "GET"), "path": (parts and parts.path) or "/"}
    if parts is not None and parts.query:
        metadata["query"] = [{"name": name, "value": one} for name, one in parse_qsl(parts.query)]
    return Record("HTTP", {**metadata, "headers": headers}, body.encode())
