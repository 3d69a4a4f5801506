"""Attributes that the specification defines for each entity type, as data: name, type, aspects that are not default."""

from __future__ import annotations

from typing import Any

SPECVERSION = "1.0-rc4"

Definition = dict[str, Any]

_SERVER: Definition = {"readonly": True, "required": True}
_FIXED: Definition = {"readonly": True, "immutable": True, "required": True}
_ANYTHING: Definition = {"*": {"type": "any"}}

_SELF: dict[str, Definition] = {
    "self": {"type": "url", **_FIXED},
    "shortself": {"type": "url", "readonly": True, "immutable": True},
    "xid": {"type": "xid", **_FIXED},
}
_EPOCH: dict[str, Definition] = {"epoch": {"type": "uinteger", **_SERVER}}
_LABELS: dict[str, Definition] = {"labels": {"type": "map", "item": {"type": "string"}}}
_TIMES: dict[str, Definition] = {
    "createdat": {"type": "timestamp", "required": True},
    "modifiedat": {"type": "timestamp", "required": True},
}
_DESCRIPTIVE: dict[str, Definition] = {
    "description": {"type": "string"},
    "documentation": {"type": "url"},
    "icon": {"type": "url"},
    **_LABELS,
}
_DEPRECATED: dict[str, Definition] = {
    "deprecated": {
        "type": "object",
        "attributes": {
            "effective": {"type": "timestamp"},
            "removal": {"type": "timestamp"},
            "alternative": {"type": "url"},
            "documentation": {"type": "url"},
            **_ANYTHING,
        },
    }
}
_CONSTRAINTS: dict[str, Definition] = {
    "constraints": {
        "type": "map",
        "item": {
            "type": "object",
            "attributes": {
                "default": {"type": "any"},
                "enum": {"type": "array", "item": {"type": "any"}},
                "equals": {"type": "string"},
            },
        },
    }
}
COMPATIBILITIES = ["backward", "backward_transitive", "forward", "forward_transitive", "full", "full_transitive"]


def _identity(name: str) -> dict[str, Definition]:
    return {name: {"type": "string", "immutable": True, "required": True}}


def registry_attributes() -> dict[str, Definition]:
    """Attributes of the Registry itself, without its collections."""
    return {
        "specversion": {"type": "string", **_SERVER, "default": SPECVERSION},
        "registryid": {"type": "string", **_FIXED},
        **_SELF,
        **_EPOCH,
        "name": {"type": "string"},
        **_DESCRIPTIVE,
        **_TIMES,
        "capabilities": {"type": "object", "attributes": dict(_ANYTHING)},
        "model": {"type": "object", "readonly": True, "attributes": dict(_ANYTHING)},
        "modelsource": {"type": "object", "attributes": dict(_ANYTHING)},
    }


def group_attributes(singular: str) -> dict[str, Definition]:
    """Attributes of a Group, without its collections."""
    named = {"name": {"type": "string"}}
    return {
        **_identity(singular + "id"),
        **_SELF,
        **_EPOCH,
        **named,
        **_DESCRIPTIVE,
        **_TIMES,
        **_DEPRECATED,
        **_CONSTRAINTS,
    }


def version_attributes(singular: str, hasdocument: bool) -> dict[str, Definition]:
    """Attributes of a Version; the document members only where the type has documents."""
    attributes: dict[str, Definition] = {
        **_identity(singular + "id"),
        **_identity("versionid"),
        **_SELF,
        **_EPOCH,
        "name": {"type": "string"},
        "isdefault": {"type": "boolean", **_SERVER, "default": False},
        **_DESCRIPTIVE,
        **_TIMES,
        "ancestorid": {"type": "string", "required": True},
        "contenttype": {"type": "string"},
        "format": {"type": "string"},
        "formatvalidated": {"type": "boolean", "readonly": True},
        "formatvalidatedreason": {"type": "string", "readonly": True},
        "compatibilityvalidated": {"type": "boolean", "readonly": True},
        "compatibilityvalidatedreason": {"type": "string", "readonly": True},
    }
    return {**attributes, **document_attributes(singular)} if hasdocument else attributes


def document_attributes(singular: str) -> dict[str, Definition]:
    """The attributes that carry a document."""
    return {
        singular + "url": {"type": "url"},
        singular + "proxyurl": {"type": "url"},  # RES-041: an extension of ours, the reference server's name
        singular: {"type": "any"},
        singular + "base64": {"type": "string"},
    }


RESOURCE_ONLY = ("metaurl", "meta", "versionsurl", "versionscount", "versions")


def resource_attributes(singular: str) -> dict[str, Definition]:
    """Attributes of the Resource itself, not of its Versions."""
    return {
        **_identity(singular + "id"),
        **_SELF,
        "metaurl": {"type": "url", **_FIXED},
        "meta": {"type": "object", "attributes": dict(_ANYTHING)},
        **collection_attributes("versions"),
    }


def meta_attributes(singular: str) -> dict[str, Definition]:
    """Attributes of the meta entity of a Resource."""
    return {
        **_identity(singular + "id"),
        **_SELF,
        "xref": {"type": "url"},
        **_EPOCH,
        **_LABELS,
        **_TIMES,
        "readonly": {"type": "boolean", **_SERVER, "default": False},
        "compatibility": {"type": "string", "enum": COMPATIBILITIES},
        **_DEPRECATED,
        "defaultversionid": {"type": "string", "required": True},
        "defaultversionurl": {"type": "url", **_SERVER},
        "defaultversionsticky": {"type": "boolean", "required": True, "default": False},
    }


def collection_attributes(plural: str) -> dict[str, Definition]:
    """The three attributes of a collection."""
    return {
        plural + "url": {"type": "url", **_FIXED},
        plural + "count": {"type": "uinteger", **_SERVER},
        plural: {"type": "map", "item": {"type": "object", "attributes": dict(_ANYTHING)}},
    }
