"""What a registry demands beyond its model: callables handed in when it is opened, so that nothing here knows them.

A rule answers with violations, as the model does; the registry makes problems of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol

import msgspec

from postroom.model.conform import AttributeViolation
from postroom.model.schema_content import References
from postroom.model.types import GroupType, ResourceType

Body = dict[str, Any]


class Judgement(msgspec.Struct, frozen=True):
    """What was found out about documents: yes, no or unknown, with the reason where it is not yes.

    `dangling` says that a document was missed which may yet come with the same request.
    """

    answer: Literal["yes", "no", "unknown"]
    reason: str = ""
    dangling: bool = False


class ReferencedDocument(msgspec.Struct, frozen=True):
    """The document of a Version, with the xid of that Version and the references that it states."""

    xid: str
    content: bytes
    references: References = ()


class Surroundings(msgspec.Struct, frozen=True):
    """Where the documents that a Version's document refers to are found.

    `read` takes the path of a Resource or a Version; `names` gives the paths of all Resources that are beside one;
    `references` are those that the Version itself states.
    """

    xid: str
    read: Callable[[str], ReferencedDocument | None]
    names: Callable[[str], Iterable[str]]
    references: References = ()


class PayloadReference(msgspec.Struct, frozen=True):
    """What a Version says of the payloads it describes: a schema written in place, or the xid of one; and its base."""

    schema: str = ""
    base: str = ""
    form: str = ""
    document: bytes = b""


NO_PAYLOAD = PayloadReference()


class DocumentRules(Protocol):
    """What is known about the formats of documents."""

    @property
    def offered(self) -> Mapping[str, tuple[str, ...]]:
        """The formats that can be checked, `*` for any text, each with its compatibility rules."""
        ...

    def check(self, name: str, content: bytes, around: Surroundings) -> Judgement:
        """Whether a document is what its format says."""
        ...

    def compare(
        self,
        name: str,
        older: list[ReferencedDocument],
        newer: bytes,
        rule: str,
        around: Surroundings,
        *,
        is_strict: bool = False,
    ) -> Judgement:
        """Whether a document may follow its ancestors, nearest first; with `is_strict`, members of JSON objects that
        only the reader declares may have been anything."""
        ...

    def properties(self, name: str, content: bytes) -> tuple[tuple[str, str], ...]:
        """The properties that a schema describes by itself, each a path with the name of its type."""
        ...


class NoDocumentRules:
    """Knows no format."""

    offered: Mapping[str, tuple[str, ...]] = {}

    def check(self, name: str, content: bytes, around: Surroundings) -> Judgement:
        """Unknown."""
        return Judgement("unknown", "no format is known here")

    def compare(
        self,
        name: str,
        older: list[ReferencedDocument],
        newer: bytes,
        rule: str,
        around: Surroundings,
        *,
        is_strict: bool = False,
    ) -> Judgement:
        """Unknown."""
        return Judgement("unknown", "no format is known here")

    def properties(self, name: str, content: bytes) -> tuple[tuple[str, str], ...]:
        """None."""
        return ()


def take_as_written(entity_type: GroupType | ResourceType, body: Body) -> tuple[Body, list[AttributeViolation]]:
    """Read nothing differently."""
    return body, []


def allow_changes(tx: Any, before: Mapping[str, Any]) -> None:
    """Let everything be changed."""


def find_nothing(tx: Any, xids: Iterable[str]) -> list[Any]:
    """Find nothing wrong."""
    return []


def allow_everything(group_type: GroupType, group: Body) -> Iterable[AttributeViolation]:
    """Demand nothing."""
    return ()


def identify_nothing(form: str, content: bytes) -> bytes | None:
    """Give no schema an id."""
    return None


def describe_nothing(version: Mapping[str, Any]) -> PayloadReference:
    """See no payloads."""
    return NO_PAYLOAD


def note_no_owner(tx: Any, xid: str, principal: str) -> None:
    """Keep no owners."""


def forget_nothing(tx: Any, xid: str) -> None:
    """Keep nothing that would have to go."""


class GroupRules(msgspec.Struct, frozen=True, kw_only=True):
    """Rules on the Groups of one type and on the Versions in them."""

    read: Callable[[GroupType, Body], tuple[Body, list[AttributeViolation]]] = take_as_written
    """A Group as it is written, with the words of older texts replaced."""
    check: Callable[[GroupType, Body], Iterable[AttributeViolation]] = allow_everything
    """Looks at a Group as it will be."""
    inherited: frozenset[str] = frozenset()
    """Dotted paths (`messages.protocol`) that a Version without a value takes from its Group."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is handed in; the empty one demands nothing."""

    groups: Mapping[tuple[str, str], GroupRules] = {}
    """By plural and singular name of a Group type."""
    read_version: Callable[[ResourceType, Body], tuple[Body, list[AttributeViolation]]] = take_as_written
    """A Version as it is written, with the words of older texts replaced."""
    documents: DocumentRules = NoDocumentRules()
    """What is known about the formats of documents."""
    schema_identity: Callable[[str, bytes], bytes | None] = identify_nothing
    """The bytes that documents share which are the same schema of a format; None where schemas get no ids."""
    payload: Callable[[Mapping[str, Any]], PayloadReference] = describe_nothing
    """What a Version, by its attributes, says of payloads."""
    most_entities: int = 0
    """How many entities one request may write; 0 sets no limit."""
    lint: Callable[[Any, Iterable[str]], list[Any]] = find_nothing
    """What is wrong with entities by their paths, as they are in a transaction."""
    guard: Callable[[Any, Mapping[str, Any]], None] = allow_changes
    """Refuses a write that nobody here may do: the transaction at its end, and the entities as they were before."""
    group_created: Callable[[Any, str, str], None] = note_no_owner
    """Gets the xid of a Group and the principal who created it, in the same transaction: whoever does so owns it."""
    group_deleted: Callable[[Any, str], None] = forget_nothing
    """Gets the xid of a Group that is no more: whoever creates it anew shall not find the owners of the former."""

    def of(self, group_type: GroupType) -> GroupRules:
        """The rules on one Group type."""
        return self.groups.get((group_type.plural, group_type.singular), NO_GROUP_RULES)


NO_GROUP_RULES = GroupRules()
