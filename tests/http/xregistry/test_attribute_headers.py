from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.http.xregistry.attribute_headers import decode, encode
from tests.http.requests import AsgiClient

OVEN = "/dirs/ovens/files/oven"
MODEL = {
    "groups": {
        "dirs": {
            "singular": "dir",
            "resources": {
                "files": {
                    "singular": "file",
                    "attributes": {
                        "heat": {"type": "decimal"},
                        "racks": {"type": "integer"},
                        "gas": {"type": "boolean"},
                        "times": {"type": "map", "item": {"type": "integer"}},
                        "parts": {"type": "array", "item": {"type": "string"}},
                        "size": {"type": "object", "attributes": {"width": {"type": "integer"}}},
                        "nested": {"type": "map", "item": {"type": "map", "item": {"type": "string"}}},
                        "note": {"type": "any"},
                    },
                }
            },
        }
    }
}


@pytest.fixture
def asgi(asgi: AsgiClient) -> AsgiClient:
    assert asgi.ask("PUT", "/modelsource", MODEL).status == 200
    return asgi


def sent(value: str) -> str:
    """A header value as a client sends it: UTF-8 bytes, which ASGI reads as Latin-1."""
    return value.encode().decode("latin-1")


@pytest.mark.feature("RES-027", "RES-028", "RES-029")
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_survives(text: str) -> None:
    header = encode(text)
    assert re.fullmatch(r"(?:[!#$&-~]|%[0-9A-F]{2})*", header)
    assert decode(header, "xregistry-name", "/") == text
    assert decode(re.sub(r"%..", lambda found: found[0].lower(), header), "xregistry-name", "/") == text


@pytest.mark.feature("RES-027", "RES-028", "RES-029", "RES-030")
@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"),
        ("Euro%20%e2%82%ac", "Euro €"),
        ("%41%42", "AB"),
        ("plain words", "plain words"),
        ('"quoted \\"words\\" \\\\"', 'quoted "words" \\'),
        ('"50%25"', "50%"),
        ("%2520", "%20"),
        ("50% of it", "50% of it"),
        ("  padded ", "padded"),
        ('""', ""),
        ("", ""),
        ('"', '"'),
        (sent("Käse €"), "Käse €"),
        ("%C0%A0", None),
        ("%FF", None),
        ("\xff", None),
        ("%ED%A0%80", None),
    ],
)
def test_values_that_clients_send(asgi: AsgiClient, header: str, text: str | None) -> None:
    made = asgi.ask("PUT", OVEN, b"hot", {"xRegistry-description": header})
    if text is None:
        assert (made.status, made.problem) == (400, "header_error")
        assert asgi.ask("GET", "/dirs").json == {}
    else:
        assert made.status == 201
        assert asgi.ask("GET", f"{OVEN}$details").json["description"] == text


@pytest.mark.feature("RES-011", "RES-012", "RES-013", "RES-014", "RES-015", "RES-019", "RES-020", "RES-021", "RES-040")
def test_which_attributes_become_headers(asgi: AsgiClient) -> None:
    body: dict[str, Any] = {
        "name": "Oven 7",
        "labels": {"site": "north", "a.b:c": "", "empty": "x y"},
        "heat": 21.5,
        "racks": 3,
        "gas": True,
        "times": {"warm": 4},
        "parts": ["door"],
        "size": {"width": 60},
        "nested": {"a": {"b": "c"}},
        "note": {"free": "form"},
        "contenttype": "text/oven",
        "file": "hot",
    }
    assert asgi.ask("PUT", f"{OVEN}$details", body).status == 201
    got = asgi.ask("GET", OVEN)
    shown = {name.removeprefix("xregistry-"): value for name, value in got.headers.items() if name[:10] == "xregistry-"}
    times = [shown.pop("createdat"), shown.pop("modifiedat")]
    assert all(time.endswith("Z") for time in times)
    root = f"http://ovens.localhost{OVEN}"
    assert shown == {
        "fileid": "oven",
        "versionid": "1",
        "self": root,
        "xid": OVEN,
        "epoch": "1",
        "isdefault": "true",
        "ancestorid": "1",
        "name": "Oven%207",
        "labels.site": "north",
        "labels.a.b:c": "",
        "labels.empty": "x%20y",
        "heat": "21.5",
        "racks": "3",
        "gas": "true",
        "times.warm": "4",
        "metaurl": f"{root}/meta",
        "versionsurl": f"{root}/versions",
        "versionscount": "1",
    }
    assert (got.headers["content-type"], got.headers["content-disposition"]) == ("text/oven", "oven")
    assert got.headers["content-location"] == f"{root}/versions/1"
    version = asgi.ask("GET", f"{OVEN}/versions/1").headers
    assert version["xregistry-self"] == f"{root}/versions/1"
    assert not {"xregistry-metaurl", "xregistry-versionsurl", "xregistry-versionscount"} & version.keys()


@pytest.mark.feature("RES-017", "RES-018", "REG-003", "REG-004", "REG-005", "REG-006", "REG-023", "REG-025")
@pytest.mark.parametrize(
    ("headers", "attribute", "value"),
    [
        ({"heat": "21.5"}, "heat", 21.5),
        ({"heat": "2e3"}, "heat", 2000),
        ({"racks": "-7"}, "racks", -7),
        ({"gas": "false"}, "gas", False),
        ({"note": "12"}, "note", "12"),
        ({"times.a": "1", "times.b.c": "2"}, "times", {"a": 1, "b.c": 2}),
        ({"labels.z": "new"}, "labels", {"z": "new"}),
        ({"labels": "null"}, "labels", None),
        ({"name": "null"}, "name", None),
        ({"name": "NULL"}, "name", "NULL"),
        ({"size.width": "60"}, "size", {"width": 60}),
        ({}, "labels", {"x": "1", "y": "2"}),
    ],
)
def test_headers_change_what_they_name(
    asgi: AsgiClient, headers: dict[str, str], attribute: str, value: object
) -> None:
    asgi.ask("PUT", OVEN, b"hot", {"xRegistry-name": "Oven", "xRegistry-labels.x": "1", "xRegistry-labels.y": "2"})
    answer = asgi.ask("PUT", OVEN, b"hot", {f"xRegistry-{name}": text for name, text in headers.items()})
    assert answer.status == 200, answer.body
    assert asgi.ask("GET", f"{OVEN}$details").json.get(attribute) == value


@pytest.mark.feature("RES-013", "RES-023", "RES-024", "RES-025", "REG-028", "REG-030", "REG-049", "HTTP-015")
@pytest.mark.parametrize(
    ("headers", "problem"),
    [
        ([("xregistry-heat", "hot")], "invalid_attribute"),
        ([("xregistry-heat", "1e999")], "invalid_attribute"),
        ([("xregistry-heat", "nan")], "invalid_attribute"),
        ([("xregistry-racks", "1_000")], "invalid_attribute"),
        ([("xregistry-racks", "1.5")], "invalid_attribute"),
        ([("xregistry-gas", "TRUE")], "invalid_attribute"),
        ([("xregistry-parts", "door")], "invalid_attribute"),
        ([("xregistry-size", "{}")], "invalid_attribute"),
        ([("xregistry-times", "4")], "invalid_attribute"),
        ([("xregistry-labels.", "4")], "invalid_attribute"),
        ([("xregistry-colour", "red")], "unknown_attribute"),
        ([("xregistry-", "red")], "header_error"),
        ([("xregistry-file", "x")], "extra_xregistry_header"),
        ([("xregistry-filebase64", "eA==")], "extra_xregistry_header"),
        ([("xregistry-contenttype", "text/x")], "extra_xregistry_header"),
        ([("xregistry-fileurl", "http://ovens.localhost/x")], "extra_xregistry_header"),
        ([("xregistry-name", "a"), ("xregistry-name", "b")], "header_error"),
        ([("xregistry-epoch", "99")], "mismatched_epoch"),
        ([("xregistry-epoch", str(2**70))], "mismatched_epoch"),
        ([("xregistry-fileid", "stove")], "mismatched_id"),
        ([("xregistry-versionid", "v2")], "mismatched_id"),
    ],
)
def test_headers_that_cannot_be_used(asgi: AsgiClient, headers: list[tuple[str, str]], problem: str) -> None:
    asgi.ask("PUT", OVEN, b"hot")
    raw = [(name.encode(), value.encode()) for name, value in headers]
    answer = asgi.ask("PUT", OVEN, b"cold", raw)
    assert (answer.status, answer.problem) == (400, problem)
    after = asgi.ask("GET", OVEN)
    assert (after.body, after.headers["xregistry-epoch"]) == (b"hot", "1")


def test_headers_reach_into_meta(asgi: AsgiClient) -> None:
    asgi.ask("PUT", f"{OVEN}/meta", {"labels": {"foo": "bar"}})
    assert asgi.ask("PUT", OVEN, b"hot", {"xRegistry-meta.labels.a.b": "c"}).status == 200
    assert asgi.ask("GET", f"{OVEN}/meta").json["labels"] == {"a.b": "c"}


EXTENDED = {
    "attributes": {
        "fuel": {"type": "string", "ifvalues": {"gas": {"siblingattributes": {"burners": {"type": "uinteger"}}}}},
        "size": {"type": "object", "attributes": {"*": {"type": "decimal"}}},
    }
}


@pytest.mark.audit("registry-2")
@pytest.mark.parametrize(
    ("extension", "header", "value", "expected"),
    [
        ({"type": "integer"}, "racks", "5", 5),
        ({"type": "boolean"}, "gas", "true", True),
        ({"type": "decimal"}, "heat", "1.5", 1.5),
        ({"type": "string"}, "racks", "5", "5"),
        ({"type": "any"}, "racks", "5", "5"),
        ({"type": "map", "item": {"type": "integer"}}, "times.open", "7", {"open": 7}),
    ],
)
def test_extensions_in_headers_have_the_type_that_the_model_gives_them(
    asgi: AsgiClient, extension: dict[str, Any], header: str, value: str, expected: object
) -> None:
    files = {"singular": "file", "attributes": {**EXTENDED["attributes"], "*": extension}}
    model = {"groups": {"dirs": {"singular": "dir", "resources": {"files": files}}}}
    assert asgi.ask("PUT", "/modelsource", model).status == 200
    given = {
        f"xRegistry-{header}": value,
        "xRegistry-fuel": "gas",
        "xRegistry-burners": "4",
        "xRegistry-size.width": "60",
    }
    assert asgi.ask("PUT", OVEN, b"x", given).status == 201
    details = asgi.ask("GET", f"{OVEN}$details").json
    name = header.partition(".")[0]
    assert (details[name], details["burners"], details["size"]) == (expected, 4, {"width": 60})
    assert asgi.ask("GET", OVEN).headers[f"xregistry-{header}"] == value


@pytest.mark.audit("registry-21")
def test_a_header_has_to_name_an_attribute(asgi: AsgiClient) -> None:
    assert asgi.ask("PUT", OVEN, b"x", {"xRegistry-": "5"}).problem == "header_error"
