"""Writing out what messages inherit, for dialects that know no base messages."""

from __future__ import annotations

from collections.abc import Callable

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.names import BASE_NAMES
from postroom.documents.dialects.walking import changed
from postroom.errors import DefinitionRefused
from postroom.messages.bases import base_reference, resolve
from postroom.messages.tree import MESSAGE_OWNERS, find_message

# Which base references have to go.
Unwanted = Callable[[str], bool]


def materialised(tree: Tree, unwanted: Unwanted = lambda reference: True) -> Tree:
    """The tree in which messages with an unwanted base say themselves what they inherit from it."""

    def written_out(message: Tree, place: str) -> Tree:
        reference = base_reference(message)
        if not reference or not unwanted(reference):
            return message
        found = find_message(tree, place.replace("~1", "/").replace("~0", "~"))
        try:
            effective = message if found is None or "versions" in message else resolve(tree, found)[0]
        except DefinitionRefused:
            effective = message  # a circle of bases: nothing can be inherited
        return {name: value for name, value in effective.items() if name not in BASE_NAMES}

    written = dict(tree)
    for kind in MESSAGE_OWNERS:
        if isinstance(tree.get(kind), dict):
            written[kind] = changed(
                tree[kind],
                f"/{kind}",
                lambda group, place: {
                    **group,
                    **(
                        {"messages": changed(group["messages"], f"{place}/messages", written_out)}
                        if isinstance(group.get("messages"), dict)
                        else {}
                    ),
                },
            )
    return written
