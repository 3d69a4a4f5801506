"""The paths of the message catalog, and what they are in the registry."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from postroom.documents.dialects.messagecatalog_ids import catalog_id_error, entity_id
from postroom.http.messagecatalog.request import CATALOG, CatalogRequest
from postroom.registry.problems import RegistryProblem


def route(path: str) -> tuple[str, str, str]:
    """The kind of thing at a path, the path of the registry that it is a view of, and the version."""
    parts = path.removeprefix("/").removesuffix("/").split("/")
    group = f"/messagegroups/{_entity_id(parts[0], path)}" if parts[0] else ""
    definition = f"{group}/messages/{_entity_id(parts[2], path)}" if len(parts) > 2 else ""
    match parts:
        case [""]:
            return "catalog", "/messagegroups", ""
        case [_]:
            return "group", group, ""
        case [_, "messagedefinitions"] if group:
            return "definitions", f"{group}/messages", ""
        case [_, "messagedefinitions", _] if group:
            return "definition", definition, ""
        case [_, "messagedefinitions", _, "versions"] if group:
            return "versions", definition, ""
        case [_, "messagedefinitions", _, "versions" | "version", version] if group:  # its examples have both
            return "version", definition, version
    raise RegistryProblem("api_not_found", CATALOG + path)


def _entity_id(segment: str, path: str) -> str:
    """The id in the registry that a segment of a path means."""
    try:
        given = unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise RegistryProblem("api_not_found", CATALOG + path) from None
    if given in (".", ".."):
        raise RegistryProblem("api_not_found", CATALOG + path)
    if given and (error := catalog_id_error(given)):
        raise RegistryProblem("malformed_id", CATALOG + path, id=given, error_detail=error)
    return entity_id(given)


def refuse_bare_colon(context: CatalogRequest) -> None:
    """Refuse a new id with a colon that is not percent-encoded: it is no `segment-nz-nc` of RFC 3986."""
    segment = context.request.path.rstrip("/").rpartition("/")[2]
    if ":" in segment:
        detail = "a colon in it has to be percent-encoded, as %3A"
        raise RegistryProblem("malformed_id", context.path.xid, id=segment, error_detail=detail)


def is_version_url(base: str, url: str) -> bool:
    """Whether a URL is, or may become, that of a version in the catalog at a URL."""
    try:
        return url.startswith(base + "/") and route(url.removeprefix(base))[0] == "version"
    except RegistryProblem:
        return False
