"""A record as commands that send it: with curl, kcat, mosquitto_pub, nats, and from Python."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from postroom.protocols.protocol_table import wire_named

Record = dict[str, Any]

_PUB = "publish"


class Snippet(msgspec.Struct, frozen=True):
    """A text to copy, and what it is for."""

    name: str
    text: str


def snippets(record: Record, base: str, xid: str, values: dict[str, str], protocol: str, mode: str) -> list[Snippet]:
    """All ways to send a record, or to make one like it."""
    shown = msgspec.json.format(msgspec.json.encode(record), indent=2).decode()
    found = [Snippet("Record", shown)]
    sender = SENDERS.get(wire_named(protocol).name.upper().partition("/")[0])
    if sender is not None and "protocol" in record:
        found.append(Snippet(*sender(record)))
    compact = msgspec.json.encode(record).decode()
    match = f"curl '{base}/match?explain' -H 'content-type: application/x-ndjson' --data-binary {shlex.quote(compact)}"
    found.append(Snippet("match", match))
    found.append(Snippet("Python", _python(base, xid, values, protocol, mode)))
    return found


def _python(base: str, xid: str, values: dict[str, str], protocol: str, mode: str) -> str:
    given = [f"{name}={value!r}" for name, value in values.items() if name.isidentifier()]
    others = {name: value for name, value in values.items() if not name.isidentifier()}
    arguments = [*([repr(others)] if others else []), *given, 'data="auto"']
    arguments += [f"protocol={protocol!r}"] if protocol else []
    arguments += [f"mode={mode!r}"] if mode else []
    return (
        "import postroom\n\n"
        f"catalog = postroom.open_catalog({base!r})\n"
        f"message = catalog.message({xid!r})\n"
        f"record = message.make({', '.join(arguments)})\n"
    )


def _payload_source(record: Record) -> tuple[str, str]:
    """What writes the payload to the standard input of a command, and the payload where it is text."""
    if "payload_base64" in record:
        return f"printf %s {shlex.quote(record['payload_base64'])} | base64 -d | ", ""
    text = str(record.get("payload", ""))
    return f"printf %s {shlex.quote(text)} | ", text


def _headers(metadata: Record, *names: str) -> Iterator[tuple[str, str]]:
    for name in names:
        given = metadata.get(name) or ()
        pairs = given.items() if isinstance(given, dict) else ((one.get("name"), one.get("value")) for one in given)
        yield from ((str(key), str(value)) for key, value in pairs)


def _curl(record: Record) -> tuple[str, str]:
    metadata = record.get("metadata", {})
    source, text = _payload_source(record)
    path = str(metadata.get("path") or "/")
    query = "&".join(f"{name}={value}" for name, value in _headers(metadata, "query"))
    url = shlex.quote(f"http://localhost:8000{path}{'?' + query if query else ''}")
    parts = [f"curl -X {shlex.quote(str(metadata.get('method') or 'POST'))} {url}"]
    parts += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in _headers(metadata, "headers")]
    if text or "payload_base64" not in record:
        parts.append(f"--data-binary {shlex.quote(text)}")
        source = ""
    else:
        parts.append("--data-binary @-")
    return "curl", source + " \\\n  ".join(parts)


def _kcat(record: Record) -> tuple[str, str]:
    metadata = record.get("metadata", {})
    source, _ = _payload_source(record)
    parts = ["kcat -P -b localhost:9092", f"-t {shlex.quote(str(metadata.get('topic') or 'TOPIC'))}"]
    key = metadata.get("key")
    if key is None and metadata.get("key_base64"):
        key = base64.b64decode(metadata["key_base64"]).decode("utf-8", "replace")
    if key is not None:
        parts.append(f"-k {shlex.quote(str(key))}")
    parts += [f"-H {shlex.quote(f'{name}={value}')}" for name, value in _headers(metadata, "headers")]
    return "kcat", source + " \\\n  ".join(parts)


def _mosquitto(record: Record) -> tuple[str, str]:
    metadata = record.get("metadata", {})
    source, _ = _payload_source(record)
    is_5 = str(record.get("protocol", "")).upper().endswith("5.0")
    topic = str(metadata.get("topic_name") or metadata.get("topic") or "TOPIC")
    parts = [f"mosquitto_pub -h localhost{' -V mqttv5' if is_5 else ''}", f"-t {shlex.quote(topic)}"]
    parts += [f"-q {int(metadata['qos'])}"] if str(metadata.get("qos", "")).isdigit() else []
    parts += ["-r"] if metadata.get("retain") is True else []
    if is_5:
        for name in ("content_type", "response_topic", "correlation_data", "message_expiry_interval"):
            if name in metadata:
                parts.append(f"-D {_PUB} {name.replace('_', '-')} {shlex.quote(str(metadata[name]))}")
        parts += [
            f"-D {_PUB} user-property {shlex.quote(name)} {shlex.quote(value)}"
            for name, value in _headers(metadata, "user_properties")
        ]
    return "mosquitto_pub", source + " \\\n  ".join([*parts, "-s"])


def _nats(record: Record) -> tuple[str, str]:
    metadata = record.get("metadata", {})
    source, _ = _payload_source(record)
    parts = [f"nats pub {shlex.quote(str(metadata.get('subject') or 'SUBJECT'))} --force-stdin"]
    parts += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in _headers(metadata, "headers")]
    return "nats", source + " \\\n  ".join(parts)


SENDERS: dict[str, Callable[[Record], tuple[str, str]]] = {
    "HTTP": _curl,
    "KAFKA": _kcat,
    "MQTT": _mosquitto,
    "NATS": _nats,
}
"""The program that people have for a protocol; there is none for AMQP."""
