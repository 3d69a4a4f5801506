"""Which message payloads hold."""

from __future__ import annotations

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.protobuf import compile_schema, root_message
from postroom.formats.schema import SchemaDocument
from tests.formats.protobuf.documents import proto3

SHOP = proto3(
    "package shop.v1; message Order { Line line = 1; message Gift { message Bow {} } } message Line { Bow bow = 1; }"
    "message Bow {}"
)
TREE = proto3(
    "message Tree { repeated Tree branches = 1; message Leaf { Tree on = 1; } Leaf leaf = 2; } message Used {} "
    "message Root { Used used = 1; Tree tree = 2; }"
)


def root(text: str, fragment: str = "") -> str:
    return root_message.root_message(
        compile_schema.compile_schema(SchemaDocument(document=text)).file, fragment
    ).full_name


@pytest.mark.feature("SCH-022", "FILE-011")
@pytest.mark.parametrize(
    ("fragment", "name"),
    [
        ("Line", "shop.v1.Line"),
        ("#Line", "shop.v1.Line"),
        (":Line", "shop.v1.Line"),
        ("/Line", "shop.v1.Line"),
        ("#/Line", "shop.v1.Line"),
        ("shop.v1.Line", "shop.v1.Line"),
        (".shop.v1.Line", "shop.v1.Line"),
        ("v1.Line", "shop.v1.Line"),
        ("Order.Gift", "shop.v1.Order.Gift"),
        ("Gift", "shop.v1.Order.Gift"),
        ("Bow", "shop.v1.Bow"),
        ("Gift.Bow", "shop.v1.Order.Gift.Bow"),
        ("", "shop.v1.Order"),
    ],
)
def test_a_fragment_names_a_message(fragment: str, name: str) -> None:
    assert root(SHOP, fragment) == name


@pytest.mark.feature("SCH-022")
@pytest.mark.parametrize(
    ("text", "fragment", "words"),
    [
        (SHOP, "Customer", "Order, Order.Gift"),
        (SHOP, "ine", "no message 'ine'"),
        (proto3("message A {} message B {}"), "", "one of A, B"),
        (proto3("message A { B b = 1; } message B { A a = 1; }"), "", "one of A, B"),
        (proto3("enum E { X = 0; }"), "", "no message"),
        (proto3("message A { message X {} } message B { message X {} }"), "X", "A.X, B.X"),
    ],
)
def test_what_is_not_clear_is_refused(text: str, fragment: str, words: str) -> None:
    with pytest.raises(SchemaRefused) as caught:
        root(text, fragment)
    assert words in str(caught.value)


def test_a_message_that_holds_itself_is_nobody_elses_part() -> None:
    assert root(TREE) == "Root"
    assert root(proto3("message Tree { repeated Tree branches = 1; Leaf leaf = 2; } message Leaf {}")) == "Tree"


def test_a_document_without_a_clear_root_is_still_a_schema() -> None:
    from postroom.formats.protobuf.format import check

    check(SchemaDocument(document=proto3("message A {} message B {}")))
    with pytest.raises(SchemaRefused):
        check(SchemaDocument(document=proto3("message A {} message B {}"), fragment="C"))
