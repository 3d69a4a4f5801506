"""Structs that got members later, also in lists and maps: what files of one table have in common."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc


def merge_schemas(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """A schema with the columns of all, and structs with the members of all."""
    merged = merge_types(pa.struct([]), pa.struct([]))
    for schema in schemas:
        merged = merge_types(merged, pa.struct([pa.field(field.name, field.type) for field in schema]))
    return pa.schema(list(merged))


def merge_types(present: pa.DataType, wanted: pa.DataType) -> pa.DataType:
    """A type with the members of two, those that are there already first."""
    if pa.types.is_struct(present) and pa.types.is_struct(wanted):
        types = {field.name: field.type for field in wanted}
        known = {field.name: merge_types(field.type, types.pop(field.name, field.type)) for field in present}
        return pa.struct([pa.field(name, data_type) for name, data_type in (known | types).items()])
    if pa.types.is_list(present) and pa.types.is_list(wanted):
        return pa.list_(merge_types(present.value_type, wanted.value_type))
    if pa.types.is_map(present) and pa.types.is_map(wanted):
        return pa.map_(present.key_type, merge_types(present.item_type, wanted.item_type))
    return present


def align_table(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table with the columns of a schema; what it does not have is null."""
    columns = [
        pa.chunked_array([align(chunk, field.type) for chunk in table.column(field.name).chunks], field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def align(array: pa.Array, data_type: pa.DataType) -> pa.Array:
    """An array of structs, of lists or maps of them, with further members, which are null."""
    if array.type == data_type:
        return array
    if array.offset and (pa.types.is_list(data_type) or pa.types.is_map(data_type)):
        array = pa.concat_arrays([array, array[:0]])  # a copy that begins with its first row
    if pa.types.is_list(data_type):
        items = align(array.values, data_type.value_type)
        return pa.ListArray.from_arrays(array.offsets, items, data_type, mask=array.is_null())
    if pa.types.is_map(data_type):
        items = align(array.items, data_type.item_type)
        return pa.MapArray.from_arrays(array.offsets, array.keys, items, data_type, mask=array.is_null())
    if not pa.types.is_struct(data_type):
        return array.cast(data_type)
    present = {field.name: number for number, field in enumerate(array.type)}
    members = [
        align(pc.struct_field(array, present[field.name]), field.type)
        if field.name in present
        else pa.nulls(len(array), field.type)
        for field in data_type
    ]
    return pa.StructArray.from_arrays(members, fields=list(data_type), mask=pc.is_null(array))
