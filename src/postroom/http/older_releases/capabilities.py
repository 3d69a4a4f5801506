"""Capabilities for clients of older versions: 1.0-rc2 has lists of paths, flags and data where today has one map."""

from __future__ import annotations

from typing import Any, NoReturn

from postroom.http.older_releases.releases import RC2
from postroom.http.older_releases.walk_entities import Tree
from postroom.model.core_attributes import SPECVERSION
from postroom.registry.configuration.capabilities_update import ALL, SUBJECT
from postroom.registry.configuration.offered_capabilities import AVAILABLE, FLAGS, IGNORES
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.flags import OLDER_SPECVERSIONS, RC2_FLAGS

SCHEMA_FORM = f"xRegistry-json/{RC2.specversion}"
APIS = ("capabilities", "export", "model", "modelsource")
OFFERED = "capabilitiesoffered"
"""The kind of data that 1.0-rc2 reaches by a flag."""
MUTABLE = ("capabilities", "entities", "modelsource")
OWN_FLAGS = {"offered", "schema", *RC2_FLAGS}
ALL_FLAGS = tuple(sorted({*FLAGS, *OWN_FLAGS}))
NEW = ("compatibilities", "formats", "ignores")
"""Capabilities that a client of 1.0-rc2 cannot speak of; they stay as they are."""
DEFAULTS: Tree = {
    "apis": [],
    "flags": [],
    "mutable": [],
    "pagination": False,
    "shortself": False,
    "specversions": [SPECVERSION],
    "versionmodes": ["manual"],
}


def with_versions(document: Tree) -> Tree:
    """Capabilities that list the older versions: each of them demands to be in the list that it shows."""
    return {**document, "specversions": sorted({*document["specversions"], *OLDER_SPECVERSIONS})}


def with_offered_versions(document: Tree) -> Tree:
    """Offered capabilities that list the older versions."""
    versions = document["specversions"]
    return {**document, "specversions": {**versions, "enum": sorted({*versions["enum"], *OLDER_SPECVERSIONS})}}


def without_versions(written: Tree) -> Tree:
    """Capabilities of a client without the older versions, which cannot be switched off one by one."""
    versions = written.get("specversions")
    if not isinstance(versions, list):
        return written
    return {**written, "specversions": [one for one in versions if str(one).lower() not in OLDER_SPECVERSIONS]}


def write_capabilities(document: Tree) -> Tree:
    """The capabilities of a registry as 1.0-rc2 lists them."""
    available = document["available"]
    return {
        "apis": sorted(f"/{kind}" for kind in available if kind in APIS),
        "flags": _written_flags(document),
        "mutable": sorted(kind for kind, access in available.items() if access["mutable"]),
        "pagination": document["pagination"],
        "schemas": [SCHEMA_FORM],
        "shortself": document["shortself"],
        "specversions": with_versions(document)["specversions"],
        "sticky": True,
        "versionmodes": document["versionmodes"],
    }


def write_offered(document: Tree) -> Tree:
    """The offered capabilities as 1.0-rc2 lists them."""
    return {
        "apis": _array(f"/{kind}" for kind in APIS),
        "flags": _array(ALL_FLAGS),
        "mutable": _array(MUTABLE),
        "pagination": document["pagination"],
        "schemas": _array([SCHEMA_FORM]),
        "shortself": document["shortself"],
        "specversions": with_offered_versions(document)["specversions"],
        "sticky": {"type": "boolean", "enum": [True]},
        "versionmodes": document["versionmodes"],
    }


def read_capabilities(written: Any, before: Tree, patch: bool) -> Any:
    """Capabilities of a client as today's map; `before` is what is in force."""
    if not isinstance(written, dict):
        return written
    given = {name: value for name, value in written.items() if value is not None}
    missing = written if patch else {**DEFAULTS, **written}
    given = {**{name: DEFAULTS[name] for name in missing if name in DEFAULTS}, **given}
    _check_fixed(given)
    made = {
        name: value for name, value in given.items() if name not in ("apis", "flags", "mutable", "schemas", "sticky")
    }
    if not patch:
        made = {**{name: before[name] for name in NEW}, **made}
    flags = _list(given, "flags", ALL_FLAGS)
    if flags is not None:
        made |= _read_flags(flags, before)
    if any(name in given for name in ("apis", "flags", "mutable")):
        made["available"] = _read_available(given, flags, before["available"])
    return made


def check_forms(forms: list[str], subject: str) -> None:
    """rc2, `?schema`: models are written in the form of the specification only."""
    known = (SCHEMA_FORM.lower(), SCHEMA_FORM.lower().partition("/")[0])
    wrong = next((form for form in forms if form.lower() not in known), None)
    if wrong is not None:
        detail = f"{wrong[:60]} is not written here; {SCHEMA_FORM} is"
        raise RegistryProblem("invalid_attribute", subject, name="schema", error_detail=detail)


def _written_flags(document: Tree) -> list[str]:
    flags = {*document["flags"], "schema"}
    if OFFERED in document["available"]:
        flags.add("offered")
    if "ignore" in document["flags"]:
        flags |= {name for name, value in RC2_FLAGS.items() if value in document["ignores"]}
    return sorted(flags)


def _read_flags(flags: list[str], before: Tree) -> Tree:
    """The four flags that begin with `no` are values of one flag today."""
    named = {RC2_FLAGS[flag] for flag in flags if flag in RC2_FLAGS}
    kept = {value for value in before["ignores"] if value not in RC2_FLAGS.values()}
    today = {flag for flag in flags if flag not in OWN_FLAGS} | ({"ignore"} if named else set())
    return {"flags": sorted(today), "ignores": [one for one in IGNORES if one in named | kept]}


def _read_available(given: Tree, flags: list[str] | None, before: Tree) -> Tree:
    apis, mutable = _list(given, "apis", [f"/{kind}" for kind in APIS]), _list(given, "mutable", MUTABLE)
    kinds = [kind for kind in before if kind in APIS] if apis is None else [api.removeprefix("/") for api in apis]
    changeable = [kind for kind in before if before[kind]["mutable"]] if mutable is None else mutable
    hidden = next((kind for kind in changeable if kind not in ("entities", *kinds)), None)
    if hidden is not None and mutable is not None:
        detail = f"{hidden} can be mutable only where /{hidden} is among the apis"
        raise RegistryProblem("capability_error", SUBJECT, error_detail=detail)
    has_offer = OFFERED in before if flags is None else "offered" in flags
    chosen = [kind for kind in AVAILABLE if kind in kinds or kind == "entities" or (kind == OFFERED and has_offer)]
    return {kind: {"mutable": kind in changeable} for kind in chosen}


def _check_fixed(given: Tree) -> None:
    if given.get("sticky", True) is not True:
        _refuse("sticky", given["sticky"], ["true"])
    forms = given.get("schemas", [SCHEMA_FORM])
    if not isinstance(forms, list) or any(str(one).lower() not in (SCHEMA_FORM.lower(), ALL) for one in forms):
        _refuse("schemas", forms, [SCHEMA_FORM])
    if not forms:
        raise RegistryProblem("capability_missing_value", SUBJECT, name="schemas", value=SCHEMA_FORM)


def _list(given: Tree, name: str, possible: Any) -> list[str] | None:
    """The values of a list as they are spelled here; all of them for a star."""
    if name not in given:
        return None
    values = given[name]
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        _refuse(name, values, possible)
    if ALL in values:
        if len(values) > 1:
            raise RegistryProblem("capability_wildcard", SUBJECT, field=name)
        return list(possible)
    wrong = next((one for one in values if one.lower() not in possible), None)
    if wrong is not None:
        _refuse(name, wrong, possible)
    return [one.lower() for one in values]


def _refuse(field: str, value: Any, possible: Any) -> NoReturn:
    raise RegistryProblem("capability_value", SUBJECT, value=value, field=field, list=", ".join(possible))


def _array(values: Any) -> Tree:
    return {"type": "array", "enum": list(values), "item": {"type": "string"}}
