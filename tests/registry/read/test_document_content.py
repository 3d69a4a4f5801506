from __future__ import annotations

from typing import Any

import pytest

from postroom.model.source import parse_model
from postroom.registry.entities import Document
from postroom.registry.read.document_content import inline_document

OVENS: dict[str, Any] = {"singular": "oven", "typemap": {"my/Poem": "STRING", "my/*": "json", "your/*": "binary"}}
KIND = (
    parse_model({"groups": {"kitchens": {"singular": "kitchen", "resources": {"ovens": OVENS}}}})
    .groups["kitchens"]
    .resources["ovens"]
)


@pytest.mark.feature("MOD-085", "MOD-086", "MOD-087", "MOD-088", "MOD-089", "MOD-090", "RES-037", "RES-038")
@pytest.mark.parametrize(
    ("contenttype", "document", "attribute"),
    [
        ("application/json", Document(content=b'{"a": 1}'), {"oven": {"a": 1}}),
        ("application/json; charset=utf-8", Document(content=b"[1]"), {"oven": [1]}),
        ("Application/CloudEvents+JSON", Document(content=b"5"), {"oven": 5}),
        ("application/json", Document(content=b"{"), {"ovenbase64": "ew=="}),
        ("application/json", Document(content=b'"\xff"'), {"ovenbase64": "Iv8i"}),
        ("application/json", Document(content=b"hot", text=True), {"oven": "hot"}),
        ("application/json", Document(content=b'{"a": 1}', text=True), {"oven": {"a": 1}}),
        ("text/plain", Document(content=b'"hot"'), {"oven": '"hot"'}),
        ("text/plain", Document(content=b"\xff"), {"ovenbase64": "/w=="}),
        ("my/oven", Document(content=b"1"), {"oven": 1}),
        ("my/poem", Document(content=b"1"), {"ovenbase64": "MQ=="}),
        ("your/oven", Document(content=b"1"), {"ovenbase64": "MQ=="}),
        (None, Document(content=b"1"), {"ovenbase64": "MQ=="}),
        ("application/json", Document(), {"ovenbase64": ""}),
        ("application/json", Document(url="https://ovens.example"), {}),
    ],
)
def test_documents_inside_json(contenttype: str | None, document: Document, attribute: Any) -> None:
    assert inline_document(KIND, document, contenttype) == attribute


def test_binary_shows_bytes() -> None:
    assert inline_document(KIND, Document(content=b"{}"), "application/json", binary=True) == {"ovenbase64": "e30="}
