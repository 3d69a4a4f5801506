"""Names of the XML languages that a schema deals with."""

from __future__ import annotations

XS = "http://www.w3.org/2001/XMLSchema"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
XML = "http://www.w3.org/XML/1998/namespace"
VERSIONING = "http://www.w3.org/2007/XMLSchema-versioning"

NIL = f"{{{XSI}}}nil"
TYPE = f"{{{XSI}}}type"
ANY_TYPE = f"{{{XS}}}anyType"


def xs(local: str) -> str:
    """The full name of a word of XML Schema."""
    return f"{{{XS}}}{local}"


def local_name(tag: str) -> str:
    """A name without its namespace."""
    return tag.rpartition("}")[2]


def namespace_of(tag: str) -> str:
    """The namespace of a name."""
    return tag[1:].partition("}")[0] if tag.startswith("{") else ""
