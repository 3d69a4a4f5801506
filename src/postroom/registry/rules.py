"""What a registry demands beyond its model: callables handed in when it is opened, so that nothing here knows them.

A rule answers with violations, as the model does; the registry makes problems of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from postroom.model.conform import Violation
from postroom.model.types import GroupType, ResourceType
from postroom.registry.entities import Document

if TYPE_CHECKING:
    from postroom.registry.transaction import Transaction

Body = dict[str, Any]

CheckDocument = Callable[[str, Document | None, str, "Transaction"], Any]
"""Takes a format, the document of a Version, its xid, and where the documents that it refers to are found."""
CompareDocuments = Callable[[str, str, list[Document], str, "Transaction"], Any]
"""Takes a format, a compatibility, the documents from the oldest to the newest, the xid, and where others are found."""


def take_as_written(kind: GroupType | ResourceType, body: Body) -> tuple[Body, list[Violation]]:
    """Read nothing differently."""
    return body, []


def allow_everything(kind: GroupType, group: Body) -> Iterable[Violation]:
    """Demand nothing."""
    return ()


class GroupRules(msgspec.Struct, frozen=True, kw_only=True):
    """Rules on the Groups of one type and on the Versions in them."""

    read: Callable[[GroupType, Body], tuple[Body, list[Violation]]] = take_as_written
    """A Group as it is written, with the words of older texts replaced."""
    check: Callable[[GroupType, Body], Iterable[Violation]] = allow_everything
    """Looks at a Group as it will be."""
    check_version: Callable[[Body, Body], Iterable[Violation]] | None = None
    """Looks at a Version beside its Group; what it finds is a `constraint_failure`."""
    inherited: frozenset[str] = frozenset()
    """Dotted paths (`messages.protocol`) that a Version without a value takes from its Group."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is handed in; the empty one demands nothing."""

    groups: Mapping[tuple[str, str], GroupRules] = {}
    """By plural and singular name of a Group type."""
    read_version: Callable[[ResourceType, Body], tuple[Body, list[Violation]]] = take_as_written
    """A Version as it is written, with the words of older texts replaced."""
    ignoring_case: frozenset[str] = frozenset({"format", "compatibility"})
    """Attributes whose values are equal when they differ in case only (C-55)."""
    check_document: CheckDocument | None = None
    compare_documents: CompareDocuments | None = None

    def of(self, kind: GroupType) -> GroupRules:
        """The rules on one Group type."""
        return self.groups.get((kind.plural, kind.singular), NO_GROUP_RULES)


NO_GROUP_RULES = GroupRules()
NO_RULES = Rules()
