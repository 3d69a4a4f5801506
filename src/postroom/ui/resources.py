"""The page of a Resource: that of a definition or a schema, where it is one; its attributes for any other."""

from __future__ import annotations

from postroom.http.server.response import Response
from postroom.messages.definitions.catalog_tree import MESSAGE_OWNERS
from postroom.registry.paths import EntityPath
from postroom.ui.definition import answer_definition
from postroom.ui.entities import answer_generic
from postroom.ui.page import PageRequest
from postroom.ui.schema import answer_schema


def answer_resource(page: PageRequest, path: EntityPath) -> Response:
    """The page that fits the type of a Resource."""
    group, collection = path.ids[0], path.ids[2]
    if group in MESSAGE_OWNERS and collection == "messages":
        return answer_definition(page, path)
    if (group, collection) == ("schemagroups", "schemas"):
        return answer_schema(page, path)
    return answer_generic(page, path)
