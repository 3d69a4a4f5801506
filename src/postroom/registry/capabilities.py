"""What this server can do, said honestly; nothing of it can be switched yet."""

from __future__ import annotations

from typing import Any

from postroom.model.core import SPECVERSION
from postroom.model.rules import VERSION_MODES
from postroom.registry.problems import RegistryProblem

CAPABILITIES: dict[str, Any] = {
    "available": {
        "capabilities": {"mutable": False},
        "entities": {"mutable": True},
        "export": {"mutable": False},
        "model": {"mutable": False},
        "modelsource": {"mutable": True},
    },
    "compatibilities": {},
    "flags": ["binary", "collections", "doc", "epoch", "ignore", "inline", "setdefaultversionid", "specversion"],
    "formats": [],
    "ignores": ["epoch"],
    "pagination": False,
    "shortself": False,
    "specversions": [SPECVERSION],
    "versionmodes": list(VERSION_MODES),
}


def check_capabilities(wanted: Any, replace: bool) -> None:
    """Accept a request that asks for what is so; refuse any other."""
    if not isinstance(wanted, dict):
        raise RegistryProblem("bad_request", "/capabilities", error_detail="capabilities must be a JSON object")
    unknown = next((name for name in wanted if name not in CAPABILITIES), None)
    if unknown is not None:
        raise RegistryProblem("capability_unknown", "/capabilities", field=unknown)
    wanted = wanted if replace else {**CAPABILITIES, **wanted}
    different = next((name for name, value in CAPABILITIES.items() if wanted.get(name) != value), None)
    if different is not None:
        raise RegistryProblem("capability_error", "/capabilities", error_detail=f"{different} cannot be changed here")
