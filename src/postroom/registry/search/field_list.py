"""The fields of payloads: every property of every schema, with its types, and the schemas and messages that have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from postroom.deadlines import check_deadline
from postroom.registry.problems import RegistryProblem
from postroom.registry.search.index_rows import PropertyRow
from postroom.registry.search.search_query import Term, parse_query
from postroom.registry.search.words import without_nul
from postroom.registry.transaction_interface import Transaction

SUBJECT = "/-/fields"
USUAL, MOST = 50, 200
MOST_USES = 1000
"""How many schemas with one field are counted."""
MOST_NAMED = 20
_AT_ONCE = 100


class FieldsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which fields are wanted: those in whose paths all words of `q` are, after a path."""

    q: str = ""
    is_shared: bool = False
    """Whether only those are wanted that several schemas have."""
    after: str = ""
    limit: int = USUAL


class FieldType(msgspec.Struct, frozen=True):
    """A type that a field has, and in how many schemas."""

    type: str
    count: int


class PayloadField(msgspec.Struct, frozen=True):
    """A field by its path, with the first of the schemas and messages that have it, and how many there are."""

    path: str
    types: tuple[FieldType, ...]
    """The most frequent first; several are worth a look."""
    schemas: tuple[str, ...]
    schemascount: int
    messages: tuple[str, ...]
    messagescount: int
    is_complete: bool
    """Whether there are no more schemas than were counted."""


class FieldsPage(msgspec.Struct, frozen=True):
    """Fields in the order of their paths; `after` begins the next page, and is empty on the last."""

    fields: tuple[PayloadField, ...]
    after: str


def list_fields(tx: Transaction, request: FieldsRequest) -> FieldsPage:
    """A page of fields."""
    if not 1 <= request.limit <= MOST:
        raise RegistryProblem("bad_request", SUBJECT, error_detail=f"limit must be a number from 1 to {MOST}")
    terms = parse_query(request.q, SUBJECT)
    found: list[PayloadField] = []
    for path in _paths(tx, terms, request) if terms or not request.q.strip() else ():
        uses = tx.property_uses(path, 0, MOST_USES + 1)
        if len(uses) < (2 if request.is_shared else 1):
            continue
        if len(found) == request.limit:
            return FieldsPage(tuple(found), found[-1].path)
        found.append(_field(tx, path, uses))
    return FieldsPage(tuple(found), "")


def _paths(tx: Transaction, terms: tuple[Term, ...], request: FieldsRequest) -> Iterator[str]:
    after = without_nul(request.after)
    while paths := tx.find_properties(terms, request.is_shared, after, _AT_ONCE):
        check_deadline()
        yield from paths
        after = paths[-1]


def _field(tx: Transaction, path: str, uses: list[PropertyRow]) -> PayloadField:
    counted = uses[:MOST_USES]
    types = Counter(one.type for one in counted).most_common()
    owners = sorted(one.xid for one in counted)
    messages = [one for one in owners if "/schemas/" not in one]  # their schemas are written in place
    schemas = [one for one in owners if "/schemas/" in one]
    messages += [message for _, message in tx.payload_users(schemas)]
    messages = sorted(set(messages))
    return PayloadField(
        path=path,
        types=tuple(FieldType(*one) for one in types),
        schemas=tuple(schemas[:MOST_NAMED]),
        schemascount=len(schemas),
        messages=tuple(messages[:MOST_NAMED]),
        messagescount=len(messages),
        is_complete=len(uses) <= MOST_USES,
    )
