"""Conversion between documents of any dialect and the 1.0-rc4 tree."""

from __future__ import annotations

import msgspec

from postroom.documents.dialects.detect import dialect_of
from postroom.documents.dialects.dialect import Dialect, Loss, ReadNote, Tree
from postroom.documents.dialects.dialect_table import DIALECTS
from postroom.documents.dialects.losses import losses
from postroom.documents.dialects.preserved_members import (
    collect_extras,
    collection_name,
    lift_extras,
    restore_extras,
    strip_extras,
)
from postroom.documents.dialects.release_candidates import RC4
from postroom.documents.dialects.split_protocols import without_split_protocols
from postroom.documents.dialects.walk_tree import objects

FOREIGN = ("0.5-message", "0.5-service", "catalog")


class ParsedCatalog(msgspec.Struct, frozen=True):
    """A document as it was read: its tree, the dialect it is in, and what was understood differently."""

    tree: Tree
    dialect: str
    notes: tuple[ReadNote, ...] = ()


class WrittenCatalog(msgspec.Struct, frozen=True):
    """A document in the dialect that was asked for, and what this dialect cannot carry."""

    document: Tree
    losses: tuple[Loss, ...] = ()


def read_tree(document: Tree) -> ParsedCatalog | None:
    """The tree of a document; None when it is in no dialect."""
    name = dialect_of(document)
    if not name:
        return None
    dialect = DIALECTS[name]
    tree, notes = dialect.to_rc4(document)
    if dialect is not RC4:
        tree = collect_extras(tree, dialect.canonical(document), dialect)
    return ParsedCatalog(tree, name, tuple(notes))


def translate_older(document: Tree) -> Tree:
    """The tree of a document of 0.5 or of a message catalog; a document of 1.0 exactly as it is written (for lint)."""
    name = dialect_of(document)
    return DIALECTS[name].to_rc4(document)[0] if name in FOREIGN else document


def write_tree(tree: Tree, name: str, *, extras: bool = True) -> WrittenCatalog:
    """Write a tree as a document of a dialect."""
    dialect = DIALECTS[name]
    tree = lift_extras(tree, dialect) if extras else tree
    plain = dialect.trim(strip_extras(tree, name if extras else ""))
    document = dialect.from_rc4(plain)
    lost = (
        []
        if dialect is RC4
        else losses(plain, dialect.to_rc4(_without_split_messages(document, plain, dialect))[0], dialect)
    )
    if extras:
        document = restore_extras(document, tree, dialect)
    return WrittenCatalog(document, tuple(lost))


def _without_split_messages(document: Tree, tree: Tree, dialect: Dialect) -> Tree:
    """The document without messages that the tree does not have: those that were split off another one in writing."""
    document = without_split_protocols(document, tree)
    groups_named, messages_named = (
        collection_name(group_type, dialect) for group_type in ("messagegroups", "messages")
    )
    pruned = {}
    for name, group in objects(document, groups_named).items():
        known = objects(objects(tree, "messagegroups").get(dialect.entity_id(name)), "messages")
        written = objects(group, messages_named)
        if len(written) > len(known):
            kept = {one: written[one] for one in written if dialect.entity_id(one) in known}
            pruned[name] = {**group, messages_named: kept}
    return {**document, groups_named: {**document[groups_named], **pruned}} if pruned else document
