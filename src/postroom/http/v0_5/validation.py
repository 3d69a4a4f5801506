"""Rules of 0.5 on entities that 1.0 does not have, or has in another form."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, NoReturn

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.preserved_members import EXTRAS
from postroom.documents.dialects.references import is_local
from postroom.http.v0_5.entity_views import COMMON
from postroom.messages.definitions.registry_rules import USAGES
from postroom.model.scalar_types import normal_timestamp
from postroom.model.types import GroupType
from postroom.protocols.protocol_table import canonical_protocol
from postroom.registry.problems import RegistryProblem

_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-]{0,62}\Z")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
# Kafka has underscores in the names of its protocols: SASL_SSL://host:port.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-_]*:[^\s<>\"\\^`|]+\Z")
_TEXTS = ("name", "description", "createdBy", "modifiedBy", "docs", "type", "format", "channel", "origin")
_DEPRECATION_LINKS = (
    ("alternative", re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:\S+\Z"), "must be a URL"),
    ("docs", re.compile(r"(?i)https?://\S+\Z"), "must be an http or https URL"),
)
_CONFIG = {"protocol": str, "endpoints": list, "options": dict, "strict": bool}
_WORDS = {str: "a text", list: "an array", dict: "an object", bool: "true or false"}


def without_empty(document: Tree) -> Tree:
    """An entity without attributes that have no value: a text that is empty is one that is missing."""
    present = {name: value for name, value in document.items() if value is not None and (name, value) not in _EMPTY}
    if isinstance(present.get("config"), dict):
        present["config"] = {name: value for name, value in present["config"].items() if value is not None}
    return present


_EMPTY = [(name, "") for name in _TEXTS]


def check_entity(document: Tree, subject: str) -> None:
    """The rules on attributes that all entities can have."""
    spellings = Counter(name.lower() for name in {*document, *COMMON})
    doubled = next((name for name in document if spellings[name.lower()] > 1), None)
    if doubled is not None:
        _refuse(subject, doubled, "differs from another attribute in case only")
    if EXTRAS in document:
        _refuse(subject, EXTRAS, "is kept by the registry")
    for name in _TEXTS:
        _check_type(document, name, str, subject)
    _check_docs(document.get("docs"), "docs", subject)
    tags = _check_type(document, "tags", dict, subject) or {}
    for tag, value in tags.items():
        if not _TAG.match(tag):
            _refuse(subject, f"tags.{tag}", "must be 1 to 63 letters, digits and - _ ., the first a letter or digit")
        if not isinstance(value, str):
            _refuse(subject, f"tags.{tag}", "must be a text")


def check_group(group_type: GroupType, document: Tree, subject: str, before: Tree | None = None) -> None:
    """The rules on Groups. What 1.0 wrote against them, as a Group without a format, 0.5 may leave as it is."""
    check_entity(document, subject)
    if group_type.plural == "messagegroups" and not document.get("format") and (before is None or before.get("format")):
        raise RegistryProblem("required_attribute_missing", subject, list="format", pointer="/format")
    if group_type.plural in ("messagegroups", "endpoints"):
        check_format_name(document, "format", before or {}, subject)
    if group_type.plural == "endpoints":
        _check_endpoint(document, before or {}, subject)


def check_format_name(document: Tree, name: str, before: Tree, subject: str) -> None:
    """Formats are called `{NAME}/{VERSION}`."""
    given = document.get(name)
    if not isinstance(given, str) or given == before.get(name):
        return
    title, _, version = given.partition("/")
    if not title or not version:
        _refuse(subject, name, f"must be NAME/VERSION, as in CloudEvents/1.0 or Avro/1.11; it is {given!r}")


def _check_endpoint(document: Tree, before: Tree, subject: str) -> None:
    if "usage" not in document:
        raise RegistryProblem("required_attribute_missing", subject, list="usage", pointer="/usage")
    if document["usage"] not in USAGES:
        _refuse(subject, "usage", f"must be one of: {', '.join(USAGES)}")
    if "origin" in document and not _SCHEME.match(document["origin"]):
        _refuse(subject, "origin", "must be a URI")
    references = _check_type(document, "definitionGroups", list, subject) or []
    if not all(isinstance(one, str) and one for one in references):
        _refuse(subject, "definitionGroups", "must hold URI references")
    _check_deprecated(_check_type(document, "deprecated", dict, subject) or {}, before.get("deprecated"), subject)
    _check_config(_check_type(document, "config", dict, subject), subject)


def _check_deprecated(deprecated: Tree, before: Any, subject: str) -> None:
    """An alternative and documentation are URLs, and those of documentation can be asked with a GET."""
    known = before if isinstance(before, dict) else {}
    for name, pattern, detail in _DEPRECATION_LINKS:
        value = deprecated.get(name)
        if value is not None and value != known.get(name) and not (isinstance(value, str) and pattern.match(value)):
            _refuse(subject, f"deprecated.{name}", detail)


def refuse_early_removal(document: Tree, now: str, subject: str) -> None:
    """An endpoint that says when it will be removed stays until then; the time can be changed."""
    deprecated = document.get("deprecated")
    removal = normal_timestamp(str(deprecated.get("removal"))) if isinstance(deprecated, dict) else None
    if removal and removal > now:
        detail = f"its deprecated.removal is {removal}, and it stays until then"
        remedy = "Clients were promised that time. If it no longer holds, change or remove deprecated.removal first."
        raise RegistryProblem("bad_request", subject, error_detail=detail, detail=remedy, status=409)


def _check_config(config: Tree | None, subject: str) -> None:
    if config is None:
        return
    for name, wanted in _CONFIG.items():
        _check_type(config, name, wanted, subject, "config.")
    if not config.get("protocol"):
        raise RegistryProblem("required_attribute_missing", subject, list="config.protocol", pointer="/config/protocol")
    if not all(isinstance(one, str) and _ADDRESS.match(one) for one in config.get("endpoints", ())):
        _refuse(subject, "config.endpoints", "must hold absolute URIs")
    will = (config.get("options") or {}).get("will-message")
    if will is not None and not (isinstance(will, str) and will):
        _refuse(subject, "config.options.will-message", "must be a URI or JSON pointer")


def check_definition(document: Tree, group: Tree, subject: str, before: Tree) -> None:
    """The rules on message definitions; one that is borrowed has all from where it comes from."""
    check_entity(document, subject)
    if "uri" in document:
        _check_type(document, "uri", str, subject)
        return
    if "metadata" not in document:
        raise RegistryProblem("required_attribute_missing", subject, list="metadata", pointer="/metadata")
    _check_type(document, "metadata", dict, subject)
    for name in ("schemaformat", "schemaurl"):
        _check_type(document, name, str, subject)
    if "schema" in document and "schemaurl" in document:
        raise RegistryProblem("one_resource", subject, list="schema, schemaurl")
    # A schema of this registry has a format of its own; the specification's own catalogs do not repeat it.
    names = ("schema",) if is_local(document.get("schemaurl")) else ("schema", "schemaurl")
    is_new = any(name in document and document[name] != before.get(name) for name in names)
    if is_new and not document.get("schemaformat"):
        raise RegistryProblem("required_attribute_missing", subject, list="schemaformat", pointer="/schemaformat")
    check_format_name(document, "schemaformat", before, subject)
    if document.get("format") != before.get("format"):
        check_format(document, group, subject)


def refuse_own_attribute(name: str, subject: str) -> NoReturn:
    """A definition that is borrowed has nothing of its own."""
    _refuse(subject, name, "is that of the definition it is borrowed from")


def with_format(document: Tree, group: Tree) -> Tree:
    """A definition that does not say its format has that of its Group (C-07)."""
    is_said = "format" in document or "uri" in document or "format" not in group
    return document if is_said else {**document, "format": group["format"]}


def with_common_format(group_type: GroupType, document: Tree) -> Tree:
    """A new Group without a format, as an example of the text has it, has the one that all its definitions have."""
    definitions = document.get("definitions")
    if group_type.plural != "messagegroups" or document.get("format") or not isinstance(definitions, dict):
        return document
    formats = [one.get("format") for one in definitions.values() if isinstance(one, dict)]
    is_common = bool(formats) and all(isinstance(one, str) and one == formats[0] for one in formats)
    return {**document, "format": formats[0]} if is_common else document


def check_format(document: Tree, group: Tree, subject: str) -> None:
    """A definition has the format of its Group."""
    given, wanted = document.get("format"), group.get("format")
    if not given or not isinstance(wanted, str) or given.lower() == wanted.lower():
        return
    if canonical_protocol(given) != canonical_protocol(wanted):
        _refuse(subject, "format", f"must be that of the group, {wanted}")


def check_external(uri: Any, name: str, base: str, subject: str) -> None:
    """A document elsewhere is outside of this registry (D5R-037)."""
    if not isinstance(uri, str) or not _SCHEME.match(uri):
        _refuse(subject, name, "must be an absolute URI")
    if uri.startswith(base + "/"):
        _refuse(subject, name, "must not lead into the same registry")


def _check_type(holder: Tree, name: str, wanted: type, subject: str, above: str = "") -> Any:
    value = holder.get(name)
    if value is not None and not isinstance(value, wanted):
        _refuse(subject, above + name, f"must be {_WORDS[wanted]}")
    return value


def _check_docs(docs: Any, name: str, subject: str) -> None:
    scheme = _SCHEME.match(docs) if isinstance(docs, str) else None
    if scheme and scheme[1].lower() not in ("http", "https"):
        _refuse(subject, name, "must be an http or https URL")


def _refuse(subject: str, name: str, detail: str) -> NoReturn:
    place = "/" + name.replace(".", "/")
    raise RegistryProblem("invalid_attribute", subject, name=name, error_detail=detail, pointer=place)
