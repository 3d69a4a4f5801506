"""Parser of schema documents, by the rules of the specification."""

from __future__ import annotations

from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.avro import types
from postroom.formats.avro.defaults import fits
from postroom.formats.avro.logical_types import parse_logical_type
from postroom.formats.avro.min_size import SizeChecker
from postroom.formats.avro.named_references import Neighbours
from postroom.formats.avro.names import alias_names, full_name, is_name, namespace_of, qualified

_DEEPEST = 100
_LARGEST_FIXED = 2**31 - 1
_ORDERS = ("ascending", "descending", "ignore")


class Parser:
    """Parses one document; `names` holds every type defined so far, by its full name.

    `any_branch` says that the default of a union may fit any of its types.
    """

    def __init__(self, neighbours: Neighbours, any_branch: bool) -> None:
        self.names: dict[str, types.NamedType] = {}
        self._neighbours = neighbours
        self._any_branch = any_branch
        self._sizes = SizeChecker(_DEEPEST)
        self._foreign = False

    def type(self, schema: Any, namespace: str = "", at: str = "", depth: int = 0) -> types.AvroType:
        """The type that a part of the document describes."""
        if depth > _DEEPEST:
            raise SchemaRefused(f"types are nested more than {_DEEPEST} deep.", place=at)
        if isinstance(schema, str):
            return self._named(schema, namespace, at, depth)
        if isinstance(schema, list):
            return self._union(schema, namespace, at, depth)
        if isinstance(schema, dict):
            return self._object(schema, namespace, at, depth)
        raise SchemaRefused("a type is a name, an object or a list of types.", place=at)

    def _named(self, name: str, namespace: str, at: str, depth: int) -> types.AvroType:
        if name in types.PRIMITIVES:
            return self._sizes.check(types.PrimitiveType(name, at))
        full = qualified(name, namespace)
        # As in the reference implementation, a name that its namespace does not have may be one without a namespace.
        found = self.names.get(full) or self.names.get(name) or self._elsewhere(full, depth)
        if found is None and full != name:
            found = self._elsewhere(name, depth)
        if found is None:
            raise SchemaRefused(f"the type {full!r} is not defined.", place=at)
        if isinstance(found, types.RecordType) and not found.is_complete:
            found.is_recursive = True
        return found

    def _elsewhere(self, name: str, depth: int) -> types.NamedType | None:
        """A type that another document defines."""
        found = self._neighbours.definition(name)
        if found is None:
            return None
        before, self._foreign = self._foreign, True
        self.type(found.schema, found.namespace, found.at, depth + 1)
        self._foreign = before
        return self.names.get(name)

    def _union(self, schema: list[Any], namespace: str, at: str, depth: int) -> types.UnionType:
        branches: list[types.AvroType] = []
        seen: set[str] = set()
        for index, branch in enumerate(schema):
            here = f"{at}/{index}"
            if isinstance(branch, list):
                raise SchemaRefused("a union may not directly contain another union.", place=here)
            parsed = self.type(branch, namespace, here, depth + 1)
            if types.branch_name(parsed) in seen:
                raise SchemaRefused(f"the union has {types.branch_name(parsed)} twice.", place=here)
            seen.add(types.branch_name(parsed))
            branches.append(parsed)
        return self._sizes.check(types.UnionType(tuple(branches), at))

    def _object(self, schema: dict[str, Any], namespace: str, at: str, depth: int) -> types.AvroType:
        type_name = schema.get("type")
        if not isinstance(type_name, str):
            raise SchemaRefused(
                "the type of an object is a name." if "type" in schema else "this object has no type.", place=at
            )
        if type_name in types.PRIMITIVES:
            return self._sizes.check(types.PrimitiveType(type_name, at, parse_logical_type(schema, type_name, 0)))
        if type_name in ("array", "map"):
            return self._collection(schema, type_name, namespace, at, depth)
        if type_name in ("record", "error", "enum", "fixed"):
            return self._definition(schema, type_name, namespace, at, depth)
        return self._named(type_name, namespace, f"{at}/type", depth)

    def _collection(
        self, schema: dict[str, Any], type_name: str, namespace: str, at: str, depth: int
    ) -> types.ArrayType | types.MapType:
        member = "items" if type_name == "array" else "values"
        if member not in schema:
            raise SchemaRefused(f"this {type_name} has no {member}.", place=at)
        inner = self.type(schema[member], namespace, f"{at}/{member}", depth + 1)
        return self._sizes.check(types.ArrayType(inner, at) if type_name == "array" else types.MapType(inner, at))

    def _definition(
        self, schema: dict[str, Any], type_name: str, namespace: str, at: str, depth: int
    ) -> types.NamedType:
        name = full_name(schema, namespace, at)
        if name in self.names:
            # Documents of a group often repeat a type; one of them is enough.
            if self._foreign:
                return self.names[name]
            raise SchemaRefused(f"the type {name!r} is defined twice.", place=at)
        if type_name == "enum":
            return self._enum(schema, name, at)
        if type_name == "fixed":
            return self._fixed(schema, name, at)
        return self._record(schema, name, at, depth)

    def _enum(self, schema: dict[str, Any], name: str, at: str) -> types.EnumType:
        symbols = schema.get("symbols")
        if not isinstance(symbols, list):
            raise SchemaRefused(f"the enum {name!r} has no list of symbols.", place=at)
        seen: set[str] = set()
        for index, symbol in enumerate(symbols):
            if not is_name(symbol):
                raise SchemaRefused(f"{symbol!r} is not a symbol.", place=f"{at}/symbols/{index}")
            if symbol in seen:
                raise SchemaRefused(f"the symbol {symbol!r} is there twice.", place=f"{at}/symbols/{index}")
            seen.add(symbol)
        default = schema.get("default")
        if default is not None and default not in symbols:
            raise SchemaRefused(f"the default {default!r} is not one of the symbols.", place=f"{at}/default")
        aliases = alias_names(schema, namespace_of(name), at)
        self.names[name] = made = self._sizes.check(types.EnumType(name, tuple(symbols), at, aliases, default))
        return made

    def _fixed(self, schema: dict[str, Any], name: str, at: str) -> types.FixedType:
        size = schema.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= _LARGEST_FIXED:
            raise SchemaRefused(f"the size of {name!r} is not a number of bytes.", place=f"{at}/size")
        aliases = alias_names(schema, namespace_of(name), at)
        made = types.FixedType(name, size, at, aliases, parse_logical_type(schema, "fixed", size))
        self.names[name] = self._sizes.check(made)
        return made

    def _record(self, schema: dict[str, Any], name: str, at: str, depth: int) -> types.RecordType:
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise SchemaRefused(f"the record {name!r} has no list of fields.", place=at)
        namespace = namespace_of(name)
        record = types.RecordType(name, at, alias_names(schema, namespace, at), _text(schema.get("doc")))
        self.names[name] = record
        parsed = [self._field(field, namespace, f"{at}/fields/{index}", depth) for index, field in enumerate(fields)]
        seen: set[str] = set()
        for field in parsed:
            if field.name in seen:
                raise SchemaRefused(f"the record {name!r} has the field {field.name!r} twice.", place=field.at)
            seen.add(field.name)
        record.fields = tuple(parsed)
        record.is_complete = True
        self._check_defaults(record)
        return self._sizes.check(record)

    def _field(self, schema: Any, namespace: str, at: str, depth: int) -> types.RecordField:
        if not isinstance(schema, dict):
            raise SchemaRefused("a field is an object.", place=at)
        name = schema.get("name")
        if not is_name(name):
            raise SchemaRefused(f"{name!r} is not the name of a field.", place=f"{at}/name" if "name" in schema else at)
        if "type" not in schema:
            raise SchemaRefused(f"the field {name!r} has no type.", place=at)
        if schema.get("order", "ascending") not in _ORDERS:
            raise SchemaRefused(f"the order of {name!r} is not one of {', '.join(_ORDERS)}.", place=f"{at}/order")
        field_type = self.type(schema["type"], namespace, f"{at}/type", depth + 1)
        default = schema.get("default", types.NO_DEFAULT)
        return types.RecordField(name, field_type, at, default, alias_names(schema, None, at), _text(schema.get("doc")))

    def _check_defaults(self, record: types.RecordType) -> None:
        # Once all fields are known, for the default of a field may be a value of the record itself.
        for field in record.fields:
            if field.default is types.NO_DEFAULT or fits(field.default, field.type, self._any_branch):
                continue
            raise SchemaRefused(
                f"the default of {field.name!r} does not fit {_expected(field.type, self._any_branch)}.",
                place=f"{field.at}/default",
            )


def _expected(avro_type: types.AvroType, any_branch: bool) -> str:
    if isinstance(avro_type, types.UnionType) and avro_type.branches:
        if any_branch:
            return "any type of its union"
        return f"{types.branch_name(avro_type.branches[0])}, the first type of its union"
    return types.branch_name(avro_type)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
