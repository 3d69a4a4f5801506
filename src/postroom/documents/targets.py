"""Where documents are loaded to: a running service or a store."""

from __future__ import annotations

from typing import Any

from postroom.documents.service import write_service
from postroom.documents.sources import GROUP_TYPES, STORE_SCHEMES, scheme_of
from postroom.errors import SourceUnknown
from postroom.settings import Settings

Tree = dict[str, Any]


def write_target(document: Tree, target: str, settings: Settings) -> None:
    """Load a document's groups with all they hold, all or nothing."""
    groups = {kind: document[kind] for kind in GROUP_TYPES if kind in document}
    scheme = scheme_of(target)
    if scheme in ("http", "https"):
        write_service(target, groups, settings)
    elif scheme in STORE_SCHEMES:
        _write_store(groups, target)
    else:
        raise SourceUnknown(
            "nothing can be loaded there.", place=target, remedy="Give http(s)://… or sqlite:///path.db."
        )


def _write_store(groups: Tree, url: str) -> None:
    from postroom.registry.operations import import_document
    from postroom.store import open_store

    with open_store(url) as store, store.write() as transaction:
        import_document(transaction, groups)


def count_entities(document: Tree) -> dict[str, int]:
    """How many groups and resources a document holds, by kind."""
    counts: dict[str, int] = {}
    for kind in GROUP_TYPES:
        groups = document.get(kind) or {}
        if groups:
            counts[kind] = len(groups)
        for group in groups.values():
            for name in ("messages", "schemas"):
                held = group.get(name) if isinstance(group, dict) else None
                if isinstance(held, dict) and held:
                    counts[name] = counts.get(name, 0) + len(held)
    return counts
