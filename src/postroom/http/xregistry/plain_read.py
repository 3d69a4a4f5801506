"""The short way to an answer: GET of a Resource without a document and without flags, which is most of what is asked.

It may only answer what the long way would answer alike; everything else, problems included, is left to that one.
"""

from __future__ import annotations

import msgspec

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.server.response_encoding import completed
from postroom.http.xregistry import configuration
from postroom.model.names import is_entity_id
from postroom.model.types import Model, ResourceType
from postroom.registry.configuration.capabilities import Capabilities, read_capabilities
from postroom.registry.permissions import DEEPEST, UNRESTRICTED
from postroom.registry.read.render import View, render
from postroom.registry.read.tree import ResourceTree, VersionTree
from postroom.settings import Settings
from postroom.store.change_follower import ChangeFollower, part_of
from postroom.store.interface import Store, StoredResource


class Configuration(msgspec.Struct, frozen=True):
    """The model and the capabilities, as they were read together."""

    model: Model
    capabilities: Capabilities


class PlainReader:
    """Answers on the thread of the event loop: where the store has the Resource at hand, a thread costs more."""

    def __init__(self, store: Store, settings: Settings, follower: ChangeFollower) -> None:
        self._store = store
        self._settings = settings
        self._follower = follower
        self._configuration: Configuration | None = None

    def forget(self) -> None:
        """Read the model and the capabilities anew: they may have changed."""
        self._configuration = None

    def answer(self, request: Request) -> Response | None:
        """The answer to a GET without flags; None where it takes the long way."""
        resource_type = self._resource_type(request.path)
        if resource_type is None:
            return None
        store = self._store
        if request.permissions is not UNRESTRICTED:
            store = store.seen_by(request.permissions)
        found = store.resource_at_once(request.path)
        if found is None or found.sequence != self._follower.sequence:
            return None
        tree = _tree(request.path, resource_type, found)
        view = View(base=request.base, root=request.path, shortself=self._known().capabilities.shortself)
        made = Response(json=render(tree, view), part=part_of(request.path, is_whole=False))
        return completed(made, request, self._settings)

    def _resource_type(self, path: str) -> ResourceType | None:
        """The type of the Resource that a path names as it stands, if nothing but the Resource is shown for it."""
        parts = path.split("/")
        if len(parts) != DEEPEST + 1 or parts[1] in configuration.METHODS:
            return None
        known = self._known()
        group_type = known.model.groups.get(parts[1])
        found = group_type.resources.get(parts[3]) if group_type else None
        is_named = is_entity_id(parts[2]) and is_entity_id(parts[4])
        is_plain = found is not None and not found.hasdocument and "entities" in known.capabilities.available
        return found if is_named and is_plain else None

    def _known(self) -> Configuration:
        if self._configuration is None:
            with self._store.read() as tx:
                self._configuration = Configuration(tx.model(), read_capabilities(tx))
        return self._configuration


def _tree(xid: str, resource_type: ResourceType, found: StoredResource) -> ResourceTree:
    default = VersionTree(
        xid=f"{xid}/versions/{found.default.id}",
        resource_id=found.meta.id,
        type=resource_type,
        entity=found.default,
        isdefault=True,
    )
    return ResourceTree(xid=xid, type=resource_type, meta=found.meta, default=default, count=found.versions)
