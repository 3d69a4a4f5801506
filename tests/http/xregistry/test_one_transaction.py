"""A write over HTTP opens one transaction, resolves its path once and reads the capabilities once.

What lint reads to count its findings is not the path of the request.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.xregistry.dispatch import answer
from postroom.settings import Settings
from postroom.store.interface import Store

COUNTED = {
    ("sql_transaction.py", "__init__"): "transaction",
    ("paths.py", "resolve"): "resolve",
    ("capabilities.py", "read_capabilities"): "capabilities",
}
ONCE = {"transaction": 1, "resolve": 1, "capabilities": 1}
GROUP, MESSAGE, SCHEMA = "/messagegroups/ovens", "/messagegroups/ovens/messages/heated", "/schemagroups/ovens/schemas"
INTEGER = {"format": "JsonSchema/draft-07", "schema": {"type": "integer"}}


@pytest.fixture(autouse=True)
def filled(store: Store) -> None:
    send(store, "PUT", "/messagegroups/ovens", {"messages": {"heated": {}, "cooled": {}}})
    send(store, "PUT", f"{SCHEMA}/degrees$details", INTEGER)


def send(store: Store, method: str, path: str, body: Any = None, *headers: tuple[str, str]) -> Response:
    content = b"" if body is None else json.dumps(body).encode()
    request = Request(method=method, path=path, base="http://ovens", body=content, headers=headers)
    made = answer(request, store, Settings())
    assert made.status < 300, made
    return made


def counted(store: Store, method: str, path: str, body: Any = None, *headers: tuple[str, str]) -> Counter[str]:
    """How often a request does what is counted."""
    counts: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if frame.f_back is not None and frame.f_back.f_code.co_name == "export_entity":
            return
        if event == "call" and (name := COUNTED.get((Path(code.co_filename).name, code.co_name))):
            counts[name] += 1

    sys.setprofile(note)
    try:
        send(store, method, path, body, *headers)
    finally:
        sys.setprofile(None)
    return counts


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/", {"name": "Ovens"}),
        ("PATCH", "/", {"name": "Ovens"}),
        ("PUT", GROUP, {"name": "Ovens"}),
        ("PATCH", GROUP, {"name": "Ovens"}),
        ("PUT", MESSAGE, {"name": "Heated"}),
        ("PATCH", MESSAGE, {"name": "Heated"}),
        ("PATCH", f"{MESSAGE}/meta", {"defaultversionsticky": False}),
        ("PUT", f"{MESSAGE}/versions/1", {"name": "Heated"}),
        ("POST", f"{GROUP}/messages", {"heated": {"name": "Heated"}, "cleaned": {}}),
        ("POST", MESSAGE, {"versionid": "1", "name": "Heated"}),
        ("DELETE", f"{GROUP}/messages", {"heated": {}}),
        ("DELETE", MESSAGE, None),
        ("DELETE", GROUP, None),
    ],
)
def test_a_write_to_entities(store: Store, method: str, path: str, body: Any) -> None:
    assert counted(store, method, path, body) == ONCE


def test_a_write_under_conditions_compares_them_in_its_own_transaction(store: Store) -> None:
    assert counted(store, "PUT", MESSAGE, {"name": "Heated"}, ("if-match", "*")) == ONCE


def test_a_write_in_the_words_of_an_older_release(store: Store) -> None:
    path = f"{MESSAGE}/versions/1"
    counts = counted(store, "PUT", path, {"ancestor": "1", "name": "Heated"})
    assert counts == {**ONCE, "resolve": 2}, "the translation looks at what the path is for"


def test_a_write_of_configuration(store: Store) -> None:
    assert counted(store, "PATCH", "/capabilities", {"shortself": True}) == {"transaction": 1, "capabilities": 1}
    source = json.loads(send(store, "GET", "/modelsource").content)
    assert counted(store, "PUT", "/modelsource", source) == {"transaction": 1, "capabilities": 1}


def test_a_document_is_checked_between_two_attempts_at_the_write(store: Store) -> None:
    counts = counted(store, "PUT", f"{SCHEMA}/minutes$details", INTEGER)
    assert counts == {"transaction": 2, "resolve": 2, "capabilities": 2}


def test_a_read(store: Store) -> None:
    assert counted(store, "GET", MESSAGE) == ONCE
