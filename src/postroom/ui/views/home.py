"""The first page: what there is, what changed lately, and where to go from here."""

from __future__ import annotations

from typing import Any

from postroom.http.server.response import Response
from postroom.messages.definitions.catalog_tree import Tree, members
from postroom.ui.page import PageRequest
from postroom.ui.views.recent_changes import recent_changes

MOST_GROUPS = 12
MOST_RECENT = 8
_ORDER = {"messagegroups": 0, "endpoints": 1, "schemagroups": 2}
"""What people look for first."""


def answer_home(page: PageRequest) -> Response:
    """The page of the registry itself."""
    tree, model = page.catalog.tree, page.tx.model()
    sections = [
        {
            "plural": plural,
            "count": len(members(tree, plural)),
            "resources": [
                {"plural": one, "count": sum(len(members(group, one)) for group in members(tree, plural).values())}
                for one in group_type.resources
            ],
            "groups": _groups(members(tree, plural), plural, list(group_type.resources)),
        }
        for plural, group_type in sorted(model.groups.items(), key=lambda one: _ORDER.get(one[0], len(_ORDER)))
    ]
    return page.render(
        "home.html",
        registry=tree,
        sections=sections,
        is_empty=not any(one["count"] for one in sections),
        recent=recent_changes(page.tx, MOST_RECENT),
        sees_lake=bool(page.settings.lake) and page.request.permissions.sees_lake,
        api_base=page.request.base.removesuffix("/ui").removesuffix("/-"),
        json_url=page.links.api("/"),
    )


def _groups(groups: Tree, plural: str, collections: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "xid": f"/{plural}/{one}",
            "id": one,
            "group": group,
            "sizes": [(name, size) for name in collections if (size := len(members(group, name)))],
        }
        for one, group in list(groups.items())[:MOST_GROUPS]
    ]
