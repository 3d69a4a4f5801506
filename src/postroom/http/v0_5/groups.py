"""Writing Groups: POST makes one, PUT replaces its attributes."""

from __future__ import annotations

import uuid
from typing import Any

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.document_reader import flat_definition
from postroom.documents.dialects.messagecatalog_sections import without_mqtt
from postroom.documents.dialects.name_tables import GROUP_TYPES
from postroom.documents.dialects.preserved_members import EXTRAS, collect_extras
from postroom.documents.dialects.v0_5 import SERVICE
from postroom.documents.dialects.walk_tree import objects
from postroom.http.server.request import Request
from postroom.http.server.request_body import parse_json
from postroom.http.server.response import Response
from postroom.http.v0_5.merge import attribute_patch, merge_entity, storable_extras
from postroom.http.v0_5.names import plural, root_of, singular, v0_5_path
from postroom.http.v0_5.preconditions import check_epoch, take_conditions
from postroom.http.v0_5.read import ReadHandler, parse_parameters
from postroom.http.v0_5.translate import extras_beside, extras_in, group_translation, is_below, other_extras
from postroom.http.v0_5.validation import (
    check_definition,
    check_external,
    check_group,
    refuse_own_attribute,
    with_common_format,
    with_format,
    without_empty,
)
from postroom.http.v0_5.version_compatibility import check_versions
from postroom.model.types import GroupType
from postroom.registry import operations
from postroom.registry.paths import EntityPath, check_id, resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.tree import require_entity
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.settings import Settings

CONFLICT = 409


class GroupWriter:
    """One write to Groups."""

    def __init__(self, work: UnitOfWork, request: Request, settings: Settings) -> None:
        self.work = work
        self.tx = work.tx
        self.request = request
        self.settings = settings
        self.reading = ReadHandler(work.tx, request, settings)

    def create(self, path: EntityPath) -> Response:
        """POST: a new Group, with the Resources that it embeds."""
        body = _without_locations(json_object(self.request, self.settings), path.group)
        group_id = body.pop("id", None)
        group_id = str(uuid.uuid4()) if group_id is None else group_id
        made = resolve(self.tx.model(), f"{path.xid}/{check_id(group_id, self.request.path)}")
        self.tx.permissions.require_write(made.xid)
        refuse_existing(self.tx.entity(made.xid), self.request)
        body = {name: value for name, value in without_empty(body).items() if name not in ("epoch", "self")}
        body = with_common_format(path.group, body)
        check_group(path.group, body, self.request.path)
        operations.put_group(self.work, made, self._tree(path.group, body), False)
        for name in body.get("schemas", ()) if "schemas" in path.group.resources else ():
            schema = resolve(self.tx.model(), f"{made.xid}/schemas/{name}")
            check_versions(self.tx, schema, {one.id for one in self.tx.entities(f"{schema.xid}/versions")})
        if "definitions" in body and "messages" in path.group.resources:
            self._embed(made, body["definitions"])
        return self._answer(made, 201)

    def update(self, path: EntityPath) -> Response:
        """PUT: the attributes of a Group anew; what it holds is not touched."""
        entity = require_entity(self.tx, path.xid)
        state = self.reading.states.group(path.group, entity)
        body = without_empty(_without_collections(json_object(self.request, self.settings), path.group))
        check_epoch(parse_parameters(self.request).epoch, entity.epoch, self.request.path)
        names = {"entity_id": entity.id, "singular": singular(path.group)}
        after = take_conditions(body, self.request.path, epoch=entity.epoch, **names)
        check_group(path.group, after, self.request.path, state.document)
        before = {name: one for name, one in state.document.items() if name not in ("id", "epoch", "self")}
        result = merge_entity(state.translation, state.stored, before, after)
        if after.get("format") != before.get("format"):
            result = without_mqtt(result)
        patch = attribute_patch(state.stored, result)
        extras = storable_extras(state.translation.extras(after), path.group.attributes, self.request.path)
        self._put(path, {**patch, EXTRAS: [*self._kept_extras(path.group, entity.attributes), *extras] or None})
        return self._answer(path, 200)

    def forget(self, path: EntityPath, version_id: str = "") -> None:
        """Take away what a file left with the Group about a Resource, or a version, that is written or deleted."""
        extras = require_entity(self.tx, path.group_xid).attributes
        others = [one.id for one in self.tx.entities(f"{path.resource_xid}/versions") if one.id != version_id]
        left = extras_beside(extras, path.resource, path.ids[3], version_id, others)
        if left != extras_in(extras):
            group = resolve(self.tx.model(), path.group_xid)
            self._put(group, {EXTRAS: [*other_extras(extras), *left] or None})

    def _put(self, path: EntityPath, patch: Tree) -> None:
        if patch.get(EXTRAS, 0) is None and EXTRAS not in require_entity(self.tx, path.xid).attributes:
            del patch[EXTRAS]  # a model may not know it
        operations.put_group(self.work, path, patch, True)

    def _kept_extras(self, group_type: GroupType, attributes: Tree) -> list[Any]:
        nested = [one for one in extras_in(attributes) if any(is_below(one, k) for k in group_type.resources.values())]
        return [*other_extras(attributes), *nested]

    def _tree(self, group_type: GroupType, body: Tree) -> Tree:
        """A new Group in the words of 1.0; schemas that it embeds are read as those of a file."""
        collections = {plural(one): body[plural(one)] for one in group_type.resources.values() if plural(one) in body}
        self._check_embedded(group_type, collections)
        own = {name: value for name, value in body.items() if name not in collections}
        translation = group_translation(group_type)
        tree, extras = translation.read(own), translation.extras(own)
        if "schemas" in collections:
            document = {plural(group_type): {"group": {"schemas": body["schemas"]}}}
            read = collect_extras(SERVICE.to_rc4(document)[0], document, SERVICE)[group_type.plural]["group"]
            tree, extras = {**tree, "schemas": read["schemas"]}, [*extras, *read.get(EXTRAS, ())]
        extras = storable_extras(extras, group_type.attributes, self.request.path)
        return {**tree, EXTRAS: extras} if extras else tree

    def _check_embedded(self, group_type: GroupType, collections: Tree) -> None:
        for name, members in collections.items():
            if group_type.plural not in GROUP_TYPES or name not in ("definitions", "schemas"):
                detail = f"{name} come one by one, not in their group"
                raise RegistryProblem("bad_request", self.request.path, error_detail=detail)
            if not isinstance(members, dict) or not all(isinstance(one, dict) for one in members.values()):
                raise RegistryProblem("bad_request", self.request.path, error_detail=f"{name} must be a map of objects")
            for member in members.values() if name == "schemas" else ():
                self._check_addresses(member)

    def _check_addresses(self, schema: Tree) -> None:
        """A schema and its versions are here, or outside of this registry."""
        for one in (schema, *objects(schema, "versions").values()):
            for name in ("schemaurl", "schemaURI"):
                if one.get(name) is not None:
                    check_external(one[name], name, root_of(self.request.base), self.request.path)

    def _embed(self, path: EntityPath, definitions: Tree) -> None:
        group = self.reading.states.group(path.group, require_entity(self.tx, path.xid)).document
        for name, given in definitions.items():
            subject = f"{self.request.path}/{path.ids[1]}/definitions/{name}"
            definition = resolve(self.tx.model(), f"{path.xid}/messages/{check_id(name, subject)}")
            flat = {member: one for member, one in flat_definition(given).items() if member != "epoch"}
            after = take_conditions(without_empty(flat), subject, entity_id=name, singular="definition", epoch=0)
            check_definition(after, group, subject, {})
            tree = self._definition(definition, with_format(after, group), subject)
            operations.put_resource(self.work, definition, tree, False, "")

    def _definition(self, path: EntityPath, after: Tree, subject: str) -> Tree:
        translation = self.reading.states.absent(path).translation
        tree = translation.read(after)
        if "meta" in tree:  # C-06: borrowed
            own = next((name for name in after if name not in ("uri", "format", "type")), None)
            if own is not None:
                refuse_own_attribute(own, subject)
            return {"meta": tree["meta"]}
        extras = storable_extras(translation.extras(after), path.resource.attributes, subject)
        return {**tree, **({EXTRAS: extras} if extras else {})}

    def _answer(self, path: EntityPath, status: int) -> Response:
        state = self.reading.states.group(path.group, require_entity(self.tx, path.xid))
        headers = {"Location": self.request.base + v0_5_path(path.xid)} if status == 201 else {}
        return Response(status=status, headers=headers, json=self.reading.group(state))


def json_object(request: Request, settings: Settings) -> Tree:
    """The JSON object of a body that has to be there."""
    if not request.body.strip():
        raise RegistryProblem("missing_body", request.path)
    body = parse_json(request.body, settings.max_depth, request.path)
    if not isinstance(body, dict):
        raise RegistryProblem("bad_request", request.path, error_detail="the body must be a JSON object")
    return body


def refuse_existing(found: object, request: Request) -> None:
    """POST makes what is not there yet."""
    if found is not None:
        raise RegistryProblem("bad_request", request.path, error_detail="the id is taken", status=CONFLICT)


def _without_locations(body: Tree, group_type: GroupType) -> Tree:
    """A Group without the addresses and sizes of its collections (C-70: in both spellings)."""
    locations = {plural(one) + end for one in group_type.resources.values() for end in ("URL", "Url", "Count")}
    return {name: value for name, value in body.items() if name not in locations}


def _without_collections(body: Tree, group_type: GroupType) -> Tree:
    nested = {plural(one) for one in group_type.resources.values()}
    return {name: value for name, value in _without_locations(body, group_type).items() if name not in nested}
