"""Random requests of a tenant: every route, flag and dialect, aimed at what is theirs, somebody else's, or nowhere."""

from __future__ import annotations

import json
import random
from typing import Any
from urllib.parse import quote

import msgspec

from postroom.registry.read.short_urls import short_path

SECRET = "S3CR3T"
"""In every attribute of what the tenant must not see."""

OWN = ("a.fleet", "a.ovens")
FOREIGN = ("b.vault", "b.fleet")
SHARED, PUBLIC = "shared", "public"
NEAR = ("a", "a.", "b", "B.Vault", "A.FLEET", "a.new", "fleet", "none", "b.vault2")
GROUPS = (*OWN, *OWN, *FOREIGN, *FOREIGN, SHARED, PUBLIC, *NEAR)
IDS = ("moved", "moved", "stopped", "a1", "aw1", "aw2", "b1", "MOVED", "ref", "based", "none", "new")
MESSAGES = ("moved", "moved", "stopped", "ref", "new")
VERSIONS = ("1", "1", "2", "9", "v1")
TYPES = {"messagegroups": "messages", "schemagroups": "schemas", "endpoints": "messages"}
OLD = {"messagegroups": "definitionGroups", "schemagroups": "schemaGroups", "endpoints": "endpoints"}
OLD_MEMBERS = {"messages": "definitions", "schemas": "schemas"}
ENTITY = ("name=*S3CR3T*", "name=null", "description=*", "labels.team=b", "labels.team=a")
INLINES = {
    0: ("*", "messagegroups", "messagegroups.messages", "model", "endpoints,messagegroups"),
    1: ("*", "messages", "messages.versions"),
    2: ("*", "messages", "messages.meta", "schemas"),
    3: ("*", "versions", "meta"),
    4: ("*", "versions", "meta"),
}
FILTERS = {
    0: ("messagegroups.messages.name=*S3*", "messagegroups.messages.messageid=moved", "messagegroups.description=*"),
    1: ("messages.messageid=moved", "messages.name=*S3*", *ENTITY),
    2: ("messages.messageid=moved", "messages.meta.xref=*", *ENTITY),
    3: ("messageid=moved", "meta.xref=*", *ENTITY),
    4: ENTITY,
}
SORTS = ("name", "messagegroupid", "messageid=desc", "description", "labels.team", "createdat")


DEPTHS = {
    "GET": (0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6),
    "PUT": (0, 1, 2, 2, 4, 4, 4, 4, 5, 6),
    "PATCH": (0, 1, 2, 2, 4, 4, 4, 4, 5, 6),
    "POST": (0, 1, 2, 3, 3, 3, 4, 4, 5),
    "DELETE": (1, 2, 3, 4, 4, 4, 5, 6),
}
"""How long paths are that take a method, and some that do not."""


def refer(xid: str) -> dict[str, Any]:
    """A Resource that stands for another."""
    return {"meta": {"xref": xid}}


def tenant(name: str, word: str) -> dict[str, Any]:
    """Everything that a tenant has, with a word in every attribute."""
    texts = {"name": f"{word} name", "description": f"{word} description", "labels": {"team": word}}
    typed = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": f"{word}.moved"}}}
    uri = {"versionuri": f"urn:{name}:1"}
    other = FOREIGN[0] if name == "a" else OWN[0]
    messages = {
        "moved": {**texts, **typed, **uri},
        "stopped": {**texts, "basemessage": f"/messagegroups/{other}/messages/moved"},
        "ref": refer(f"/messagegroups/{other}/messages/moved"),
    }
    properties = {word: {"type": "string"}, "speed": {"type": "integer"}, f"only_{word}": {"type": "boolean"}}
    document = {"type": "object", "title": word, "properties": properties}
    schema = {**texts, "format": "JSONSchema/draft-07", "schema": document}
    versions = {"1": schema, "2": {**schema, "description": f"{word} again"}}
    groups = OWN if name == "a" else FOREIGN
    producer = {"usage": ["producer"], "messagegroups": [f"/messagegroups/{other}", f"/messagegroups/{groups[0]}"]}
    return {
        "messagegroups": {group: {**texts, "messages": messages} for group in groups},
        "schemagroups": {groups[0]: {**texts, "schemas": {"moved": {"versions": versions}}}},
        "endpoints": {groups[0]: {**texts, **producer, "messages": {"moved": {**texts, **typed}}}},
    }


class LeakRequest(msgspec.Struct, frozen=True):
    """One request; `target` and `headers` may ask for what an earlier reply of the same registry gave."""

    method: str
    target: str
    body: Any = b""
    headers: dict[str, str] = {}


class Requests:
    """An endless row of them, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._kinds = [
            *[self._read] * 10,
            *[self._write] * 8,
            *[self._delete] * 2,
            *[self._v0_5] * 5,
            *[self._catalog] * 5,
            *[self._schema_registry] * 5,
            *[self._changes] * 3,
            *[self._configuration] * 2,
            *[self._match] * 2,
            *[self._make] * 2,
            *[self._subscription] * 2,
            *[self._replication] * 2,
            self._access,
            *[self._lint] * 2,
            *[self._search] * 4,
            *[self._page] * 6,
            self._restore,
            self._short,
            self._lookup,
        ]

    def next(self) -> LeakRequest:
        """The next one."""
        request = self._rng.choice(self._kinds)()
        return msgspec.structs.replace(request, target=self._disguised(request.target))

    def _one(self, *things: Any) -> Any:
        return self._rng.choice(things)

    def _member(self, ids: tuple[str, ...] = MESSAGES) -> tuple[str, str]:
        """A Group and one of its Resources: of the tenant, of the other one, on the border, or anything."""
        return self._rng.choice(
            [
                (self._one(*OWN), self._one(*ids)),
                (self._one(*OWN), self._one(*ids)),
                (self._one(*FOREIGN), self._one(*ids)),
                (SHARED, self._one("a1", "aw1", "b1", "b2", "aw2")),
                (self._one(*GROUPS), self._one(*IDS)),
            ]
        )

    def _path(self, method: str = "GET") -> str:
        plural = self._one(*["messagegroups"] * 7, *["schemagroups"] * 3, *["endpoints"] * 2, "nothing")
        group, one = self._member(MESSAGES if plural == "messagegroups" else ("moved",))
        parts = [plural, group, TYPES.get(plural, "messages"), one]
        parts += [self._one("versions", "versions", "meta"), self._one(*VERSIONS)]
        depth = self._one(*DEPTHS[method])
        return "/" + "/".join(parts[: 5 if parts[4] == "meta" and depth > 4 else depth])

    def _disguised(self, target: str) -> str:
        if self._rng.random() > 0.04:
            return target
        path, mark, query = target.partition("?")
        return (
            self._one(
                path.replace("b.", "%62."),
                path.replace("/", "//", 2),
                path + "/",
                path.upper(),
                path.replace(".", "%2E"),
            )
            + mark
            + query
        )

    def _flags(self, path: str) -> str:
        depth = min(path.count("/") if path != "/" else 0, 4)
        made = []
        for name, values in (("inline", INLINES[depth]), ("filter", FILTERS[depth]), ("sort", SORTS)):
            if self._rng.random() < 0.25 and (name != "sort" or depth % 2):
                made.append(f"{name}={quote(self._one(*values))}")
        if depth % 2 and self._rng.random() < 0.3:
            made.append(f"limit={self._one(1, 2, 5, 0)}")
        if self._rng.random() < 0.2:
            made.append(f"specversion={self._one('1.0-rc2', '1.0-rc3', '1.0-rc4', '0.1')}")
        made += [name for name in ("doc", "binary", "collections") if self._rng.random() < 0.05]
        return "?" + "&".join(made) if made else ""

    def _read(self) -> LeakRequest:
        path = self._path()
        details = self._one(*[""] * 6, "$details")
        headers = self._one(*[{}] * 6, {"if-none-match": "{etag}"}, {"if-none-match": "*"})
        method = self._one(*["GET"] * 12, "HEAD", "OPTIONS")
        target = path + details + self._flags(path)
        if self._rng.random() < 0.05:
            target = path + "?limit=1&cursor={page}"
        return LeakRequest(method, target, headers=headers)

    def _attributes(self) -> dict[str, Any]:
        names = {"name": "x", "description": self._one("y", "z"), "labels": {"team": "a"}, "epoch": self._one(1, 2, 7)}
        return {name: value for name, value in names.items() if self._rng.random() < 0.3}

    def _xid(self) -> str:
        group, one = self._member()
        return f"/messagegroups/{group}/messages/{one}"

    def _message(self) -> dict[str, Any]:
        made = self._attributes()
        if self._rng.random() < 0.5:
            made |= {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": self._one(*IDS)}}}
        if self._rng.random() < 0.2:
            made["basemessage"] = self._xid()
        if self._rng.random() < 0.15:
            made["versionuri"] = self._one("urn:b:1", "urn:a:1")
        if self._rng.random() < 0.15:
            made["dataschemauri"] = f"/schemagroups/{self._one(*GROUPS)}/schemas/{self._one(*IDS)}"
        if self._rng.random() < 0.2:
            made = {"meta": {"xref": self._xid()}}
        return made if self._rng.random() < 0.9 else {"colour": 1, **made}

    def _schema(self) -> dict[str, Any]:
        reference = {"$ref": f"/schemagroups/{self._one(*GROUPS)}/schemas/{self._one(*IDS)}"}
        document = self._one({"type": "object"}, {"properties": {"x": reference}}, 7)
        return {**self._attributes(), "format": "JSONSchema/draft-07", "schema": document}

    def _body(self, path: str) -> Any:
        plural, *rest = path.strip("/").split("/")
        member = self._schema if plural == "schemagroups" else self._message
        group = {**self._attributes(), TYPES.get(plural, "messages"): {self._one(*IDS): member()}}
        if plural == "endpoints" and self._rng.random() < 0.5:
            group |= {"messagegroups": [f"/messagegroups/{self._one(*GROUPS)}"], "usage": ["producer"]}
        match len(rest):
            case 0 if plural:
                return {self._one(*GROUPS): self._attributes(), self._one(*GROUPS): group}
            case 0:
                return self._one({"name": "x"}, {"messagegroups": {self._one(*GROUPS): group}})
            case 1:
                return self._one(group, self._attributes())
            case 2:
                return {self._one(*IDS): member(), self._one(*IDS): member()}
            case 4 if rest[-1] == "meta":
                return self._one({"xref": self._xid()}, {"labels": {"team": "a"}}, {"readonly": True}, {"epoch": 3})
            case 4:
                return {self._one(*VERSIONS): member()}
            case _:
                return member()

    def _write(self) -> LeakRequest:
        method = self._one("PUT", "PUT", "PUT", "PATCH", "POST")
        path = self._path(method)
        flags = self._one(*[""] * 8, "?inline=*", "?setdefaultversionid=1", "?ignore=epoch", "?ignore=readonly", "?doc")
        headers = self._one(*[{}] * 12, {"if-match": "{etag}"}, {"if-match": '"other"'}, {"if-none-match": "*"})
        details = "$details" if "schemas/" in path and not path.endswith("meta") else ""
        body = self._body(path) if self._rng.random() < 0.95 else self._one(b"", b"{", b"[]", b"null")
        return LeakRequest(method, path + details + flags, body, headers)

    def _delete(self) -> LeakRequest:
        path = self._path("DELETE")
        body = self._one(b"", {self._one(*GROUPS): {}}, {self._one(*IDS): {"epoch": 1}})
        if path.strip("/").split("/")[0] == path.strip("/") and body == b"":
            body = {self._one(*GROUPS): {}}  # deleting everything is tried once, at the end
        return LeakRequest("DELETE", path + self._one("", "", "?epoch=1"), body if path.count("/") % 2 else b"")

    def _v0_5(self) -> LeakRequest:
        method = self._one(*["GET"] * 6, "HEAD", "PUT", "PUT", "POST", "DELETE")
        path = self._path("GET" if method == "HEAD" else method)
        for ours, theirs in (*OLD.items(), *OLD_MEMBERS.items()):
            path = path.replace(f"/{ours}", f"/{theirs}")
        flags = self._one(*[""] * 5, "?meta", "?inline", "?limit=2", "?filter=name=x", "?epoch=1")
        body: Any = {"id": path.rpartition("/")[2], "description": "old"} if method in ("PUT", "POST") else b""
        if path.count("/") == 1 and method == "DELETE":
            body = [{"id": self._one(*GROUPS)}]
        return LeakRequest(method, f"{self._one('', '/-')}/v0.5{path}{flags}", body)

    def _catalog(self) -> LeakRequest:
        method = self._one(*["GET"] * 5, "HEAD", "PUT", "POST", "POST", "DELETE")
        group, one = self._member()
        depth = {"PUT": 1, "POST": 3}.get(method) or self._one(0, 1, 1, 2, 3, 3, 4, 5)
        path = "/messagecatalog" + "".join((f"/{group}", "/messagedefinitions", f"/{one}", "/versions", "/1")[:depth])
        body: Any = b""
        if method == "PUT":
            body = {"format": self._one("CloudEvents", "AMQP", "MQTT")}
        if method == "POST":
            body = {"attributes": {"type": self._one(*IDS)}, **self._one({}, {}, {"format": "CloudEvents"})}
        headers = {"content-type": "application/json"}
        if self._rng.random() < 0.3:
            headers |= {"id": self._one("urn:b:1", "urn:a:1", "urn:b:2")}
        return LeakRequest(method, path, body, headers)

    def _schema_registry(self) -> LeakRequest:
        context, name = self._one(*GROUPS), self._one("moved", "moved", *IDS)
        subject = self._one(name, f":.{context}:{name}", f":.{context}:{name}")
        version, number = self._one("1", "2", "latest", "-1", "9"), self._one(1, 100001, 100002, 100003, 100004)
        body = {
            "schemaType": "JSON",
            "schema": json.dumps({"type": "object", "title": self._one("alpha", SECRET, "x")}),
        }
        if self._rng.random() < 0.2:
            body |= {"references": [{"name": "r", "subject": f":.{self._one(*GROUPS)}:moved", "version": 1}]}
        level, mode = (
            {"compatibility": self._one("NONE", "FULL")},
            {"mode": self._one("READWRITE", "READONLY", "IMPORT")},
        )
        method, target, sent = self._one(
            ("GET", "/contexts", b""),
            (
                "GET",
                f"/schemas{self._one('', '?deleted=true', '?latestOnly=true', f'?subjectPrefix=:.{context}:')}",
                b"",
            ),
            ("GET", f"/schemas/ids/{number}{self._one('', '/schema', '/subjects', '/versions')}", b""),
            ("GET", f"/schemas/ids/{number}{self._one('', '/subjects')}?subject={subject}", b""),
            (
                "GET",
                f"/subjects{self._one('', '?deleted=true', '?subjectPrefix=:*:', f'?subjectPrefix=:.{context}:')}",
                b"",
            ),
            (self._one("POST", "DELETE"), f"/subjects/{subject}{self._one('', '?permanent=true')}", body),
            (self._one("GET", "POST", "POST"), f"/subjects/{subject}/versions", body),
            (self._one("GET", "GET", "DELETE"), f"/subjects/{subject}/versions/{version}", b""),
            ("GET", f"/subjects/{subject}/versions/{version}/{self._one('schema', 'referencedby')}", b""),
            ("GET", f"/subjects/{subject}/metadata?key=owner&value=b", b""),
            ("POST", f"/compatibility/subjects/{subject}/versions/{version}?verbose=true", body),
            (self._one("GET", "PUT", "DELETE"), f"/config{self._one('', f'/{subject}', f'/:.{context}:')}", level),
            (self._one("GET", "PUT", "DELETE"), f"/mode{self._one('', f'/{subject}', f'/:.{context}:')}", mode),
        )
        inside = self._one("", "", f"/contexts/.{context}")
        kept = sent if method in ("POST", "PUT") else b""
        return LeakRequest(method, f"{self._one('', '/-')}/confluent{inside}{target}", kept)

    def _changes(self) -> LeakRequest:
        query = [self._one("", "limit=1", "limit=3", "limit=50"), self._one("", f"xid={self._path()}")]
        query += [self._one("", "after={cursor}", "after=last", "after=1-00000000"), self._one("", "values")]
        query.append(self._one("", "", "events=messagecatalog"))
        target = self._one("", "/-") + "/changes?" + "&".join(filter(None, query))
        if self._rng.random() < 0.3:
            followed = target.replace("limit=", "x=").replace("values", "y")
            more = self._one({}, {}, {"last-event-id": "{cursor}"})
            return LeakRequest("GET", followed, headers={"accept": "text/event-stream", **more})
        return LeakRequest(self._one("GET", "GET", "HEAD"), target)

    def _configuration(self) -> LeakRequest:
        name = self._one("model", "modelsource", "capabilities", "capabilitiesoffered", "export", "export", "export")
        if self._rng.random() < 0.15:
            return LeakRequest(self._one("PUT", "PATCH"), f"/{name}", {})
        names = ("healthz", "readyz", ".xregistry", "-/nothing", "metrics", "openapi.json", "docs", "-/sessions", name)
        flags = self._flags("/") if name == "export" else ""
        return LeakRequest("GET", f"/{self._one(name, name, name, *names)}{flags}")

    def _match(self) -> LeakRequest:
        event = {
            "specversion": "1.0",
            "id": "1",
            "source": "/s",
            "type": self._one(*IDS, "alpha.moved", f"{SECRET}.moved"),
        }
        query = self._one("", "?explain", f"?endpoint=/endpoints/{self._one(*GROUPS)}")
        target = self._one("", "/-") + "/match" + query
        if self._rng.random() < 0.3:
            lines = b"\n".join([json.dumps(event).encode()] * 2)
            return LeakRequest("POST", target, lines, {"content-type": "application/x-ndjson"})
        return LeakRequest("POST", target, event, {"content-type": "application/cloudevents+json"})

    def _make(self) -> LeakRequest:
        order = {"message": self._xid(), "seed": 1, "auto": True, "values": {"id": "1", "source": "/s"}}
        order |= self._one({}, {}, {"invalid": True}, {"count": 2}, {"protocol": "MQTT/5.0"}, {"mode": "binary"})
        return LeakRequest("POST", self._one("", "/-") + "/make", order)

    def _subscription(self) -> LeakRequest:
        given = {"sink": "http://127.0.0.1:1/hook", "protocol": "HTTP", "types": ["io.xregistry.group.created"]}
        which = self._one("{subscription}", "none")
        return self._one(
            LeakRequest("GET", "/subscriptions"),
            LeakRequest("POST", "/subscriptions", given),
            LeakRequest("GET", f"/subscriptions/{which}"),
            LeakRequest("PUT", f"/subscriptions/{which}", given),
            LeakRequest("GET", f"/subscriptions/{which}/delivery"),
            LeakRequest("GET", f"/-/subscriptions/{which}/deadletters"),
            LeakRequest("POST", f"/subscriptions/{which}/resume" + self._one("", "?skip", "?after={cursor}")),
            LeakRequest("GET", f"/subscriptions/{which}/confirm?key=x"),
            LeakRequest("DELETE", f"/subscriptions/{which}"),
        )

    def _replication(self) -> LeakRequest:
        groups = [f"/messagegroups/{self._one(*GROUPS)}" for _ in range(3)]
        return self._one(
            LeakRequest("GET", "/-/replication"),
            LeakRequest("GET", "/-/replication/overview"),
            LeakRequest("GET", f"/-/replication/overview?scope={self._path()}"),
            LeakRequest("POST", "/-/replication/entries", json.dumps(groups).encode()),
            LeakRequest("POST", "/-/replication/units", json.dumps([*groups, self._xid(), self._xid()]).encode()),
            LeakRequest(self._one("GET", "PUT", "DELETE"), "/-/replication/links/x", {}),
            LeakRequest("POST", "/-/replication/batches", {}),
            LeakRequest("GET", "/-/replication/states/b"),
        )

    def _access(self) -> LeakRequest:
        prefix = self._one(self._path(), f"/messagegroups/{self._one(*GROUPS)}")
        grant = {"subject": "user:x", "role": self._one("read", "write"), "prefix": prefix}
        return self._one(
            LeakRequest("GET", "/-/grants"),
            LeakRequest("GET", "/-/grants"),
            LeakRequest("GET", "/-/session"),
            LeakRequest("POST", "/-/grants", {"grants": [grant]}),
            LeakRequest("DELETE", f"/-/grants?subject=key:b&role=own&prefix={prefix}"),
            LeakRequest("GET", "/-/keys"),
            LeakRequest("PUT", "/-/grants", {"grants": [grant]}),
            LeakRequest("POST", "/-/keys", {"id": self._one("a", "b", "new"), "grants": [{"role": "own"}]}),
            LeakRequest("POST", f"/-/keys/{self._one('b', 'none')}/rotate", {}),
            LeakRequest("DELETE", f"/-/keys/{self._one('b', 'none')}"),
            LeakRequest("GET", "/-/audit?principal=key:b"),
        )

    def _lint(self) -> LeakRequest:
        return LeakRequest("GET", f"/-/lint?xid={self._one(self._path(), self._xid(), self._xid())}")

    def _search(self) -> LeakRequest:
        """Words of both tenants, of what both have, and beginnings of them."""
        word = self._one(
            "", "s3c", SECRET, "alpha", "alpha desc", "moved", "mo", "fleet", "vault", "speed", "b", "json"
        )
        if self._rng.random() < 0.4:
            return LeakRequest("GET", f"/-/fields?q={quote(word)}&shared={self._one('true', 'false')}")
        flag = self._one("", "&kind=messages", f"&group=/messagegroups/{self._one(*GROUPS)}", "&limit=2&offset=1")
        return LeakRequest("GET", f"/-/search?q={quote(word)}{flag}")

    def _page(self) -> LeakRequest:
        """Pages of entities, with what refers to them and what became of them, and pages about many."""
        path, xid = self._path(), self._xid()
        parts = (f"-/example?xid={xid}", f"-/history?xid={path}", f"-/graph?xid={xid}", f"-/compare?xid={path}")
        many = (
            "",
            "-/graph",
            "-/search?q=s3c",
            "-/fields?q=alpha",
            "-/changes",
            "-/subscriptions",
            "-/account",
            "-/model",
        )
        page = self._one(path.removeprefix("/"), xid.removeprefix("/"), self._one(*parts), self._one(*many))
        return LeakRequest("GET", f"/ui/{page}")

    def _restore(self) -> LeakRequest:
        """What the tenant had at the beginning, all of it: much has been deleted since."""
        return LeakRequest(self._one("POST", "POST", "PATCH"), "/", tenant("a", "alpha"))

    def _short(self) -> LeakRequest:
        return LeakRequest("GET", short_path(self._path()) + self._one("", "?inline=*"))

    def _lookup(self) -> LeakRequest:
        return LeakRequest("GET", f"/messagedefinition?uri={self._one('urn:b:1', 'urn:b:2', 'urn:a:1', 'urn:none')}")
