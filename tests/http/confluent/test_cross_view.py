"""One registry, two APIs: what is written through one is seen through the other, in one log of changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from postroom.store.interface import Store
from tests.http.confluent.subject_client import SubjectClient, avro
from tests.http.principals import permitted

GROUP = "/schemagroups/default"
OVENS = f"{GROUP}/schemas/ovens"


def native(subjects: SubjectClient, method: str, path: str, body: Any = b"") -> Any:
    reply = subjects.ask(method, path, body)
    assert reply.status < 300, reply.body
    return reply.json if reply.body else None


def test_a_subject_is_a_schema(subjects: SubjectClient) -> None:
    subjects.register("ovens", avro("Oven", "id"))
    subjects.register("ovens", avro("Oven", "id", ("heat", "")), metadata={"properties": {"owner": "bakery"}})
    shown = native(subjects, "GET", f"{OVENS}$details?inline=versions")
    assert shown["versions"].keys() == {"1", "2"}
    assert (shown["versionid"], shown["schemaids"], shown["format"]) == ("2", [100002], "Avro/1.12")
    assert shown["formatvalidated"] is True
    assert json.loads(shown["schemametadata"]) == {"properties": {"owner": "bakery"}}
    assert shown["versions"]["2"]["ancestorid"] == "1"
    assert native(subjects, "GET", f"{OVENS}/versions/1") == json.loads(avro("Oven", "id"))


def test_a_schema_is_a_subject(subjects: SubjectClient) -> None:
    for version, document in (("2.0", "int"), ("1.0", "long")):
        body = {"format": "Avro/1.12", "schema": document}
        native(subjects, "PUT", f"{OVENS}/versions/{version}$details", body)
    assert subjects.good("GET", "/subjects/ovens/versions") == [1, 2]
    assert subjects.good("GET", "/subjects/ovens/versions/latest")["schema"] == "long"
    subjects.good("PUT", "/config/ovens", {"compatibility": "NONE"})
    assert subjects.register("ovens", '"string"') == 100003
    assert native(subjects, "GET", f"{OVENS}$details")["versionid"] == "3"


def test_what_no_schema_registry_knows_is_no_subject(subjects: SubjectClient) -> None:
    xsd = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'/>"
    native(subjects, "PUT", f"{OVENS}$details", {"format": "XSD/1.0", "schema": xsd})
    structure = {
        "$schema": "https://json-structure.org/meta/core/v0/#",
        "$id": "https://x.example/y",
        "name": "Y",
        "type": "string",
    }
    native(subjects, "PUT", f"{GROUP}/schemas/y$details", {"format": "JsonStructure/draft-02", "schema": structure})
    assert subjects.good("GET", "/subjects") == []
    assert subjects.error("GET", "/subjects/ovens/versions") == 40401


def test_compatibility_is_that_of_the_schema(subjects: SubjectClient) -> None:
    subjects.good("PUT", "/config/ovens", {"compatibility": "FULL_TRANSITIVE"})
    subjects.register("ovens", avro("Oven", "id"))
    assert native(subjects, "GET", f"{OVENS}/meta")["compatibility"] == "full_transitive"
    native(subjects, "PATCH", f"{OVENS}/meta", {"compatibility": "forward"})
    assert subjects.good("GET", "/config/ovens") == {"compatibilityLevel": "FORWARD"}
    subjects.good("DELETE", "/config/ovens")
    assert "compatibility" not in native(subjects, "GET", f"{OVENS}/meta")
    assert subjects.good("GET", "/config/ovens?defaultToGlobal=true") == {"compatibilityLevel": "BACKWARD"}


def test_references_are_the_same_in_both(subjects: SubjectClient) -> None:
    subjects.register("locks", avro("Lock", "bolt"))
    door = json.dumps({"type": "record", "name": "Door", "fields": [{"name": "lock", "type": "Lock"}]})
    subjects.register("doors", door, references=[{"name": "Lock", "subject": "locks", "version": -1}])
    shown = native(subjects, "GET", f"{GROUP}/schemas/doors$details")
    assert shown["references"] == [{"name": "Lock", "xid": f"{GROUP}/schemas/locks/versions/1"}]
    native(
        subjects,
        "PUT",
        f"{GROUP}/schemas/gates/versions/1$details",
        {**{n: shown[n] for n in ("format", "references")}, "schema": json.loads(door)},
    )
    assert subjects.good("GET", "/subjects/locks/versions/1/referencedby") == [100002]
    assert subjects.good("GET", "/schemas/ids/100002/subjects") == ["doors", "gates"]


def test_a_deleted_version_is_gone_there_and_kept_here(subjects: SubjectClient) -> None:
    for one in ((), (("heat", ""),), (("heat", ""), ("fuel", ""))):
        subjects.register("ovens", avro("Oven", "id", *one))
    subjects.good("DELETE", "/subjects/ovens/versions/2")
    shown = native(subjects, "GET", f"{OVENS}$details?inline=versions")
    assert shown["versions"].keys() == {"1", "3"}
    assert shown["versions"]["3"]["ancestorid"] == "1"
    subjects.good("DELETE", "/subjects/ovens")
    assert subjects.ask("GET", OVENS).status == 404
    assert subjects.good("GET", "/subjects/ovens/versions?deleted=true") == [1, 2, 3]
    native(subjects, "PUT", f"{OVENS}/versions/1$details", {"format": "Avro/1.12", "schema": "string"})
    assert native(subjects, "GET", f"{OVENS}/versions/1$details")["schemaversion"] == 4
    assert subjects.good("GET", "/subjects/ovens/versions") == [4]
    native(subjects, "DELETE", OVENS)
    assert subjects.good("GET", "/subjects?deleted=true") == []


def test_both_write_to_one_log(subjects: SubjectClient, store: Store) -> None:
    subjects.register("ovens", avro("Oven", "id"))
    subjects.good("DELETE", "/subjects/ovens")
    with store.read() as tx:
        rows = [(one.action, one.xid, one.actor) for one in tx.changes(0, 100) if one.xid.startswith(OVENS)]
    assert rows[:2] == [("created", OVENS, "anna"), ("created", f"{OVENS}/versions/1", "anna")]
    assert sorted(rows[2:]) == [("deleted", OVENS, "anna"), ("deleted", f"{OVENS}/versions/1", "anna")]


def test_a_refused_registration_leaves_nothing(subjects: SubjectClient, store: Store) -> None:
    subjects.error("POST", "/subjects/ovens/versions", {"schema": "{"})
    with store.read() as tx:
        assert tx.entity(GROUP) is None
    assert subjects.register("other", '"string"') == 100001


@pytest.mark.parametrize("path", ["/subjects?deleted=true", "/schemas?deleted=true", "/contexts"])
def test_what_may_not_be_read_is_not_listed(subjects: SubjectClient, store: Store, path: str) -> None:
    for name in ("ovens", "secret", "gone"):
        subjects.register(name, avro(name, "id"))
        subjects.register(f":.{name}:x", avro(name, "id"))
    subjects.good("DELETE", "/subjects/gone")
    reader = SubjectClient(store, permitted(read=f"{OVENS} /schemagroups/ovens"))
    status, found = reader.call("GET", path)
    assert status == 200
    assert "secret" not in json.dumps(found)
    assert "gone" not in json.dumps(found)
    assert "ovens" in json.dumps(found)


def test_an_id_shows_no_more_than_its_versions(subjects: SubjectClient, store: Store) -> None:
    secret = subjects.register("secret", avro("Secret", "id"))
    shared = subjects.register("secret", avro("Secret", "id", ("more", "")))
    subjects.register("ovens", avro("Secret", "id", ("more", "")))
    guid = subjects.good("GET", "/subjects/secret/versions/1")["guid"]
    reader = SubjectClient(store, permitted(read=OVENS))
    assert reader.error("GET", f"/schemas/ids/{secret}") == 40403
    assert reader.error("GET", f"/schemas/guids/{guid}") == 40403
    assert reader.good("GET", f"/schemas/ids/{shared}/subjects") == ["ovens"]
    assert reader.error("GET", "/subjects/secret/versions/1") == 40401
    reader_code = reader.error("POST", "/subjects/ovens/versions", {"schema": '"int"'})
    assert reader_code == 40301
    assert reader.error("PUT", "/config", {"compatibility": "NONE"}) == 40301
    assert reader.error("PUT", "/mode/ovens", {"mode": "READONLY"}) == 40301


def test_a_writer_registers_where_they_may_write(subjects: SubjectClient, store: Store) -> None:
    writer = SubjectClient(store, permitted(write=f"{GROUP}/schemas/shop.*"))
    assert writer.error("POST", "/subjects/ovens/versions", {"schema": '"int"'}) == 40301
    subjects.register("ovens", '"int"')
    assert writer.register("shop.orders", '"int"') == 100001
