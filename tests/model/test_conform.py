from __future__ import annotations

from typing import Any

import pytest

from postroom.model.conform import conform
from postroom.model.source import parse_model

OVENS: dict[str, Any] = {
    "attributes": {
        "heat": {"type": "integer", "enum": [1, 2, 3]},
        "mood": {"type": "string", "enum": ["calm"], "strict": False},
        "size": {"type": "string", "enum": ["Small"]},
        "tags": {"type": "map", "item": {"type": "string"}},
        "shelves": {"type": "array", "item": {"type": "object", "attributes": {"height": {"type": "uinteger"}}}},
        "door": {
            "type": "object",
            "attributes": {
                "open": {"type": "boolean", "required": True, "default": False},
                "hinge": {"type": "string"},
            },
        },
        "fuel": {
            "type": "string",
            "ifvalues": {
                "Gas": {"siblingattributes": {"pressure": {"type": "decimal", "required": True}}},
                "electric": {"siblingattributes": {"volts": {"type": "uinteger"}}},
            },
        },
        "notes": {"type": "any"},
        "raw": {"type": "object", "namecharset": "extended", "attributes": {"*": {"type": "any"}}},
        "spot": {"type": "xid", "target": "/kitchens/ovens"},
        "link": {"type": "uri", "target": "/kitchens/ovens[/versions]"},
        "serial": {"type": "string", "required": True},
    },
    "groups": {"kitchens": {"singular": "kitchen", "resources": {"ovens": {"singular": "oven"}}}},
}
MODEL = parse_model(OVENS)
ATTRIBUTES = {name: MODEL.attributes[name] for name in OVENS["attributes"]}


def violations(value: dict[str, Any]) -> list[tuple[str, str]]:
    return [(found.type, found.pointer) for found in conform(MODEL, ATTRIBUTES, {"serial": "s", **value})[1]]


@pytest.mark.feature("REG-001", "REG-002", "REG-007", "REG-008", "REG-009", "REG-016", "REG-022", "REG-028", "REG-030")
@pytest.mark.feature("MOD-018", "MOD-023", "MOD-024", "MOD-025", "MOD-027", "MOD-029", "MOD-034", "MOD-045")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, []),
        ({"heat": 2}, []),
        ({"heat": 9}, [("invalid", "/heat")]),
        ({"heat": "2"}, [("invalid", "/heat")]),
        ({"mood": "stormy"}, []),
        ({"size": "SMALL"}, []),
        ({"size": "large"}, [("invalid", "/size")]),
        ({"colour": "red"}, [("unknown", "/colour")]),
        ({"colour": None}, [("unknown", "/colour")]),
        ({"tags": {"a.b": "x"}}, []),
        ({"tags": {"Upper": "x"}}, [("invalid", "/tags/Upper")]),
        ({"tags": {"a": 1}}, [("invalid", "/tags/a")]),
        ({"tags": ["a"]}, [("invalid", "/tags")]),
        ({"shelves": [{"height": 1}, {"height": -1}]}, [("invalid", "/shelves/1/height")]),
        ({"shelves": [None]}, [("invalid", "/shelves/0")]),
        ({"shelves": [{"width": 1}]}, [("unknown", "/shelves/0/width")]),
        ({"door": {"hinge": "left"}}, []),
        ({"door": "shut"}, [("invalid", "/door")]),
        ({"fuel": "GAS", "pressure": 1.2}, []),
        ({"fuel": "gas"}, [("missing", "/pressure")]),
        ({"fuel": "wood", "pressure": 1.2}, [("unknown", "/pressure")]),
        ({"volts": 230}, [("unknown", "/volts")]),
        ({"notes": {"Any": [None, {"Thing": 1}]}}, []),
        ({"raw": {"bootstrap.servers": ["a"], "x-y": 1}}, []),
        ({"raw": {"Not Good": 1}}, [("invalid", "/raw/Not Good")]),
        ({"spot": "/kitchens/k/ovens/o"}, []),
        ({"spot": "/kitchens/k"}, [("invalid", "/spot")]),
        ({"spot": "/cellars/k"}, [("invalid", "/spot")]),
        ({"link": "https://elsewhere.example/x"}, []),
        ({"link": "/kitchens/k/ovens/o/versions/1"}, []),
        ({"link": "/kitchens/k"}, [("invalid", "/link")]),
        ({"serial": None}, [("missing", "/serial")]),
        ({"serial": "x" * 4100}, [("invalid", "/serial")]),
    ],
)
def test_values_conform_or_say_where_they_do_not(value: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert violations(value) == expected


@pytest.mark.feature("MOD-039", "MOD-040")
def test_defaults_fill_objects_that_are_there_and_make_none() -> None:
    assert conform(MODEL, ATTRIBUTES, {"serial": "s"})[0] == {"serial": "s"}
    assert conform(MODEL, ATTRIBUTES, {"serial": "s", "door": {}})[0]["door"] == {"open": False}


@pytest.mark.feature("REG-025")
def test_null_is_no_value() -> None:
    normal, found = conform(MODEL, ATTRIBUTES, {"serial": "s", "heat": None, "tags": {"a": None, "b": "x"}})
    assert (normal, found) == ({"serial": "s", "tags": {"b": "x"}}, [])
