"""DELETE of Groups, Resources and versions, one or several, all or nothing; responds with what they last were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from postroom.documents.dialects.dialect import Tree
from postroom.http.server.request import Request
from postroom.http.server.request_body import parse_json
from postroom.http.server.response import Response
from postroom.http.v0_5.entity_views import GroupView, VersionView, version_order
from postroom.http.v0_5.groups import GroupWriter
from postroom.http.v0_5.names import v0_5_path
from postroom.http.v0_5.preconditions import check_epoch, check_id, check_version
from postroom.http.v0_5.read import ReadHandler, parse_parameters
from postroom.registry import operations
from postroom.registry.paths import Place
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.tree import require_entity
from postroom.registry.write.unit_of_work import Interaction
from postroom.settings import Settings

State = GroupView | VersionView


class EntityDeleter:
    """One request to delete."""

    def __init__(self, interaction: Interaction, request: Request, settings: Settings) -> None:
        self.interaction = interaction
        self.tx = interaction.tx
        self.request = request
        self.settings = settings
        self.reading = ReadHandler(interaction.tx, request, settings)
        self.states = self.reading.states

    def entity(self, place: Place) -> Response:
        """DELETE of one Group, Resource or version."""
        state = self._state(place)
        check_epoch(parse_parameters(self.request).epoch, _epoch(state), self.request.path)
        if isinstance(state, GroupView):
            answer = Response(json=self.reading.group(state))
        else:
            answer = self.reading.resource(state)
        if place.kind == "version" and self.tx.count(f"{place.resource_xid}/versions") == 1:
            self._refuse_last()
        self._delete(place)
        return answer

    def members(self, place: Place) -> Response:
        """DELETE of the members that a list names; without a list, of all (of versions: all but the latest)."""
        if place.kind != "groups":
            require_entity(self.tx, place.group_xid)
        if place.kind == "versions":
            return self._versions(place)
        chosen = self._named(place) if self.request.body.strip() else self._all(place)
        for entity_id in chosen:
            self._delete(_member(place, entity_id))
        return Response(json=chosen)

    def _versions(self, place: Place) -> Response:
        found = self.states.versions(place)
        chosen = list(self._named(place)) if self.request.body.strip() else sorted(found, key=version_order)[:-1]
        if len(chosen) == len(found):
            self._refuse_last()
        for one in chosen:
            self._groups().forget(place, one)
        operations.delete(self.interaction, place, None, {one: {} for one in chosen}, "")
        return Response(json={one: found[one].metadata for one in chosen})

    def _refuse_last(self) -> None:
        raise RegistryProblem("missing_versions", self.request.path, detail="Delete the Resource instead.")

    def _delete(self, place: Place) -> None:
        if place.kind != "group":
            self._groups().forget(place, place.ids[5] if place.kind == "version" else "")
        operations.delete(self.interaction, place, None, None, "")

    def _groups(self) -> GroupWriter:
        return GroupWriter(self.interaction, self.request, self.settings)

    def _all(self, place: Place) -> dict[str, Tree]:
        if place.kind == "groups":
            groups = [self.states.group(place.group, entity) for entity in self.tx.entities(place.xid)]
            return {one.entity.id: self.reading.group(one) for one in groups}
        return {one: state.metadata for one, state in self.states.resources(place).items()}

    def _named(self, place: Place) -> dict[str, Tree]:
        listed = parse_json(self.request.body, self.settings.max_depth, self.request.path)
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise RegistryProblem("bad_request", self.request.path, error_detail="the body must be an array of objects")
        chosen: dict[str, Tree] = {}
        for one in listed:
            entity_id = self._member_id(place, one)
            if entity_id in chosen:
                raise RegistryProblem("bad_request", self.request.path, error_detail=f"{entity_id} is named twice")
            chosen[entity_id] = self._last(_member(place, entity_id), one.get("epoch"))
        return chosen

    def _member_id(self, place: Place, named: Mapping[str, Any]) -> str:
        if place.kind != "versions":
            entity_id = named.get("id")
        else:
            check_id(named.get("id"), place.ids[3], place.resource.singular, self.request.path)
            entity_id = named.get("version")
            check_version(entity_id, str(entity_id), self.request.path)
            entity_id = None if entity_id is None else str(entity_id)
        if not isinstance(entity_id, str):
            what = "version" if place.kind == "versions" else "id"
            raise RegistryProblem("bad_request", self.request.path, error_detail=f"each object needs its {what}")
        return entity_id

    def _last(self, place: Place, epoch: Any) -> Tree:
        if self.tx.entity(place.xid) is None and place.kind != "version":
            raise RegistryProblem("not_found", place.xid)
        state = self._state(place)
        check_epoch(epoch, _epoch(state), v0_5_path(place.xid))
        return self.reading.group(state) if isinstance(state, GroupView) else state.metadata

    def _state(self, place: Place) -> State:
        match place.kind:
            case "group":
                return self.states.group(place.group, require_entity(self.tx, place.xid))
            case "resource":
                return self.states.latest(place)
            case _:
                return self.states.version(place)


def _member(place: Place, entity_id: str) -> Place:
    kinds: dict[str, Any] = {"groups": "group", "resources": "resource", "versions": "version"}
    return msgspec.structs.replace(place, kind=kinds[place.kind], xid=f"{place.xid}/{entity_id}")


def _epoch(state: State) -> int:
    return state.entity.epoch if isinstance(state, GroupView) else state.tree.entity.epoch
