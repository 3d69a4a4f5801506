"""Schema versions of 0.5 are backward compatible with all earlier ones (D5R-035), whichever of them is written."""

from __future__ import annotations

from collections.abc import Collection

from postroom.messages.definitions.catalog_tree import version_order
from postroom.model.schema_content import stated_references
from postroom.registry.entities import Entity
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.referenced_documents import surroundings
from postroom.registry.rules import ReferencedDocument
from postroom.registry.transaction_interface import Transaction

_RULE, _EACH = "backward_transitive", "backward"


def check_versions(tx: Transaction, resource: EntityPath, written: Collection[str]) -> None:
    """Refuse versions that were written when a later one cannot read what an earlier one describes.

    What is undecided is accepted. Versions that broke with their past before, through another API, are no reason to
    refuse: what the version in between cannot read, the next one need not read either.
    """
    if resource.resource.validatecompatibility:
        _Versions(tx, resource).check(written)


class _Versions:
    def __init__(self, tx: Transaction, resource: EntityPath) -> None:
        self._tx = tx
        self._xid = resource.xid
        found = sorted(tx.entities(f"{resource.xid}/versions"), key=lambda one: version_order(one.id))
        self._versions = [one for one in found if one.attributes.get("format") and _content(one)]

    def check(self, written: Collection[str]) -> None:
        """Compare each pair of which a part was written."""
        for number, newer in enumerate(self._versions):
            for index in reversed(range(number)):
                older = self._versions[index]
                if newer.id not in written and older.id not in written:
                    continue
                reason = self._breach(older, newer)
                if reason and not self._was_broken(older, self._versions[index + 1 : number], written):
                    detail = f"version {newer.id} cannot read what version {older.id} describes: {reason}"
                    raise RegistryProblem("compatibility_violation", self._xid, detail=detail, compat=_RULE)

    def _breach(self, older: Entity, newer: Entity) -> str:
        around = surroundings(self._tx, newer.xid, stated_references(newer.attributes))
        before = ReferencedDocument(older.xid, _content(older), stated_references(older.attributes))
        form = str(newer.attributes["format"])
        judgement = self._tx.rules.documents.compare(form, [before], _content(newer), _EACH, around)
        return judgement.reason if judgement.answer == "no" else ""

    def _was_broken(self, older: Entity, between: list[Entity], written: Collection[str]) -> bool:
        if older.id in written:
            return False
        return any(one.id not in written and self._breach(older, one) for one in between)


def _content(version: Entity) -> bytes:
    return version.document.content if version.document is not None else b""
