"""Random legal and illegal requests to the real registry and to the oracle, compared entity by entity after each."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from postroom.catalog.open_store import open_store
from tests.registry.http_client import BASE, Answer, Wire
from tests.registry.oracle import LIMIT, MODELSOURCE, SINGULAR, Body, Entity, Oracle, Refused, Resource, Time, Version
from tests.registry.soundness import check_file

GROUPS = ["d1", "d2"]
RESOURCES = ["r1", "r2"]
VERSIONS = ["v1", "v2", "1", "2"]
PLURALS = ["files", "files", "pages", "pages", "notes"]
PAST = ["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z", "2022-01-01T00:00:00Z"]
WRONG = [("name", 5), ("name", []), ("labels", {"Not A Key": "x"}), ("labels", {"a": 1}), ("oven", 1), ("oven", None)]
WRONG_VERSION = [*WRONG, ("size", -1), ("size", "1"), ("color", "blue")]
WRONG_ELSEWHERE = [("owner", 1), ("defaultversionsticky", "yes"), ("rank", 1.5)]

COUNTS: Counter[str] = Counter()


class Machine(RuleBasedStateMachine):
    """One registry is used for all runs; each starts by deleting what the one before left."""

    wire: Wire

    def __init__(self) -> None:
        super().__init__()
        self.oracle = Oracle()
        self.times: dict[int, str] = {}

    @initialize()
    def empty(self) -> None:
        assert self.wire.send("DELETE", "/dirs").status == 204
        assert self.wire.send("PUT", "/", {}).status == 200
        root = self.wire.get("/")
        self.oracle.root = Entity(root["epoch"], ("given", root["createdat"]), ("given", root["modifiedat"]))

    # Strategies

    def pick(self, data: st.DataObject, *choices: Any) -> Any:
        return data.draw(st.sampled_from(choices))

    def rarely(self, data: st.DataObject, one_in: int = 30) -> bool:
        return data.draw(st.integers(0, one_in - 1)) == one_in - 1

    def one_id(self, data: st.DataObject, ids: list[str]) -> str:
        found = data.draw(st.sampled_from(ids))
        return found.upper() if self.rarely(data, 40) else found

    def stamps(self, data: st.DataObject, entity: Entity | None) -> Body:
        """An epoch that is right, wrong, null or absent, and times now and then."""
        body: Body = {}
        right = entity.epoch if entity else 7
        kind = self.pick(data, *["absent"] * 12, *["right"] * 5, "null", "wrong")
        if kind != "absent":
            body["epoch"] = {"right": right, "null": None, "wrong": right + 1}[kind]
        for name in ("createdat", "modifiedat"):
            if self.rarely(data, 4):
                known = getattr(entity, name, ("", ""))
                same = [known[1]] * 3 if known[0] == "given" else []
                body[name] = self.pick(data, *PAST, None, *same)
        return body

    def attributes(self, data: st.DataObject, *more: tuple[str, list[Any]]) -> Body:
        table = [("name", ["oven", "kiln", None]), ("labels", [{"a": "1"}, {}, None]), ("description", ["", "hot"])]
        chosen = data.draw(st.lists(st.sampled_from([*table, *more]), max_size=3, unique_by=lambda one: one[0]))
        return {name: self.pick(data, *values) for name, values in chosen}

    def version_body(self, data: st.DataObject, plural: str, resource_id: str, version: Version | None) -> Body:
        more = [("size", [2, None]), ("color", ["red", None])]
        if plural == "files":
            more += [("file", [{"a": 1}, {"b": [2]}, None]), ("contenttype", ["application/json", "x/y", None])]
        body = {**self.stamps(data, version), **self.attributes(data, *more)}
        if self.rarely(data, 5):
            body[SINGULAR[plural] + "id"] = resource_id
        if self.rarely(data):
            body.update([data.draw(st.sampled_from(WRONG_VERSION))])
        if plural == "files" and self.rarely(data, 4):
            body["ancestorid"] = self.pick(data, *VERSIONS, "request")
        return body

    def versions_body(self, data: st.DataObject, plural: str, resource_id: str, resource: Resource | None) -> Body:
        ids = data.draw(st.lists(st.sampled_from(VERSIONS), max_size=3, unique=True))
        stored = resource.versions if resource else {}
        versions: Body = {}
        for one in ids:
            body = self.version_body(data, plural, resource_id, stored.get(one))
            # "Becomes the newest" and "newest by createdat" disagree for several new Versions with times of their own.
            if one not in stored and "ancestorid" not in body:
                body.pop("createdat", None)
            if self.rarely(data, 5):
                body["versionid"] = one if not self.rarely(data, 5) else "v9"
            versions[one] = body
        if versions and self.rarely(data, 20):
            versions[ids[0]] = None
        return versions

    def meta_body(self, data: st.DataObject, plural: str, resource: Resource | None) -> Body:
        body = {**self.stamps(data, resource)}
        if self.rarely(data, 4):
            body["owner"] = self.pick(data, "anna", None)
        if self.rarely(data, 4):
            body["labels"] = self.pick(data, {"a": "1"}, None)
        kind = self.pick(data, "none", "sticky", "sticky", "free", "id", "both", "both", "wrong")
        known = list(resource.versions) if resource else []
        if LIMIT[plural] == 1 and kind in ("id", "both"):
            kind = "sticky"
        if kind in ("sticky", "both"):
            body["defaultversionsticky"] = True
        if kind == "free":
            body["defaultversionsticky"] = self.pick(data, False, None)
        if kind in ("id", "both"):
            body["defaultversionid"] = self.pick(data, *known, *VERSIONS[:2])
        if kind == "wrong" and self.rarely(data, 3):
            body.update([self.pick(data, ("owner", 1), ("defaultversionsticky", "yes"), ("oven", 1))])
        return body

    def resource_body(self, data: st.DataObject, plural: str, resource_id: str, resource: Resource | None) -> Body:
        default = resource.versions.get(resource.default) if resource else None
        body = self.version_body(data, plural, resource_id, default)
        if self.rarely(data, 4):
            body["versionid"] = (resource.default if resource else "") or "v1"
            if self.rarely(data, 4):
                body["versionid"] = "v8"
        if self.rarely(data, 3):
            body["versions"] = self.versions_body(data, plural, resource_id, resource)
        if self.rarely(data, 4):
            body["meta"] = self.meta_body(data, plural, resource)
            if "versions" in body:
                # core/resource.md and core/spec.md disagree on PATCH to sticky while the newest changes.
                body["meta"].pop("defaultversionsticky", None)
        if resource is None and "versions" in body:
            body.pop("ancestorid", None)
        return body

    # Comparing

    def request(
        self,
        method: str,
        target: str,
        body: Any,
        status: int | Callable[[Any], int],
        operation: Callable[[], Any],
        **more: Any,
    ) -> Answer:
        """Ask both, and compare."""
        answer = self.wire.send(method, target, body, **more)
        COUNTS["requests"] += 1
        shown = f"{method} {target} {json.dumps(body)} -> {answer.status} {answer.content.decode()}"
        assert answer.status < 500, shown
        made = self.oracle.attempt(operation)
        if isinstance(made, Refused):
            COUNTS["refused"] += 1
            COUNTS[made.types[0]] += 1
            assert answer.status >= 400, f"{shown}\nhas to be refused: {made}"
            assert answer.problem in {*made.types, *other_faults(body)}, f"{shown}\nhas to be {made}"
        else:
            expected = status(made) if callable(status) else status
            assert answer.status == expected, f"{shown}\nhas to be {expected}"
        self.compare(shown)
        return answer

    def compare(self, shown: str) -> None:
        found = dict(flatten(self.wire.get("/?inline=*")))
        self.settle_epochs(found, shown)
        expected = dict(self.render())
        assert found.keys() == expected.keys(), shown
        for xid, body in expected.items():
            self.compare_entity(found[xid], body, f"{xid} after {shown}")
            COUNTS["entities"] += 1
        for xid in sorted(found)[self.oracle.requests % 3 :: 7]:
            self.compare_alone(xid, found[xid], shown)

    def settle_epochs(self, found: dict[str, Body], shown: str) -> None:
        """Where the specification gives only a lower bound, take over what was chosen."""
        for group_id, group in self.oracle.groups.items():
            for plural, members in group.resources.items():
                for one, resource in members.items():
                    if resource.loose_epoch and not resource.xref:
                        chosen = found[f"/dirs/{group_id}/{plural}/{one}/meta"]["epoch"]
                        assert chosen >= resource.epoch, shown
                        resource.epoch, resource.loose_epoch = chosen, False

    def compare_alone(self, xid: str, inlined: Body, shown: str) -> None:
        """An entity that is asked for by itself is the one in the tree."""
        parts = xid.split("/")
        suffix = "$details" if len(parts) in (5, 7) and not xid.endswith("/meta") else ""
        alone = self.wire.get(xid + suffix)
        for name in ("specversion", "registryid"):
            if xid == "/":
                alone.pop(name)
        assert alone == {n: v for n, v in inlined.items() if n not in ("file", "filebase64")}, f"{xid} after {shown}"

    def compare_entity(self, found: Body, expected: Body, shown: str) -> None:
        for name in ("createdat", "modifiedat"):
            if name in expected:
                expected[name] = self.clock(expected[name], found[name])
        assert found == expected, shown

    def clock(self, time: Time, found: str) -> str:
        """The text of a time; the first sight of a "now" says what it was, and it has to be later than all before."""
        kind, value = time
        if kind == "given":
            return str(value)
        if value not in self.times:
            earlier = [text for number, text in self.times.items() if number < value]
            assert all(instant(text) < instant(found) for text in earlier)
            self.times[value] = found
        return self.times[value]

    def render(self) -> Iterator[tuple[str, Body]]:
        root = self.oracle.root
        yield "/", {**stamped(root, "/"), "dirsurl": f"{BASE}/dirs", "dirscount": len(self.oracle.groups)}
        for group_id, group in self.oracle.groups.items():
            xid = f"/dirs/{group_id}"
            body = {**stamped(group, xid), "dirid": group_id}
            for plural, members in group.resources.items():
                body |= {f"{plural}url": f"{BASE}{xid}/{plural}", f"{plural}count": len(members)}
                for resource_id, resource in members.items():
                    yield from self.render_resource(f"{xid}/{plural}/{resource_id}", plural, resource)
            yield xid, body

    def render_resource(self, xid: str, plural: str, resource: Resource) -> Iterator[tuple[str, Body]]:
        suffix = "$details" if plural == "files" else ""
        ids = {SINGULAR[plural] + "id": xid.rpartition("/")[2]}
        meta: Body = {**ids, "xid": f"{xid}/meta", "self": f"{BASE}{xid}/meta"}
        body: Body = {**ids, "xid": xid, "self": f"{BASE}{xid}{suffix}", "metaurl": f"{BASE}{xid}/meta"}
        shown = resource
        if resource.xref:
            meta["xref"] = resource.xref
            target = self.oracle.target(resource)
            if target is None:
                yield xid, body
                yield f"{xid}/meta", meta
                return
            shown = target
        for version_id, version in shown.versions.items():
            version_xid = f"{xid}/versions/{version_id}"
            is_default = version_id == shown.default
            rendered = {**stamped(version, version_xid, suffix), **ids, **document(version, plural)}
            rendered |= {"versionid": version_id, "isdefault": is_default, "ancestorid": version.ancestor}
            yield version_xid, rendered
            if is_default:
                body = {**rendered, **body}
        body |= {"versionsurl": f"{BASE}{xid}/versions", "versionscount": len(shown.versions)}
        yield xid, body
        meta |= stamped(shown, f"{xid}/meta")
        meta |= {"readonly": False, "defaultversionid": shown.default, "defaultversionsticky": shown.sticky}
        meta["defaultversionurl"] = f"{BASE}{xid}/versions/{shown.default}{suffix}"
        yield f"{xid}/meta", meta

    # Rules

    @rule(data=st.data())
    def write_registry(self, data: st.DataObject) -> None:
        patch = data.draw(st.booleans())
        body = {**self.stamps(data, self.oracle.root), **self.attributes(data, ("motto", ["hot", None]))}
        if self.rarely(data):
            body.update([data.draw(st.sampled_from(WRONG))])
        if self.rarely(data, 4):
            one = self.one_id(data, GROUPS)
            body["dirs"] = {one: self.group_body(data, one)}
            body.pop("modifiedat", None)
        self.request("PATCH" if patch else "PUT", "/", body, 200, lambda: self.oracle.write_root(body, patch))

    def group_body(self, data: st.DataObject, group_id: str) -> Body:
        group = self.oracle.groups.get(group_id)
        body = {**self.stamps(data, group), **self.attributes(data, ("rank", [1, None]))}
        if self.rarely(data, 6):
            body["dirid"] = group_id if not self.rarely(data, 4) else "other"
        if self.rarely(data):
            body.update([data.draw(st.sampled_from([*WRONG, ("rank", 1.5)]))])
        if self.rarely(data, 3):
            plural, one = self.pick(data, *PLURALS), self.one_id(data, RESOURCES)
            resource = group.resources[plural].get(one) if group else None
            if resource is None or not resource.xref:
                body[plural] = {one: self.resource_body(data, plural, one, resource)}
                body.pop("modifiedat", None)
        return body

    @rule(data=st.data())
    def write_group(self, data: st.DataObject) -> None:
        group_id, patch = self.one_id(data, GROUPS), data.draw(st.booleans())
        body = self.group_body(data, group_id)
        self.request(
            "PATCH" if patch else "PUT",
            f"/dirs/{group_id}",
            body,
            lambda is_new: 201 if is_new else 200,
            lambda: self.oracle.write_group(group_id, body, patch),
        )

    @rule(data=st.data())
    def write_groups(self, data: st.DataObject) -> None:
        patch = data.draw(st.booleans())
        ids = data.draw(st.lists(st.sampled_from(GROUPS), max_size=2, unique=True))
        body = {one: self.group_body(data, one) for one in ids}
        self.request("PATCH" if patch else "POST", "/dirs", body, 200, lambda: self.oracle.write_groups(body, patch))

    def place(self, data: st.DataObject, mostly_there: bool = False) -> tuple[str, str, str, Resource | None]:
        there = [
            (group_id, plural, one)
            for group_id, group in self.oracle.groups.items()
            for plural, members in group.resources.items()
            for one in members
        ]
        if there and mostly_there and not self.rarely(data, 8):
            group_id, plural, one = data.draw(st.sampled_from(there))
        else:
            group_id, plural, one = self.one_id(data, GROUPS), self.pick(data, *PLURALS), self.one_id(data, RESOURCES)
        return group_id, plural, one, self.oracle.find(group_id, plural, one)

    def flag(self, data: st.DataObject, plural: str, resource: Resource | None) -> str:
        """setdefaultversionid, where it makes a difference."""
        if LIMIT[plural] == 1 or not self.rarely(data, 5):
            return ""
        return str(self.pick(data, "null", "v1", "v9", *(resource.versions if resource else ())))

    @rule(data=st.data())
    def write_resource(self, data: st.DataObject) -> None:
        group_id, plural, one, resource = self.place(data)
        if resource is not None and resource.xref:
            return
        patch, flag = data.draw(st.booleans()), self.flag(data, plural, resource)
        body = self.resource_body(data, plural, one, resource)
        if flag:
            body.pop("meta", None)
        self.request(
            "PATCH" if patch else "PUT",
            f"/dirs/{group_id}/{plural}/{one}$details" + (f"?setdefaultversionid={flag}" if flag else ""),
            body,
            lambda is_new: 201 if is_new else 200,
            lambda: self.oracle.write_resource(group_id, plural, one, body, patch, flag),
        )

    @rule(data=st.data())
    def write_resources(self, data: st.DataObject) -> None:
        group_id, plural, _, _ = self.place(data)
        patch = data.draw(st.booleans())
        body = {}
        for one in data.draw(st.lists(st.sampled_from(RESOURCES), max_size=2, unique=True)):
            resource = self.oracle.find(group_id, plural, one)
            if resource is None or not resource.xref:
                body[one] = self.resource_body(data, plural, one, resource)
        self.request(
            "PATCH" if patch else "POST",
            f"/dirs/{group_id}/{plural}",
            body,
            200,
            lambda: self.oracle.write_resources(group_id, plural, body, patch),
        )

    @rule(data=st.data())
    def post_version(self, data: st.DataObject) -> None:
        group_id, plural, one, resource = self.place(data, mostly_there=True)
        flag = self.flag(data, plural, resource)
        known = resource.versions if resource else {}
        given = self.pick(data, None, None, *VERSIONS)
        body = self.version_body(data, plural, one, known.get(given) if given else None)
        if given:
            body["versionid"] = given
        before = set(known)
        self.request(
            "POST",
            f"/dirs/{group_id}/{plural}/{one}$details" + (f"?setdefaultversionid={flag}" if flag else ""),
            body,
            lambda version_id: 200 if version_id in before else 201,
            lambda: self.oracle.post_version(group_id, plural, one, body, flag),
        )

    @rule(data=st.data())
    def write_document(self, data: st.DataObject) -> None:
        """The document itself is sent, with attributes as headers: what is not named stays."""
        group_id, _, one, _ = self.place(data)
        resource = self.oracle.find(group_id, "files", one)
        if resource is not None and resource.xref:
            return
        content, kind = self.pick(data, {"c": 3}, None), self.pick(data, "application/json", "x/y", None)
        body: Body = {"file": content, "contenttype": kind}
        headers = {"content-type": kind} if kind else {}
        if self.rarely(data, 3):
            headers["xregistry-name"] = body["name"] = "oven"
        if self.rarely(data, 3):
            headers["xregistry-size"], body["size"] = "4", 4
        self.request(
            "PUT",
            f"/dirs/{group_id}/files/{one}",
            None,
            lambda is_new: 201 if is_new else 200,
            lambda: self.oracle.write_resource(group_id, "files", one, body, True),
            headers=headers,
            raw=json.dumps(content).encode() if content else b"",
        )

    @rule(data=st.data())
    def write_version(self, data: st.DataObject) -> None:
        group_id, plural, one, resource = self.place(data)
        version_id = self.one_id(data, [*VERSIONS, "null"] if self.rarely(data, 10) else VERSIONS)
        patch, flag = data.draw(st.booleans()), self.flag(data, plural, resource)
        known = resource.versions if resource else {}
        body = self.version_body(data, plural, one, known.get(version_id))
        is_new = version_id not in known
        self.request(
            "PATCH" if patch else "PUT",
            f"/dirs/{group_id}/{plural}/{one}/versions/{version_id}$details"
            + (f"?setdefaultversionid={flag}" if flag else ""),
            body,
            201 if is_new else 200,
            lambda: self.oracle.write_version(group_id, plural, one, version_id, body, patch, flag),
        )

    @rule(data=st.data())
    def write_versions(self, data: st.DataObject) -> None:
        group_id, plural, one, resource = self.place(data)
        patch = data.draw(st.booleans())
        body = self.versions_body(data, plural, one, resource)
        if resource is not None and resource.xref and not body:
            return
        self.request(
            "PATCH" if patch else "POST",
            f"/dirs/{group_id}/{plural}/{one}/versions",
            body,
            200,
            lambda: self.oracle.write_versions(group_id, plural, one, body, patch),
        )

    @rule(data=st.data())
    def write_meta(self, data: st.DataObject) -> None:
        group_id, plural, one, resource = self.place(data, mostly_there=True)
        if resource is None or resource.xref:
            return
        patch = data.draw(st.booleans())
        body = self.meta_body(data, plural, resource)
        self.request(
            "PATCH" if patch else "PUT",
            f"/dirs/{group_id}/{plural}/{one}/meta",
            body,
            200,
            lambda: self.oracle.write_meta(group_id, plural, one, body, patch),
        )

    @rule(data=st.data())
    def refer(self, data: st.DataObject) -> None:
        """Make a Resource stand for another, through itself or through its meta."""
        group_id, plural, one, resource = self.place(data)
        other = self.pick(data, *PLURALS) if self.rarely(data, 6) else plural
        xref = f"/dirs/{self.pick(data, *GROUPS)}/{other}/{self.pick(data, *RESOURCES)}"
        meta: Body = {"xref": self.pick(data, xref, xref, xref, "/dirs", "oven")}
        if resource is not None and not resource.xref and self.rarely(data, 4):
            meta["epoch"] = resource.epoch + self.pick(data, 0, 0, 1)
        if self.rarely(data):
            meta["owner"] = "anna"
        own: Body = {"name": "oven"} if self.rarely(data) else {}
        if resource is not None and data.draw(st.booleans()):
            self.request(
                "PUT",
                f"/dirs/{group_id}/{plural}/{one}/meta",
                meta,
                200,
                lambda: self.oracle.write_meta(group_id, plural, one, meta, False),
            )
            return
        self.request(
            "PUT",
            f"/dirs/{group_id}/{plural}/{one}$details",
            {**own, "meta": meta},
            201 if resource is None else 200,
            lambda: self.oracle.write_resource(group_id, plural, one, {**own, "meta": meta}, False),
        )

    def references(self) -> list[tuple[str, str, str]]:
        return [
            (group_id, plural, one)
            for group_id, group in self.oracle.groups.items()
            for plural, members in group.resources.items()
            for one, resource in members.items()
            if resource.xref
        ]

    @precondition(lambda self: self.references())
    @rule(data=st.data())
    def clear_reference(self, data: st.DataObject) -> None:
        group_id, plural, one = data.draw(st.sampled_from(self.references()))
        patch, through_meta = data.draw(st.booleans()), data.draw(st.booleans())
        meta: Body = {"xref": None} if patch else self.pick(data, {}, {"xref": None})
        path = f"/dirs/{group_id}/{plural}/{one}"
        method = "PATCH" if patch else "PUT"
        # A new start: whether the counter of generated ids goes on is not said, so the Version gets its id here.
        if through_meta:
            resource = self.oracle.find(group_id, plural, one)
            assert resource is not None
            self.adopt_counter(method, f"{path}/meta", meta, resource)
            self.request_again(lambda: self.oracle.write_meta(group_id, plural, one, meta, patch), f"{method} {path}")
        else:
            body = {"name": "kiln", "versionid": "v1", "meta": meta}
            self.request(
                method,
                path + "$details",
                body,
                200,
                lambda: self.oracle.write_resource(group_id, plural, one, body, patch),
            )

    def adopt_counter(self, method: str, target: str, body: Body, resource: Resource) -> None:
        answer = self.wire.send(method, target, body)
        assert answer.status == 200, answer.content
        resource.counter = int(answer.json["defaultversionid"]) - 1

    def request_again(self, operation: Callable[[], Any], shown: str) -> None:
        self.oracle.attempt(operation)
        self.compare(shown)

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """One rule for all deletes, so that there is something to delete when it comes up."""
        kinds = [self.delete_version] * 6 + [self.delete_versions] * 3 + [self.delete_resource] * 2
        data.draw(st.sampled_from([*kinds, self.delete_resources, self.delete_group]))(data)

    def delete_group(self, data: st.DataObject) -> None:
        group_id = self.one_id(data, GROUPS)
        epoch = self.epoch_flag(data, self.oracle.groups.get(group_id))
        target = f"/dirs/{group_id}" + ("" if epoch is None else f"?epoch={epoch}")
        self.request("DELETE", target, None, 204, lambda: self.oracle.delete_group(group_id, epoch))

    def epoch_flag(self, data: st.DataObject, entity: Entity | None) -> int | None:
        right = entity.epoch if entity else 3
        epoch: int | None = self.pick(data, None, None, right, right, right + 1)
        return epoch

    def delete_resource(self, data: st.DataObject) -> None:
        group_id, plural, one, resource = self.place(data, mostly_there=True)
        epoch = None if resource is not None and resource.xref else self.epoch_flag(data, resource)
        target = f"/dirs/{group_id}/{plural}/{one}" + ("" if epoch is None else f"?epoch={epoch}")
        self.request("DELETE", target, None, 204, lambda: self.oracle.delete_resource(group_id, plural, one, epoch))

    def delete_resources(self, data: st.DataObject) -> None:
        group_id, plural, _, _ = self.place(data, mostly_there=True)
        body: Body = {}
        for one in data.draw(st.lists(st.sampled_from([*RESOURCES, "missing"]), max_size=2, unique=True)):
            resource = self.oracle.find(group_id, plural, one)
            right = resource.epoch if resource else 1
            if resource is not None and resource.xref:
                body[one] = {}
            else:
                body[one] = self.pick(
                    data,
                    {},
                    {"meta": {"epoch": right}},
                    {"meta": {"epoch": right + 1}},
                    {"epoch": right},
                    {"epoch": 99, "meta": {"epoch": right}},
                    {SINGULAR[plural] + "id": "other"},
                )
        if group_id not in self.oracle.groups and not body:
            return
        self.request(
            "DELETE",
            f"/dirs/{group_id}/{plural}",
            body,
            204,
            lambda: self.oracle.delete_resources(group_id, plural, body),
        )

    def delete_version(self, data: st.DataObject) -> None:
        group_id, plural, one, resource = self.place(data, mostly_there=True)
        if resource is not None and resource.xref:
            return
        known = [*resource.versions, *[resource.default] * 2] if resource else []
        version_id = self.one_id(data, known if known and not self.rarely(data, 8) else VERSIONS)
        version = resource.versions.get(version_id) if resource else None
        epoch = self.epoch_flag(data, version)
        self.request(
            "DELETE",
            f"/dirs/{group_id}/{plural}/{one}/versions/{version_id}" + ("" if epoch is None else f"?epoch={epoch}"),
            None,
            204,
            lambda: self.oracle.delete_versions(group_id, plural, one, {version_id: {"epoch": epoch}}, single=True),
        )

    def delete_versions(self, data: st.DataObject) -> None:
        group_id, plural, one, resource = self.place(data, mostly_there=True)
        if resource is not None and resource.xref:
            return
        known = resource.versions if resource else {}
        body: Body = {}
        for version_id in data.draw(st.lists(st.sampled_from(VERSIONS), max_size=3, unique=True)):
            right = known[version_id].epoch if version_id in known else 1
            body[version_id] = self.pick(data, {}, {}, {"epoch": right}, {"epoch": right + 1}, {"versionid": "v9"})
        self.request(
            "DELETE",
            f"/dirs/{group_id}/{plural}/{one}/versions",
            body,
            204,
            lambda: self.oracle.delete_versions(group_id, plural, one, body),
        )


def other_faults(body: Any) -> set[str]:
    """Errors a body gives more reasons for: of several faults a server may name any."""
    if not isinstance(body, dict):
        return set()
    found = set[str]()
    for name, value in body.items():
        if (name, value) in WRONG_VERSION or (name, value) in WRONG_ELSEWHERE:
            found |= {"invalid_attribute", "unknown_attribute"}
        elif name == "epoch" and value is not None:
            found.add("mismatched_epoch")
        elif value in ("v8", "v9", "other"):
            found.add("mismatched_id")
        elif value is None and name in (*GROUPS, *RESOURCES, *VERSIONS):
            found.add("bad_request")
        found |= other_faults(value)
    return found


def instant(text: str) -> str:
    """A text that orders times of the present."""
    return text.removesuffix("Z").ljust(32, "0")


def stamped(entity: Entity, xid: str, suffix: str = "") -> Body:
    times = {"epoch": entity.epoch, "createdat": entity.createdat, "modifiedat": entity.modifiedat}
    return {**entity.attributes, **times, "xid": xid, "self": f"{BASE}{xid}{suffix}"}


def document(version: Version, plural: str) -> Body:
    """How the tests see a document: inside `file` when it is JSON, else decoded from `filebase64`."""
    if plural != "files":
        return {}
    is_json = version.attributes.get("contenttype") == "application/json"
    if version.document is None:
        return {}
    return {"file" if is_json else "filebase64": version.document}


def flatten(root: Body) -> Iterator[tuple[str, Body]]:
    """All entities of an inlined registry by xid, without what is nested."""
    dirs = root.pop("dirs")
    for name in ("specversion", "registryid"):
        root.pop(name)
    yield "/", root
    for group in dirs.values():
        for plural in SINGULAR:
            for resource in group.pop(plural).values():
                meta = resource.pop("meta")
                yield meta["xid"], meta
                for version in resource.pop("versions", {}).values():
                    yield version["xid"], decoded(version)
                yield resource["xid"], decoded(resource)
        yield group["xid"], group


def decoded(body: Body) -> Body:
    """No document and an empty one are the same; any other is JSON in these tests."""
    content = base64.b64decode(body.pop("filebase64", ""))
    return {**body, "filebase64": json.loads(content)} if content else body


@pytest.mark.feature("REG-047", "REG-048", "REG-049", "REG-050", "REG-051", "REG-052", "REG-053", "REG-054", "REG-055")
@pytest.mark.feature("REG-035", "REG-036", "REG-037", "REG-080", "REG-081", "REG-082", "REG-083", "REG-084", "REG-085")
@pytest.mark.feature("RES-001", "RES-002", "RES-042", "RES-050", "RES-051", "RES-053", "RES-054", "RES-057", "RES-058")
@pytest.mark.feature(
    "VER-011", "VER-012", "VER-013", "VER-014", "VER-015", "VER-030", "META-003", "META-012", "META-018"
)
@pytest.mark.feature("GRP-004", "GRP-009", "GRP-010", "HTTP-008", "HTTP-009", "HTTP-014", "HTTP-042")
def test_the_registry_does_what_the_specification_says(record_property: Callable[[str, object], None]) -> None:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a state is compared, not a disk
    with (
        tempfile.TemporaryDirectory(dir=memory) as folder,
        open_store(f"sqlite:///{folder}/registry.db", "none") as store,
    ):
        Machine.wire = Wire(store)
        assert Machine.wire.send("PUT", "/modelsource", MODELSOURCE).status == 200
        budget = settings(
            phases=[Phase.generate] if "MACHINE_QUICK" in os.environ else list(Phase),
            max_examples=int(os.environ.get("MACHINE_RUNS", "90")),
            stateful_step_count=30,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        COUNTS.clear()
        try:
            run_state_machine_as_test(Machine, settings=budget)
        finally:
            record_property("counts", dict(COUNTS))
            print(dict(COUNTS))
            Machine.wire.close()
        assert check_file(Path(folder) / "registry.db") > COUNTS["requests"] - COUNTS["refused"]
    assert COUNTS["requests"] > 1500
    assert COUNTS["refused"] > COUNTS["requests"] / 20
