"""Whether a Version's document was checked against its format and its ancestors, and what the Version says about it."""

from __future__ import annotations

from typing import Any

from postroom.model.types import ResourceType
from postroom.registry.problems import RegistryProblem
from postroom.registry.versions import VersionDraft

MARKS = ("formatvalidated", "formatvalidatedreason", "compatibilityvalidated", "compatibilityvalidatedreason")
NO_CHECKER = "This server does not check documents of this format."
NO_COMPARER = "This server does not compare documents of this format."


def mark_checks(kind: ResourceType, draft: VersionDraft, meta: dict[str, Any], xid: str) -> None:
    """Set the validation attributes of a Version (VER-021 to VER-026); no format is checked here yet."""
    for name in MARKS:
        draft.attributes.pop(name, None)
    form = draft.attributes.get("format")
    if not kind.validateformat or form is None:
        return
    if kind.strictvalidation:
        raise RegistryProblem("format_unknown", xid, format=form)
    draft.attributes |= {"formatvalidated": False, "formatvalidatedreason": NO_CHECKER}
    if kind.validatecompatibility and meta.get("compatibility"):
        draft.attributes |= {"compatibilityvalidated": False, "compatibilityvalidatedreason": NO_COMPARER}
