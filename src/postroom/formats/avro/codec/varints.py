"""Integers of variable length, zigzag coded."""

from __future__ import annotations

from postroom.formats.avro.value_errors import Misfit


def read_long(buffer: bytes, position: int, depth: int = 0) -> tuple[int, int]:
    """An integer of 64 bits and the position behind it; IndexError when the buffer ends first."""
    byte = buffer[position]
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), position + 1
    # Two and three bytes are as frequent as one, and quicker without the loop.
    number = byte & 127 | (byte := buffer[position + 1]) << 7
    if byte < 128:
        return (number >> 1) ^ -(number & 1), position + 2
    number = number & 0x3FFF | (byte := buffer[position + 2]) << 14
    if byte < 128:
        return (number >> 1) ^ -(number & 1), position + 3
    number &= 0x1FFFFF
    position += 3
    shift = 21
    while (byte := buffer[position]) > 127:
        number |= (byte & 127) << shift
        shift += 7
        position += 1
        if shift > 63:
            raise Misfit("payload_range", "an integer of 64 bits", "longer")
    number |= byte << shift
    if number >> 64:
        raise Misfit("payload_range", "an integer of 64 bits", "longer")
    return (number >> 1) ^ -(number & 1), position + 1


def write_long(number: int) -> bytes:
    """The bytes of an integer of 64 bits."""
    rest = (number << 1) ^ (number >> 63)
    written = bytearray()
    while rest > 127:
        written.append(rest & 127 | 128)
        rest >>= 7
    written.append(rest)
    return bytes(written)
