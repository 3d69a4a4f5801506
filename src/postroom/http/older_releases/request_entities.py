"""Translation of entities in requests from an older version to today's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.documents.dialects.name_tables import BASE_NAMES, RC2_META
from postroom.documents.dialects.references import as_xid
from postroom.documents.dialects.release_candidates import read_endpoint_options
from postroom.http.older_releases.releases import FLAG, OlderRelease
from postroom.http.older_releases.walk_entities import Tree
from postroom.model.types import Attributes, GroupType, ResourceType
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.flags import comparable_version

ENDPOINTS, SCHEMAS = "endpoints", "schemas"


def is_endpoint(plural: str, group_type: GroupType | None) -> bool:
    """Whether a Group is an endpoint of the messaging model, and not of another one that has that name."""
    return plural == ENDPOINTS and (group_type is None or "protocol" in group_type.attributes)


def is_renamed(plural: str, theirs: str, ours: str, attributes: Attributes | None) -> bool:
    """Whether an older name stands for today's: a model that declares it means something else by it."""
    if attributes is None:
        return plural == "messages" or ours not in BASE_NAMES
    return ours in attributes and theirs not in attributes


class RequestTranslator:
    """Translates the entities of one request; `configuration` reads the Registry's members that are no entities."""

    def __init__(
        self, release: OlderRelease, subject: str, configuration: Callable[[Tree], Tree] | None = None
    ) -> None:
        self._release = release
        self._subject = subject
        self._configuration = configuration

    def registry(self, document: Tree) -> Tree:
        """The Registry, without the version of the specification that it repeats."""
        made = document
        if comparable_version(str(document.get(FLAG))) == self._release.specversion:
            made = {name: value for name, value in document.items() if name != FLAG}
        return self._configuration(made) if self._configuration else made

    def group(self, plural: str, group_type: GroupType | None, document: Tree) -> Tree:
        """A Group: options of endpoints, the link of a deprecation."""
        made = self._with_deprecation(document)
        is_older = not self._release.deployed and is_endpoint(plural, group_type)
        if is_older and isinstance(made.get("protocoloptions"), dict):
            made = {**made, "protocoloptions": read_endpoint_options(made["protocoloptions"])}
        return made

    def version(self, plural: str, resource_type: ResourceType | None, document: Tree) -> Tree:
        """A Version: its ancestor, and the base of a message."""
        attributes, made = resource_type.attributes if resource_type else None, document
        for theirs, ours in self._release.attributes.items():
            if theirs in made and is_renamed(plural, theirs, ours, attributes):
                made = self._renamed(made, theirs, ours)
        if self._release.is_rc2 and isinstance(made.get("basemessage"), str):
            made = {**made, "basemessage": as_xid(made["basemessage"])}
        return made

    def meta(self, plural: str, resource_type: ResourceType | None, document: Tree) -> Tree:
        """The meta: who checks compatibility is for the model to say since 1.0-rc3."""
        if not self._release.is_rc2:
            return document
        declared = resource_type.metaattributes if resource_type else {}
        gone = [name for name in RC2_META if name in document and name not in declared]
        gone = [name for name in gone if name != "validation" or plural == SCHEMAS]
        self._check_server(document, gone, resource_type)
        return self._with_deprecation({name: value for name, value in document.items() if name not in gone})

    def _renamed(self, document: Tree, theirs: str, ours: str) -> Tree:
        value = document[theirs]
        if document.get(ours, value) != value:
            self._refuse(theirs, f"it differs from {ours}, which is the same")
        return {ours if name == theirs else name: given for name, given in document.items() if name != ours}

    def _check_server(self, document: Tree, gone: list[str], resource_type: ResourceType | None) -> None:
        """rc2, `compatibilityauthority` and `validation`: what the server cannot do must not be asked of it."""
        if resource_type is None:
            return
        if "compatibilityauthority" in gone:
            authority = document["compatibilityauthority"]
            if authority not in (None, "external", "server"):
                self._refuse("compatibilityauthority", "it is external or server")
            if authority == "server" and not resource_type.validatecompatibility:
                detail = f"The model does not let the server check {resource_type.plural}."
                raise RegistryProblem(
                    "compatibility_violation", self._subject, compat=document.get("compatibility"), detail=detail
                )
        if "validation" in gone:
            if document["validation"] not in (None, True, False):
                self._refuse("validation", "it is true or false")
            if document["validation"] and not resource_type.validateformat:
                self._refuse("validation", f"the model does not let the server check {resource_type.plural}")

    def _with_deprecation(self, document: Tree) -> Tree:
        """C-34: `docs` is the older name of `documentation`; answers have both."""
        deprecated = document.get("deprecated")
        if not self._release.is_rc2 or not isinstance(deprecated, dict) or "docs" not in deprecated:
            return document
        return {**document, "deprecated": self._renamed(deprecated, "docs", "documentation")}

    def _refuse(self, name: str, detail: Any) -> None:
        raise RegistryProblem("invalid_attribute", self._subject, name=name, error_detail=detail)
