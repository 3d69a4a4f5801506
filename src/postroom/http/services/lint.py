"""What lint finds wrong with an entity: how much in the answer to a write, what exactly at `/-/lint`."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.registry.paths import EntityPath, resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.tree import require_entity
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings
from postroom.store.interface import Store

HEADER = "Postroom-Findings"
_WRITTEN = frozenset({"group", "resource", "version", "meta"})


def answer_lint(request: Request, store: Store) -> Response:
    """The errors and warnings about the entity that `xid` names."""
    xid = next((value for name, value in request.query if name == "xid"), "")
    if not xid.startswith("/"):
        detail = "say which entity: ?xid=/messagegroups/…; `postroom lint` reads a whole registry"
        raise RegistryProblem("bad_request", request.path, error_detail=detail)
    with store.read() as tx:
        require_entity(tx, resolve(tx.model(), xid).xid)
        found = tx.rules.lint(tx, [xid])
    shown = [{name: value for name, value in msgspec.to_builtins(one).items() if name != "file"} for one in found]
    return Response(json={"xid": xid, "findings": shown})


def with_findings(made: Response, request: Request, path: EntityPath, tx: Transaction, settings: Settings) -> Response:
    """The answer to a lenient write, with the number of findings about the entity itself and where they are told."""
    if settings.write_rules == "strict" or request.method == "DELETE" or path.kind not in _WRITTEN:
        return made
    count = len(tx.rules.lint(tx, [path.xid]))
    value = f'{count}; url="{request.base}/-/lint?xid={quote(path.xid)}"' if count else "0"
    return msgspec.structs.replace(made, headers={**made.headers, HEADER: value})
