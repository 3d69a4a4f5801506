"""Where Protobuf is compared otherwise than other schema registries do: by what a reader gets, not by what changed.

The page about the schema registry API argues each.
"""

from __future__ import annotations

import pytest

from tests.http.confluent.subject_client import SubjectClient

ONEOF = "message M { oneof kind { string a = 1; string b = 2; } }"
# What is refused here, and elsewhere not: a reader would get another value, or none, without being told.
REFUSED = {
    "a signed number becomes an unsigned one": ("message M { int32 n = 1; }", "message M { uint32 n = 1; }"),
    "a number becomes a shorter one": ("message M { int64 n = 1; }", "message M { int32 n = 1; }"),
    "a number becomes a truth value": ("message M { int32 n = 1; }", "message M { bool n = 1; }"),
    "a fixed number gets a sign": ("message M { fixed32 n = 1; }", "message M { sfixed32 n = 1; }"),
    "a list becomes a single value": ("message M { repeated string s = 1; }", "message M { string s = 1; }"),
    "a field gets another number": ("message M { string s = 1; }", "message M { string s = 2; }"),
    "a method takes another message": (
        "message A { string s = 1; } message B { int32 s = 1; } service S { rpc Do(A) returns (A); }",
        "message A { string s = 1; } message B { int32 s = 1; } service S { rpc Do(B) returns (A); }",
    ),
}
# What is allowed here, and elsewhere not: everything that was written is read as it was meant.
ALLOWED = {
    "another package": ("package one; message M { string s = 1; }", "package two; message M { string s = 1; }"),
    "the message of a field is called otherwise": (
        "message M { A a = 1; } message A { string s = 1; }",
        "message M { B a = 1; } message B { string s = 1; }",
    ),
    "a message that nobody needs any more goes": (
        "message M { string s = 1; I i = 2; message I { string s = 1; } }",
        "message M { string s = 1; }",
    ),
    "a field of a oneof goes": (ONEOF, "message M { oneof kind { string a = 1; } }"),
    "a field moves out of a oneof": (ONEOF, "message M { oneof kind { string a = 1; } string b = 2; }"),
    "a single number becomes a list": ("message M { int32 n = 1; }", "message M { repeated int32 n = 1; }"),
}
PAIRS = [
    *((name, *pair, False) for name, pair in REFUSED.items()),
    *((name, *pair, True) for name, pair in ALLOWED.items()),
]


@pytest.mark.parametrize(("old", "new", "goes"), [pair[1:] for pair in PAIRS], ids=[pair[0] for pair in PAIRS])
def test_readers_decide(subjects: SubjectClient, old: str, new: str, goes: bool) -> None:
    subjects.register("m-value", f'syntax = "proto3"; {old}', "PROTOBUF")
    body = {"schemaType": "PROTOBUF", "schema": f'syntax = "proto3"; {new}'}
    found = subjects.good("POST", "/compatibility/subjects/m-value/versions/latest?verbose=true", body)
    assert found["is_compatible"] is goes, found["messages"]
    assert goes or any("For example" in message for message in found["messages"])


def test_a_required_field_may_go_but_not_come(subjects: SubjectClient) -> None:
    old = 'syntax = "proto2"; message M { required string s = 1; optional string t = 2; }'
    subjects.register("m-value", old, "PROTOBUF")
    path = "/compatibility/subjects/m-value/versions/latest"
    without = {"schemaType": "PROTOBUF", "schema": 'syntax = "proto2"; message M { optional string t = 2; }'}
    assert subjects.good("POST", path, without) == {"is_compatible": True}
    more = {"schemaType": "PROTOBUF", "schema": old.replace("optional", "required")}
    assert subjects.good("POST", path, more) == {"is_compatible": False}
