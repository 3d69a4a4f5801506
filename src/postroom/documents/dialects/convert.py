"""From a document of any dialect to the 1.0-rc4 tree, and from the tree to a document of any dialect."""

from __future__ import annotations

import msgspec

from postroom.documents.dialects.detect import dialect_of
from postroom.documents.dialects.dialect import Dialect, Loss, Note, Tree
from postroom.documents.dialects.dialect_table import DIALECTS
from postroom.documents.dialects.losses import losses
from postroom.documents.dialects.preserved_members import gathered, put_back, their_name, with_extras, without_extras
from postroom.documents.dialects.release_candidates import RC4
from postroom.documents.dialects.walk import objects

FOREIGN = ("0.5-message", "0.5-service", "catalog")


class Reading(msgspec.Struct, frozen=True):
    """A document as read: its tree, the dialect it is in, and what was understood differently."""

    tree: Tree
    dialect: str
    notes: tuple[Note, ...] = ()


class Writing(msgspec.Struct, frozen=True):
    """A document as written, and what its dialect cannot carry."""

    document: Tree
    losses: tuple[Loss, ...] = ()


def read_tree(document: Tree) -> Reading | None:
    """The tree of a document; None when it is in no dialect."""
    name = dialect_of(document)
    if not name:
        return None
    dialect = DIALECTS[name]
    tree, notes = dialect.to_rc4(document)
    if dialect is not RC4:
        tree = with_extras(tree, dialect.shaped(document), dialect)
    return Reading(tree, name, tuple(notes))


def translated(document: Tree) -> Tree:
    """A document of 0.5 or of a message catalog as a tree, one of 1.0 exactly as it is written: what lint looks at."""
    name = dialect_of(document)
    return DIALECTS[name].to_rc4(document)[0] if name in FOREIGN else document


def write_tree(tree: Tree, name: str, *, extras: bool = True) -> Writing:
    """A tree in the words of a dialect."""
    dialect = DIALECTS[name]
    tree = gathered(tree, dialect) if extras else tree
    plain = without_extras(tree, name if extras else "")
    document = dialect.from_rc4(plain)
    lost = [] if dialect is RC4 else losses(plain, dialect.to_rc4(_of_the_tree(document, plain, dialect))[0], dialect)
    if extras:
        document = put_back(document, tree, dialect)
    return Writing(document, tuple(lost))


def _of_the_tree(document: Tree, tree: Tree, dialect: Dialect) -> Tree:
    """The document without messages that the tree does not have: aspects that became definitions of their own."""
    groups_named, messages_named = (their_name(kind, dialect) for kind in ("messagegroups", "messages"))
    pruned = {}
    for name, group in objects(document, groups_named).items():
        known = objects(objects(tree, "messagegroups").get(name), "messages")
        written = objects(group, messages_named)
        if len(written) > len(known):
            pruned[name] = {**group, messages_named: {one: written[one] for one in written if one in known}}
    return {**document, groups_named: {**document[groups_named], **pruned}} if pruned else document
