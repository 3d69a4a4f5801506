"""What changes subjects: a new version, deletions that can be undone and those that cannot; and what looks like one."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from urllib.parse import unquote

import msgspec

from postroom.http.confluent.call import Call, Tree
from postroom.http.confluent.candidates import Candidate, check, read_candidate, violations
from postroom.http.confluent.levels import (
    asked_subject,
    effective_level,
    forget_levels,
    keep_level,
    require_mode,
    require_writable,
    settle_after_first_version,
)
from postroom.http.confluent.reads import referrers
from postroom.http.confluent.refusals import refuse
from postroom.http.confluent.subject_view import SubjectView, guid, shown_version, version_number, view
from postroom.registry import operations
from postroom.registry.numbering.schema_ids import GUID, content_digest
from postroom.registry.numbering.subjects import EXACT_NAME, GLOBAL, needs_exact_name
from postroom.registry.numbering.version_numbers import (
    HIGHEST,
    NUMBER,
    SchemaVersion,
    forget_version,
    keep_version,
    kept_versions,
    number_of,
)
from postroom.registry.paths import resolve
from postroom.registry.read.tree import require_entity
from postroom.registry.write.unit_of_work import UnitOfWork


def look_up(call: Call, segment: str) -> Tree:
    """The version of a subject that says what the body says."""
    found = view(call, asked_subject(call, segment))
    versions = found.versions(deleted=call.flag("deleted"))
    if not versions:
        refuse(40401, subject=found.subject)
    body = call.body()
    if not body.get("schema"):
        refuse(40403, id="")
    candidate = read_candidate(call, found, body)
    check(call, found, candidate)
    same = same_version(call, candidate, versions)
    if same is None:
        refuse(40403, id="")
    return shown_version(call, found.subject, same)


def same_version(call: Call, candidate: Candidate, versions: list[SchemaVersion]) -> SchemaVersion | None:
    """The newest of some versions that says the same."""
    same = (one for one in reversed(versions) if content_digest(call.tx.rules, one.entity) == candidate.digest)
    return next(same, None)


def registered(call: Call, segment: str) -> Tree | None:
    """The answer to a registration that changes nothing, because the version is there; None where it is not."""
    subject = asked_subject(call, segment)
    body = call.body()
    if body.get("id") not in (None, -1):
        return None
    found = view(call, subject)
    if not found.live:
        return None
    same = same_version(call, read_candidate(call, found, body, inherits=True), found.live)
    if same is None:
        return None
    require_mode(call, subject, imports=False)
    return _answer(call, same)


def register(call: Call, segment: str) -> Tree:
    """Add a version to a subject, which is made when it is not there; the one that says the same, if there is one."""
    subject = asked_subject(call, segment)
    if not subject.name or subject.context == GLOBAL or subject.name in ("__GLOBAL", "__EMPTY"):
        refuse(42208, subject=subject)
    body = call.body()
    schema_id, number = _chosen(body, "id"), _chosen(body, "version")
    found = view(call, subject)
    call.tx.permissions.require_write(found.resource)
    require_mode(call, subject, imports=schema_id is not None)
    candidate = read_candidate(call, found, body, inherits=schema_id is None)
    check(call, found, candidate)
    same = same_version(call, candidate, found.live)
    if same is not None and (schema_id is None or (schema_id in same.ids and number in (None, same.number))):
        return _answer(call, same)
    if schema_id is None:
        _require_compatible(call, found, candidate)
    return _answer(call, _add(call, found, candidate, schema_id, number, _stated_guid(body)))


def _stated_guid(body: Tree) -> str:
    stated = body.get("guid")
    try:
        return str(uuid.UUID(stated)) if isinstance(stated, str) else ""
    except ValueError:
        refuse(42201, reason="guid must be a GUID")


def _chosen(body: Tree, name: str) -> int | None:
    value = body.get(name)
    if value is None or value in (-1, 0):
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= HIGHEST:
        refuse(42201, reason=f"{name} must be a number from 1 on")
    return value


def _require_compatible(call: Call, found: SubjectView, candidate: Candidate) -> None:
    level = effective_level(call, found.subject)
    reasons = violations(call, found, candidate, found.live, level)
    if reasons:
        details = ", ".join(reasons)
        refuse(
            409,
            reason="Schema being registered is incompatible with an earlier schema for subject "
            f'"{found.subject}", details: [{details}]',
        )


def _add(
    call: Call,
    found: SubjectView,
    candidate: Candidate,
    schema_id: int | None,
    number: int | None,
    guid_stated: str,
) -> SchemaVersion:
    number = number or max((one.number for one in found.all), default=0) + 1
    if any(one.number == number for one in found.live):
        refuse(42205, reason=f"Overwrite new schema with version {number} is not permitted.")
    body = candidate.as_written()
    if schema_id is not None:
        body["schemaids"] = [schema_id]
        if guid_stated and guid_stated != str(uuid.UUID(candidate.digest)):
            body[GUID] = guid_stated
    if found.live:
        body["ancestorid"] = found.live[-1].entity.id
    if needs_exact_name(found.resource):
        body[EXACT_NAME] = found.subject.name
    version_id: str | None = str(number)
    if call.tx.entity(f"{found.resource}/versions/{number}") is not None:
        version_id, body[NUMBER] = None, number
    for one in found.deleted:
        if one.number == number:  # an import brings it back
            forget_version(call.tx, one)
    work = call.work()
    path = resolve(call.tx.model(), found.resource)
    with work.operation():
        made = operations.put_version(work, path, version_id, body, False, "")
        if not found.live:
            settle_after_first_version(call, work, found.subject)
    work.finish()
    entity = require_entity(call.tx, f"{found.resource}/versions/{made.versions[0]}")
    if entity.attributes.get("formatvalidated") is not True:
        refuse(42201, reason=str(entity.attributes.get("formatvalidatedreason", "it cannot be checked")))
    return SchemaVersion(number_of(entity), entity)


def _answer(call: Call, version: SchemaVersion) -> Tree:
    # Clients take a schema in this answer for the form that they asked others to send.
    return {"id": version.ids[0], "version": version.number, "guid": guid(call.tx, version.entity)}


def check_against_version(call: Call, segment: str, number: str) -> Tree:
    """Whether a schema goes with one version."""
    found = view(call, asked_subject(call, segment))
    wanted = version_number(unquote(number))
    if not found.live and wanted == -1:
        refuse(40401, subject=found.subject)
    versions = found.live[-1:] if wanted == -1 else [one for one in found.live if one.number == wanted]
    if not versions:
        refuse(40402, version=unquote(number))
    return _compatibility(call, found, versions)


def check_against_all(call: Call, segment: str) -> Tree:
    """Whether a schema goes with the versions that the level concerns."""
    found = view(call, asked_subject(call, segment))
    return _compatibility(call, found, found.live)


def _compatibility(call: Call, found: SubjectView, versions: list[SchemaVersion]) -> Tree:
    candidate = read_candidate(call, found, call.body())
    check(call, found, candidate)
    reasons = violations(call, found, candidate, versions, effective_level(call, found.subject))
    return {"is_compatible": not reasons, **({"messages": reasons} if call.flag("verbose") else {})}


def delete_subject(call: Call, segment: str) -> list[int]:
    """Delete all versions of a subject, for good where they were deleted before."""
    subject = asked_subject(call, segment)
    found = view(call, subject)
    call.tx.permissions.require_write(found.resource)
    require_writable(call, subject)
    is_permanent = call.flag("permanent")
    if not found.all:
        refuse(40401, subject=subject)
    if is_permanent and found.live:
        refuse(40405, subject=subject)
    if not is_permanent and not found.live:
        refuse(40404, subject=subject)
    doomed = found.deleted if is_permanent else found.live
    _refuse_referenced(call, found, doomed)
    if is_permanent:
        for one in doomed:
            forget_version(call.tx, one)
        forget_levels(call, subject)
    else:
        keep_level(call, subject)
        _take_away(call, found, doomed)
    return [one.number for one in doomed]


def delete_version(call: Call, segment: str, number: str) -> int:
    """Delete one version, for good where it was deleted before."""
    subject = asked_subject(call, segment)
    found = view(call, subject)
    call.tx.permissions.require_write(found.resource)
    require_writable(call, subject)
    wanted, is_permanent = version_number(unquote(number)), call.flag("permanent")
    if not found.all:
        refuse(40401, subject=subject)
    candidates = found.all if is_permanent or wanted != -1 else found.live
    version = (
        candidates[-1] if wanted == -1 and candidates else next((o for o in candidates if o.number == wanted), None)
    )
    if version is None:
        refuse(40402, version=unquote(number))
    if is_permanent and not version.is_deleted:
        refuse(40407, subject=subject, version=version.number)
    if not is_permanent and version.is_deleted:
        refuse(40406, subject=subject, version=version.number)
    _refuse_referenced(call, found, [version])
    if is_permanent:
        forget_version(call.tx, version)
    else:
        _take_away(call, found, [version])
    return version.number


def _refuse_referenced(call: Call, found: SubjectView, doomed: Iterable[SchemaVersion]) -> None:
    for one in doomed:
        own = f"{found.resource}/"
        if any(not referrer.entity.xid.startswith(own) for referrer in referrers(call, one)):
            refuse(42206, schema=f"{{subject={found.subject},version={one.number}}}")


def _take_away(call: Call, found: SubjectView, doomed: list[SchemaVersion]) -> None:
    """Delete Versions from the registry and keep them beside it."""
    kept = kept_versions(call.tx, found.resource)
    work = call.work()
    path = resolve(call.tx.model(), f"{found.resource}/versions")
    gone = {one.entity.id for one in doomed}
    with work.operation():
        _link_over(call, work, found, gone)
        operations.delete(work, path, None, {one: {} for one in gone}, "")
    work.finish()
    for one in [*kept, *(msgspec.structs.replace(one, is_deleted=True) for one in doomed)]:
        keep_version(call.tx, one)


def _link_over(call: Call, work: UnitOfWork, found: SubjectView, gone: set[str]) -> None:
    """Give the Versions that follow what goes the ancestors of that, so that all are still compared with all."""
    ancestors = {one.entity.id: str(one.entity.attributes.get("ancestorid")) for one in found.live}
    changed = {
        version_id: {"ancestorid": _beyond(ancestors, ancestor, gone)}
        for version_id, ancestor in ancestors.items()
        if version_id not in gone and ancestor in gone
    }
    if changed:
        operations.put_versions(work, resolve(call.tx.model(), f"{found.resource}/versions"), changed, True, "")


def _beyond(ancestors: dict[str, str], ancestor: str, gone: set[str]) -> str:
    """The nearest ancestor that stays; `request` for a root."""
    while ancestor in gone:
        if ancestors.get(ancestor, ancestor) == ancestor:
            return "request"
        ancestor = ancestors[ancestor]
    return ancestor
