"""What an entity's attributes are after a write: replaced or merged, ids and epoch checked, fit for the model."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from postroom.model.conform import AttributeViolation, conform
from postroom.model.same_object import SameObject
from postroom.model.scalar_types import normal_timestamp
from postroom.model.types import Attributes
from postroom.registry.entities import Entity
from postroom.registry.paths import check_id
from postroom.registry.problems import RegistryProblem
from postroom.registry.write.unit_of_work import UnitOfWork

Body = dict[str, Any]

SERVER_NAMES = frozenset({"epoch", "createdat", "modifiedat", "self", "shortself", "xid"})


def as_body(value: Any, subject: str) -> Body:
    """The body of a request, an entity or a map of entities, or a problem when it is something else."""
    if not isinstance(value, dict):
        detail = f"{subject} takes a JSON object, and the body is {_json_type(value)}"
        raise RegistryProblem("parsing_data", subject, error_detail=detail)
    return {name: member for name, member in value.items() if name != "$schema"}


def as_entities(value: Any, subject: str) -> dict[str, Body]:
    """The body of a request as a map of entities, or of collections, or a problem when it is something else."""
    members = as_body(value, subject)
    for key, member in members.items():
        if not isinstance(member, dict):
            detail = f"{key} must be a JSON object, not {_json_type(member)}"
            raise RegistryProblem("bad_request", subject, error_detail=detail)
    return members


def as_nested(value: Any, subject: str, name: str) -> Body:
    """What an entity has nested in it: a meta, a collection, or a member of the collection `name`."""
    if not isinstance(value, dict):
        detail = f"must be a JSON object, not {_json_type(value)}"
        raise RegistryProblem("invalid_attribute", subject, name=name, error_detail=detail, pointer=f"/{name}")
    return {key: member for key, member in value.items() if key != "$schema"}


def _json_type(value: Any) -> str:
    names = {type(None): "null", bool: "a boolean", str: "a string", list: "an array", dict: "an object"}
    return names.get(type(value), "a number")


def given_id(body: Body, name: str, subject: str) -> str | None:
    """The id that a body has under a name, if any; whether it is legal is another question."""
    given = body.get(name)
    if given is not None and not isinstance(given, str):
        detail = f"must be a string, not {_json_type(given)}"
        raise RegistryProblem("invalid_attribute", subject, name=name, error_detail=detail, pointer=f"/{name}")
    return given


def check_identity(body: Body, name: str, expected: str, subject: str, singular: str) -> None:
    """An id repeated in a body has to be a legal one (REG-034), and the one the entity has (REG-037)."""
    given = given_id(body, name, subject)
    if given is not None and given != expected:
        check_id(given, subject)
        raise RegistryProblem("mismatched_id", subject, singular=singular, invalid_id=given, expected_id=expected)


def check_epoch(work: UnitOfWork, body: Body, existing: Entity | None, subject: str) -> None:
    """A given epoch has to be the stored one (REG-047 to REG-050)."""
    given = body.get("epoch")
    if given is None or existing is None or not work.checks_epochs:
        return
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise RegistryProblem(
            "invalid_attribute", subject, name="epoch", error_detail="must be a whole number", pointer="/epoch"
        )
    if given != existing.epoch and not work.is_changed(subject):
        raise RegistryProblem("mismatched_epoch", subject, bad_epoch=given, epoch=existing.epoch)


def stamps(work: UnitOfWork, body: Body, existing: Entity | None, subject: str) -> tuple[str, str]:
    """`createdat` and `modifiedat` after the write (REG-052, REG-053)."""
    created = _given_time(body, "createdat", subject)
    if created is None:
        created = existing.createdat if existing and "createdat" not in body else work.now
    modified = _given_time(body, "modifiedat", subject)
    if modified is None or (existing is not None and modified == existing.modifiedat):
        modified = work.now
    return created, modified


def _given_time(body: Body, name: str, subject: str) -> str | None:
    given = body.get(name)
    if given is None:
        return None
    normal = normal_timestamp(given) if isinstance(given, str) else None
    if normal is None:
        raise RegistryProblem(
            "invalid_attribute",
            subject,
            name=name,
            error_detail="must be an RFC 3339 timestamp",
            pointer=f"/{name}",
        )
    return normal


def compose(
    work: UnitOfWork,
    attributes: Attributes,
    body: Body,
    before: Body | None,
    subject: str,
    managed: Iterable[str],
) -> Body:
    """The attributes that are to be stored; `before` is what a PATCH merges into, None for a PUT."""
    known, ignored = _writable(SameObject(attributes), tuple(managed))
    before = before or {}
    # What a PATCH deletes need not be known any more: its model may have gone with a value it hung on (ifvalues).
    merged = {n: v for n, v in {**before, **body}.items() if n not in ignored and (v is not None or n not in before)}
    normal, violations = conform(work.model, known, merged)
    raise_violations(violations, subject)
    _check_texts(normal, subject)
    return normal


@functools.lru_cache(maxsize=256)
def _writable(attributes: SameObject[Attributes], managed: tuple[str, ...]) -> tuple[Attributes, frozenset[str]]:
    """The attributes that clients write, and the names that are ignored (REG-026: those of read-only attributes)."""
    kept_out = SERVER_NAMES | set(managed)
    known = {n: a for n, a in attributes.value.items() if n not in kept_out and not a.readonly}
    return known, frozenset(kept_out | (attributes.value.keys() - known.keys()))


def raise_violations(violations: list[AttributeViolation], subject: str) -> None:
    """The first violation as a problem, unless all of them are missing attributes: then all of those."""
    wrong = next((v for v in violations if v.type != "missing"), None)
    if wrong is not None and wrong.type == "unknown":
        raise RegistryProblem("unknown_attribute", subject, name=wrong.dotted, pointer=wrong.pointer)
    if wrong is not None:
        raise RegistryProblem(
            "invalid_attribute", subject, name=wrong.dotted, error_detail=wrong.detail, pointer=wrong.pointer
        )
    if violations:
        names = ", ".join(sorted(violation.dotted for violation in violations))
        raise RegistryProblem("required_attribute_missing", subject, list=names, pointer=violations[0].pointer)


def _check_texts(attributes: Body, subject: str) -> None:
    # An empty `name` is taken: its section forbids it, but that on all attributes calls it a valid value.
    for name in ("documentation", "icon", "format"):
        if attributes.get(name) == "":
            raise RegistryProblem(
                "invalid_attribute", subject, name=name, error_detail="must not be empty", pointer=f"/{name}"
            )
    contenttype = attributes.get("contenttype")
    if isinstance(contenttype, str) and not (contenttype.isascii() and contenttype.isprintable()):
        detail = "must be a media type"
        name = "contenttype"
        raise RegistryProblem("invalid_attribute", subject, name=name, error_detail=detail, pointer=f"/{name}")
    deprecated = attributes.get("deprecated")
    if not isinstance(deprecated, dict):
        return
    effective, removal = deprecated.get("effective"), deprecated.get("removal")
    if effective and removal and removal < effective:
        raise RegistryProblem(
            "invalid_attribute",
            subject,
            name="deprecated.removal",
            error_detail="must not be before effective",
            pointer="/deprecated/removal",
        )
