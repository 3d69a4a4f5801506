"""Small random XML Schemas, and changes to them, for properties that hold for all."""

from __future__ import annotations

import random
import re

from tests.formats.xsd.schemas import restriction, schema

_NAMES = "abcde"
_OCCURS = (
    "",
    "",
    "",
    'minOccurs="0"',
    'maxOccurs="2"',
    'minOccurs="0" maxOccurs="unbounded"',
    'minOccurs="2" maxOccurs="3"',
)
_BUILTIN = (
    "int", "long", "string", "boolean", "date", "double", "decimal", "token", "hexBinary", "anyURI", "NMTOKEN",
    "unsignedByte", "dateTime", "integer", "base64Binary", "time", "language",
)  # fmt: skip


def random_schema(rng: random.Random) -> str:
    """A schema with the root element `root`."""
    return schema(f'<xs:element name="root">{_complex(rng, 0)}</xs:element>')


def changed(document: str, rng: random.Random) -> str:
    """The schema with one small change; sometimes it stays as it is."""
    first, second = rng.choice(
        (
            ('minOccurs="2"', 'minOccurs="1"'),
            ('use="required"', 'use="optional"'),
            ('maxOccurs="2"', 'maxOccurs="unbounded"'),
            ('base="xs:int"', 'base="xs:long"'),
            ('nillable="true"', ""),
            ('mixed="true"', ""),
            ('minOccurs="0"', ""),
        )
    )
    if rng.random() < 0.3:
        return re.sub(
            '(Inclusive|Length) value="(\\d)"', lambda m: f'{m[1]} value="{int(m[2]) + 1}"', document, count=1
        )
    if rng.random() < 0.2:
        return re.sub('<xs:enumeration value="[^"]*"/>', "", document, count=1)
    return document.replace(first, second, 1)


def _simple(rng: random.Random) -> str:
    pattern = rng.choice(("[a-z]+", "a|b", "[a-c]{2}", r"\d+", ".*", "(a+)+b"))
    letters = sorted(set(rng.choices("abc", k=3)))
    return rng.choice(
        (
            restriction("int", f"minInclusive={rng.randint(0, 3)} maxInclusive={rng.randint(3, 6)}"),
            restriction("string", f"minLength={rng.randint(0, 2)} maxLength={rng.randint(3, 4)}"),
            restriction("string", " ".join(f"enumeration={letter}" for letter in letters)),
            restriction("decimal", f"totalDigits={rng.randint(3, 5)} fractionDigits={rng.randint(0, 2)}"),
            restriction("token", f"pattern={pattern}"),
            f'<xs:simpleType><xs:list itemType="xs:{rng.choice(("int", "short", "token"))}"/></xs:simpleType>',
            f'<xs:simpleType><xs:union memberTypes="xs:int xs:{rng.choice(("boolean", "token"))}"/></xs:simpleType>',
            restriction(rng.choice(_BUILTIN)),
            restriction(rng.choice(_BUILTIN)),
        )
    )


def _element(rng: random.Random, name: str, depth: int, occurs: str) -> str:
    kind = _simple(rng) if depth > 1 or rng.random() < 0.7 else _complex(rng, depth + 1)
    nillable = 'nillable="true"' if rng.random() < 0.2 else ""
    return f'<xs:element name="{name}" {occurs} {nillable}>{kind}</xs:element>'


def _group(rng: random.Random, names: list[str], depth: int) -> str:
    parts = []
    for _ in range(rng.randint(1, 3)):
        if names:
            inner = rng.random() < 0.75
            occurs = rng.choice(_OCCURS)
            parts.append(_element(rng, names.pop(), depth, occurs) if inner else _group(rng, names, depth))
    if rng.random() < 0.08:
        parts.append('<xs:any namespace="##other" processContents="lax" minOccurs="0"/>')
    kind = rng.choice(("sequence", "sequence", "choice"))
    return f"<xs:{kind} {rng.choice(_OCCURS)}>{''.join(parts)}</xs:{kind}>"


def _complex(rng: random.Random, depth: int) -> str:
    names = list(_NAMES[: rng.randint(1, 4)])
    uses = [(name, rng.choice(("optional", "required"))) for name in "xy" if rng.random() < 0.4]
    attributes = "".join(f'<xs:attribute name="{name}" use="{use}">{_simple(rng)}</xs:attribute>' for name, use in uses)
    kind = rng.random()
    if kind < 0.15:
        base = rng.choice(("int", "string", "decimal"))
        extension = f'<xs:extension base="xs:{base}">{attributes}</xs:extension>'
        return f"<xs:complexType><xs:simpleContent>{extension}</xs:simpleContent></xs:complexType>"
    if kind < 0.3:
        parts = "".join(_element(rng, name, depth, rng.choice(("", 'minOccurs="0"'))) for name in names)
        return f"<xs:complexType><xs:all>{parts}</xs:all>{attributes}</xs:complexType>"
    mixed = 'mixed="true"' if rng.random() < 0.2 else ""
    return f"<xs:complexType {mixed}>{_group(rng, names, depth)}{attributes}</xs:complexType>"
