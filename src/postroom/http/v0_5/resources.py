"""Writing Resources and versions: attributes in headers, the entity in the body, or its metadata as JSON."""

from __future__ import annotations

import base64
import uuid
from typing import Any

import msgspec

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.preserved_members import EXTRAS
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.v0_5.attribute_headers import given_attributes
from postroom.http.v0_5.entity_views import OF_THE_SERVER, VersionView, next_version, stored_uri
from postroom.http.v0_5.groups import GroupWriter, json_object, refuse_existing
from postroom.http.v0_5.merge import attribute_patch, merge_entity, storable_extras
from postroom.http.v0_5.names import root_of, singular, uri_name
from postroom.http.v0_5.preconditions import check_epoch, take_conditions
from postroom.http.v0_5.read import ReadHandler, has_parameter, parse_parameters
from postroom.http.v0_5.translate import other_extras
from postroom.http.v0_5.validation import (
    check_definition,
    check_entity,
    check_external,
    check_format,
    check_format_name,
    refuse_own_attribute,
    with_format,
    without_empty,
)
from postroom.http.v0_5.version_compatibility import check_versions
from postroom.registry import operations
from postroom.registry.paths import EntityPath, check_id, resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.document_content import document_names
from postroom.registry.read.tree import require_entity
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.settings import Settings

_TIMES = ("createdOn", "modifiedOn")
_XID_PARTS = 4


class WrittenEntity(msgspec.Struct, frozen=True):
    """What a request says: the entity as 0.5 is to see it, and its document in the words of 1.0.

    Of a Resource that is its attributes, the "document" is nothing but where it is stored instead.
    """

    after: Tree
    document: Tree
    named: Tree
    """The attributes that the request itself names."""


class ResourceWriter:
    """One write to a Resource."""

    def __init__(self, work: UnitOfWork, request: Request, settings: Settings) -> None:
        self.work = work
        self.tx = work.tx
        self.request = request
        self.settings = settings
        self.reading = ReadHandler(work.tx, request, settings)
        self.groups = GroupWriter(work, request, settings)

    def create(self, path: EntityPath) -> Response:
        """POST to a collection: a new Resource."""
        require_entity(self.tx, path.group_xid)
        headers, body = self._said(path, {})
        self._check_agreement(headers, body)
        self._refuse_version(headers)
        given_id = headers.get("id") or body.get("id")
        resource_id = str(uuid.uuid4()) if given_id is None else check_id(given_id, self.request.path)
        made = resolve(self.tx.model(), f"{path.xid}/{resource_id}")
        self.tx.permissions.require_write(made.xid)
        refuse_existing(self.tx.entity(made.xid), self.request)
        state = self.reading.states.absent(made)
        given = self._given(state, headers, body)
        self._need_document(state, given.document)
        self.groups.forget(made)
        operations.put_resource(self.work, made, self._tree(state, given), False, "")
        return self._answer(made, 201, made.xid)

    def add_version(self, path: EntityPath) -> Response:
        """POST to a Resource: a new version, with what it does not say taken from the latest."""
        state = self.reading.states.latest(path)
        headers, body = self._said(path, state.metadata)
        self._refuse_version(headers)
        body.pop("version", None)
        given = self._given(state, headers, body)
        if not given.document and state.uri:
            given = msgspec.structs.replace(given, document={stored_uri(state.resource_type): state.uri})
        self._need_document(state, given.document)
        version_id = next_version(self.tx, path)
        written = operations.put_version(self.work, path, version_id, self._tree(state, given), False, "")
        check_versions(self.tx, path, written.versions)
        self.groups.forget(path, written.versions[0])
        return self._answer(path, 201, path.xid)

    def update(self, path: EntityPath) -> Response:
        """PUT of a Resource's latest version or of a certain one: all of it, or with `?meta` its metadata."""
        is_latest = path.kind == "resource"
        state = self.reading.states.latest(path) if is_latest else self.reading.states.version(path)
        if has_parameter(self.request, "meta"):
            given = self._given_metadata(state)
        else:
            headers, body = self._said(path, state.metadata)
            given = self._given(state, headers, body)
        self._write(state, given)
        self.groups.forget(state.path, state.tree.entity.id)
        if has_parameter(self.request, "meta"):
            return Response(json=self._after(path).metadata)
        return self._answer(path, 200)

    def _write(self, state: VersionView, given: WrittenEntity) -> None:
        path, version_id = state.path, state.tree.entity.id
        reference = state.translation.read(given.after).get("meta")
        if reference is not None:  # C-06: borrowed
            self._refuse_own(state, given, reference["xref"])
            operations.put_resource(self.work, path, {"meta": reference}, False, "")
        elif state.xref:
            tree = {**self._tree(self.reading.states.absent(path), given), "meta": {"xref": None}}
            operations.put_resource(self.work, path, tree, True, "")
        else:
            extras: Any = state.tree.entity.attributes.get(EXTRAS)
            stored = state.stored if extras is None else {**state.stored, EXTRAS: extras}
            patch = {**attribute_patch(stored, self._result(state, given)), **given.document}
            operations.put_version(self.work, path, version_id, patch, True, "")
            if given.document:
                check_versions(self.tx, resolve(self.tx.model(), path.resource_xid), [version_id])

    def _refuse_own(self, state: VersionView, given: WrittenEntity, xref: str) -> None:
        """A definition that is borrowed has no attributes of its own; those that it shows may be repeated."""
        is_there = xref.count("/") == _XID_PARTS and self.tx.entity(xref) is not None
        lender = self.reading.states.latest(resolve(self.tx.model(), xref)).document if is_there else {}
        shown = state.document if state.xref else {}
        for name, value in given.named.items():
            if name != "uri" and value not in (lender.get(name), shown.get(name), None):
                refuse_own_attribute(name, self.request.path)

    def _tree(self, state: VersionView, given: WrittenEntity) -> Tree:
        """A new Resource or version as a whole."""
        whole = {**self._result(state, given), **given.document}
        reference = whole.get("meta")
        if reference is not None:
            self._refuse_own(state, given, reference["xref"])
            return {"meta": reference}
        return {name: value for name, value in whole.items() if value is not None}

    def _need_document(self, state: VersionView, document: Tree) -> None:
        given = {name for name, value in document.items() if value is not None}
        if (
            state.resource_type.plural == "schemas"
            and state.resource_type.hasdocument
            and not given & set(document_names("schema"))
        ):
            raise RegistryProblem("required_attribute_missing", self.request.path, list="schema or schemaurl")

    def _result(self, state: VersionView, given: WrittenEntity) -> Tree:
        """The attributes to be stored, extras included."""
        before = {name: one for name, one in state.document.items() if name not in OF_THE_SERVER}
        result = merge_entity(state.translation, state.stored, _local(before, state), given.after)
        if result.get("meta") is not None:
            return result
        extras = storable_extras(
            state.translation.extras(given.after), state.resource_type.attributes, self.request.path
        )
        kept = [*other_extras(state.tree.entity.attributes), *extras]
        return {**result, EXTRAS: kept} if kept else result

    def _given(self, state: VersionView, headers: Tree, body: Tree) -> WrittenEntity:
        self._check_agreement(headers, body)
        self._check_epoch(state)
        version = state.tree.entity.id if state.document else ""
        headers, body = (self._without_conditions(one, state, version) for one in (headers, body))
        document = self._document(state, headers)
        kept = {} if not state.document else {n: v for n, v in state.metadata.items() if n not in OF_THE_SERVER}
        after = without_empty(_local({**kept, **headers, **body}, state))
        return WrittenEntity(
            self._checked(state, after, has_content=bool(self.request.body.strip())), document, {**body, **headers}
        )

    def _given_metadata(self, state: VersionView) -> WrittenEntity:
        """PUT of metadata: attributes that are missing go, except those that a Resource cannot be without."""
        body = json_object(self.request, self.settings)
        self._check_epoch(state)
        body = self._without_conditions(body, state, state.tree.entity.id)
        self._refuse_content(state, body)
        document = self._inline_document(state, body)
        shown = _local(state.document, state)
        lasting = {"format", *_TIMES, *(name for name in shown if name not in state.metadata)}
        kept = {name: value for name, value in shown.items() if name in lasting}
        after = without_empty({**kept, **_local(body, state)})
        is_here = not document.get(stored_uri(state.resource_type)) and not state.uri
        return WrittenEntity(self._checked(state, after, has_content=is_here), document, body)

    def _refuse_content(self, state: VersionView, body: Tree) -> None:
        """Metadata never carry what a definition says about messages; what is there already may be repeated."""
        shown = {**state.document, singular(state.resource_type): state.content}
        for name in () if state.resource_type.hasdocument else body:
            if not state.is_metadata(name, "") and body[name] != shown.get(name):
                detail = "is content, and ?meta writes metadata only; use PUT without ?meta"
                raise RegistryProblem("invalid_attribute", self.request.path, name=name, error_detail=detail)

    def _document(self, state: VersionView, headers: Tree) -> Tree:
        name = uri_name(state.resource_type)
        uri, body = headers.get(name), self.request.body
        if uri is not None:
            if body:
                detail = "with it the body has to be empty"
                header = f"Registry-{name}"
                raise RegistryProblem("extra_xregistry_header", self.request.path, name=header, error_detail=detail)
            check_external(uri, name, root_of(self.request.base), self.request.path)
            return {stored_uri(state.resource_type): uri}
        if not body and state.uri and name not in headers:
            return {}  # a header that is missing leaves what is there
        if not state.resource_type.hasdocument:
            return {stored_uri(state.resource_type): None} if state.uri else {}
        encoded = base64.b64encode(body).decode() if body else None
        return {state.resource_type.singular + "base64": encoded, "contenttype": self.request.header("content-type")}

    def _inline_document(self, state: VersionView, body: Tree) -> Tree:
        """What metadata say about the document; a Resource that is its attributes can only be elsewhere."""
        name, stored = uri_name(state.resource_type), stored_uri(state.resource_type)
        members = {name: stored, stored: stored}
        if state.resource_type.hasdocument:
            one = singular(state.resource_type)
            members |= {one: state.resource_type.singular, one + "Base64": state.resource_type.singular + "base64"}
        given = [(theirs, members[theirs], body.pop(theirs)) for theirs in members if theirs in body]
        chosen = {ours: value for _, ours, value in given}
        if any(chosen[ours] != value for _, ours, value in given):
            raise RegistryProblem("one_resource", self.request.path, list=f"{name}, {stored}")
        uri = chosen.get(stored)
        if uri is not None and uri != state.uri:
            check_external(uri, name, root_of(self.request.base), self.request.path)
        return chosen

    def _checked(self, state: VersionView, after: Tree, has_content: bool) -> Tree:
        if state.resource_type.plural != "messages" or state.resource_type.hasdocument:
            check_entity(after, self.request.path)
            if state.resource_type.plural == "schemas":
                check_format_name(after, "format", state.document, self.request.path)
            return after
        group = self.reading.states.group(state.path.group, require_entity(self.tx, state.path.group_xid)).document
        if has_content:
            check_definition(after, group, self.request.path, state.document)
        else:
            check_entity(after, self.request.path)
            check_format(after, group, self.request.path)
        return with_format(after, group)

    def _check_epoch(self, state: VersionView) -> None:
        if state.document:
            check_epoch(parse_parameters(self.request).epoch, state.tree.entity.epoch, self.request.path)

    def _without_conditions(self, given: Tree, state: VersionView, version: str) -> Tree:
        names = {"entity_id": state.path.ids[3], "singular": singular(state.resource_type), "version": version}
        given = given if state.document else {name: one for name, one in given.items() if name != "epoch"}
        return take_conditions(given, self.request.path, epoch=state.tree.entity.epoch, **names)

    def _check_agreement(self, headers: Tree, body: Tree) -> None:
        """A header and the body have to agree (D5R-025)."""
        for name, value in headers.items():
            if name in body and name != "self" and body[name] != value and str(body[name]) != value:
                detail = f"the header Registry-{name} and the body say different things"
                raise RegistryProblem("bad_request", self.request.path, error_detail=detail)

    def _refuse_version(self, headers: Tree) -> None:
        if headers.get("version") is not None:
            detail = "new versions get their number from the server"
            raise RegistryProblem("header_error", self.request.path, name="Registry-version", error_detail=detail)

    def _said(self, path: EntityPath, before: Tree) -> tuple[Tree, Tree]:
        """The attributes in the headers, and the entity in the body."""
        body = self._body(path)
        return given_attributes(self.request, path.resource, before, body), body

    def _body(self, path: EntityPath) -> Tree:
        """The entity in the body of a Resource that is its attributes; no body, no content."""
        if path.resource.hasdocument or not self.request.body.strip():
            return {}
        return json_object(self.request, self.settings)

    def _after(self, path: EntityPath) -> VersionView:
        states = self.reading.states
        return states.version(path) if path.kind == "version" else states.latest(path)

    def _answer(self, path: EntityPath, status: int, location: str = "") -> Response:
        return self.reading.resource(self._after(path), status, location)


def _local(document: Tree, state: VersionView) -> Tree:
    """An entity without the words about where it is, which the registry keeps elsewhere."""
    left_out = (
        uri_name(state.resource_type),
        *((stored_uri(state.resource_type),) if state.resource_type.hasdocument else ()),
    )
    return {name: value for name, value in document.items() if name not in left_out}
