"""One request to the message catalog, inside one transaction, and how it is refused."""

from __future__ import annotations

import re
from typing import NoReturn

import msgspec

from postroom.documents.dialects.messagecatalog_ids import catalog_id_of, catalog_segment
from postroom.http.server.request import Request
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings

CATALOG = "/messagecatalog"
# What the registry calls wrong about a request is, to a client of the catalog, the state of what it meets.
_CONFLICTS = frozenset({"readonly", "constraint_failure", "compatibility_violation", "mismatched_epoch"})
_NATIVE_PATH = re.compile(r"/messagegroups(?=/|\Z)(?:/([^/]+))?(?:(/messages)(?=/|\Z)(?:/([^/]+))?)?")


class CatalogRequest(msgspec.Struct, frozen=True):
    """A request to one path of the catalog; `version` is the last part of a path to a version, as it is written."""

    tx: Transaction
    request: Request
    settings: Settings
    path: EntityPath
    version: str = ""

    @property
    def base(self) -> str:
        """The URL of the catalog: the authority of what names no other."""
        return self.request.base

    @property
    def root(self) -> str:
        """The URL of the registry that the catalog is a view of."""
        return root_of(self.request.base)

    def refuse(self, detail: str, status: int = 400, pointer: str = "") -> NoReturn:
        """Refuse the request in one sentence."""
        raise RegistryProblem("bad_request", self.path.xid, error_detail=detail, status=status, pointer=pointer)


def root_of(base: str) -> str:
    """The URL of the registry, from that of its catalog."""
    return base.removesuffix(CATALOG).removesuffix("/-")


def path_of(xid: str) -> str:
    """The path of a group or a definition in the catalog, from the xid that it has in the registry."""
    parts = map(catalog_segment, xid.split("/")[2::2])
    return CATALOG + "".join(f"/{word}{part}" for word, part in zip(("", "messagedefinitions/"), parts, strict=False))


def translate_problem(problem: RegistryProblem) -> RegistryProblem:
    """A problem of the registry in the words of the catalog."""
    status = 409 if problem.name in _CONFLICTS else problem.status
    return RegistryProblem(
        problem.name,
        _NATIVE_PATH.sub(_catalog_path, problem.subject, count=1),
        detail=problem.detail,
        pointer=problem.pointer,
        status=status,
        headers=problem.extra_headers,
        **problem.args_map,
    )


def _catalog_path(found: re.Match[str]) -> str:
    group, messages, message = found.groups()
    path = CATALOG + (f"/{catalog_id_of(group)}" if group else "") + ("/messagedefinitions" if messages else "")
    return path + (f"/{catalog_id_of(message)}" if message else "")
