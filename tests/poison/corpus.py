"""Small inputs that mean harm, in all five formats: schemas, and payloads for each of them.

Every one of them must end in bounded time and memory, wherever it is handed in: refused, invalid or landed, never a
process that dies or hangs.
"""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'
STRUCTURE = "https://json-structure.org/meta/extended/v0/#"


class Poison(NamedTuple):
    """A schema, and payloads that are to be judged by it; `type` picks one of several message types."""

    name: str
    format: str
    contenttype: str
    document: Any
    payloads: tuple[bytes, ...]
    type: str = ""


def nested(levels: int, leaf: Any, name: str = "x") -> Any:
    """A value inside of objects."""
    for _ in range(levels):
        leaf = {name: leaf}
    return leaf


def brackets(levels: int) -> bytes:
    """Lists in lists, more than anybody follows."""
    return b"[" * levels + b"]" * levels


def expression(levels: int, leaf: Any) -> Any:
    """A sum of products of sums …, wrong at the bottom."""
    for _ in range(levels):
        leaf = {"op": "mul", "args": [1, leaf]}
    return leaf


def encoded(*values: Any) -> tuple[bytes, ...]:
    """Values as JSON."""
    return tuple(json.dumps(value).encode() for value in values)


def varint(number: int) -> bytes:
    """A number as Protobuf writes it."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def zigzag(number: int) -> bytes:
    """A number as Avro writes it."""
    return varint(number * 2 if number >= 0 else -number * 2 - 1)


# Numbers, texts and depths that are hard for whoever reads JSON at all.
HARD_JSON = (
    b"1e999999999",
    b"-1e-999999999",
    b"9" * 100_000,
    b'{"x": 1e999999999}',
    brackets(100_000),
    b'{"x":' * 100_000,
    b'"' + b"a" * 1_000_000 + b'"',
    b'{"x": "' + b"\\u0000" * 50_000 + b'"}',
    b"{" + b",".join(b'"x": %d' % number for number in range(20_000)) + b"}",
)


def _operation(name: str) -> dict[str, Any]:
    arguments = {"type": "array", "items": {"$ref": "#"}}
    return {"type": "object", "required": ["op", "args"], "properties": {"op": {"const": name}, "args": arguments}}


def _chain(levels: int, step: Any, last: Any) -> dict[str, Any]:
    """Definitions that each refer to the next."""
    return {**{f"s{i}": step(f"#/$defs/s{i + 1}", i) for i in range(levels)}, f"s{levels}": last}


def _unevaluated(levels: int) -> dict[str, Any]:
    def step(following: str, number: int) -> dict[str, Any]:
        either = [{"$ref": following}, {"properties": {f"q{number}": True}}]
        return {"allOf": [{"anyOf": either}], "unevaluatedProperties": False}

    return {"$ref": "#/$defs/s0", "$defs": _chain(levels, step, True)}


def _json_schemas() -> Iterator[tuple[str, Any, tuple[bytes, ...]]]:
    calculator = {"oneOf": [{"type": "number"}, _operation("add"), _operation("mul")]}
    yield "alternatives", calculator, encoded(*(expression(levels, "oh") for levels in (3, 24, 40, 190)))
    chain: Any = {"type": "string"}
    for _ in range(24):
        below = {"op": {"const": "mul"}, "args": {"type": "array", "minItems": 1, "items": chain}}
        chain = {**_operation("mul"), "properties": below}
    yield "long_way_down", chain, encoded(expression(24, "oh"), expression(25, "oh"))
    into_x = {"properties": {"x": {"$ref": "#"}}}
    for keyword in ("allOf", "anyOf", "oneOf"):
        document = {"type": ["object", "integer"], keyword: [{**into_x, "maxProperties": 9 - i} for i in range(4)]}
        yield f"recursion_{keyword}", document, encoded(nested(40, "oh"), nested(390, "oh"), nested(390, 1))
    yield (
        "recursion_if",
        {"type": ["object", "integer"], "if": into_x, "then": into_x, "else": into_x},
        encoded(nested(40, "oh"), nested(390, 1)),
    )
    dynamic = {"properties": {"x": {"$dynamicRef": "#n"}}}
    document = {
        "$dynamicAnchor": "n",
        "type": ["object", "integer"],
        "anyOf": [dynamic, {**dynamic, "minProperties": 1}],
    }
    yield "recursion_dynamic", document, encoded(nested(40, "oh"), nested(390, 1))
    document = {"type": ["array", "integer"], "items": {"$ref": "#"}, "contains": {"$ref": "#"}}
    yield "recursion_contains", document, (brackets(300), b"[" * 300 + b'"oh"' + b"]" * 300)
    names = ("x", "^x", "x$")
    document = {"type": ["object", "integer"], "patternProperties": {name: {"$ref": "#"} for name in names}}
    yield "recursion_patterns", document, encoded(nested(40, "oh"), nested(390, 1))
    yield "unevaluated", _unevaluated(25), encoded({"a": 1}, {"q7": 1})
    yield "unevaluated_few", _unevaluated(6), encoded({"a": 1}, {f"q{i}": 1 for i in range(6)})
    for keyword in ("allOf", "anyOf"):
        chain = _chain(40, lambda following, _, keyword=keyword: {keyword: [{"$ref": following}] * 2}, {"type": "null"})
        yield f"doubling_{keyword}", {"$ref": "#/$defs/s0", "$defs": chain}, encoded(1)
    chain = _chain(15, lambda following, _: {"allOf": [{"$ref": following}] * 2}, {"type": "integer"})
    yield "doubling_items", {"items": {"$ref": "#/$defs/s0"}, "$defs": chain}, encoded([1] * 30, [1] * 20_000)
    circle = {f"n{i}": {"allOf": [{"$ref": f"#/$defs/n{j}"} for j in range(7)]} for i in range(7)}
    yield "circles", {"$ref": "#/$defs/n0", "$defs": circle}, encoded(1, {})
    yield "large_integers", {"uniqueItems": True}, encoded([2**70 + i for i in range(5_000)])
    yield "counted_repeats", {"pattern": "^([a-z]{0,500}){0,100}$"}, encoded("ab" * 5_000)
    yield "backtracking", {"items": {"not": {"pattern": r"^(a|a)*(a|a)*b\1$|(?=x)"}}}, encoded(["a" * 11] * 2_000)
    yield "fractions", {"items": {"multipleOf": 1e-300}}, (b"[" + b"1e300," * 20_000 + b"1]",)
    yield (
        "many_patterns",
        {"patternProperties": {f"s{i}": {} for i in range(1_000)}},
        encoded({f"a{i}": 1 for i in range(20_000)}),
    )
    objects = [{"type": "object", "required": [f"k{i}"], "properties": {f"k{i}": {"type": "null"}}} for i in range(500)]
    yield "wide", {"items": {"anyOf": objects}}, encoded([{"k1": 1}] * 2_000, [{"k1": None}] * 200)
    yield "hard_json", {"properties": {"x": {"type": "integer", "multipleOf": 7}}}, HARD_JSON
    yield "required", {"required": [f"m{i}" for i in range(2_000)]}, encoded({f"x{i}": i for i in range(2_000)})


_NODE = {
    "type": "record",
    "name": "Node",
    "fields": [{"name": "next", "type": ["null", "Node"]}, {"name": "value", "type": "long"}],
}


def _avro_schemas() -> Iterator[tuple[str, Any, tuple[bytes, ...]]]:
    yield "linked_list", _NODE, (zigzag(1) * 100_000, zigzag(1) * 300 + zigzag(0) + zigzag(1) * 301)
    empty = {"type": "record", "name": "Empty", "fields": []}
    for name, items in (("nulls", "null"), ("empties", empty), ("nothing", {"type": "fixed", "name": "F", "size": 0})):
        for kind in ("array", "map"):
            document = {"type": kind, "items" if kind == "array" else "values": items}
            counts = (zigzag(10**15) + b"\0", zigzag(-(10**15)) + zigzag(0) + b"\0", zigzag(2**62), zigzag(1) * 50_000)
            yield f"{kind}_of_{name}", document, counts
    lists: Any = "null"
    for _ in range(30):
        lists = {"type": "array", "items": lists}
    yield "lists_of_lists", lists, (zigzag(1_000_000) * 30, zigzag(2) * 60 + b"\0" * 60)
    yield (
        "lengths",
        {"type": "record", "name": "Long", "fields": [{"name": "x", "type": "string"}]},
        (
            zigzag(2**60),
            zigzag(-1),
            zigzag(2**31) + b"a",
            b"\xff" * 100,
            b"",
        ),
    )
    union = [
        {"type": "record", "name": f"R{i}", "fields": [{"name": f"f{i}", "type": ["null", "string"]}]}
        for i in range(400)
    ]
    yield "wide_union", union, (zigzag(399) + b"\2\2a", zigzag(400), zigzag(-1), zigzag(2**40))
    yield "huge_fixed", {"type": "fixed", "name": "Huge", "size": 2**31 - 1}, (b"", b"a" * 1_000)
    wide = {"type": "record", "name": "W", "fields": [{"name": f"f{i}", "type": "null"} for i in range(3_000)]}
    yield "wide_record", {"type": "array", "items": wide}, (zigzag(10**9) + b"\0",)
    number = {"type": "bytes", "logicalType": "decimal", "precision": 100_000, "scale": 50_000}
    yield "huge_decimal", number, (zigzag(40_000) + b"\x7f" * 40_000,)


PROTO = """syntax = "proto3";
message Poison {
  Poison inner = 1; repeated int32 numbers = 2; map<string, Poison> by_name = 3; string text = 4; bytes raw = 5;
  repeated Poison many = 6; double ratio = 7; oneof either { int64 left = 8; Poison right = 9; }
}
"""


def _protobuf_schemas() -> Iterator[tuple[str, Any, tuple[bytes, ...]]]:
    deep = b""
    for _ in range(2_000):
        deep = b"\x0a" + varint(len(deep)) + deep
    payloads = (
        deep,
        b"\x12" + varint(200_000) + b"\x7f" * 200_000,
        b"\x0a" + varint(2**40),
        b"\x0b" * 50_000,
        b"\xff" * 1_000,
        (b"\x32\x00") * 50_000,
        (b"\xf8\xff\xff\xff\x0f\x01") * 20_000,
        b"\x22" + varint(500_000) + b"\xff" * 500_000,
    )
    yield "messages", PROTO, payloads
    fields = "\n".join(f"repeated Wide f{i} = {i};" for i in range(1, 1_500))
    yield (
        "wide_message",
        f'syntax = "proto3";\nmessage Poison {{ string text = 4; }}\nmessage Wide {{\n{fields}\n}}',
        (b"\x22\x01a",),
    )
    inner = "message M { " * 60 + "}" * 60
    yield "deep_types", f'syntax = "proto3";\nmessage Poison {{ string text = 4; {inner} }}', (b"\x22\x01a",)
    values = "\n".join(f"V{i} = {i};" for i in range(5_000))
    document = f'syntax = "proto3";\nenum E {{\n{values}\n}}\nmessage Poison {{ repeated E e = 1; }}'
    yield "wide_enum", document, (b"\x0a" + varint(100_000) + b"\x01" * 100_000,)


def _element(content: str, name: str = "poison", more: str = "") -> str:
    return f'<xs:schema {XS}><xs:element name="{name}">{content}</xs:element>{more}</xs:schema>'


def _text(facets: str, base: str = "xs:string") -> str:
    return f'<xs:simpleType><xs:restriction base="{base}">{facets}</xs:restriction></xs:simpleType>'


def _sequence(particles: str) -> str:
    return f"<xs:complexType><xs:sequence>{particles}</xs:sequence></xs:complexType>"


def _xml(content: str) -> bytes:
    return f"<poison>{content}</poison>".encode()


def _laughs() -> bytes:
    entities = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    return f"<!DOCTYPE poison [{entities}]><poison>&a11;</poison>".encode()


def _xsd_schemas() -> Iterator[tuple[str, Any, tuple[bytes, ...]]]:
    anything = _element(_sequence('<xs:any processContents="lax" minOccurs="0" maxOccurs="unbounded"/>'))
    external = b'<!DOCTYPE poison [<!ENTITY x SYSTEM "file:///etc/passwd">]><poison>&x;</poison>'
    grown = b'<!DOCTYPE poison [<!ENTITY x "' + b"a" * 50_000 + b'">]><poison>' + b"&x;" * 5_000 + b"</poison>"
    deep = b"<poison>" * 50_000 + b"</poison>" * 50_000
    attributes = "".join(f' a{i}="x"' for i in range(20_000)).encode()
    yield "documents", anything, (_laughs(), external, grown, deep, b"<poison" + attributes + b"/>", b"<poison", b"")
    yield "text", _element(_text('<xs:pattern value="(a|aa)+b"/>')), (_xml("a" * 10_000), _xml("a" * 10_000 + "b"))
    yield "squares", _element(_text('<xs:pattern value="(a*)*(a*)*c"/>')), (_xml("a" * 10_000),)
    yield "counted", _element(_text('<xs:pattern value="([a-z]{0,200}){0,200}c"/>')), (_xml("a" * 5_000),)
    once = '<xs:element name="a" minOccurs="{}" maxOccurs="{}"/>'
    yield "a_billion", _element(_sequence(once.format(10**9, 10**9))), (_xml("<a/>" * 1_000),)
    yield "thousands", _element(_sequence(once.format(3_000, 3_000))), (_xml("<a/>" * 3_000), _xml("<a/>" * 2_999))
    yield "thousands_more", _element(_sequence(once.format(2_999, 3_001))), (_xml("<a/>" * 3_000),)
    choice = '<xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="a" minOccurs="0"/></xs:choice>'
    yield "choices", _element(_sequence(choice * 1)), (_xml("<a/>" * 5_000), _xml("<a/>" * 5_000 + "<b/>"))
    yield "digits", _element(_text('<xs:totalDigits value="99999999999"/>', "xs:decimal")), (_xml("9" * 100_000),)
    lists = '<xs:simpleType><xs:union memberTypes="xs:NMTOKENS xs:IDREFS"/></xs:simpleType>'
    yield "union_of_lists", _element(lists), (_xml("a " * 10_000), _xml("<"))
    members = "".join(f'<xs:element name="m{i}" substitutionGroup="head" type="xs:string"/>' for i in range(300))
    head = f'<xs:element name="head" type="xs:string"/>{members}'
    yield "substitutes", _element(_sequence('<xs:element ref="head"/>'), more=head), (_xml("<m299>x</m299>"), _xml(""))
    keyed = '<xs:complexType><xs:attribute name="k"/></xs:complexType>'
    row = f'<xs:element name="r" maxOccurs="unbounded">{keyed}</xs:element>'
    key = '<xs:key name="k"><xs:selector xpath="r"/><xs:field xpath="@k"/></xs:key>'
    rows = "".join(f'<r k="{i}"/>' for i in range(3_000))
    yield "keys", _element(_sequence(row) + key), (_xml(rows), _xml(rows + '<r k="1"/>'))


def _structure(**members: Any) -> dict[str, Any]:
    stated = {"$schema": STRUCTURE, "$id": "https://poison.example/s", "name": "Poison"}
    return {**stated, "$uses": ["JSONStructureValidation", "JSONStructureConditionalComposition"], **members}


def _structures() -> Iterator[tuple[str, Any, tuple[bytes, ...]]]:
    tree = {"type": "object", "properties": {"x": {"type": ["null", {"$ref": "#/definitions/Tree"}]}}}
    yield (
        "tree",
        _structure(**{"$root": "#/definitions/Tree", "definitions": {"Tree": {**tree, "name": "Tree"}}}),
        (
            *encoded(nested(40, "oh"), nested(300, None)),
            brackets(50_000),
        ),
    )
    either = {"anyOf": [{"$ref": "#/definitions/Tree"}, {"$ref": "#/definitions/Tree"}]}
    twice = {"name": "Tree", "type": "object", "properties": {"x": {"type": ["null", {"$ref": "#/definitions/Tree"}]}}}
    yield (
        "tree_twice",
        _structure(**{"$root": "#/definitions/Tree", "definitions": {"Tree": {**twice, **either}}}),
        (encoded(nested(40, "oh"))),
    )
    objects = {
        f"R{i}": {"type": "object", "name": f"R{i}", "properties": {f"f{i}": {"type": "string"}}} for i in range(300)
    }
    either = {"type": [{"$ref": f"#/definitions/{name}"} for name in objects]}
    yield (
        "wide_union",
        _structure(type="object", properties={"x": either}, definitions=objects),
        encoded({"x": {"f299": 1}}, {"x": {"f299": "a"}}, {"x": 5}),
    )
    yield "text", _structure(type="string", pattern="([a-z]{0,500}){0,100}"), encoded("ab" * 5_000)
    yield "long_text", _structure(type="string", pattern="[ab]{1,100}a[ab]{100}c"), encoded("ab" * 5_000)
    yield (
        "numbers",
        _structure(type="object", properties={"x": {"type": "decimal"}, "y": {"type": "int64"}}),
        (
            *HARD_JSON,
            b'{"x": "' + b"9" * 100_000 + b'"}',
            b'{"x": "1e999999999"}',
            b'{"y": "9e999999999"}',
        ),
    )
    yield "items", _structure(type="set", items={"type": "int64"}), encoded([str(2**62 + i) for i in range(20_000)])


def _corpus() -> Iterator[Poison]:
    for name, document, payloads in _json_schemas():
        yield Poison(f"jsonschema.{name}", "JsonSchema/draft/2020-12", "application/json", document, payloads)
    for name, document, payloads in _avro_schemas():
        yield Poison(f"avro.{name}", "Avro/1.11", "application/avro", document, payloads)
    yield Poison("avro.json", "Avro/1.11", "application/json", _NODE, (*HARD_JSON, b'{"next":' * 5_000))
    for name, document, payloads in _protobuf_schemas():
        yield Poison(f"protobuf.{name}", "Protobuf/3", "application/protobuf", document, payloads, "Poison")
    texts = (*HARD_JSON, b'{"inner":' * 5_000 + b"{}" + b"}" * 5_000, b'{"numbers": [1e300]}', b'{"ratio": 1e99999}')
    yield Poison("protobuf.json", "Protobuf/3", "application/json", PROTO, texts, "Poison")
    for name, document, payloads in _xsd_schemas():
        yield Poison(f"xsd.{name}", "XSD/1.1", "application/xml", document, payloads)
    for name, document, payloads in _structures():
        yield Poison(f"jsonstructure.{name}", "JsonStructure/draft-04", "application/json", document, payloads)


CORPUS = tuple(_corpus())

_LINE = {"type": "object", "properties": {"sku": {"type": "string"}, "pieces": {"type": "integer"}}}
_ORDER = {"type": "object", "properties": {"lines": {"type": "array", "items": _LINE}}}


def _order(size: int) -> bytes:
    return json.dumps({"lines": [{"sku": "roll", "pieces": 7}] * (size // 32)}).encode()


# As many messages of the same size, as they come on other days.
HARMLESS = tuple(
    Poison(case.name, "JsonSchema/draft-07", "application/json", _ORDER, tuple(_order(len(p)) for p in case.payloads))
    for case in CORPUS
)


def pairs(family: str) -> Iterator[tuple[Poison, Poison]]:
    """Schemas of one format, each with its neighbours, both ways."""
    for case, other in itertools.pairwise(CORPUS):
        if case.format == other.format and case.format.startswith(family) and case.document is not other.document:
            yield case, other
            yield other, case


def catalog(cases: tuple[Poison, ...] = CORPUS) -> dict[str, Any]:
    """A catalog with a schema and a message for each of them."""
    schemas: dict[str, Any] = {}
    messages: dict[str, Any] = {}
    for case in cases:
        version = {"versionid": "1", "format": case.format, "schema": case.document}
        schemas[case.name] = {"versions": {"1": version}}
        messages[case.name] = {
            "envelope": "CloudEvents/1.0",
            "envelopemetadata": {"type": {"value": case.name}, "datacontenttype": {"value": case.contenttype}},
            "dataschemaformat": case.format,
            "dataschemauri": f"/schemagroups/poison/schemas/{case.name}" + (f"#{case.type}" if case.type else ""),
            "datacontenttype": case.contenttype,
        }
    return {
        "specversion": "1.0-rc4",
        "schemagroups": {"poison": {"schemas": schemas}},
        "messagegroups": {"poison": {"messages": messages}},
    }


def records(cases: tuple[Poison, ...] = CORPUS) -> Iterator[dict[str, Any]]:
    """A record for each of their payloads."""
    for case in cases:
        for number, payload in enumerate(case.payloads):
            headers = {
                "ce_specversion": "1.0",
                "ce_id": f"{case.name}-{number}",
                "ce_source": "/poison",
                "ce_type": case.name,
                "content-type": case.contenttype,
            }
            yield {
                "protocol": "KAFKA",
                "metadata": {"topic": "poison", "headers": headers},
                "payload_base64": base64.b64encode(payload).decode(),
            }
