"""What the index of a store is asked, and the rows that it answers with."""

from __future__ import annotations

import msgspec

from postroom.registry.search.search_query import Term


class EntryQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Entries in which all terms are found, or every entry; restricted to values of facets where those are given."""

    terms: tuple[Term, ...] = ()
    in_title: bool = False
    """Whether all terms have to be in the id or the name."""
    facets: tuple[tuple[str, str], ...] = ()
    """Names of `FACETS` with the value that each must have."""


FACETS = ("kind", "group", "format", "envelope", "protocol")


class EntryRow(msgspec.Struct, frozen=True):
    """An entry that was found, and how well it fits: by that entry alone, for others may be hidden."""

    number: int
    """Its place in the index, in which entries are read."""
    xid: str
    kind: str
    group: str
    format: str
    envelope: str
    protocol: str
    score: int = 0
    length: int = 0
    """Of the words in its title."""


class PropertyRow(msgspec.Struct, frozen=True):
    """A property of a schema: its path, its type, and the xid of the schema, or of the message it is written in."""

    number: int
    xid: str
    path: str
    type: str
