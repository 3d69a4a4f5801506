"""The port to a store: what the rules need of a transaction. Stores implement it; nothing here knows SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from postroom.model.types import Model
from postroom.registry.entities import Change, Entity
from postroom.registry.permissions import Permissions
from postroom.registry.rules import Rules
from postroom.registry.search.index_rows import EntryQuery, EntryRow, PropertyRow
from postroom.registry.search.search_entry import SearchEntry
from postroom.registry.search.search_query import Term


class Transaction(Protocol):
    """Reads see one state; writes become visible together or not at all."""

    @property
    def permissions(self) -> Permissions:
        """What reads are restricted to, and what writes have to be."""

    @property
    def rules(self) -> Rules:
        """What the registry demands beyond its model."""

    def entity(self, xid: str) -> Entity | None:
        """The entity with exactly this xid."""

    def expect(self, path: str) -> None:
        """Hear which path a write is about, so that what it will ask for can be read together."""

    def entities(self, collection: str) -> list[Entity]:
        """The members of a collection, in the order of their ids."""

    def entities_by_xid(self, xids: Sequence[str]) -> dict[str, Entity]:
        """Those of some entities that exist, read together."""

    def below(self, xid: str) -> list[Entity]:
        """Everything below an entity, at any depth."""

    def count(self, collection: str) -> int:
        """How many members a collection has."""

    def counts(self, collections: Sequence[str]) -> dict[str, int]:
        """How many members each of some collections has, counted together; an empty one may be left out."""

    def ids(self, collection: str, after: str, limit: int, backwards: bool = False) -> list[str]:
        """Up to `limit` ids of a collection that follow one (or, backwards, precede it) when case is ignored.

        An empty `after` means from the beginning (or the end). Backwards, the nearest comes first.
        """

    def xids(self) -> Iterator[str]:
        """The xids of all entities."""

    def size(self, xid: str) -> int:
        """How many entities are below one, at any depth."""

    def sibling(self, collection: str, entity_id: str) -> str | None:
        """The id of the member whose id is this one when case is ignored, as it is spelled there."""

    def referrers(self, *xids: str) -> list[Entity]:
        """The Resources whose `xref` is one of these xids."""

    def put(self, entity: Entity) -> None:
        """Create or replace an entity."""

    def delete(self, xid: str) -> None:
        """Remove one entity; whoever asks removes what is below."""

    def append_change(self, change: Change) -> int:
        """Add a row to the change log and say its sequence."""

    def append_history(self, entity: Entity, sequence: int) -> None:
        """Keep a superseded body with the sequence of the change that superseded it."""

    def change(self, sequence: int) -> Change | None:
        """The row of the change log with a sequence, to compare a cursor with; restrictions do not apply."""

    def changes(self, after: int, limit: int, xid: str = "/") -> list[Change]:
        """Rows of the change log after a sequence that concern an entity or anything below it, oldest first."""

    def last_change(self) -> Change | None:
        """The newest row of the change log; it is never forgotten. Restrictions do not apply."""

    def forget_changes(self, last: int) -> None:
        """Remove the rows of the change log up to a sequence, but never the newest."""

    def forget_history(self, states: Iterable[tuple[str, int]]) -> int:
        """Remove superseded bodies, each by its xid and the sequence of the change that superseded it; how many."""

    def history_after(self, after: tuple[str, int], limit: int) -> list[tuple[str, int]]:
        """Superseded bodies by xid and sequence, in that order; restrictions do not apply."""

    def superseded(self, xid: str, after: int) -> tuple[int, Entity] | None:
        """The first body of an entity that a change after a sequence superseded, and that change's sequence."""

    def history(self, xid: str) -> list[Entity]:
        """Superseded bodies of an entity, oldest first."""

    def history_below(self, xid: str) -> list[tuple[int, Entity]]:
        """Superseded bodies of an entity and of everything below it, each after the sequence of the change that
        superseded it, oldest first. There may be many: what is below comes without attributes and documents.
        """

    def model(self) -> Model:
        """The full model in force."""

    def modelsource(self) -> dict[str, Any]:
        """The model as the user gave it."""

    def put_modelsource(self, source: dict[str, Any], expanded: dict[str, Any]) -> None:
        """Replace the model; `expanded` is the source with its includes resolved."""

    def capabilities(self) -> dict[str, Any] | None:
        """The capabilities as they were set; None when they never were."""

    def put_capabilities(self, capabilities: dict[str, Any]) -> None:
        """Replace the capabilities."""

    def records(self, kind: str, after: str = "", limit: int = 2**62) -> list[tuple[str, bytes]]:
        """What the services around the registry keep beside the entities (subscriptions, links, …): ids and bodies of
        one kind that follow an id, in the order of their ids.
        """

    def record(self, kind: str, record_id: str) -> bytes | None:
        """One of them."""

    def put_search_entry(self, entry: SearchEntry) -> None:
        """Put an entry into the search index, or replace it."""

    def delete_search_entry(self, xid: str) -> None:
        """Remove an entry from the search index."""

    def clear_search_index(self) -> None:
        """Empty the search index."""

    def find_entries(self, query: EntryQuery, after: int, limit: int) -> list[EntryRow]:
        """Entries that fit, in the order of their numbers, after one of them."""

    def find_properties(self, terms: Sequence[Term], shared: bool, after: str, limit: int) -> list[str]:
        """Paths of properties in which all terms are found, in order, after one of them; `shared`: that several schemas
        have. Restrictions do not apply: whether anybody sees a path is known by its uses.
        """

    def property_uses(self, path: str, after: int, limit: int) -> list[PropertyRow]:
        """The schemas that have a property, in the order of their numbers, after one of them."""

    def properties_found(self, xids: Sequence[str], terms: Sequence[Term], limit: int) -> list[PropertyRow]:
        """The properties of some schemas in which one of the terms is found."""

    def payload_users(self, schemas: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The messages whose payloads follow some schemas: each schema with a message."""

    def put_record(self, kind: str, record_id: str, body: bytes) -> None:
        """Create or replace one; no row of the change log comes of it."""

    def delete_record(self, kind: str, record_id: str) -> None:
        """Remove one."""
