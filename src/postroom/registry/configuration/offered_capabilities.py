"""What this server can do at most, as data: every capability with its type, its values and where it is described."""

from __future__ import annotations

from typing import Any

from postroom.model.core_attributes import SPECVERSION
from postroom.model.model_rules import VERSION_MODES
from postroom.registry.rules import Rules

AVAILABLE: dict[str, tuple[bool, ...]] = {
    "capabilities": (False, True),
    "capabilitiesoffered": (False,),
    "entities": (False, True),
    "export": (False,),
    "model": (False,),
    "modelsource": (False, True),
}
"""The kinds of data a registry has, each with what its `mutable` can be."""

FLAGS = (
    "binary",
    "collections",
    "doc",
    "epoch",
    "filter",
    "ignore",
    "inline",
    "setdefaultversionid",
    "sort",
    "specversion",
)
IGNORES = ("capabilities", "defaultversionid", "defaultversionsticky", "epoch", "id", "modelsource", "readonly")
SPECVERSIONS = (SPECVERSION,)

FORMATS = "formats"
LISTS: dict[str, tuple[str, ...]] = {
    "flags": FLAGS,
    FORMATS: (),
    "ignores": IGNORES,
    "specversions": SPECVERSIONS,
    "versionmodes": tuple(VERSION_MODES),
}
"""All but the formats are the same in every registry."""
SWITCHES: dict[str, tuple[bool, ...]] = {"pagination": (False, True), "shortself": (False, True)}
NEEDED = {"specversions": SPECVERSION, "versionmodes": "manual"}
"""Values that a list cannot do without (CAP-014, CAP-015)."""

_DOCUMENTATION = "https://github.com/xregistry/spec/blob/main/core/spec.md#"
_SECTIONS = ("available", "compatibilities", "flags", "formats", "ignores", "pagination", "shortself", "specversions")


def lists(rules: Rules) -> dict[str, tuple[str, ...]]:
    """The capabilities that are lists, with every value they can have."""
    return {**LISTS, FORMATS: tuple(sorted(rules.documents.offered))}


def compatibilities(rules: Rules) -> dict[str, tuple[str, ...]]:
    """The compatibility rules of each format."""
    return dict(sorted(rules.documents.offered.items()))


def offered(rules: Rules) -> dict[str, Any]:
    """The map of `/capabilitiesoffered` (CAP-021, CAP-022)."""
    kinds = {name: _object({"mutable": {"type": "boolean", "enum": list(AVAILABLE[name])}}) for name in AVAILABLE}
    described: dict[str, Any] = {
        "available": _object(kinds),
        "compatibilities": _object({name: _array(known) for name, known in compatibilities(rules).items()}),
        **{name: _array(values) for name, values in lists(rules).items()},
        **{name: {"type": "boolean", "enum": list(values)} for name, values in SWITCHES.items()},
    }
    for name in _SECTIONS:
        described[name]["documentation"] = f"{_DOCUMENTATION}{name}-capability"
    return {name: described[name] for name in sorted(described)}


def _object(attributes: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "attributes": attributes}


def _array(values: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "array", "enum": list(values), "item": {"type": "string"}}
