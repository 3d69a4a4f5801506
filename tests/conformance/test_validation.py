"""VER, MOD: what a Version says about checks of its document, as long as nobody can check its format."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.http_client import Wire

FILE = "/dirs/d1/files/f1$details"
META = "/dirs/d1/files/f1/meta"
MARKS = ("formatvalidated", "formatvalidatedreason", "compatibilityvalidated", "compatibilityvalidatedreason")
OVEN = {"format": "Oven/1", "file": {"heat": 5}}


def with_files(wire: Wire, **aspects: Any) -> None:
    files = {"singular": "file", **aspects}
    wire.ok("PUT", "/modelsource", {"groups": {"dirs": {"singular": "dir", "resources": {"files": files}}}})


def marks(shown: dict[str, Any]) -> set[str]:
    return {name for name in MARKS if name in shown}


@pytest.mark.feature("MOD-079", "VER-020", "VER-021", "VER-024")
def test_formats_are_looked_at_only_where_the_model_says_so(wire: Wire) -> None:
    with_files(wire)
    assert marks(wire.ok("PUT", FILE, OVEN)) == set()
    with_files(wire, validateformat=True)
    assert marks(wire.ok("PUT", FILE, {"file": {"no": "format"}})) == set()
    shown = wire.ok("PUT", FILE, OVEN)
    assert (shown["formatvalidated"], bool(shown["formatvalidatedreason"])) == (False, True)
    # Both are the server's own.
    shown = wire.ok("PATCH", FILE, {"formatvalidated": True, "formatvalidatedreason": 5})
    assert (shown["formatvalidated"], type(shown["formatvalidatedreason"])) == (False, str)
    assert marks(wire.ok("PATCH", FILE, {"format": None})) == set()


@pytest.mark.feature("MOD-081", "VER-023", "VER-026")
def test_strictness_decides_about_formats_that_nobody_knows(wire: Wire) -> None:
    with_files(wire, validateformat=True, strictvalidation=True)
    assert wire.refusal("PUT", FILE, OVEN) == "format_unknown"
    wire.ok("PUT", FILE, {"file": {"no": "format"}})
    with_files(wire, validateformat=True, strictvalidation=False)
    assert wire.ok("PUT", FILE, OVEN)["formatvalidated"] is False


@pytest.mark.feature("VER-025", "VER-026", "META-008")
def test_compatibility_is_spoken_of_when_model_format_and_rule_are_there(wire: Wire) -> None:
    with_files(wire, validateformat=True, validatecompatibility=True)
    assert marks(wire.ok("PUT", FILE, OVEN)) == {"formatvalidated", "formatvalidatedreason"}
    wire.ok("PATCH", META, {"compatibility": "backward"})
    shown = wire.get(FILE)
    assert marks(shown) == set(MARKS)
    assert (shown["compatibilityvalidated"], bool(shown["compatibilityvalidatedreason"])) == (False, True)
    assert marks(wire.ok("PATCH", FILE, {"format": None})) == set()
    wire.ok("PATCH", FILE, {"format": "Oven/1"})
    wire.ok("PATCH", META, {"compatibility": None})
    assert marks(wire.get(FILE)) == {"formatvalidated", "formatvalidatedreason"}
    with_files(wire, validateformat=True)
    wire.ok("PATCH", META, {"compatibility": "backward"})
    assert marks(wire.ok("PATCH", FILE, {})) == {"formatvalidated", "formatvalidatedreason"}


@pytest.mark.feature("FLAG-010")
def test_documents_do_not_speak_of_checks(wire: Wire) -> None:
    with_files(wire, validateformat=True)
    wire.ok("PUT", FILE, OVEN)
    assert marks(wire.get("/dirs/d1/files/f1/versions/1$details")) == {"formatvalidated", "formatvalidatedreason"}
    assert marks(wire.get("/dirs/d1/files/f1/versions/1$details?doc")) == set()
