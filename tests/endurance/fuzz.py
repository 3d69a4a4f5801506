"""Requests that no client would send, byte by byte and repeatable: a seed gives the same ones again."""

from __future__ import annotations

import copy
import gzip
import json
import random
import string
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec

GROUP, MESSAGE = "/messagegroups/ovens", "/messagegroups/ovens/messages/heated"
SCHEMA = "/schemagroups/ovens/schemas/oven"
ENTITIES = ("", "/versions", "/versions/1", "/meta", "$details", "/versions/1$details", "/versions/1/meta")

PATHS = [
    "/",
    "/model",
    "/modelsource",
    "/capabilities",
    "/capabilitiesoffered",
    "/export",
    "/messagegroups",
    "/schemagroups",
    "/endpoints",
    "/endpoints/shop",
    "/endpoints/shop/messages",
    "/endpoints/shop/messages/sold",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/docs",
    "/ui",
    "/match",
    "/make",
    "/-/match",
    "/-/make",
    "/-/lint",
    "/changes",
    "/-/changes",
    "/subscriptions",
    "/subscriptions/s",
    "/subscriptions/s/delivery",
    "/subscriptions/s/resume",
    "/subscriptions/s/confirm",
    "/-/replication",
    "/-/replication/links",
    "/-/replication/links/l",
    "/-/replication/links/l/run",
    "/-/session",
    "/-/grants",
    "/-/audit",
    "/-/keys",
    "/-/keys/k",
    "/-/keys/k/rotate",
    "/.well-known/xregistry",
    "/.xregistry",
    "/messagecatalog",
    "/messagecatalog/messagegroups",
    "/messagecatalog/messagedefinitiongroups",
    "/messagecatalog/messagedefinitiongroups/ovens",
    "/messagecatalog/messagedefinitiongroups/ovens/messagedefinitions",
    "/messagecatalog/messagedefinitiongroups/ovens/messagedefinitions/heated",
    "/messagecatalog/messagedefinitiongroups/ovens/messagedefinitions/heated/versions",
    "/messagedefinition",
    "/messagecatalog/schemagroups",
    "/messagecatalog/endpoints",
    "/v0.5",
    "/v0.5/",
    "/v0.5/endpoints",
    "/v0.5/endpoints/shop",
    "/v0.5/schemagroups",
    "/v0.5/schemagroups/ovens",
    "/v0.5/schemagroups/ovens/schemas",
    "/v0.5/schemagroups/ovens/schemas/oven",
    "/v0.5/schemagroups/ovens/schemas/oven/versions",
    "/v0.5/schemagroups/ovens/schemas/oven/versions/1",
    "/v0.5/definitiongroups",
    "/v0.5/definitiongroups/ovens",
    "/v0.5/definitiongroups/ovens/definitions",
    "/v0.5/definitiongroups/ovens/definitions/heated",
    "/r/abc",
    "/search",
    "/-/search",
    "/-/impact",
    "/confluent",
    "/ingest",
    "/-/openapi.json",
    "/nowhere",
]
METHODS = ("GET", "GET", "GET", "PUT", "PUT", "PATCH", "PATCH", "POST", "POST", "DELETE", "HEAD", "OPTIONS")
ODD_METHODS = ("TRACE", "CONNECT", "PROPFIND", "get", "PRI", "X" * 64, "X" * 65, "G\x00T", "", "*", "PUT,GET", "é")
FLAGS = [
    "inline",
    "doc",
    "binary",
    "collections",
    "filter",
    "sort",
    "limit",
    "cursor",
    "epoch",
    "setdefaultversionid",
    "ignore",
    "specversion",
    "offered",
    "after",
    "xid",
    "explain",
    "nulls",
    "endpoint",
    "uri",
    "openapi",
    "subject",
    "role",
    "prefix",
    "since",
    "kind",
    "skip",
    "key",
    "wait",
    "type",
    "schema",
    "noepoch",
]
WORDS = [
    "messagegroups",
    "messages",
    "versions",
    "meta",
    "labels",
    "epoch",
    "xref",
    "name",
    "envelope",
    "envelopemetadata",
    "protocol",
    "protocoloptions",
    "dataschema",
    "schema",
    "schemabase64",
    "schemaurl",
    "schemaproxyurl",
    "schemas",
    "schemagroups",
    "format",
    "versionid",
    "ancestorid",
    "compatibility",
    "defaultversionid",
    "defaultversionsticky",
    "createdat",
    "modifiedat",
    "$schema",
    "modelsource",
    "model",
    "capabilities",
    "groups",
    "resources",
    "attributes",
    "type",
    "item",
    "enum",
    "required",
    "default",
    "target",
    "ifvalues",
    "siblingattributes",
    "deprecated",
    "effective",
    "removal",
    "constraints",
    "ovens",
    "heated",
    "oven",
    "1",
    "endpoints",
    "usage",
    "basemessage",
    "sink",
    "protocolsettings",
    "filters",
    "sql",
    "types",
    "config",
    "credential",
    "accesstoken",
    "grants",
    "subject",
    "role",
    "prefix",
    "id",
    "scopes",
    "record",
    "records",
    "payload",
    "payload_base64",
    "metadata",
    "specversion",
    "source",
    "data",
    "data_base64",
    "message",
    "set",
    "count",
    "mode",
    "flags",
    "mutable",
    "pagination",
    "shortself",
    "versionmodes",
    "definitions",
    "definitiongroups",
    "tags",
    "ancestor",
    "description",
    "documentation",
    "contenttype",
    "links",
    "source",
    "every",
    "policy",
]
SCALARS: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2**31,
    2**53 + 1,
    2**63 - 1,
    2**63,
    -(2**70),
    1.5,
    1e308,
    -0.0,
    "",
    " ",
    "x",
    "*",
    "/",
    "null",
    "\x00",
    "a\x00b",
    "\x1f",
    "\x7f",
    "\ud800",
    "é",
    "𝒳",
    "\u202e",
    "\ufeff",
    "x" * 300,
    "y" * 20_000,
    "2030-01-01T00:00:00Z",
    "9999-12-31T23:59:60Z",
    "0000-00-00T00:00:00Z",
    "2030-01-01",
    GROUP,
    MESSAGE,
    f"{SCHEMA}/versions/1",
    "#/x",
    "..",
    "a/b",
    "http://127.0.0.1:1/",
    "https://x.invalid/y",
    "http://[::1",
    "file:///etc/passwd",
    "javascript:1",
    "JsonSchema/draft-07",
    "Avro/1.11.0",
    "Protobuf/3",
    "XSD/1.1",
    "CloudEvents/1.0",
    "MQTT/5.0",
    "KAFKA",
    "HTTP",
    "{a}{b}",
    "{",
    "{a",
    "%",
    "%zz",
    "user:ben",
    "admin",
    "read",
    "producer",
    "string",
    "map",
    "object",
    "urireference",
    "request",
    "backward",
    "application/json",
    'syntax = "proto3"; message A { A a = 1; }',
    '{"type": "record"}',
    "<xs:schema/>",
    "^(a+)+$",
    "(",
    "[[[",
    "CASE",
    "1=1",
    "type LIKE '%'",
    "'",
    "; DROP TABLE entity",
    "\\",
    "\r\nX: y",
    "9" * 400,
)
VALUES = (
    "",
    "*",
    "-1",
    "0",
    "1",
    "9" * 30,
    "1e9",
    "NaN",
    "%00",
    "%ff%fe",
    "%c3%28",
    "%",
    "%2",
    "%zz",
    "a%0d%0ab",
    "null",
    "true",
    "messagegroups",
    "messagegroups.messages",
    "messagegroups.*",
    "a.b.c." * 50,
    "name=x",
    "name!=x",
    "name<x",
    "name=*x*",
    "labels.a=1",
    "['a']=1",
    "labels['%00']",
    "name=%00",
    "name=" + "*" * 200,
    "epoch>=9" + "9" * 30,
    "a=b,c=d",
    ",,,",
    "=",
    "<>",
    "!=",
    "name=desc",
    "name=asc",
    "epoch=up",
    "1.0-rc4",
    "1.0-rc3",
    "1.0-rc2",
    "0.5",
    "2",
    "x" * 5000,
    "/messagegroups/ovens",
    "/",
    "//",
    "..",
    "%2e%2e",
    "é",
    "𝒳",
    "\u202e",
    "+",
    " ",
    "#",
    "?",
    "&",
    ";",
    "request",
    "latest",
    "0-0",
    "now",
    "2030-01-01T00:00:00Z",
    "user:ben",
    "read",
    "admin",
    "strict",
    "absent",
    "http://127.0.0.1:1/x",
    "%F0%9F%92%A9",
    "'; DROP TABLE entity; --",
)
NAMES = (
    "ovens",
    "heated",
    "oven",
    "1",
    "2",
    "shop",
    "sold",
    "é",
    "a b",
    "a%00b",
    "a%2fb",
    "%",
    "%zz",
    "..",
    ".",
    "",
    "x" * 129,
    "x" * 3000,
    "$details",
    "a$details",
    "$",
    "a;b",
    "a:b",
    "a@b",
    "-",
    "~",
    "versions",
    "meta",
    "OVENS",
    "\x01",
    "%ff",
    "a?b",
    "a#b",
    "null",
)
HEADERS = (
    (
        "Content-Type",
        (
            "application/json",
            "application/cloudevents+json",
            "application/cloudevents-batch+json",
            "text/plain",
            "application/x-ndjson",
            "application/xml",
            "multipart/form-data",
            "x",
            "",
            "\xff",
            "application/json;charset=utf-16",
            'application/json; charset="',
            "application/json" * 200,
            "a/b;" + "c=d;" * 300,
        ),
    ),
    ("Content-Encoding", ("gzip", "identity", "br", "gzip, gzip", "x", "")),
    (
        "Accept",
        (
            "*/*",
            "application/json",
            "text/html",
            "text/event-stream",
            "application/yaml",
            ";q=",
            "x" * 3000,
            "a/b;q=9",
            "",
        ),
    ),
    ("Accept-Encoding", ("gzip", "gzip;q=0", "gzip;q=x", "*", "identity;q=0", "")),
    ("If-Match", ("*", '"1"', '"x"', 'W/"1"', '"', "x" * 2000, '"a","b"', "", "\xff")),
    ("If-None-Match", ("*", '"1"', "W/", '"', "")),
    ("If-Modified-Since", ("x", "Thu, 01 Jan 1970 00:00:00 GMT")),
    ("Range", ("bytes=0-1", "bytes=-1", "bytes=9-1,2-3", "x")),
    ("Expect", ("100-continue", "200-ok", "")),
    ("Origin", ("null", "http://evil.localhost", "http://localhost", "\xff", "")),
    (
        "Authorization",
        (
            "Bearer x",
            "Bearer",
            "Basic !!",
            "Bearer " + "x" * 3000,
            "Bearer a.b.c",
            "Bearer eyJhbGciOiJub25lIn0.e30.",
            "\xff",
            "",
        ),
    ),
    ("Cookie", ("postroom_session=x", "a=b; a=b", "=", "\xff", "x" * 3000)),
    ("X-Forwarded-Host", ("evil", "a b", "[", "\xff")),
    ("X-Forwarded-Proto", ("https", "x y")),
    ("Forwarded", ("host=x;proto=y", "=", '"')),
    ("X-Request-Id", ("x", "\xff", "x" * 3000)),
    ("Traceparent", ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "x", "")),
    ("Correlation-Id", ("x", "\xff")),
    ("Upgrade", ("h2c", "websocket", "")),
    ("Connection", ("close", "keep-alive", "upgrade", "x, y", "")),
    ("Last-Event-ID", ("0", "-1", "x", "9" * 40, "%00", "")),
    ("Access-Control-Request-Method", ("PUT", "x y", "")),
    ("xRegistry-name", ("x", "%00", "%ff", "é", "null", "")),
    ("xRegistry-epoch", ("1", "x", "9" * 40, "-1", "null")),
    ("xRegistry-versionid", ("1", "a/b", "null", "")),
    ("xRegistry-labels.a", ("b", "null")),
    ("xRegistry-labels.", ("b",)),
    ("xRegistry-format", ("JsonSchema/draft-07", "T/1", "null")),
    ("xRegistry-schemaurl", ("http://x.invalid/", "null", "%00")),
    ("xRegistry-ancestor", ("1", "x")),
    ("xRegistry-", ("x",)),
    ("xRegistry-meta.x", ("1",)),
    ("xRegistry-labels", ("{}", "x")),
    ("ce-id", ("1", "%00", "")),
    ("ce-type", ("x", "")),
    ("ce-source", ("/x", "é")),
    ("ce-specversion", ("1.0", "9")),
)
HOSTS = (
    "127.0.0.1",
    "localhost",
    "x.localhost:80",
    "",
    "a b",
    "[::1]",
    "[",
    "localhost:99999",
    "localhost:x",
    "\xff",
    "a,b",
    "h" * 5000,
)
_VERSION = {"format": "JsonSchema/draft-07", "schema": {"type": "object", "properties": {"a": {"type": "string"}}}}
_EVENT = {"specversion": "1.0", "id": "1", "source": "/ovens/7", "type": "heated", "data": {"a": "b"}}
_DOORS = {"singular": "door", "maxversions": 2, "hasdocument": True, "attributes": {"y": {"type": "integer"}}}
DOCUMENTS: tuple[Any, ...] = (
    {},
    {"name": "Ovens", "labels": {"a": "b"}, "description": "x", "documentation": "http://x.invalid/"},
    {"epoch": 1, "name": "Ovens"},
    {"heated": {"name": "Heated", "envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "heated"}}}},
    {"messages": {"heated": {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": {"value": "/o/{n}"}}}}},
    {"envelope": "CloudEvents/1.0", "envelopemetadata": {"source": {"type": "uritemplate", "value": "/o/{n}"}}},
    {"dataschemaformat": "JsonSchema/draft-07", "dataschemauri": f"{SCHEMA}/versions/1", "datacontenttype": "a/b"},
    {"basemessage": MESSAGE, "deprecated": {"effective": "2030-01-01T00:00:00Z", "alternative": "/x"}},
    {"versions": {"1": _VERSION, "2": {**_VERSION, "ancestorid": "1"}}, "meta": {"compatibility": "backward"}},
    _VERSION,
    {"format": "Avro/1.11.0", "schema": {"type": "record", "name": "A", "fields": [{"name": "a", "type": "long"}]}},
    {"format": "Protobuf/3", "schema": 'syntax = "proto3"; message A { string a = 1; }'},
    {"format": "XSD/1.1", "schema": '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>'},
    {"format": "JsonStructure/draft-02", "schema": {"type": "object", "name": "A", "properties": {"a": {}}}},
    {"xref": MESSAGE},
    {"meta": {"xref": SCHEMA}},
    {"defaultversionid": "1", "defaultversionsticky": True},
    {"schemagroups": {"ovens": {"schemas": {"oven": {"versions": {"1": _VERSION}}}}}, "messagegroups": {"ovens": {}}},
    {"shop": {"usage": ["producer"], "protocol": "KAFKA", "protocoloptions": {"endpoints": [{"uri": "kafka://x"}]}}},
    {"usage": ["consumer"], "channel": "x", "envelopeoptions": {"mode": "binary", "format": "application/json"}},
    {
        "sink": "http://127.0.0.1:1/",
        "protocol": "HTTP",
        "types": ["io.xregistry.group.created"],
        "filters": [{"sql": "type LIKE '%'"}, {"exact": {"type": "x"}}, {"all": [{"prefix": {"source": "/"}}]}],
    },
    {"id": "k", "grants": [{"role": "read", "prefix": "/"}], "expires": "2030-01-01T00:00:00Z"},
    {"grants": [{"subject": "user:ben", "role": "read", "prefix": GROUP}]},
    {"id": "l", "source": "http://127.0.0.1:1/", "target": "/", "scope": GROUP, "policy": "source", "every": 60},
    {"protocol": "HTTP", "metadata": {"headers": [{"name": "ce-id", "value": "1"}]}, "payload": "{}"},
    _EVENT,
    [_EVENT, _EVENT],
    {"message": MESSAGE, "set": {"n": "7"}, "data": {}, "count": 2, "mode": "structured", "protocol": "HTTP"},
    {"flags": ["inline", "filter"], "mutable": ["entities", "model", "capabilities"], "pagination": True},
    {
        "attributes": {"x": {"type": "map", "item": {"type": "string"}}},
        "groups": {"rooms": {"singular": "room", "resources": {"doors": _DOORS}}},
    },
    {"id": "ovens", "definitions": {"heated": {"id": "heated", "format": "CloudEvents/1.0", "metadata": {}}}},
    {"heated": {"id": "heated", "format": "CloudEvents/1.0", "metadata": {"attributes": {"type": {"value": "x"}}}}},
    {"usage": "producer", "config": {"protocol": "HTTP", "endpoints": ["http://x.invalid/"]}, "definitions": {}},
)
FRAMINGS = (
    ("length",) * 40
    + ("chunks",) * 6
    + ("none", "wrong length", "bad chunks", "both", "two lengths", "odd length", "odd transfer encoding")
)
MEANT_FOR = (
    ("subscriptions", "sink"),
    ("keys", "id"),
    ("grants", "grants"),
    ("replication", "source"),
    ("match", "specversion"),
    ("match", "metadata"),
    ("make", "message"),
    ("modelsource", "attributes"),
    ("capabilities", "flags"),
    ("/meta", "xref"),
    ("/meta", "defaultversionid"),
    ("schemas/", "format"),
    ("schemas/oven", "versions"),
    ("messages/", "envelope"),
    ("messages/", "basemessage"),
    ("messages", "heated"),
    ("endpoints", "usage"),
    ("definitions", "id"),
)
"""Which documents a path is likely to take: a part of it, and a member that they have."""


class Trial(msgspec.Struct, frozen=True):
    """What goes over one connection, in pieces; with `ends` the client then closes its side."""

    pieces: tuple[bytes, ...]
    ends: bool


class Fuzzer:
    """An endless sequence of requests."""

    def __init__(self, seed: str, key: str = "") -> None:
        self._random = random.Random(seed)
        self._key = key

    def trials(self) -> Iterator[Trial]:
        """The requests, most of them one per connection."""
        while True:
            requests = [self._request() for _ in range(1 if self._maybe(0.95) else self._random.randint(2, 5))]
            whole = b"".join(requests)
            if self._maybe(0.08):
                whole = self._mutated(whole)
            yield Trial(self._cut(whole), ends=self._maybe(0.99))

    def _maybe(self, chance: float) -> bool:
        return self._random.random() < chance

    def _one(self, choices: Any) -> Any:
        return self._random.choice(choices)

    def _cut(self, whole: bytes) -> tuple[bytes, ...]:
        if self._maybe(0.9) or len(whole) < 2:
            return (whole,)
        at = self._random.randrange(1, len(whole))
        return whole[:at], whole[at:]

    def _mutated(self, whole: bytes) -> bytes:
        changed = bytearray(whole)
        for _ in range(self._random.randint(1, 6)):
            at = (
                self._random.randrange(len(changed) + 1)
                if self._maybe(0.5)
                else self._random.randrange(min(len(changed), 200) + 1)
            )
            how = self._random.randrange(5)
            if how == 0:
                changed[at : at + 1] = bytes([self._random.randrange(256)])
            elif how == 1:
                del changed[at : at + self._random.randint(1, 20)]
            elif how == 2:
                changed[at:at] = self._one(
                    (b"\r\n", b"\n", b"\r", b"\x00", b" ", b"\t", b":", b"\r\n\r\n", b"\xff", b"%", b"0\r\n\r\n")
                )
            elif how == 3:
                changed[at:at] = changed[at : at + 40]
            else:
                changed[at:at] = self._random.randbytes(self._random.randint(1, 50))
        return bytes(changed)

    def _request(self) -> bytes:
        method = self._one(METHODS) if self._maybe(0.98) else self._one(ODD_METHODS)
        path = self._path()
        body = self._body(path) if method not in ("GET", "HEAD", "OPTIONS") or self._maybe(0.1) else b""
        headers = self._headers()
        framed, framing = self._framed(body)
        version = (
            "HTTP/1.1"
            if self._maybe(0.97)
            else self._one(("HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.1 ", "", "http/1.1", "HTTP/1.10"))
        )
        line = f"{method} {self._target(path)} {version}".encode("utf-8", "surrogatepass")
        lines = [line, *(f"{name}: {value}".encode("latin-1", "replace") for name, value in (*headers, *framing))]
        return b"\r\n".join(lines) + b"\r\n\r\n" + framed

    def _target(self, path: str) -> str:
        if self._maybe(0.02):
            path = self._one(
                (
                    "*",
                    "http://localhost" + path,
                    "//" + path,
                    path + "/",
                    "x:" + path,
                    "",
                    path * 100,
                    "/" * 5000,
                    "/" + "a" * 70_000,
                )
            )
        query = "&".join(self._flag() for _ in range(self._random.choice((0, 0, 0, 1, 1, 2, 3))))
        return f"{path}?{query}" if query else path

    def _path(self) -> str:
        if self._maybe(0.5):
            path: str = self._one(
                (
                    GROUP,
                    GROUP + "/messages",
                    *(MESSAGE + more for more in ENTITIES),
                    *(SCHEMA + more for more in ENTITIES),
                )
            )
        else:
            path = self._one(PATHS)
        if self._maybe(0.12):
            parts = path.split("/")
            at = self._random.randrange(1, len(parts))
            parts[at] = self._one(NAMES)
            path = "/".join(parts)
        return path + (f"/{self._one(NAMES)}" if self._maybe(0.05) else "")

    def _flag(self) -> str:
        name = self._one(FLAGS) if self._maybe(0.95) else self._one(VALUES)
        value = self._one(VALUES)
        return name if self._maybe(0.15) else f"{name}={value if self._maybe(0.1) else quote(value, safe='%/')}"

    def _headers(self) -> list[tuple[str, str]]:
        found = [("Host", "localhost" if self._maybe(0.97) else self._one(HOSTS))] if self._maybe(0.99) else []
        if self._key and self._maybe(0.9):
            found.append(("Authorization", f"Bearer {self._key}"))
        for _ in range(self._random.choice((0, 0, 0, 1, 1, 2))):
            name, values = self._one(HEADERS)
            found.append((name, self._one(values)))
        if self._maybe(0.01):
            found += [(f"X-{n}", "y" * self._random.randint(0, 100)) for n in range(self._random.randint(1, 3000))]
        if self._maybe(0.01):
            found.append(
                (
                    self._one(("Host", "X y", "", "é", "Transfer-Encoding", "a:b", " Host", "Content-Length")),
                    self._one(VALUES),
                )
            )
        return found

    def _framed(self, body: bytes) -> tuple[bytes, list[tuple[str, str]]]:
        length = len(body)
        how = self._one(FRAMINGS) if body else self._one(("none",) * 20 + ("length", "odd transfer encoding"))
        if how == "length":
            return body, [("Content-Length", str(length))]
        if how == "none":
            return body, []
        if how == "wrong length":
            return body, [("Content-Length", str(max(0, length + self._one((-5, -1, 1, 7, 10**6, 10**10, 10**30)))))]
        if how == "two lengths":
            return body, [("Content-Length", str(length)), ("Content-Length", str(length + self._one((0, 1))))]
        if how == "odd length":
            return body, [("Content-Length", self._one(("-1", "x", "", "0x10", "1_0", "+5", " 5 ", "5,5", "٣", "1e3")))]
        if how == "odd transfer encoding":
            return body, [
                (
                    "Transfer-Encoding",
                    self._one(("gzip", "identity", "chunked, gzip", "x", "", "chunked, chunked", "Chunked")),
                )
            ]
        chunks = self._chunks(body, broken=how == "bad chunks")
        framing = [("Transfer-Encoding", "chunked")]
        return chunks, [*framing, ("Content-Length", str(length))] if how == "both" else framing

    def _chunks(self, body: bytes, *, broken: bool) -> bytes:
        size = max(1, len(body) // self._random.randint(1, 4))
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        lines = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces]
        lines.append(b"0\r\n" + (b"X-Trailer: y\r\n" if self._maybe(0.2) else b"") + b"\r\n")
        if broken:
            at = self._random.randrange(len(lines))
            lines[at] = self._one(
                (
                    b"",
                    b"zz\r\nxx\r\n",
                    b"-1\r\n\r\n",
                    b"ffffffffffffffffff\r\n",
                    b"5\r\nab\r\n",
                    b"5;" + b"x" * 9000 + b"\r\nabcde\r\n",
                    b"0\r\n",
                    b"1\n" + b"a\n",
                )
            )
        return b"".join(lines)

    def _body(self, path: str) -> bytes:
        kinds = (self._near_miss,) * 6 + (self._json, self._json, self._odd_json, self._bytes)
        kind = self._one(kinds)
        body: bytes = kind(path) if kind == self._near_miss else kind()
        return gzip.compress(body, mtime=0) if self._maybe(0.03) else body

    def _near_miss(self, path: str) -> bytes:
        """What a client would send, with a place or two that are wrong."""
        members = [member for part, member in MEANT_FOR if part in path]
        meant = [one for one in DOCUMENTS if any(member in one for member in members)]
        document = copy.deepcopy(self._one(meant if meant and self._maybe(0.7) else DOCUMENTS))
        for _ in range(self._one((0, 1, 1, 2))):
            self._spoil(document)
        return self._encoded(document)

    def _spoil(self, document: Any) -> None:
        place, name = document, None
        while place:
            name = self._one(list(place)) if isinstance(place, dict) else self._random.randrange(len(place))
            if not isinstance(place[name], dict | list) or self._maybe(0.3):
                break
            place = place[name]
        if isinstance(place, list):
            place.append(self._value(2))
        elif place and self._maybe(0.6):
            place[name] = self._value(2)
        else:
            place[self._name()] = self._value(2)

    def _json(self) -> bytes:
        return self._encoded(self._map(4))

    def _encoded(self, document: Any) -> bytes:
        return json.dumps(document, ensure_ascii=self._maybe(0.5)).encode("utf-8", "surrogatepass")

    def _map(self, depth: int) -> dict[str, Any]:
        return {self._name(): self._value(depth - 1) for _ in range(self._random.randint(0, 5))}

    def _name(self) -> str:
        if self._maybe(0.93):
            return str(self._one(WORDS))
        found = self._one(SCALARS)
        return found if isinstance(found, str) else "".join(self._random.choices(string.printable, k=5))

    def _value(self, depth: int) -> Any:
        if depth <= 0 or self._maybe(0.35):
            return self._one(SCALARS)
        if self._maybe(0.2):
            return [self._value(depth - 1) for _ in range(self._random.randint(0, 3))]
        return self._map(depth)

    def _odd_json(self) -> bytes:
        deep = self._random.randint(50, 30_000)
        bodies: tuple[bytes, ...] = (
            b"[" * deep,
            b'{"a":' * deep + b"1" + b"}" * deep,
            b'{"labels":{"a":' * 60 + b"1" + b"}" * 120,
            b"null",
            b"[]",
            b"{}",
            b'"x"',
            b"1",
            b"9" * deep,
            b'{"epoch":' + b"9" * 5000 + b"}",
            b'{"a":1e999}',
            b'{"a":NaN}',
            b'{"a":1,"a":2}',
            b"{} {}",
            b"{",
            b'{"a"',
            b"\xef\xbb\xbf{}",
            '{"name": "x"}'.encode("utf-16"),
            b'{"name": "\xff"}',
            b'{"name": "\\ud800"}',
            b'{"name": "\\u0000"}',
            b"\x00",
            b" ",
            b'{"' + b"k" * deep + b'":1}',
            b'{"messagegroups":{' + b",".join(b'"g%d":{}' % n for n in range(50)) + b"}}",
        )
        return bodies[self._random.randrange(len(bodies))]

    def _bytes(self) -> bytes:
        return self._random.randbytes(self._random.randint(0, 300))
