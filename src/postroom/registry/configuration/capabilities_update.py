"""Changing the capabilities of a registry."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from functools import partial
from typing import Any, NoReturn

import msgspec

from postroom.registry.configuration import offered_capabilities
from postroom.registry.configuration.capabilities import Access, Capabilities, initial_capabilities
from postroom.registry.problems import RegistryProblem
from postroom.registry.rules import Rules
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.unit_of_work import UnitOfWork

SUBJECT = "/capabilities"
ALL = "*"
NAMES = Capabilities.__struct_fields__


def write_capabilities(work: UnitOfWork, written: Any, patch: bool, with_registry: bool = True) -> Capabilities:
    """Replace the capabilities, or with `patch` those that are named; null means what a new registry has.

    `with_registry` is off when the same request writes the Registry entity anyway.
    """
    work.permissions.require_admin(SUBJECT)
    before = work.capabilities
    rules = work.rules
    after = initial_capabilities(rules) if written is None else _updated(rules, before, written, patch)
    if after == before:
        return after
    if not before.mutable("capabilities"):
        raise RegistryProblem("capability_error", SUBJECT, error_detail="the capabilities cannot be changed")
    work.at_end("version modes", partial(check_version_modes, work, "capability_error", SUBJECT))
    _replace(work, before, after)
    if with_registry:
        work.touch("/")
    return after


def reset_capabilities(tx: Transaction) -> None:
    """Give a registry the capabilities of a new one, also when no client may change them any more."""
    work = UnitOfWork(tx)
    before, after = work.capabilities, initial_capabilities(tx.rules)
    if after == before:
        return
    _replace(work, before, after)
    work.touch("/")
    work.finish()


def _replace(work: UnitOfWork, before: Capabilities, after: Capabilities) -> None:
    work.tx.put_capabilities(after.document())
    work.capabilities = after
    changed = [name for name in NAMES if getattr(before, name) != getattr(after, name)]
    work.note(SUBJECT, changed, before.document())


def _updated(rules: Rules, before: Capabilities, written: Any, patch: bool) -> Capabilities:
    if not isinstance(written, dict):
        raise RegistryProblem("capability_error", SUBJECT, error_detail="the capabilities must be a JSON object")
    given = {name: value for name, value in written.items() if name != "$schema"}
    unknown = next((name for name in given if name not in NAMES), None)
    if unknown is not None:
        raise RegistryProblem("capability_unknown", SUBJECT, field=unknown)
    named = {name: _read(rules, name, value) for name, value in given.items() if value is not None}
    reset = {name: getattr(Capabilities(), name) for name in NAMES if not patch or name in given}
    after = msgspec.structs.replace(before, **{**reset, **named})
    _check_compatibilities(after)
    return after


def _read(rules: Rules, name: str, value: Any) -> Any:
    if name in offered_capabilities.SWITCHES:
        if value not in offered_capabilities.SWITCHES[name] or not isinstance(value, bool):
            _refuse_value(name, value, offered_capabilities.SWITCHES[name])
        return value
    if name in offered_capabilities.LISTS:
        return _read_list(name, value, offered_capabilities.lists(rules)[name])
    return _read_available(value) if name == "available" else _read_compatibilities(rules, value)


def _read_list(name: str, value: Any, possible: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        _refuse_value(name, value, possible)
    if ALL in value:
        if len(value) > 1:
            raise RegistryProblem("capability_wildcard", SUBJECT, field=name)
        return possible
    spelled = {one.lower(): one for one in possible}  # CAP-003
    wrong = next((one for one in value if one.lower() not in spelled), None)
    if wrong is not None and name == offered_capabilities.FORMATS:
        raise RegistryProblem("capability_error", SUBJECT, error_detail=f"the format {wrong} is not offered")
    if wrong is not None:
        _refuse_value(name, wrong, possible)
    chosen = tuple(sorted({spelled[one.lower()] for one in value}))
    if name in offered_capabilities.NEEDED and offered_capabilities.NEEDED[name] not in chosen:
        raise RegistryProblem("capability_missing_value", SUBJECT, name=name, value=offered_capabilities.NEEDED[name])
    return chosen


def _read_available(value: Any) -> dict[str, Access]:
    if not isinstance(value, dict):
        _refuse_value("available", value, offered_capabilities.AVAILABLE)
    chosen = {"capabilities": Access(), "entities": Access(mutable=True)}  # always there
    for written, details in value.items():
        kind = written.lower()
        if kind not in offered_capabilities.AVAILABLE:
            raise RegistryProblem("capability_error", SUBJECT, error_detail=f"{written} is no kind of data here")
        try:
            access = msgspec.convert(details, Access)
        except msgspec.ValidationError:
            _refuse_value(f"available.{kind}", details, ("an object with mutable: true or false",))
        if access.mutable not in offered_capabilities.AVAILABLE[kind]:
            raise RegistryProblem("capability_error", SUBJECT, error_detail=f"{kind} cannot be mutable")
        chosen[kind] = access
    return dict(sorted(chosen.items()))


def _read_compatibilities(rules: Rules, value: Any) -> dict[str, tuple[str, ...]]:
    try:
        given = msgspec.convert(value, dict[str, tuple[str, ...]])
    except msgspec.ValidationError:
        _refuse_value("compatibilities", value, ("a map of formats to lists of rules",))
    chosen = {}
    for form, wanted in given.items():
        possible = _offered_rules(rules, form)
        if ALL in wanted and len(wanted) > 1:
            raise RegistryProblem("capability_wildcard", SUBJECT, field=f"compatibilities.{form}")
        chosen[form] = tuple(sorted(possible if wanted == (ALL,) else {rule.lower() for rule in wanted}))
        if not set(chosen[form]) <= possible:
            detail = f"there are no such rules for the format {form}"
            raise RegistryProblem("capability_error", SUBJECT, error_detail=detail)
    return chosen


def _offered_rules(rules: Rules, form: str) -> set[str]:
    matching = [
        known for name, known in offered_capabilities.compatibilities(rules).items() if _same_format(form, name)
    ]
    return set().union(*matching)


def _same_format(left: str, right: str) -> bool:
    left, right = left.lower(), right.lower()
    return fnmatch.fnmatchcase(left, right) or fnmatch.fnmatchcase(right, left)


def _check_compatibilities(after: Capabilities) -> None:
    """Every format with rules has to be one of the formats (CAP-008)."""
    for form in after.compatibilities:
        if not any(_same_format(form, known) for known in after.formats):
            detail = f"compatibilities names the format {form}, which formats does not"
            raise RegistryProblem("capability_error", SUBJECT, error_detail=detail)


def check_version_modes(work: UnitOfWork, problem: str, subject: str) -> None:
    """Refuse a model with version modes that the registry does not support, whichever of the two was changed."""
    supported = work.capabilities.versionmodes
    for group in work.model.groups.values():
        for plural, resource in group.resources.items():
            if resource.versionmode not in supported:
                detail = f"{group.plural}/{plural} use the version mode {resource.versionmode}, which is off"
                raise RegistryProblem(problem, subject, error_detail=detail)


def _refuse_value(field: str, value: Any, possible: Iterable[Any]) -> NoReturn:
    listed = ", ".join(str(one).lower() if isinstance(one, bool) else str(one) for one in possible)
    raise RegistryProblem("capability_value", SUBJECT, value=value, field=field, list=listed)
