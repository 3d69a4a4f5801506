"""A table of what clients of schema registries rely on: requests one after the other, each with what has to come back.

A number is the code of an error; anything else is what the answer has to be, or, of an object, to have.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.http.confluent.subject_client import SubjectClient, avro

Step = tuple[str, str, Any, Any]

OVEN = {"schema": avro("Oven", "id")}
HOT = {"schema": avro("Oven", "id", ("heat", "warm"))}
HOTTER = {"schema": avro("Oven", "id", ("heat", "warm"), ("fuel", "wood"))}
BROKEN = {"schema": avro("Oven", "id", "weight")}
STRING = {"schema": '"string"'}
POST, GET, PUT, DELETE = "POST", "GET", "PUT", "DELETE"
OVENS = "/subjects/ovens/versions"
THREE: list[Step] = [(POST, OVENS, OVEN, {}), (POST, OVENS, HOT, {}), (POST, OVENS, HOTTER, {})]
PROTO = {"schemaType": "PROTOBUF", "schema": 'syntax = "proto3"; message Oven { string id = 1; }'}
JSON = {"schemaType": "JSON", "schema": '{"type": "object", "properties": {"id": {"type": "string"}}}'}
LOCK = {"schema": avro("Lock", "bolt")}
DOOR = {
    "schema": json.dumps({"type": "record", "name": "Door", "fields": [{"name": "lock", "type": "Lock"}]}),
    "references": [{"name": "Lock", "subject": "locks", "version": 1}],
}
RULES = {"domainRules": [{"name": "hot", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]}

SCENARIOS: dict[str, list[Step]] = {
    "an empty registry": [
        (GET, "/", None, {}),
        (GET, "/subjects", None, []),
        (GET, "/schemas", None, []),
        (GET, "/schemas/types", None, ["JSON", "PROTOBUF", "AVRO"]),
        (GET, "/contexts", None, ["."]),
        (GET, "/config", None, {"compatibilityLevel": "BACKWARD"}),
        (GET, "/mode", None, {"mode": "READWRITE"}),
        (GET, "/v1/metadata/version", None, {"commitId": ""}),
    ],
    "the first version": [
        (POST, OVENS, OVEN, {"id": 100001, "version": 1}),
        (GET, "/subjects", None, ["ovens"]),
        (GET, OVENS, None, [1]),
        (GET, f"{OVENS}/1", None, {"subject": "ovens", "version": 1, "id": 100001, "schemaType": "AVRO", **OVEN}),
        (GET, f"{OVENS}/1/schema", None, json.loads(OVEN["schema"])),
        (GET, "/schemas/ids/100001", None, {"schemaType": "AVRO", **OVEN}),
        (GET, "/schemas/ids/100001/schema", None, json.loads(OVEN["schema"])),
        (GET, "/schemas/ids/100001/subjects", None, ["ovens"]),
        (GET, "/schemas/ids/100001/versions", None, [{"subject": "ovens", "version": 1}]),
    ],
    "the same again is the same version": [
        (POST, OVENS, OVEN, {"id": 100001}),
        (POST, OVENS, {"schema": f"  {OVEN['schema']}\n", "schemaType": "AVRO"}, {"id": 100001, "version": 1}),
        (POST, "/subjects/other/versions", OVEN, {"id": 100001, "version": 1}),
        (GET, "/schemas/ids/100001/subjects", None, ["other", "ovens"]),
        (POST, OVENS, HOT, {"id": 100002, "version": 2}),
        (POST, OVENS, OVEN, {"id": 100001, "version": 1}),
    ],
    "latest and numbers that are none": [
        *THREE,
        (GET, f"{OVENS}/latest", None, {"version": 3}),
        (GET, f"{OVENS}/-1", None, {"version": 3}),
        (GET, f"{OVENS}/4", None, 40402),
        (GET, f"{OVENS}/0", None, 42202),
        (GET, f"{OVENS}/-2", None, 42202),
        (GET, f"{OVENS}/two", None, 42202),
        (GET, f"{OVENS}/2147483648", None, 42202),
    ],
    "what is not there": [
        (GET, OVENS, None, 40401),
        (GET, f"{OVENS}/1", None, 40401),
        (DELETE, "/subjects/ovens", None, 40401),
        (DELETE, f"{OVENS}/1", None, 40401),
        (POST, "/subjects/ovens", OVEN, 40401),
        (GET, "/schemas/ids/1", None, 40403),
        (GET, "/schemas/ids/0", None, 40403),
        (GET, "/schemas/ids/4294967295", None, 40403),
        (GET, "/schemas/guids/00000000-0000-0000-0000-000000000000", None, 40403),
        (GET, "/nothing", None, 404),
        (PUT, "/subjects", {}, 405),
        (POST, "/compatibility/subjects/ovens/versions/latest", OVEN, 40401),
        (POST, "/compatibility/subjects/ovens/versions/1", OVEN, 40402),
        (POST, "/compatibility/subjects/ovens/versions", OVEN, {"is_compatible": True}),
    ],
    "lookup": [
        (POST, OVENS, OVEN, {}),
        (POST, "/subjects/ovens", OVEN, {"subject": "ovens", "id": 100001, "version": 1}),
        (POST, "/subjects/ovens", HOT, 40403),
        (POST, "/subjects/ovens", {"schema": "{"}, 42201),
        (DELETE, "/subjects/ovens", None, [1]),
        (POST, "/subjects/ovens", OVEN, 40401),
        (POST, "/subjects/ovens?deleted=true", OVEN, {"id": 100001, "deleted": True}),
    ],
    "what is no schema": [
        (POST, OVENS, {"schema": "{"}, 42201),
        (POST, OVENS, {"schema": ""}, 42201),
        (POST, OVENS, {}, 42201),
        (POST, OVENS, {"schema": '{"type": "nonsense"}'}, 42201),
        (POST, OVENS, {"schema": '"string"', "schemaType": "XML"}, 42201),
        (POST, OVENS, {**PROTO, "schema": "message {"}, 42201),
        (POST, OVENS, {**JSON, "schema": '{"type": 7}'}, 42201),
        (POST, OVENS, [], 400),
        (POST, OVENS, b"{", 400),
        (GET, "/subjects", None, []),
    ],
    "incompatible versions": [
        (POST, OVENS, OVEN, {}),
        (POST, OVENS, BROKEN, 409),
        (POST, "/compatibility/subjects/ovens/versions/latest", BROKEN, {"is_compatible": False}),
        (POST, "/compatibility/subjects/ovens/versions/latest", HOT, {"is_compatible": True}),
        (POST, "/compatibility/subjects/ovens/versions/latest?verbose=true", HOT, {"messages": []}),
        (PUT, "/config/ovens", {"compatibility": "none"}, {"compatibility": "NONE"}),
        (POST, OVENS, BROKEN, {"version": 2}),
        (PUT, "/config/ovens", {"compatibility": "FULL_TRANSITIVE"}, {}),
        (POST, OVENS, HOTTER, 409),
        (GET, "/config/ovens", None, {"compatibilityLevel": "FULL_TRANSITIVE"}),
    ],
    "configurations": [
        (GET, "/config/ovens", None, 40408),
        (GET, "/config/ovens?defaultToGlobal=true", None, {"compatibilityLevel": "BACKWARD"}),
        (PUT, "/config", {"compatibility": "FULL"}, {"compatibility": "FULL"}),
        (GET, "/config/ovens?defaultToGlobal=true", None, {"compatibilityLevel": "FULL"}),
        (PUT, "/config/ovens", {"compatibility": "FORWARD"}, {}),
        (POST, OVENS, OVEN, {}),
        (GET, "/config/ovens", None, {"compatibilityLevel": "FORWARD"}),
        (PUT, "/config/ovens", {"compatibility": "SOMETIMES"}, 42203),
        (DELETE, "/config/ovens", None, {"compatibilityLevel": "FORWARD"}),
        (GET, "/config/ovens", None, 40408),
        (DELETE, "/config/ovens", None, 40401),
        (DELETE, "/config", None, {"compatibilityLevel": "FULL"}),
        (GET, "/config", None, {"compatibilityLevel": "BACKWARD"}),
    ],
    "modes": [
        (POST, OVENS, OVEN, {}),
        (GET, "/mode/ovens", None, 40409),
        (PUT, "/mode/ovens", {"mode": "SOMETIMES"}, 42204),
        (PUT, "/mode/ovens", {"mode": "READONLY"}, {"mode": "READONLY"}),
        (POST, OVENS, HOT, 42205),
        (DELETE, "/subjects/ovens", None, 42205),
        (PUT, "/config/ovens", {"compatibility": "NONE"}, 42205),
        (POST, "/subjects/other/versions", HOT, {}),
        (DELETE, "/mode/ovens", None, {"mode": "READONLY"}),
        (POST, OVENS, HOT, {"version": 2}),
        (PUT, "/mode", {"mode": "READONLY_OVERRIDE"}, {}),
        (PUT, "/mode/ovens", {"mode": "READWRITE"}, {}),
        (POST, OVENS, HOTTER, 42205),
    ],
    "imports keep their ids": [
        (POST, OVENS, {**OVEN, "id": 7}, 42205),
        (PUT, "/mode", {"mode": "IMPORT"}, {}),
        (POST, OVENS, {**HOT, "id": 7, "version": 3}, {"id": 7, "version": 3}),
        (POST, OVENS, OVEN, 42205),
        (POST, "/subjects/other/versions", {**OVEN, "id": 7, "version": 1}, 42205),
        (POST, "/subjects/other/versions", {**HOT, "id": 7, "version": 1}, {"id": 7}),
        (PUT, "/mode", {"mode": "READWRITE"}, {}),
        (POST, OVENS, HOTTER, {"id": 100001, "version": 4}),
        (PUT, "/mode", {"mode": "IMPORT"}, 42205),
        (PUT, "/mode?force=true", {"mode": "IMPORT"}, {}),
    ],
    "deleted and deleted for good": [
        *THREE,
        (DELETE, f"{OVENS}/2?permanent=true", None, 40407),
        (DELETE, f"{OVENS}/2", None, 2),
        (DELETE, f"{OVENS}/2", None, 40406),
        (GET, OVENS, None, [1, 3]),
        (GET, f"{OVENS}?deleted=true", None, [1, 2, 3]),
        (GET, f"{OVENS}?deletedOnly=true", None, [2]),
        (GET, f"{OVENS}/2", None, 40402),
        (GET, f"{OVENS}/2?deleted=true", None, {"version": 2, "deleted": True}),
        (GET, "/schemas/ids/100002", None, HOT),
        (GET, "/schemas/ids/100002/subjects", None, []),
        (GET, "/schemas/ids/100002/subjects?deleted=true", None, ["ovens"]),
        (POST, OVENS, HOT, {"id": 100002, "version": 4}),
        (DELETE, f"{OVENS}/latest", None, 4),
        (DELETE, f"{OVENS}/2?permanent=true", None, 2),
        (GET, f"{OVENS}?deleted=true", None, [1, 3, 4]),
    ],
    "a deleted subject": [
        *THREE,
        (DELETE, "/subjects/ovens?permanent=true", None, 40405),
        (DELETE, "/subjects/ovens", None, [1, 2, 3]),
        (DELETE, "/subjects/ovens", None, 40404),
        (GET, "/subjects", None, []),
        (GET, "/subjects?deleted=true", None, ["ovens"]),
        (GET, "/subjects?deletedOnly=true", None, ["ovens"]),
        (GET, OVENS, None, 40401),
        (POST, OVENS, HOTTER, {"id": 100003, "version": 4}),
        (GET, f"{OVENS}?deleted=true", None, [1, 2, 3, 4]),
        (DELETE, "/subjects/ovens", None, [4]),
        (DELETE, "/subjects/ovens?permanent=true", None, [1, 2, 3, 4]),
        (GET, "/subjects?deleted=true", None, []),
        (GET, "/schemas/ids/100003", None, 40403),
        (POST, OVENS, STRING, {"id": 100004, "version": 1}),
    ],
    "deleted versions are not compared with": [
        *THREE,
        (PUT, "/config/ovens", {"compatibility": "BACKWARD_TRANSITIVE"}, {}),
        (DELETE, f"{OVENS}/2", None, 2),
        (DELETE, f"{OVENS}/3", None, 3),
        (POST, OVENS, {"schema": avro("Oven", "id", ("heat2", ""))}, {"version": 4}),
        (DELETE, f"{OVENS}/1", None, 1),
        (POST, OVENS, {"schema": avro("Oven", ("heat2", ""))}, {"version": 5}),
    ],
    "references": [
        (POST, "/subjects/doors/versions", DOOR, 42201),
        (POST, "/subjects/locks/versions", LOCK, {"id": 100001}),
        (POST, "/subjects/doors/versions", DOOR, {"id": 100002}),
        (GET, "/schemas/ids/100002", None, DOOR),
        (GET, "/subjects/locks/versions/1/referencedby", None, [100002]),
        (GET, "/subjects/doors/versions/1/referencedby", None, []),
        (DELETE, "/subjects/locks/versions/1", None, 42206),
        (DELETE, "/subjects/locks", None, 42206),
        (DELETE, "/subjects/doors", None, [1]),
        (DELETE, "/subjects/locks", None, [1]),
    ],
    "other formats": [
        (POST, "/subjects/p/versions", PROTO, {"id": 100001}),
        (GET, "/subjects/p/versions/1", None, PROTO),
        (POST, "/subjects/j/versions", JSON, {"id": 100002}),
        (GET, "/subjects/j/versions/1", None, JSON),
        (POST, "/subjects/j/versions", OVEN, 409),
    ],
    "metadata and rules": [
        (POST, OVENS, {**OVEN, "metadata": {"properties": {"owner": "bakery"}}, "ruleSet": RULES}, {"id": 100001}),
        (GET, "/schemas/ids/100001", None, {"metadata": {"properties": {"owner": "bakery"}}, "ruleSet": RULES}),
        (POST, OVENS, {**OVEN, "metadata": {"properties": {"owner": "shop"}}}, {"id": 100002, "version": 2}),
        (GET, "/subjects/ovens/metadata?key=owner&value=bakery", None, {"version": 1}),
        (PUT, "/config/ovens", {"overrideMetadata": {"properties": {"owner": "all"}}}, {}),
        (POST, OVENS, HOT, {"version": 3}),
        (GET, f"{OVENS}/3", None, {"metadata": {"properties": {"owner": "all"}}, "ruleSet": RULES}),
    ],
    "contexts": [
        (POST, "/subjects/:.audit:ovens/versions", OVEN, {"id": 100001, "version": 1}),
        (POST, OVENS, HOT, {"id": 100001, "version": 1}),
        (GET, "/contexts", None, [".", ".audit"]),
        (GET, "/subjects", None, ["ovens", ":.audit:ovens"]),
        (GET, "/subjects?subjectPrefix=:.audit:", None, [":.audit:ovens"]),
        (GET, "/subjects?subjectPrefix=ov", None, ["ovens"]),
        (GET, "/contexts/.audit/subjects", None, [":.audit:ovens"]),
        (GET, "/contexts/.audit/subjects/ovens/versions/1", None, {"subject": ":.audit:ovens"}),
        (GET, "/contexts/.audit/schemas/ids/100001", None, OVEN),
        (GET, "/schemas/ids/100001", None, HOT),
        (GET, "/schemas/ids/100001?subject=:.audit:ovens", None, OVEN),
        (GET, "/schemas/ids/100001?subject=:.audit:", None, OVEN),
        (PUT, "/config/:.audit:", {"compatibility": "NONE"}, {}),
        (POST, "/subjects/:.audit:ovens/versions", BROKEN, {"version": 2}),
        (POST, OVENS, BROKEN, 409),
        (GET, "/config/:.audit:ovens?defaultToGlobal=true", None, {"compatibilityLevel": "NONE"}),
    ],
    "names of all kinds": [
        (POST, "/subjects/a%2Fb%20c/versions", OVEN, {"version": 1}),
        (POST, "/subjects/Ovens/versions", OVEN, {"version": 1}),
        (POST, "/subjects/ovens/versions", HOT, {"version": 1}),
        (POST, f"/subjects/{'x' * 300}/versions", OVEN, {"version": 1}),
        (POST, "/subjects/%C3%B6fen/versions", OVEN, {"version": 1}),
        (GET, "/subjects", None, ["Ovens", "a/b c", "ovens", "x" * 300, "öfen"]),
        (GET, "/subjects/a%2Fb%20c/versions/1", None, {"subject": "a/b c"}),
        (GET, f"/subjects/{'x' * 300}/versions/1", None, {"subject": "x" * 300}),
        (DELETE, f"/subjects/{'x' * 300}", None, [1]),
        (GET, "/subjects?deletedOnly=true", None, ["x" * 300]),
        (POST, "/subjects/__GLOBAL/versions", OVEN, 42208),
    ],
    "pages": [
        *((POST, f"/subjects/{name}/versions", OVEN, {}) for name in "abcd"),
        (GET, "/subjects?offset=1&limit=2", None, ["b", "c"]),
        (GET, "/subjects?limit=0", None, ["a", "b", "c", "d"]),
        (GET, "/subjects?offset=9", None, []),
        (GET, "/schemas/ids/100001/subjects?limit=1", None, ["a"]),
    ],
    "normalized": [
        (POST, f"{OVENS}?normalize=true", {"schema": ' {"type":"string"} '}, {"id": 100001}),
        (GET, "/schemas/ids/100001/schema", None, "string"),
    ],
    "aliases": [
        (POST, OVENS, OVEN, {}),
        (PUT, "/config/stoves", {"alias": "ovens"}, {"alias": "ovens"}),
        (GET, "/subjects/stoves/versions", None, [1]),
        (POST, "/subjects/stoves/versions", HOT, {"version": 2}),
        (GET, OVENS, None, [1, 2]),
    ],
    "compatibility groups": [
        (PUT, "/config/ovens", {"compatibility": "BACKWARD", "compatibilityGroup": "major"}, {}),
        (POST, OVENS, {**OVEN, "metadata": {"properties": {"major": "1"}}}, {}),
        (POST, OVENS, {**BROKEN, "metadata": {"properties": {"major": "1"}}}, 409),
        (POST, OVENS, {**BROKEN, "metadata": {"properties": {"major": "2"}}}, {"version": 2}),
        (GET, "/config/ovens", None, {"compatibilityLevel": "BACKWARD", "compatibilityGroup": "major"}),
    ],
}


@pytest.mark.parametrize("steps", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_clients_get_what_they_rely_on(subjects: SubjectClient, steps: list[Step]) -> None:
    for method, path, body, expected in steps:
        if path.endswith("/schema"):
            reply = subjects.ask(method, f"/confluent{path}")
            assert (reply.status, json.loads(reply.body)) == (200, expected)
            continue
        status, found = subjects.call(method, path, body)
        is_object = isinstance(expected, dict) and isinstance(found, dict)
        if isinstance(expected, int) and status >= 400:
            assert found["error_code"] == expected, (method, path, found)
        elif is_object:
            assert status == 200, (method, path, found)
            assert {name: found.get(name) for name in expected} == expected, (method, path)
        else:
            assert (status, found) == (200, expected), (method, path)
