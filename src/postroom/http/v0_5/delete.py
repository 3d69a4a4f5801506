"""DELETE of Groups, Resources and versions, one or several, all or nothing; responds with what they last were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from postroom.documents.dialects.dialect import Tree
from postroom.http.server.request import Request
from postroom.http.server.request_body import parse_json
from postroom.http.server.response import Response
from postroom.http.v0_5.entity_views import GroupView, VersionView
from postroom.http.v0_5.groups import GroupWriter
from postroom.http.v0_5.names import v0_5_path
from postroom.http.v0_5.preconditions import check_epoch, check_id, check_version
from postroom.http.v0_5.read import ReadHandler, parse_parameters
from postroom.http.v0_5.validation import refuse_early_removal
from postroom.messages.definitions.catalog_tree import version_order
from postroom.registry import operations
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.tree import require_entity
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.settings import Settings

State = GroupView | VersionView


class EntityDeleter:
    """One request to delete."""

    def __init__(self, work: UnitOfWork, request: Request, settings: Settings) -> None:
        self.work = work
        self.tx = work.tx
        self.request = request
        self.settings = settings
        self.reading = ReadHandler(work.tx, request, settings)
        self.states = self.reading.states

    def entity(self, path: EntityPath) -> Response:
        """DELETE of one Group, Resource or version."""
        state = self._state(path)
        check_epoch(parse_parameters(self.request).epoch, _epoch(state), self.request.path)
        if isinstance(state, GroupView):
            answer = Response(json=self.reading.group(state))
        else:
            answer = self.reading.resource(state)
        if path.kind == "version" and self.tx.count(f"{path.resource_xid}/versions") == 1:
            self._refuse_last()
        self._delete(path)
        return answer

    def members(self, path: EntityPath) -> Response:
        """DELETE of the members that a list names; without a list, of all (of versions: all but the latest)."""
        if path.kind != "groups":
            require_entity(self.tx, path.group_xid)
        if path.kind == "versions":
            return self._versions(path)
        chosen = self._named(path) if self.request.body.strip() else self._all(path)
        for entity_id in chosen:
            self._delete(_member(path, entity_id))
        return Response(json=chosen)

    def _versions(self, path: EntityPath) -> Response:
        found = self.states.versions(path)
        chosen = list(self._named(path)) if self.request.body.strip() else sorted(found, key=version_order)[:-1]
        if len(chosen) == len(found):
            self._refuse_last()
        for one in chosen:
            self._groups().forget(path, one)
        operations.delete(self.work, path, None, {one: {} for one in chosen}, "")
        return Response(json={one: found[one].metadata for one in chosen})

    def _refuse_last(self) -> None:
        raise RegistryProblem("missing_versions", self.request.path, detail="Delete the Resource instead.")

    def _delete(self, path: EntityPath) -> None:
        if path.kind == "group" and path.group.plural == "endpoints":
            refuse_early_removal(require_entity(self.tx, path.xid).attributes, self.work.now, v0_5_path(path.xid))
        if path.kind != "group":
            self._groups().forget(path, path.ids[5] if path.kind == "version" else "")
        operations.delete(self.work, path, None, None, "")

    def _groups(self) -> GroupWriter:
        return GroupWriter(self.work, self.request, self.settings)

    def _all(self, path: EntityPath) -> dict[str, Tree]:
        if path.kind == "groups":
            groups = [self.states.group(path.group, entity) for entity in self.tx.entities(path.xid)]
            return {one.entity.id: self.reading.group(one) for one in groups}
        return {one: state.metadata for one, state in self.states.resources(path).items()}

    def _named(self, path: EntityPath) -> dict[str, Tree]:
        listed = parse_json(self.request.body, self.settings.max_depth, self.request.path)
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise RegistryProblem("bad_request", self.request.path, error_detail="the body must be an array of objects")
        chosen: dict[str, Tree] = {}
        for one in listed:
            entity_id = self._member_id(path, one)
            if entity_id in chosen:
                raise RegistryProblem("bad_request", self.request.path, error_detail=f"{entity_id} is named twice")
            chosen[entity_id] = self._last(_member(path, entity_id), one.get("epoch"))
        return chosen

    def _member_id(self, path: EntityPath, named: Mapping[str, Any]) -> str:
        if path.kind != "versions":
            entity_id = named.get("id")
        else:
            check_id(named.get("id"), path.ids[3], path.resource.singular, self.request.path)
            entity_id = named.get("version")
            check_version(entity_id, str(entity_id), self.request.path)
            entity_id = None if entity_id is None else str(entity_id)
        if not isinstance(entity_id, str):
            what = "version" if path.kind == "versions" else "id"
            raise RegistryProblem("bad_request", self.request.path, error_detail=f"each object needs its {what}")
        return entity_id

    def _last(self, path: EntityPath, epoch: Any) -> Tree:
        if self.tx.entity(path.xid) is None and path.kind != "version":
            raise RegistryProblem("not_found", path.xid)
        state = self._state(path)
        check_epoch(epoch, _epoch(state), v0_5_path(path.xid))
        return self.reading.group(state) if isinstance(state, GroupView) else state.metadata

    def _state(self, path: EntityPath) -> State:
        match path.kind:
            case "group":
                return self.states.group(path.group, require_entity(self.tx, path.xid))
            case "resource":
                return self.states.latest(path)
            case _:
                return self.states.version(path)


def _member(path: EntityPath, entity_id: str) -> EntityPath:
    kinds: dict[str, Any] = {"groups": "group", "resources": "resource", "versions": "version"}
    return msgspec.structs.replace(path, kind=kinds[path.kind], xid=f"{path.xid}/{entity_id}")


def _epoch(state: State) -> int:
    return state.entity.epoch if isinstance(state, GroupView) else state.tree.entity.epoch
