"""MOD: models that meet entities, and Groups that narrow what their type allows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.http_client import Wire

PAGE = "/dirs/d1/pages/p1"
STRING = {"type": "string"}


def model(
    attributes: Any = None, group: Any = None, pages: Any = None, files: Any = None, **top: Any
) -> dict[str, Any]:
    """A model with dirs, pages (no documents) and files; each part can be added to."""
    resources = {
        "pages": {"singular": "page", "hasdocument": False, **(pages or {})},
        "files": {"singular": "file", **(files or {})},
    }
    group = {"singular": "dir", "resources": resources, **(group or {})}
    return {"attributes": attributes or {}, "groups": {"dirs": group}, **top}


def constrained(constraint: Any, path: str = "pages.color", **attribute: Any) -> dict[str, Any]:
    inner = {"in": STRING}
    attributes = {
        "color": {**STRING, **attribute},
        "deep": {"type": "object", "attributes": inner},
        "list": {"type": "array", "item": STRING},
        "map": {"type": "map", "item": STRING},
        "number": {"type": "integer"},
        "*": {"type": "any"},
    }
    group = {"constraints": {path: constraint}, "attributes": {"color": STRING, "size": {"type": "integer"}}}
    return model(group=group, pages={"attributes": attributes})


@pytest.mark.feature("MOD-067", "MOD-068")
def test_a_group_narrows_the_constraints_of_its_type(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", constrained({"enum": ["red", "green"], "default": "red"}))
    key = "pages.color"
    for wider in (
        {"enum": ["blue"]},
        {"enum": ["red", "blue"]},
        {"enum": ["green"], "default": "red"},
        {"equals": "oven"},
    ):
        assert wire.refusal("PUT", "/dirs/d1", {"constraints": {key: wider}}) in (
            "bad_request",
            "invalid_attribute",
            "constraint_failure",
            "model_error",
        ), wider
    shown = wire.ok("PUT", "/dirs/d1", {"constraints": {key: {"enum": ["green"], "default": "green"}}})
    assert shown["constraints"] == {key: {"enum": ["green"], "default": "green"}}
    assert wire.ok("PUT", PAGE, {})["color"] == "green"
    assert wire.refusal("PUT", PAGE, {"color": "red"}) == "constraint_failure"
    wire.ok("PUT", "/dirs/d2", {"constraints": {key: {"enum": None}}})
    assert wire.refusal("PUT", "/dirs/d2/pages/p1", {"color": "blue"}) == "constraint_failure"
    assert wire.ok("PUT", "/dirs/d2/pages/p1", {})["color"] == "red"


@pytest.mark.feature("MOD-066")
def test_references_obey_the_group_that_refers(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", constrained({"equals": "color"}))
    wire.ok("PUT", "/dirs/d1", {"color": "red"})
    wire.ok("PUT", "/dirs/d2/pages/green", {"color": "green"})
    wire.ok("PUT", "/dirs/d2/pages/red", {"color": "red"})
    refers = {"meta": {"xref": "/dirs/d2/pages/green"}}
    assert wire.refusal("PUT", PAGE, refers) == "constraint_failure"
    wire.ok("PUT", PAGE, {"meta": {"xref": "/dirs/d2/pages/red"}})
    assert wire.refusal("PATCH", "/dirs/d2/pages/red", {"color": "green"}) == "constraint_failure"


@pytest.mark.feature("MOD-071", "MOD-072", "META-016")
def test_one_version_only(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", model())
    wire.ok("PUT", PAGE, {"meta": {"defaultversionsticky": True, "defaultversionid": "v1"}})
    assert wire.refusal("PUT", "/modelsource", model(pages={"maxversions": 1})) == "setdefaultversionsticky_false"
    wire.ok("PATCH", f"{PAGE}/meta", {"defaultversionsticky": False})
    wire.ok("PUT", "/modelsource", model(pages={"maxversions": 1}))
    wire.ok("PUT", f"{PAGE}/versions/v2", {})
    assert list(wire.get(f"{PAGE}/versions")) == ["v2"]
    for body in ({"defaultversionsticky": True}, {"defaultversionsticky": True, "defaultversionid": "v2"}):
        assert wire.refusal("PATCH", f"{PAGE}/meta", body) == "setdefaultversionsticky_false"


@pytest.mark.feature("MOD-073", "MOD-077")
def test_a_single_root(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", model(pages={"singleversionroot": True}))
    wire.ok("PUT", f"{PAGE}/versions/v1", {})
    assert wire.refusal("PUT", f"{PAGE}/versions/v2", {"ancestorid": "v2"}) == "multiple_roots"
    wire.ok("POST", f"{PAGE}/versions", {"v2": {"ancestorid": "v1"}, "v3": {"ancestorid": "v1"}})
    assert wire.refusal("DELETE", f"{PAGE}/versions/v1") == "multiple_roots"
    limited = model(pages={"singleversionroot": True, "maxversions": 3})
    wire.ok("PUT", "/modelsource", limited)
    assert wire.refusal("PUT", f"{PAGE}/versions/v4", {}) == "multiple_roots"
    wire.ok("PUT", "/modelsource", model())
    wire.ok("PUT", f"{PAGE}/versions/v5", {"ancestorid": "v5"})
    assert wire.refusal("PUT", "/modelsource", model(pages={"singleversionroot": True})) in (
        "multiple_roots",
        "model_compliance_error",
    )
