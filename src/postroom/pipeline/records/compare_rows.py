"""Compare the rows of two tables, one by one, where columns and members may be missing in either."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from postroom.pipeline.lake.struct_columns import align, merge_types


def differing_rows(old: pa.Table, new: pa.Table, ignored: Collection[str] = ()) -> pa.Array:
    """For each row whether the two tables have different values in it; what is not there is null."""
    found = pa.array([False] * old.num_rows, pa.bool_())
    for name in dict.fromkeys([*old.schema.names, *new.schema.names]):
        if name not in ignored:
            found = pc.or_(found, _differing(_column(old, name), _column(new, name)))
    return found


def _column(table: pa.Table, name: str) -> pa.Array:
    if name not in table.schema.names:
        return pa.nulls(table.num_rows)
    column = table.column(name).combine_chunks()
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column


def _differing(old: pa.Array, new: pa.Array) -> pa.Array:
    if pa.types.is_struct(old.type) and pa.types.is_struct(new.type):
        return _differing_structs(old, new)
    is_one_null = pc.xor(old.is_null(), new.is_null())
    is_both = pc.and_(old.is_valid(), new.is_valid())
    if pa.types.is_nested(old.type) and pa.types.is_nested(new.type):
        return pc.or_(is_one_null, pc.and_(is_both, _differing_lists(old, new)))
    if old.type != new.type or pa.types.is_null(old.type):
        return pc.or_(is_one_null, is_both)
    differs = pc.fill_null(pc.not_equal(old, new), False)
    if pa.types.is_floating(old.type):
        is_nan = pc.fill_null(pc.and_(pc.is_nan(old), pc.is_nan(new)), False)
        differs = pc.and_not(differs, is_nan)
    return pc.or_(is_one_null, differs)


def _differing_structs(old: pa.StructArray, new: pa.StructArray) -> pa.Array:
    found = pc.xor(old.is_null(), new.is_null())
    members = [dict(zip((f.name for f in array.type), array.flatten(), strict=True)) for array in (old, new)]
    for name in members[0].keys() | members[1].keys():
        found = pc.or_(found, _differing(*(some.get(name, pa.nulls(len(old))) for some in members)))
    return found


def _differing_lists(old: pa.Array, new: pa.Array) -> pa.Array:
    """Lists and maps, where neither is null; items may have members that the others do not have."""
    merged = merge_types(old.type, new.type)
    try:
        pairs = zip(align(old, merged).to_pylist(), align(new, merged).to_pylist(), strict=True)
    except (pa.ArrowException, AttributeError):  # a list and a map, or items of types that have nothing in common
        return pa.array([True] * len(old), pa.bool_())
    # By their text: a NaN is no other than itself.
    return pa.array([repr(one) != repr(other) for one, other in pairs], pa.bool_())
