"""Short ways to write XML Schemas in tests."""

from __future__ import annotations

XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'


def schema(body: str, attributes: str = "") -> str:
    """A schema document."""
    return f"<xs:schema {XS} {attributes}>{body}</xs:schema>"


def simple(base: str, facets: str = "") -> str:
    """A root element of a restricted simple type."""
    return schema(f'<xs:element name="reading">{restriction(base, facets)}</xs:element>')


def restriction(base: str, facets: str = "") -> str:
    """An anonymous simple type; facets as `name=value`, separated by blanks."""
    words = [facet.partition("=") for facet in facets.split()]
    inside = "".join(f'<xs:{name} value="{value}"/>' for name, _, value in words)
    return f'<xs:simpleType><xs:restriction base="xs:{base}">{inside}</xs:restriction></xs:simpleType>'


def order(content: str = "", after: str = "", attributes: str = "") -> str:
    """A root element `order` of a complex type."""
    return schema(
        f'<xs:element name="order" {attributes}><xs:complexType>{content}</xs:complexType></xs:element>{after}'
    )


def sequence(*parts: str, occurs: str = "1..1") -> str:
    """A sequence of parts."""
    return _group("sequence", parts, occurs)


def choice(*parts: str, occurs: str = "1..1") -> str:
    """A choice of parts."""
    return _group("choice", parts, occurs)


def every(*parts: str) -> str:
    """All parts in any order."""
    return _group("all", parts, "1..1")


def item(name: str, kind: str = "string", occurs: str = "1..1", more: str = "") -> str:
    """A local element of a built-in type."""
    return f'<xs:element name="{name}" type="xs:{kind}" {_occurs(occurs)} {more}/>'


def attribute(name: str, kind: str = "string", use: str = "optional", more: str = "") -> str:
    """An attribute of a built-in type."""
    return f'<xs:attribute name="{name}" type="xs:{kind}" use="{use}" {more}/>'


def _group(kind: str, parts: tuple[str, ...], occurs: str) -> str:
    return f"<xs:{kind} {_occurs(occurs)}>{''.join(parts)}</xs:{kind}>"


def _occurs(occurs: str) -> str:
    least, _, most = occurs.partition("..")
    return f'minOccurs="{least}" maxOccurs="{most.replace("*", "unbounded")}"'
