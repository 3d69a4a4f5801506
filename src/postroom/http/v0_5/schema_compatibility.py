"""New documents of schemas have to be able to read what all earlier versions describe (D5R-035)."""

from __future__ import annotations

import base64
from typing import Any

from postroom.documents.dialects.dialect import Tree
from postroom.http.v0_5.current_entities import VersionView, version_order
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.document_content import encode_document
from postroom.registry.read.referenced_documents import surroundings
from postroom.registry.transaction import Transaction

RULE = "backward_transitive"


def check_compatible(tx: Transaction, state: VersionView, document: Tree, form: Any, version_id: str) -> None:
    """Refuse a document that breaks with the versions before it; what cannot be judged is let through."""
    content = _content(state, document)
    if not content or not form or not state.kind.validatecompatibility or state.xref:
        return
    versions = {one.id: one for one in tx.entities(f"{state.place.xid}/versions")}
    order = sorted(versions, key=version_order, reverse=True)
    earlier = [one for one in order if not version_id or version_order(one) < version_order(version_id)]
    older = [found.content for one in earlier if (found := versions[one].document) is not None and found.content]
    if not older:
        return
    judgement = tx.rules.documents.compare(form, older, content, RULE, surroundings(tx, state.tree.xid))
    if judgement.answer == "no":
        raise RegistryProblem("compatibility_violation", state.place.xid, detail=judgement.reason, compat=RULE)


def _content(state: VersionView, document: Tree) -> bytes:
    inline, encoded = document.get(state.kind.singular), document.get(state.kind.singular + "base64")
    if inline is not None:
        return encode_document(inline)
    try:
        return base64.b64decode(encoded or "", validate=True)
    except (TypeError, ValueError):
        return b""  # the registry refuses it
