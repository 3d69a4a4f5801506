"""What this server can do at most, as data: every capability with its type, its values and where it is described."""

from __future__ import annotations

from typing import Any

from postroom.model.core import SPECVERSION
from postroom.model.rules import VERSION_MODES

KINDS: dict[str, tuple[bool, ...]] = {
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
FORMATS: tuple[str, ...] = ()
COMPATIBILITIES: dict[str, tuple[str, ...]] = {}
SPECVERSIONS = (SPECVERSION,)

LISTS: dict[str, tuple[str, ...]] = {
    "flags": FLAGS,
    "formats": FORMATS,
    "ignores": IGNORES,
    "specversions": SPECVERSIONS,
    "versionmodes": tuple(VERSION_MODES),
}
SWITCHES: dict[str, tuple[bool, ...]] = {"pagination": (False, True), "shortself": (False, True)}
NEEDED = {"specversions": SPECVERSION, "versionmodes": "manual"}
"""Values that a list cannot do without (CAP-014, CAP-015)."""

_DOCUMENTATION = "https://github.com/xregistry/spec/blob/main/core/spec.md#"
_SECTIONS = ("available", "compatibilities", "flags", "formats", "ignores", "pagination", "shortself", "specversions")


def offered() -> dict[str, Any]:
    """The map of `/capabilitiesoffered` (CAP-021, CAP-022)."""
    kinds = {name: _object({"mutable": {"type": "boolean", "enum": list(KINDS[name])}}) for name in KINDS}
    described: dict[str, Any] = {
        "available": _object(kinds),
        "compatibilities": _object({name: _array(rules) for name, rules in COMPATIBILITIES.items()}),
        **{name: _array(values) for name, values in LISTS.items()},
        **{name: {"type": "boolean", "enum": list(values)} for name, values in SWITCHES.items()},
    }
    for name in _SECTIONS:
        described[name]["documentation"] = f"{_DOCUMENTATION}{name}-capability"
    return {name: described[name] for name in sorted(described)}


def _object(attributes: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "attributes": attributes}


def _array(values: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "array", "enum": list(values), "item": {"type": "string"}}
