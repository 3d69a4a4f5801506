"""The page that compares a stored schema with another Version of it, or with one that is pasted."""

from __future__ import annotations

from typing import Any

from postroom.errors import PostroomError
from postroom.formats.format_table import readable_documents
from postroom.http.server.response import Response
from postroom.messages.definitions.catalog_tree import members
from postroom.registry.paths import resolve
from postroom.registry.problems import RegistryProblem
from postroom.ui.entities.schema import StoredDocument, schema_text, stored_document
from postroom.ui.page import PageRequest
from postroom.ui.trying.try_it import form_of


def answer_compare(page: PageRequest) -> Response:
    """The form, and for two documents whether each can read what the other wrote."""
    sent = form_of(page) if page.request.method == "POST" else page.query
    xid = sent.get("xid", "")
    with page.reading():
        path = resolve(page.tx.model(), xid or "/")
        if path.kind != "resource" or path.ids[0] != "schemagroups" or page.tx.entity(xid) is None:
            raise RegistryProblem("not_found", xid or "/")
        versions = page.tx.ids(f"{xid}/versions", "", 1000)
    schemas = members(members(page.catalog.tree, "schemagroups").get(path.ids[1]), "schemas")
    default = str(schemas.get(path.ids[3], {}).get("versionid", ""))
    chosen = sent.get("version") or default
    old = stored_document(page.catalog.tree, path.ids[1], path.ids[3], chosen)
    other, text = sent.get("other", ""), sent.get("text", "")
    new: StoredDocument | None = None
    if text.strip() and not other and old is not None:
        new = StoredDocument(format=sent.get("format") or old.format, document=text, library=old.library)
    elif other:
        new = stored_document(page.catalog.tree, path.ids[1], path.ids[3], other)
    return page.render(
        "compare.html",
        xid=xid,
        name=path.ids[3],
        versions=versions,
        version=chosen,
        other=other,
        text=text or (schema_text(old.document) if old is not None and not other else ""),
        old=old,
        new=new,
        verdicts=_verdicts(page, old, new) if old is not None and new is not None else [],
        kept=False,
    )


def _verdicts(page: PageRequest, old: StoredDocument, new: StoredDocument) -> list[dict[str, Any]]:
    found = []
    for direction, writer, reader in (("backward", old, new), ("forward", new, old)):
        try:
            verdict = readable_documents(
                (writer.format, writer.document, writer.library),
                (reader.format, reader.document, reader.library),
                is_strict=page.settings.strict_compatibility,
            )
        except PostroomError as error:
            found.append({"direction": direction, "answer": "undecided", "reason": str(error), "shown": ""})
            continue
        found.append(
            {
                "direction": direction,
                "answer": verdict.answer,
                "reason": verdict.reason,
                "shown": verdict.shown,
                "writer_at": verdict.writer_at,
                "reader_at": verdict.reader_at,
            }
        )
    return found
