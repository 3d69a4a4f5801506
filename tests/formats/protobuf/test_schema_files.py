"""Which texts a schema is made of, and which are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.format_table import check_schema, parse_schema
from postroom.formats.protobuf import schema_files
from postroom.formats.schema import SchemaDocument
from tests.formats.protobuf.documents import proto3, schema


@pytest.mark.feature("SCH-015", "SCH-017")
@pytest.mark.parametrize("name", ["Protobuf/2", "Protobuf/3", "Proto/3", "protobuf/3.0", "PROTOBUF/2.0", "Protobuf"])
def test_every_spelling_of_the_name_is_read(name: str) -> None:
    parsed = parse_schema(name, proto3("message Oven { string name = 1; }"))
    assert parsed.validate(b"\x0a\x03AEG") == ({"name": "AEG"}, [])


@pytest.mark.feature("SCH-015")
@pytest.mark.parametrize(
    ("version", "text", "value"),
    [
        ("3", "message Oven { string name = 1; }", {"name": ""}),
        ("3", '\n// old\nsyntax = "proto2"; message Oven { optional string name = 1; }', {}),
        ("2", 'syntax = "proto3"; message Oven { string name = 1; }', {"name": ""}),
        ("2", "message Oven { optional string name = 1; }", {}),
        ("", "message Oven { optional string name = 1; }", {}),
        ("2023", "message Oven { string name = 1; }", {}),
        ("2023", 'edition = "2024"; message Oven { string name = 1; }', {}),
        ("3", '/* syntax = "proto2"; */ message Oven { string name = 1; }', {"name": ""}),
        ("3", "\ufeffmessage Oven { string name = 1; }", {"name": ""}),
    ],
)
def test_the_text_decides_the_syntax_and_the_name_stands_in(version: str, text: str, value: Any) -> None:
    assert schema(text, version=version).validate(b"") == (value, [])


@pytest.mark.feature("SCH-024")
@pytest.mark.parametrize(
    ("version", "document", "place", "sentence"),
    [
        ("3", {"type": "object"}, "", "a JSON value"),
        ("3", b"\xff", "", "not UTF-8"),
        ("3", "\ud800", "", "not Unicode"),
        ("3", "message A {\0}", "", "zero byte"),
        ("3", "message A {\n  string a\n}", "3:1", "missing field number"),
        ("3", "message A { string a }", "1:22", "missing field number"),
        ("3", proto3("message A { string a }"), "1:41", "missing field number"),
        ("3", 'syntax = "proto9";', "1:10", "proto9"),
        ("3", "message A { string a = 0; }", "1:24", "positive"),
        ("3", "message A { Missing a = 1; }", "1:13", "not defined"),
        ("2077", "message A {}", "1:1", "edition"),
        ("3", 'import "oven.proto"; message A {}', "", "'oven.proto' leads to no document"),
        ("3", 'import "../oven.proto"; message A {}', "", "not the name"),
        ("3", 'import "/etc/passwd"; message A {}', "", "not the name"),
        ("3", 'import "google/protobuf/../x.proto"; message A {}', "", "not the name"),
        ("3", "x" * 2_000_000, "", "2000000 characters"),
        ("3", "enum E {" + "".join(f"A{i}={i};" for i in range(500_000)) + "}", "", "characters"),
        ("3", '"' + '\\"' * 400_000, "1:", ""),
        ("3", "".join(f"message M{i} {{" for i in range(5000)) + "}" * 5000, "1:", "recursion limit"),
    ],
)
def test_a_refusal_says_what_and_where(version: str, document: Any, place: str, sentence: str) -> None:
    with pytest.raises(SchemaRefused) as caught:
        check_schema(f"Protobuf/{version}", document)
    assert sentence.lower() in caught.value.sentence.lower()
    assert caught.value.place.startswith(place)
    assert bool(caught.value.place) == bool(place)


def test_a_chain_of_messages_that_is_too_long_is_refused() -> None:
    chain = "".join(f"message M{i} {{ M{i + 1} next = 1; }}" for i in range(3000)) + "message M3000 {}"
    with pytest.raises(SchemaRefused, match="too long a chain"):
        schema(proto3(chain), "M0")


LINE = 'syntax = "proto3"; package shop; message Line { string sku = 1; }'


@pytest.mark.parametrize(
    "files",
    [
        {"common/line.proto": LINE},
        {"common/line.proto": 'syntax = "proto3"; import public "real.proto";', "real.proto": LINE},
        {"common/line.proto": "@real.proto", "real.proto": LINE},
    ],
)
def test_imports_are_found_in_the_library(files: Mapping[str, str]) -> None:
    text = proto3('import "common/line.proto"; message Order { shop.Line line = 1; }')
    assert schema(text, files=files).validate(b"\x0a\x03\x0a\x01x") == ({"line": {"sku": "x"}}, [])


def test_one_document_under_two_names_is_one() -> None:
    files = {
        "a.proto": LINE,
        "b.proto": "@a.proto",
        "c.proto": 'syntax = "proto3"; import "b.proto"; message C { shop.Line l = 1; }',
    }
    parsed = schema(
        proto3('import "a.proto"; import "c.proto"; message Order { shop.Line line = 1; C c = 2; }'), files=files
    )
    assert parsed.validate(b"\x0a\x00") == ({"line": {"sku": ""}}, [])


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"a.proto": 'import "b.proto";', "b.proto": 'import "a.proto";'}, "recursive"),
        ({"a.proto": {"type": "object"}}, "JSON value"),
        ({"a.proto": "message {"}, "expected message name"),
        ({"a.proto": proto3('import "a.proto"; message Order {}')}, "imports itself"),
        (
            {
                "a.proto": "".join(f'import "f{i}.proto";' for i in range(300)),
                **{f"f{i}.proto": "" for i in range(300)},
            },
            "200",
        ),
    ],
)
def test_bad_imports_are_refused(files: Mapping[str, Any], sentence: str) -> None:
    with pytest.raises(SchemaRefused) as caught:
        schema(proto3('import "a.proto"; message Order {}'), files=files)
    assert sentence in caught.value.sentence


def test_imports_in_comments_and_texts_are_none() -> None:
    text = """// import "a.proto";
    /* import "b.proto"; */ syntax = "proto3"; option java_package = 'import "c.proto";';
    message A { string import = 1; message B {} } import "google/protobuf/any.proto"; import public "d.proto";"""
    library = SchemaDocument(document="").library
    with pytest.raises(SchemaRefused, match=r"d\.proto"):
        schema_files.collect_files(SchemaDocument(document=text, library=library))
