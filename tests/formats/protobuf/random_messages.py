"""Random Protobuf documents."""

from __future__ import annotations

from hypothesis import strategies as st

_SCALARS = [
    "int32",
    "int64",
    "uint32",
    "uint64",
    "sint32",
    "sint64",
    "fixed32",
    "fixed64",
    "sfixed32",
    "sfixed64",
    "float",
    "double",
    "bool",
    "string",
    "bytes",
]
_KEYS = ["int32", "uint64", "sint64", "bool", "string", "fixed32"]
_TYPES = st.sampled_from([*_SCALARS, "Root", "Part", "Piece", "Colour"])


@st.composite
def _field(draw: st.DrawFn, number: int, is_old: bool) -> str:
    # Names and numbers are drawn apart, so that two documents move and rename fields.
    name = draw(st.sampled_from([f"f{number}", f"f{number}", f"g{number}"]))
    shape = draw(
        st.sampled_from(["single", "single", "single", "repeated", "map", "required" if is_old else "optional"])
    )
    kind = draw(_TYPES)
    if shape == "map":
        return f"map<{draw(st.sampled_from(_KEYS))}, {kind}> {name} = {number};"
    if shape == "required" and kind in ("Root", "Part", "Piece"):
        shape = "optional"
    if shape == "single":
        shape = "optional" if is_old else ""
    return f"{shape} {kind} {name} = {number};"


@st.composite
def _message(draw: st.DrawFn, name: str, is_old: bool) -> str:
    numbers = draw(st.lists(st.integers(1, 5), unique=True, max_size=4))
    fields = [draw(_field(number, is_old)) for number in sorted(numbers)]
    choice = draw(
        st.sampled_from(
            ["", "", "oneof choice { int32 one = 11; string two = 12; }", "__ int32 one = 11; __ string two = 12;"]
        )
    )
    return f"message {name} {{ {' '.join(fields)} {choice.replace('__', 'optional')} }}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A document with the messages Root, Part and Piece, which hold each other at will."""
    is_old = draw(st.booleans())
    messages = [draw(_message(name, is_old)) for name in ("Root", "Part", "Piece")]
    values = draw(
        st.sampled_from(
            ["RED = 0; BLUE = 1;", "RED = 0; BLUE = 1; GREEN = 2;", "RED = 0; BLUE = 2;", "RED = 0; PINK = 1;"]
        )
    )
    return f'syntax = "proto{2 if is_old else 3}"; {" ".join(messages)} enum Colour {{ {values} }}'
