"""Versions of one Resource while a request works on them, and the algorithms that order them (`versionmode`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from postroom.registry.entities import Document, Entity
from postroom.registry.problems import RegistryProblem


@dataclass
class VersionDraft:
    """A Version as it will be; written only when it was touched."""

    id: str
    original: Entity | None
    attributes: dict[str, Any] = field(default_factory=dict)
    document: Document | None = None
    createdat: str = ""
    modifiedat: str = ""
    ancestor: str | None = None
    touched: bool = False

    @classmethod
    def of(cls, entity: Entity) -> VersionDraft:
        """The draft of a stored Version."""
        return cls(
            id=entity.id,
            original=entity,
            attributes=dict(entity.attributes),
            document=entity.document,
            createdat=entity.createdat,
            modifiedat=entity.modifiedat,
            ancestor=entity.attributes.get("ancestorid"),
        )


Drafts = dict[str, VersionDraft]


def instant(text: str) -> tuple[str, str]:
    """A key that orders normal timestamps: seconds, then the fraction padded."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    return whole, fraction.ljust(12, "0")


def _by_time(draft: VersionDraft) -> tuple[Any, ...]:
    return (*instant(draft.createdat), draft.id.casefold())


def _by_change(draft: VersionDraft) -> tuple[Any, ...]:
    return (*instant(draft.modifiedat), draft.id.casefold())


_SEMVER = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.\-]+))?(?:\+.*)?\Z", re.ASCII)


def _by_semver(draft: VersionDraft) -> tuple[Any, ...]:
    found = _SEMVER.match(draft.id.removeprefix("v"))
    if found is None:
        return (0, (), 0, (), draft.id.casefold())
    numbers = tuple(int(part or 0) for part in found.groups()[:3])
    pre = found.group(4)
    parts = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in pre.split(".")) if pre else ()
    return (1, numbers, 0 if pre else 1, parts, draft.id.casefold())


CHAINED: dict[str, Callable[[VersionDraft], tuple[Any, ...]]] = {
    "createdat": _by_time,
    "modifiedat": _by_change,
    "semver": _by_semver,
}


def newest(drafts: Iterable[VersionDraft], mode: str = "manual") -> VersionDraft:
    """The newest Version: by the chain, or (manual) the youngest that is nobody's ancestor."""
    candidates = list(drafts)
    if mode in CHAINED:
        return max(candidates, key=CHAINED[mode])
    ancestors = {d.ancestor for d in candidates if d.ancestor != d.id}
    leaves = [d for d in candidates if d.id not in ancestors]
    return max(leaves or candidates, key=_by_time)


def oldest(drafts: Iterable[VersionDraft], mode: str = "manual") -> VersionDraft:
    """The oldest Version: by the chain, or (manual) the eldest root."""
    candidates = list(drafts)
    if mode in CHAINED:
        return min(candidates, key=CHAINED[mode])
    roots = [d for d in candidates if d.ancestor == d.id]
    return min(roots or candidates, key=_by_time)


def link_ancestors(drafts: Drafts, mode: str, now: str, subject: str) -> None:
    """Give every Version its ancestor; a Version whose ancestor changes on the way counts as touched."""
    if mode in CHAINED:
        _chain(drafts, mode, now)
    else:
        _attach_new(drafts, subject)
    for draft in drafts.values():
        if draft.attributes.get("ancestorid") != draft.ancestor:
            draft.attributes["ancestorid"] = draft.ancestor
            if not draft.touched:
                draft.touched, draft.modifiedat = True, now


def _chain(drafts: Drafts, mode: str, now: str) -> None:
    previous: str | None = None
    for draft in sorted(drafts.values(), key=CHAINED[mode]):
        draft.ancestor = previous or draft.id
        previous = draft.id


def _attach_new(drafts: Drafts, subject: str) -> None:
    placed = [draft for draft in drafts.values() if draft.ancestor is not None]
    for draft in placed:
        if draft.ancestor not in drafts:
            raise RegistryProblem("unknown_id", subject, singular="version", id=draft.ancestor)
    last = newest(placed).id if placed else None
    for draft in sorted((d for d in drafts.values() if d.ancestor is None), key=_unplaced):
        draft.ancestor = last or draft.id
        last = draft.id


def _unplaced(draft: VersionDraft) -> tuple[Any, ...]:
    """VER-013: new Versions in the order of their ids; before them those that lost their place, in that of time."""
    return (False, *_by_time(draft)) if draft.original else (True, draft.id.casefold())


def refuse_circles(drafts: Drafts, subject: str) -> None:
    """Refuse Versions that are their own ancestors through others (VER-007)."""
    circular = [draft.id for draft in drafts.values() if not _reaches_root(drafts, draft)]
    if circular:
        raise RegistryProblem("ancestor_circular_reference", subject, list=", ".join(sorted(circular)))


def _reaches_root(drafts: Drafts, draft: VersionDraft) -> bool:
    seen = set()
    while draft.ancestor != draft.id:
        if draft.id in seen:
            return False
        seen.add(draft.id)
        draft = drafts[draft.ancestor or draft.id]
    return True


def drop(drafts: Drafts, version_id: str) -> None:
    """Take a Version away; those it was the ancestor of become roots (VER-014)."""
    del drafts[version_id]
    for draft in drafts.values():
        if draft.ancestor == version_id:
            draft.ancestor = draft.id
