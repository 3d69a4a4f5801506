"""Comparing schemas: rules as a table, the suites of two registries, and random pairs held to the definition."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.compatibility import compatible
from postroom.formats.protobuf import compile_schema, root_message
from postroom.formats.protobuf.compat import same_meaning
from postroom.formats.protobuf.format import readable
from postroom.formats.schema import SchemaDocument, Verdict
from tests.formats.protobuf.documents import OVEN, proto2, proto3, schema
from tests.formats.protobuf.random_messages import documents

ROOT = Path(__file__).parents[4]


def verdict(writer: str, reader: str, fragment: str = "") -> Verdict:
    return readable(
        SchemaDocument(document=writer, fragment=fragment), SchemaDocument(document=reader, fragment=fragment)
    )


def lost(payload: bytes, writer: str, reader: str, name: str = "") -> str:
    sides = [compile_schema.compile_schema(SchemaDocument(document=text)) for text in (writer, reader)]
    found = [(side, root_message.root_message(side.file, name)) for side in sides]
    return same_meaning.lost_meaning(payload, found[0], found[1])


YES, NO = "compatible", "incompatible"
# The fields of a message of proto3 before and after, and whether payloads of the first can be read with the second.
RULES = [
    ("string a = 1;", "string a = 1;", YES, ""),
    ("string a = 1;", "string a = 1; string b = 2;", YES, ""),
    ("string a = 1; string b = 2;", "string a = 1;", YES, ""),
    ("string a = 1; string b = 2;", "string a = 1; reserved 2;", YES, ""),
    ("string a = 1; reserved 2;", "string a = 1; string b = 2;", YES, "the writer reserves"),
    ("string a = 1;", "string b = 1;", YES, "is called b by the reader"),
    ("string a = 1;", "string a = 2;", NO, "moved from number 1 to 2"),
    ("string a = 1; string b = 2;", "string b = 1; string a = 2;", NO, "/a arrives as b"),
    ("int32 a = 1;", "int64 a = 1;", YES, ""),
    ("int64 a = 1;", "int32 a = 1;", NO, "from int64 to int32"),
    ("uint32 a = 1;", "uint64 a = 1;", YES, ""),
    ("uint32 a = 1;", "int64 a = 1;", YES, ""),
    ("int32 a = 1;", "uint32 a = 1;", NO, "read as 4294967295"),
    ("uint32 a = 1;", "int32 a = 1;", NO, "from uint32 to int32"),
    ("uint64 a = 1;", "int64 a = 1;", NO, "is read as -"),
    ("bool a = 1;", "int32 a = 1;", YES, ""),
    ("int32 a = 1;", "bool a = 1;", NO, "is read as True"),
    ("sint32 a = 1;", "sint64 a = 1;", YES, ""),
    ("sint64 a = 1;", "sint32 a = 1;", NO, "from sint64"),
    ("int32 a = 1;", "sint32 a = 1;", NO, "is 1 and is read as -1"),
    ("fixed32 a = 1;", "sfixed32 a = 1;", NO, "from fixed32"),
    ("fixed32 a = 1;", "float a = 1;", NO, "from fixed32"),
    ("fixed64 a = 1;", "double a = 1;", NO, "from fixed64"),
    ("float a = 1;", "double a = 1;", NO, "is read as 0.0"),
    ("fixed32 a = 1;", "fixed64 a = 1;", NO, "is read as 0"),
    ("string a = 1;", "int64 a = 1;", NO, "from string to int64"),
    ("string a = 1;", "bytes a = 1;", YES, ""),
    ("bytes a = 1;", "string a = 1;", NO, "cannot parse"),
    ("Part a = 1;", "bytes a = 1;", YES, ""),
    ("bytes a = 1;", "Part a = 1;", NO, "cannot parse"),
    ("string a = 1;", "Part a = 1;", NO, "from string to Part"),
    ("Part a = 1;", "string a = 1;", NO, "a message and is read as ''"),
    ("Colour a = 1;", "int32 a = 1;", YES, ""),
    ("Colour a = 1;", "int64 a = 1;", YES, ""),
    ("Colour a = 1;", "uint32 a = 1;", NO, "from Colour"),
    ("int32 a = 1;", "Colour a = 1;", YES, ""),
    ("int64 a = 1;", "Colour a = 1;", NO, "to Colour"),
    ("bool a = 1;", "Colour a = 1;", YES, ""),
    ("int32 a = 1;", "repeated int32 a = 1;", YES, ""),
    ("Part a = 1;", "repeated Part a = 1;", YES, ""),
    ("repeated int32 a = 1;", "int32 a = 1;", NO, "was a list"),
    ("repeated string a = 1;", "string a = 1;", NO, "was a list"),
    ("repeated Part a = 1;", "Part a = 1;", NO, "was a list"),
    ("repeated int32 a = 1;", "repeated int32 a = 1 [packed = false];", YES, ""),
    ("repeated int32 a = 1 [packed = false];", "repeated int64 a = 1;", YES, ""),
    ("repeated int32 a = 1;", "repeated bytes a = 1;", NO, "from int32 to bytes"),
    ("map<string, int32> a = 1;", "map<string, int64> a = 1;", YES, ""),
    ("map<string, int64> a = 1;", "map<string, int32> a = 1;", NO, "value changed its type"),
    ("map<string, int32> a = 1;", "map<int32, int32> a = 1;", NO, "key changed its type"),
    ("map<string, int32> a = 1;", "repeated Entry a = 1;", YES, ""),
    ("repeated Entry a = 1;", "map<string, int32> a = 1;", NO, "was a list and is a map"),
    ("Entry a = 1;", "map<string, int32> a = 1;", YES, ""),
    ("Part a = 1;", "map<int32, int32> a = 1;", NO, "of which the reader sees 0"),
    ("map<string, int32> a = 1;", "Entry a = 1;", NO, "was a list"),
    ("map<string, int32> a = 1;", "string a = 1;", NO, "was a list"),
    ("int32 a = 1;", "optional int32 a = 1;", YES, ""),
    ("optional int32 a = 1;", "int32 a = 1;", YES, ""),
    ("int32 a = 1; int32 b = 2;", "oneof c { int32 a = 1; int32 b = 2; }", NO, "exclude each other"),
    ("oneof c { int32 a = 1; int32 b = 2; }", "int32 a = 1; int32 b = 2;", YES, ""),
    ("int32 a = 1;", "oneof c { int32 a = 1; int32 b = 2; }", YES, ""),
    ("oneof c { int32 a = 1; int32 b = 2; }", "oneof c { int32 a = 1; int32 b = 2; int32 d = 3; }", YES, ""),
    ("oneof c { int32 a = 1; } oneof d { int32 b = 2; }", "oneof c { int32 a = 1; int32 b = 2; }", NO, "exclude"),
    ("Part a = 1; map<string, Part> b = 2;", "Part a = 1; map<string, Entry> b = 2;", NO, "from int32 to string"),
]
REST = """message Part { int32 n = 1; int32 value = 3; } message Entry { string key = 1; int32 value = 2; }
enum Colour { RED = 0; BLUE = 1; }"""
# Whole documents, for what one message of proto3 cannot show.
DOCUMENTS = [
    (
        proto2("message A { optional int32 a = 1; }"),
        proto2("message A { required int32 a = 1; }"),
        NO,
        "required by the reader only",
    ),
    (proto2("message A { required int32 a = 1; }"), proto2("message A { optional int32 a = 1; }"), YES, ""),
    (proto2("message A {}"), proto2("message A { required int32 a = 1; }"), NO, "required by the reader only"),
    (
        proto3("message A { int32 a = 1; }"),
        proto2("message A { required int32 a = 1; }"),
        NO,
        "required by the reader only",
    ),
    (
        proto2("message A { repeated B b = 1; message B { optional int32 c = 1; } }"),
        proto2("message A { repeated B b = 1; message B { required int32 c = 1; } }"),
        NO,
        "'c' in /b/0",
    ),
    (
        proto2("message A { required int32 z = 9; optional int64 a = 1; }"),
        proto2("message A { required int32 z = 9; optional int32 a = 1; }"),
        NO,
        "from int64 to int32",
    ),
    (
        proto2("message A { optional E e = 1; } enum E { X = 0; Y = 1; }"),
        proto2("message A { optional E e = 1; } enum E { X = 0; }"),
        NO,
        "changed its type from E to E",
    ),
    (
        proto2("message A { optional E e = 1; } enum E { X = 0; }"),
        proto2("message A { optional E e = 1; } enum E { X = 0; Y = 1; }"),
        YES,
        "",
    ),
    (
        proto2("message A { optional E e = 1; } enum E { X = 0; }"),
        proto2("message A { optional uint32 e = 1; }"),
        YES,
        "",
    ),
    (
        proto2("message A { optional int32 e = 1; }"),
        proto2("message A { optional E e = 1; } enum E { X = 0; }"),
        NO,
        "from int32 to E",
    ),
    (
        proto2("message A { map<string, E> e = 1; } enum E { X = 0; Y = 1; }"),
        proto2("message A { map<string, E> e = 1; } enum E { X = 0; }"),
        NO,
        "entries",
    ),
    (
        proto3("message A { E e = 1; } enum E { X = 0; Y = 1; }"),
        proto3("message A { E e = 1; } enum E { X = 0; }"),
        YES,
        "",
    ),
    (
        proto3("message A { E e = 1; } enum E { X = 0; Y = 1; }"),
        proto3("message A { E e = 1; } enum E { X = 0; Z = 1; }"),
        YES,
        "",
    ),
    (
        proto3("message A { E e = 1; } enum E { X = 0; Y = 1; Z = 2; }"),
        proto3("message A { E e = 1; } enum E { X = 0; Z = 1; Y = 2; }"),
        NO,
        "is Y and is read as Z",
    ),
    (
        proto3("message A { E e = 1; } enum E { X = 0; }"),
        proto2("message A { optional E e = 1; } enum E { X = 0; }"),
        NO,
        "from E to E",
    ),
    (
        proto2("message A { optional group G = 1 { optional int32 a = 1; } }"),
        proto2("message A { optional G g = 1; } message G { optional int32 a = 1; }"),
        NO,
        "changed its type",
    ),
    (
        proto2("message A { optional int32 a = 1 [default = 5]; }"),
        proto2("message A { optional int32 a = 1 [default = 7]; }"),
        YES,
        "",
    ),
    (
        proto3("package one; message A { B b = 1; } message B { int32 a = 1; }"),
        proto3("package two; message A { B b = 1; } message B { int32 a = 1; }"),
        YES,
        "",
    ),
    (
        proto3("message A { B b = 1; } message B { int32 a = 1; }"),
        proto3("message A { C b = 1; } message C { int32 a = 1; }"),
        YES,
        "",
    ),
    (
        proto3("message A { B b = 1; } message B { C c = 1; } message C { int64 a = 1; }"),
        proto3("message A { B b = 1; } message B { C c = 1; } message C { int32 a = 1; }"),
        NO,
        "from int64 to int32",
    ),
    (proto3("message A {} message B {}"), proto3("message A {}"), NO, "no message B"),
    (proto3("message A { int32 a = 1; }"), proto3("message B { int32 a = 1; }"), YES, ""),
    (proto3("message A { int64 a = 1; }"), proto3("message B { int32 a = 1; }"), NO, "from int64"),
    (
        proto3("message T { repeated T t = 1; int32 n = 2; }"),
        proto3("message T { repeated T t = 1; int64 n = 2; }"),
        YES,
        "",
    ),
    (
        proto3("message Q {} message R { int64 a = 1; } service S { rpc Do(Q) returns (R); }"),
        proto3(
            "message Q {} message R { int64 a = 1; } message N { int32 a = 1; } service S { rpc Do(Q) returns (N); }"
        ),
        NO,
        "from int64 to int32",
    ),
    (
        proto3('import "google/protobuf/timestamp.proto"; message A { google.protobuf.Timestamp t = 1; }'),
        proto3('import "google/protobuf/timestamp.proto"; message A { google.protobuf.Timestamp t = 1; }'),
        YES,
        "",
    ),
    (
        proto3('import "google/protobuf/timestamp.proto"; message A { google.protobuf.Timestamp t = 1; }'),
        proto3("message A { T t = 1; message T { int64 seconds = 1; int32 nanos = 2; } }"),
        YES,
        "",
    ),
    (
        proto2("message A { extensions 5; } extend A { optional int64 x = 5; }"),
        proto2("message A { extensions 5; } extend A { optional int32 x = 5; }"),
        NO,
        "from int64",
    ),
    (proto3("message A { string a = 1; }"), 'edition = "2023"; message A { string a = 1; }', YES, ""),
    (proto3("enum E { X = 0; }"), proto3("enum E { Y = 0; }"), YES, ""),
]
PAIRS = [
    *(
        (proto3(f"message A {{ {old} }} {REST}"), proto3(f"message A {{ {new} }} {REST}"), *rest)
        for old, new, *rest in RULES
    ),
    *DOCUMENTS,
]


@pytest.mark.feature("SCH-025", "SCH-028")
@pytest.mark.parametrize(("writer", "reader", "answer", "words"), PAIRS)
def test_the_rules(writer: str, reader: str, answer: str, words: str) -> None:
    found = verdict(writer, reader)
    assert (found.answer, words in found.reason) == (answer, True), found
    if answer == NO:
        assert found.counterexample is not None
        assert found.shown
        name = found.shown.partition(" ")[0]
        assert schema(writer, name).validate(found.counterexample)[1] == []
        assert (
            found.reason.startswith("the reader's document has no message")
            or lost(found.counterexample, writer, reader, name if f"message {name} " in reader else "")
            or "rpc" in writer
        )


def test_fragments_compare_single_messages() -> None:
    old, new = proto3("message A { int64 a = 1; } message B {}"), proto3("message A { int32 a = 1; } message B {}")
    assert verdict(old, new, "B").answer == YES
    assert verdict(old, new, "A").answer == NO


def test_what_cannot_be_shown_is_undecided() -> None:
    endless = proto2(
        "message Egg { required Hen hen = 1; } message Hen { required Egg egg = 1; optional int64 n = 2; }"
    )
    assert verdict(endless, endless.replace("int64", "int32")).answer == "undecided"


def test_bad_documents_are_refused() -> None:
    with pytest.raises(SchemaRefused):
        verdict(OVEN, "message {")


@settings(max_examples=80, deadline=None)
@given(writer=documents(), reader=documents(), seed=st.integers(0, 1000))
def test_verdicts_on_random_pairs_hold(writer: str, reader: str, seed: int) -> None:
    found = verdict(writer, reader, "Root")
    if found.answer == NO:
        assert found.counterexample is not None
        assert lost(found.counterexample, writer, reader, "Root")
    elif found.answer == "undecided":  # a type that holds itself may have no payload that shows the difference
        assert found.reason
    else:
        rng, parsed = random.Random(seed), schema(writer, "Root")
        for _ in range(20):
            assert not lost(parsed.encode(parsed.sample(rng)), writer, reader, "Root")


@settings(max_examples=60, deadline=None)
@given(text=documents())
def test_every_schema_reads_its_own_payloads(text: str) -> None:
    assert verdict(text, text).answer == YES


def suite_verdict(pair: dict[str, Any]) -> str:
    try:
        found = compatible([pair["old"]], pair["new"], pair.get("level", "BACKWARD"), verdict)
    except SchemaRefused:
        return "refused"
    return found.answer


@pytest.mark.parametrize("suite", ["karapace", "apicurio"])
def test_the_suites_agree_but_where_the_documentation_argues(shared: Path, suite: str) -> None:
    pairs = json.loads((shared / "suites" / "protobuf-compatibility" / f"{suite}-pairs.json").read_bytes())
    page = (ROOT / "docs" / "formats" / "protobuf.md").read_text()
    argued = {
        (cells[1].strip().lower(), cells[2].strip()): cells[4].strip()
        for line in page.splitlines()
        if (cells := line.split("|"))[1:2] and cells[1].strip() in ("Karapace", "Apicurio")
    }
    answers = {pair["description"]: (suite_verdict(pair), YES if pair["compatible"] else NO) for pair in pairs}
    differing = {(suite, name): answer for name, (answer, wanted) in answers.items() if answer != wanted}
    assert differing == {key: answer for key, answer in argued.items() if key[0] == suite}
    assert "undecided" not in differing.values()


def test_the_payloads_in_the_documentation_do_what_it_says() -> None:
    old, new = (
        schema(proto3(f"message Person {{ int32 id = 1; string {name} = 2; }}")) for name in ("old_name", "new_name")
    )
    assert old.validate(b"\x12\x01x")[0]["old_name"] == new.validate(b"\x12\x01x")[0]["new_name"] == "x"
    assert old.validate(b'{"oldName":"x"}', "application/json")[1] == []
    assert new.validate(b'{"oldName":"x"}', "application/json")[1] != []
