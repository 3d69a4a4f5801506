"""The paths of the message catalog, and what they are in the registry."""

from __future__ import annotations

from postroom.http.messagecatalog.request import CATALOG
from postroom.registry.problems import RegistryProblem


def route(path: str) -> tuple[str, str, str]:
    """The kind of thing at a path, the path of the registry that it is a view of, and the version."""
    match path.removeprefix("/").removesuffix("/").split("/"):
        case [""]:
            return "catalog", "/messagegroups", ""
        case [group]:
            return "group", f"/messagegroups/{group}", ""
        case [group, "messagedefinitions"]:
            return "definitions", f"/messagegroups/{group}/messages", ""
        case [group, "messagedefinitions", definition]:
            return "definition", f"/messagegroups/{group}/messages/{definition}", ""
        case [group, "messagedefinitions", definition, "versions"]:
            return "versions", f"/messagegroups/{group}/messages/{definition}", ""
        case [group, "messagedefinitions", definition, "versions" | "version", version]:  # its examples have both
            return "version", f"/messagegroups/{group}/messages/{definition}", version
    raise RegistryProblem("api_not_found", CATALOG + path)


def is_version_url(base: str, url: str) -> bool:
    """Whether a URL is, or may become, that of a version in the catalog at a URL."""
    try:
        return url.startswith(base + "/") and route(url.removeprefix(base))[0] == "version"
    except RegistryProblem:
        return False
