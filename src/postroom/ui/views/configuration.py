"""What governs a registry: its model as tables, its capabilities, the settings of the service, and its API."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.http.operations.openapi import openapi_document
from postroom.http.server.response import Response
from postroom.model.render import render_model
from postroom.registry.configuration.capabilities import read_capabilities
from postroom.settings import Settings, describe, displayed, variable
from postroom.ui.page import PageRequest

METHODS = ("get", "post", "put", "patch", "delete")
ATTRIBUTE_SECTIONS = ("attributes", "resourceattributes", "metaattributes")


def answer_model(page: PageRequest) -> Response:
    """The model: each Group type and Resource type with its attributes."""
    with page.reading():
        model = render_model(page.tx.model())
        capabilities = read_capabilities(page.tx).document()
    levels = [{"name": "", "level": model, "sections": _sections(model)}]
    for plural, group in model.get("groups", {}).items():
        levels.append({"name": f"/{plural}", "level": group, "sections": _sections(group)})
        for inner, resource in group.get("resources", {}).items():
            levels.append({"name": f"/{plural}/{inner}", "level": resource, "sections": _sections(resource)})
    return page.render(
        "model.html", here="/-/model", levels=levels, capabilities=capabilities, json_url=page.links.api("/model")
    )


def _sections(level: dict[str, Any]) -> list[tuple[str, list[tuple[str, dict[str, Any], int]]]]:
    return [
        (section, list(_attributes(level[section], 0)))
        for section in ATTRIBUTE_SECTIONS
        if isinstance(level.get(section), dict) and level[section]
    ]


def _attributes(attributes: dict[str, Any], depth: int) -> list[tuple[str, dict[str, Any], int]]:
    found = []
    for name, attribute in attributes.items():
        found.append((name, attribute, depth))
        inner = attribute.get("attributes") or (attribute.get("item") or {}).get("attributes") or {}
        if depth < 3:
            found += _attributes(inner, depth + 1)
    return found


def answer_settings(page: PageRequest) -> Response:
    """The settings that the service was started with; secrets are only said to be there."""
    page.request.permissions.require_admin("/ui/-/settings")
    usual = Settings()
    rows = [
        {
            "name": field.name,
            "variable": variable(field.name),
            "value": _text(displayed(page.settings, field.name)),
            "is_usual": getattr(page.settings, field.name) == getattr(usual, field.name),
            "description": describe(field.name),
        }
        for field in msgspec.structs.fields(Settings)
    ]
    return page.render("settings.html", here="/-/settings", rows=rows, json_url=page.links.api("/capabilities"))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def answer_api(page: PageRequest) -> Response:
    """The operations of the API; those that read can be tried."""
    base = page.request.base.removesuffix("/ui").removesuffix("/-")
    with page.reading():
        document = openapi_document(
            page.tx.model(), read_capabilities(page.tx), base, is_guarded=page.settings.access == "on"
        )
    sections: dict[str, list[dict[str, Any]]] = {one["name"]: [] for one in document["tags"]}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                operation = item[method]
                parameters = [*item.get("parameters", ()), *operation.get("parameters", ())]
                sections[operation["tags"][0]].append(
                    {
                        "method": method,
                        "path": path,
                        "summary": operation["summary"],
                        "parameters": [one for one in parameters if "name" in one and one.get("in") != "header"],
                    }
                )
    return page.render(
        "api.html", here="/-/api", sections=sections, base=base, json_url=page.links.api("/-/openapi.json")
    )
