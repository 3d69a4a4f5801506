"""What is set for all subjects, for a context or for one subject: compatibility with its companions, and the mode.

The compatibility of a subject is that of its schema, so that the native API shows it and checks by it; what a Resource
cannot hold (an explicit NONE, a level that stored Versions break, all else) is kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from postroom.formats.compatibility import MODES as COMPATIBILITY_LEVELS
from postroom.http.confluent.call import Call, Tree
from postroom.http.confluent.refusals import refuse
from postroom.registry import operations
from postroom.registry.numbering.numbered_writes import is_replica
from postroom.registry.numbering.subjects import DEFAULT, GLOBAL, Subject, find_resource
from postroom.registry.paths import resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.unit_of_work import UnitOfWork

MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT")
READ_ONLY = ("READONLY", "READONLY_OVERRIDE")
DEFAULT_LEVEL = "BACKWARD"
CONFIG, MODE = "confluentconfig", "confluentmode"
EVERYWHERE = Subject(GLOBAL, "")


def scopes(subject: Subject) -> Iterator[Subject]:
    """Where what holds for a subject may be set, the nearest first."""
    if subject.name:
        yield subject
    if subject.context != GLOBAL:
        yield Subject(subject.context, "")
    yield EVERYWHERE


def _key(subject: Subject) -> str:
    return f"{subject.context}#{subject.name}"


def stored(tx: Transaction, kind: str, subject: Subject) -> Tree:
    """What is kept for one scope beside the Resource."""
    found = tx.record(kind, _key(subject))
    return {} if found is None else msgspec.json.decode(found, type=dict[str, Any])


def _store(tx: Transaction, kind: str, subject: Subject, tree: Tree) -> None:
    if tree:
        tx.put_record(kind, _key(subject), msgspec.json.encode(tree))
    else:
        tx.delete_record(kind, _key(subject))


def asked_subject(call: Call, segment: str) -> Subject:
    """The subject that a segment of a path means, or the one that it is an alias of."""
    subject = call.subject(segment)
    alias = stored(call.tx, CONFIG, subject).get("alias") if subject.name else None
    return call.named(alias) if isinstance(alias, str) and alias else subject


def own_config(call: Call, subject: Subject) -> Tree:
    """What is set for exactly this scope; the level of a schema counts before what is kept beside it."""
    config = stored(call.tx, CONFIG, subject)
    if not subject.name:
        return config
    native = _native_level(call, subject)
    return {**config, "compatibilityLevel": native} if native else config


def _native_level(call: Call, subject: Subject) -> str:
    resource = call.tx.entity(find_resource(call.tx, call.contexts.group_xid(subject.context), subject.name))
    level = resource.attributes.get("compatibility") if resource is not None else None
    return level.upper() if isinstance(level, str) else ""


def effective_config(call: Call, subject: Subject) -> Tree:
    """What holds for a scope: each member from the nearest scope that has it."""
    merged: Tree = {"compatibilityLevel": DEFAULT_LEVEL}
    for scope in reversed(list(scopes(subject))):
        merged |= own_config(call, scope)
    return merged


def effective_level(call: Call, subject: Subject) -> str:
    """The compatibility level that holds for a subject."""
    return str(effective_config(call, subject)["compatibilityLevel"])


def effective_mode(call: Call, subject: Subject) -> str:
    """The mode that holds for a subject. READONLY_OVERRIDE of all subjects counts before anything else."""
    everywhere = stored(call.tx, MODE, EVERYWHERE).get("mode")
    if everywhere == "READONLY_OVERRIDE":
        return str(everywhere)
    found = (stored(call.tx, MODE, scope).get("mode") for scope in scopes(subject))
    return next((str(one) for one in found if one), "READWRITE")


def require_writable(call: Call, subject: Subject) -> None:
    """Refuse a write where the mode forbids it, or where another registry gives the ids."""
    if effective_mode(call, subject) in READ_ONLY:
        _refuse(subject, "is in read-only mode")
    if is_replica(call.tx, call.contexts.group_xid(subject.context)):
        _refuse(subject, "is a replica: its schemas are registered where they come from")


def require_mode(call: Call, subject: Subject, *, imports: bool) -> None:
    """Refuse an id that a client chooses outside of IMPORT, and one that it does not choose inside."""
    require_writable(call, subject)
    mode = effective_mode(call, subject)
    if imports and mode != "IMPORT":
        _refuse(subject, "is not in import mode")
    if not imports and mode == "IMPORT":
        _refuse(subject, "is in import mode")


def _refuse(subject: Subject, what: str) -> None:
    name = f"Subject {subject.name} in context {subject.context}" if subject.name else f"Context {subject.context}"
    refuse(42205, reason=f"{name} {what}")


def scope_of(call: Call, segment: str | None) -> Subject:
    """The scope that a path names; without a segment that of all subjects, or of the context the path begins with."""
    if segment is None:
        return EVERYWHERE if call.context == DEFAULT else Subject(call.context, "")
    return call.subject(segment)


def get_config(call: Call, segment: str | None = None) -> Tree:
    """What is set for a scope, or, where asked for, what holds there."""
    scope = scope_of(call, segment)
    if scope == EVERYWHERE or (not scope.name and scope.context == DEFAULT) or call.flag("defaultToGlobal"):
        return effective_config(call, scope)
    config = own_config(call, scope)
    if not config:
        refuse(40408, subject=scope.name or f":{scope.context}:")
    return config


def put_config(call: Call, segment: str | None = None) -> Tree:
    """Set the members that the body names; those that it does not name stay."""
    scope = scope_of(call, segment)
    body = call.body()
    level = body.get("compatibility")
    if level is not None and (not isinstance(level, str) or level.lower() not in COMPATIBILITY_LEVELS):
        refuse(42203)
    body = {name: value for name, value in body.items() if value is not None}
    _require_write(call, scope)
    if effective_mode(call, scope) in READ_ONLY:
        _refuse(scope, "is in read-only mode")
    config = {**stored(call.tx, CONFIG, scope), **{n: v for n, v in body.items() if n != "compatibility"}}
    config = {name: value for name, value in config.items() if value is not None}
    if level is not None:
        config["compatibilityLevel"] = level.upper()
    work = call.work()
    _settle(call, work, scope, config)
    work.finish()
    if not body:
        shown = effective_config(call, scope)
        return {"compatibility": shown.pop("compatibilityLevel"), **shown}
    return {**body, **({"compatibility": level.upper()} if level is not None else {})}


def delete_config(call: Call, segment: str | None = None) -> Tree:
    """Set nothing any more; what was set."""
    scope = scope_of(call, segment)
    config = own_config(call, scope)
    _require_write(call, scope)
    if effective_mode(call, scope) in READ_ONLY:
        _refuse(scope, "is in read-only mode")
    if scope.name and not config:
        refuse(40401, subject=scope)
    work = call.work()
    _settle(call, work, scope, {})
    work.finish()
    return config or {"compatibilityLevel": effective_level(call, scope)}


def settle_after_first_version(call: Call, work: UnitOfWork, subject: Subject) -> None:
    """Let a new schema have the level that was set before there was one."""
    config = stored(call.tx, CONFIG, subject)
    if config.get("compatibilityLevel", "NONE") != "NONE":
        _settle(call, work, subject, config)


def _settle(call: Call, work: UnitOfWork, scope: Subject, config: Tree) -> None:
    """Store a configuration: the level with the schema, if it can have it, and the rest beside."""
    resource = find_resource(call.tx, call.contexts.group_xid(scope.context), scope.name) if scope.name else ""
    existing = call.tx.entity(resource) if resource else None
    if existing is not None and "xref" not in existing.attributes:
        held = existing.attributes.get("compatibility")
        wanted = config.get("compatibilityLevel", held if config else None)
        # The native check knows no groups of versions.
        native = None
        if wanted not in (None, "NONE") and not config.get("compatibilityGroup"):
            native = str(wanted).lower()
        if held != native:
            _put_native(call, work, resource, native)
        now = call.tx.entity(resource)
        held = now.attributes.get("compatibility") if now is not None else None
        if wanted is not None and native is None:
            config = {**config, "compatibilityLevel": wanted.upper()}
        elif native is not None and held == native:
            config = {name: value for name, value in config.items() if name != "compatibilityLevel"}
    _store(call.tx, CONFIG, scope, config)


def _put_native(call: Call, work: UnitOfWork, resource: str, level: str | None) -> None:
    path = resolve(call.tx.model(), f"{resource}/meta")
    try:
        operations.put_meta(work, path, {"compatibility": level}, patch=True)
    except RegistryProblem as problem:
        if problem.name != "compatibility_violation":
            raise
        # What is stored breaks the new level: it counts for what comes, and here it is remembered.
        operations.put_meta(work, path, {"compatibility": None}, patch=True)


def keep_level(call: Call, subject: Subject) -> None:
    """Let the level of a schema that will be deleted stay with the subject."""
    config = own_config(call, subject)
    _store(call.tx, CONFIG, subject, config)


def forget_levels(call: Call, subject: Subject) -> None:
    """Let what was set for a subject go with it."""
    for kind in (CONFIG, MODE):
        _store(call.tx, kind, subject, {})


def get_mode(call: Call, segment: str | None = None) -> Tree:
    """The mode that is set for a scope, or holds there."""
    scope = scope_of(call, segment)
    if scope == EVERYWHERE or (not scope.name and scope.context == DEFAULT) or call.flag("defaultToGlobal"):
        return {"mode": effective_mode(call, scope)}
    found = stored(call.tx, MODE, scope)
    if not found:
        refuse(40409, subject=scope.name or f":{scope.context}:")
    return found


def put_mode(call: Call, segment: str | None = None) -> Tree:
    """Set the mode; IMPORT only where there are no schemas yet, unless forced."""
    scope = scope_of(call, segment)
    mode = call.body().get("mode")
    if not isinstance(mode, str) or mode.upper() not in MODES:
        refuse(42204)
    _require_write(call, scope)
    if mode.upper() == "IMPORT" and not call.flag("force") and _has_schemas(call, scope):
        refuse(42205, reason="Cannot import since found existing subjects")
    _store(call.tx, MODE, scope, {"mode": mode.upper()})
    return {"mode": mode.upper()}


def delete_mode(call: Call, segment: str | None = None) -> Tree:
    """Set no mode any more; what was set."""
    scope = scope_of(call, segment)
    found = stored(call.tx, MODE, scope)
    if scope.name and not found:
        refuse(40401, subject=scope)
    _require_write(call, scope)
    _store(call.tx, MODE, scope, {})
    return found or {"mode": effective_mode(call, scope)}


def _has_schemas(call: Call, scope: Subject) -> bool:
    if scope.name:
        return bool(call.tx.entity(find_resource(call.tx, call.contexts.group_xid(scope.context), scope.name)))
    groups = call.tx.entities("/schemagroups") if scope == EVERYWHERE else []
    xids = [one.xid for one in groups] or [call.contexts.group_xid(scope.context)]
    return any(call.tx.count(f"{xid}/schemas") for xid in xids)


def _require_write(call: Call, scope: Subject) -> None:
    if scope == EVERYWHERE:
        call.tx.permissions.require_admin("/")
    elif scope.name:
        call.tx.permissions.require_write(find_resource(call.tx, call.contexts.group_xid(scope.context), scope.name))
    else:
        call.tx.permissions.require_write(call.contexts.group_xid(scope.context))
