"""Descriptors become schema texts that compile to the same descriptors."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import api_pb2, descriptor_pb2, struct_pb2, timestamp_pb2, type_pb2

from postroom.errors import SchemaRefused
from postroom.formats.protobuf.descriptor_text import descriptor_of, text_of
from postroom.formats.schema import SchemaDocument

DOOR = """
syntax = "proto2";
package house.doors;
option java_package = "com.house";
enum Wood { option allow_alias = true; OAK = 0; QUERCUS = 0; PINE = -1 [deprecated = true]; reserved 5 to 7, 9; }
message Door {
  reserved 4, 20 to max;
  reserved "colour";
  required string name = 1 [default = "front \\"door\\""];
  optional bytes stamp = 2 [default = "\\001\\377", json_name = "Stamp"];
  repeated sint64 sizes = 3 [packed = true];
  map<string, Lock> locks = 5;
  oneof opening { double angle = 6; Lock lock = 7; }
  message Lock { optional Wood wood = 1 [default = PINE]; }
  extensions 10 to 19;
}
extend Door { optional int32 weight = 10; }
service Doors { rpc Watch(Door) returns (stream Door); rpc Open(stream Door) returns (Door); }
"""
ABSENCE = """
syntax = "proto3";
message Door { optional int32 width = 1; int32 height = 2; oneof side { string left = 3; } repeated Door doors = 4; }
"""
EDITION = """
edition = "2023";
option features.field_presence = IMPLICIT;
message Door { int32 width = 1 [features.field_presence = EXPLICIT]; repeated string names = 2; }
"""


def descriptor(text: str) -> Any:
    return descriptor_pb2.FileDescriptorProto.FromString(descriptor_of(SchemaDocument(document=text)))


@pytest.mark.parametrize("text", [DOOR, ABSENCE, EDITION], ids=["proto2", "proto3", "edition"])
def test_a_text_compiles_to_what_it_was_made_of(text: str) -> None:
    before = descriptor(text)
    assert descriptor(text_of(before.SerializeToString())) == before


@pytest.mark.parametrize("module", [struct_pb2, timestamp_pb2, type_pb2, api_pb2])
def test_files_that_come_with_protobuf_survive(module: Any) -> None:
    def without_names(message: Any) -> None:
        for field in message.field:
            field.ClearField("json_name")  # the compiler writes it, what is loaded into Python has none
        for nested in message.nested_type:
            without_names(nested)

    before = descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    after = descriptor(text_of(module.DESCRIPTOR.serialized_pb))
    after.name = before.name
    for file in (before, after):
        for message in file.message_type:
            without_names(message)
    assert after == before


@pytest.mark.parametrize("serialised", [b"", b"\xff\xff", b"hello"])
def test_what_is_no_descriptor_is_refused(serialised: bytes) -> None:
    with pytest.raises(SchemaRefused):
        text_of(serialised)
