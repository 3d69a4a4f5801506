"""References to payload schemas: whether two of them name the same schema."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_ABSOLUTE = re.compile(r"\A[A-Za-z][A-Za-z0-9+.\-]*:")
_IN_REGISTRY = re.compile(
    r"\A(?P<origin>(?:[A-Za-z][A-Za-z0-9+.\-]*:)?//[^?#]*?)?#?(?P<schema>/schemagroups/[^/?#]+/schemas/[^/?#$]+)(?:\$details)?"
    r"(?:/versions/(?P<version>[^/?#$]+)(?:\$details)?)?(?:/schema)?(?:#(?P<fragment>.*))?\Z"
)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class SchemaReference(NamedTuple):
    """A reference taken apart; one that does not lead to a schema of a registry is all `origin`."""

    origin: str
    schema: str = ""
    version: str = ""
    fragment: str = ""


def is_absolute(reference: str) -> bool:
    """Whether a reference is a URI with a scheme."""
    return _ABSOLUTE.match(reference) is not None


def is_same_schema(found: str, wanted: str, others: tuple[str, ...] = ()) -> bool:
    """Whether a reference names the wanted schema, or is one of the others, which mean the same.

    A path, an xid and a URL agree where nothing in them differs. A wanted schema without a version takes all versions.
    """
    if found == wanted:
        return True
    given = _parse(found)
    is_other = any(_agree(given, other) and given.version == other.version for other in map(_parse, others))
    return is_other or _agree(given, _parse(wanted))


def names_other_schema(found: str, wanted: str, others: tuple[str, ...] = ()) -> bool:
    """Whether a reference surely leads to another schema of a registry than the wanted one."""
    return bool(_parse(found).schema) and not is_same_schema(found, wanted, others)


def _agree(found: SchemaReference, wanted: SchemaReference) -> bool:
    if not (found.schema and wanted.schema):
        return found == wanted
    return (
        found.schema in (wanted.schema, wanted.schema.partition(":")[0])
        and (found.origin == wanted.origin or not (found.origin and wanted.origin))
        and wanted.version in ("", found.version)
        and (found.fragment == wanted.fragment or not (found.fragment and wanted.fragment))
    )


@functools.lru_cache(maxsize=1024)
def _parse(reference: str) -> SchemaReference:
    inside = _IN_REGISTRY.match(reference)
    if inside is None:
        return SchemaReference(_normal(reference))
    schema, version = unquote(inside["schema"]), unquote(inside["version"] or "")
    return SchemaReference(_normal(inside["origin"] or ""), schema, version, inside["fragment"] or "")


def _normal(uri: str) -> str:
    """A URI with scheme and host in lower case and without the usual port, so that equal ones are written alike."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    host = parts.netloc.lower().removesuffix(_DEFAULT_PORTS.get(parts.scheme, "\0"))
    return parts._replace(netloc=host).geturl().rstrip("/") if parts.netloc else uri
