"""Translation of entities in responses to an older version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.documents.dialects.name_tables import ADDRESS_MEMBERS
from postroom.documents.dialects.references import as_pointer
from postroom.documents.dialects.release_candidates import write_endpoint_options
from postroom.documents.dialects.walk_tree import rename_members
from postroom.http.older_releases.releases import FLAG, OlderRelease
from postroom.http.older_releases.request_entities import SCHEMAS, is_endpoint, is_renamed
from postroom.http.older_releases.walk_entities import Tree
from postroom.model.types import GroupType, ResourceType
from postroom.registry.read.short_urls import short_path

NO_RULE = "none"


class ResponseTranslator:
    """Translates the entities of one response. `configuration` writes the members of the Registry that are no entities.

    `base` is where short URLs begin, when they are missing: document views have them until 1.0-rc3.
    """

    def __init__(self, release: OlderRelease, configuration: Callable[[Tree], Tree], base: str = "") -> None:
        self._release = release
        self._base = base
        self._configuration = configuration
        self._names = release.theirs

    def registry(self, document: Tree) -> Tree:
        """The Registry, which names the version of the specification."""
        made = self._with_short_url(document)
        made = {**made, FLAG: self._release.specversion} if FLAG in made else made
        return self._configuration(made)

    def group(self, plural: str, group_type: GroupType | None, document: Tree) -> Tree:
        """A Group: options and usage of endpoints, the link of a deprecation."""
        made = self._with_deprecation(self._with_short_url(document))
        if not is_endpoint(plural, group_type):
            return made
        options = made.get("protocoloptions")
        if isinstance(options, dict):
            is_named = self._release.address in ADDRESS_MEMBERS
            written = write_endpoint_options(options) if is_named else {"deployed": True, **options}
            made = {**made, "protocoloptions": written}
        usage = made.get("usage")
        # An endpoint with several usages cannot be said in rc2; half of them would be lost when it is written back.
        if self._release.is_rc2 and isinstance(usage, list) and len(usage) == 1:
            made = {**made, "usage": usage[0]}
        return made

    def version(self, plural: str, resource_type: ResourceType | None, document: Tree) -> Tree:
        """A Version: its ancestor, the base of a message, no checks that the version does not know."""
        names = {
            ours: theirs
            for ours, theirs in self._names.items()
            if is_renamed(plural, theirs, ours, resource_type.attributes if resource_type else None)
        }
        made = rename_members(self._with_short_url(document), names)
        if "basemessageurl" in made and "basemessage" in names:
            made["basemessageurl"] = as_pointer(made["basemessageurl"])
        return {name: value for name, value in made.items() if name not in self._release.hidden}

    def meta(self, plural: str, resource_type: ResourceType | None, document: Tree) -> Tree:
        """The meta: in 1.0-rc2 it always has a rule of compatibility, and says who checks it."""
        made = self._with_short_url(document)
        if not self._release.is_rc2:
            return made
        made = self._with_deprecation(made)
        if resource_type is None or "epoch" not in document:  # an xref in the document view says nothing of its own
            return made
        made = {**made, "compatibility": document.get("compatibility", NO_RULE)}
        if made["compatibility"] != NO_RULE and "compatibilityauthority" not in resource_type.metaattributes:
            made["compatibilityauthority"] = "server" if resource_type.validatecompatibility else "external"
        if plural == SCHEMAS and "validation" not in resource_type.metaattributes:
            made["validation"] = resource_type.validateformat
        return made

    def _with_short_url(self, document: Tree) -> Tree:
        if not self._base or "xid" not in document:
            return document
        return {**document, "shortself": self._base + short_path(document["xid"])}

    def _with_deprecation(self, document: Tree) -> Tree:
        deprecated: Any = document.get("deprecated")
        if not self._release.is_rc2 or not isinstance(deprecated, dict) or "documentation" not in deprecated:
            return document
        return {**document, "deprecated": {"docs": deprecated["documentation"], **deprecated}}
