"""Schemas that several tests use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from postroom.formats.protobuf.format import Protobuf, parse
from postroom.formats.schema import LibraryDocument, SchemaDocument

ORDER = """
syntax = "proto3";
package shop;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

// An order as the shop writes it.
message Order {
  string id = 1;  // The number on the invoice.
  uint64 total = 2;
  bytes seal = 3;
  Status status = 4;
  repeated Line lines = 5;
  map<string, Line> by_name = 6;
  map<int32, string> by_number = 7;
  optional int32 discount = 8;
  oneof payment {
    string card = 9;
    Line voucher = 10;
  }
  google.protobuf.Timestamp placed = 11;
  google.protobuf.Duration took = 12;
  google.protobuf.Any extra = 13;
  google.protobuf.Struct notes = 14;
  google.protobuf.Value answer = 15;
  google.protobuf.ListValue answers = 16;
  google.protobuf.UInt64Value points = 17;
  google.protobuf.BytesValue scan = 18;
  google.protobuf.FieldMask changed = 19;
  Order replaces = 20;
  double weight = 21;
  float height = 22;
  bool class = 23;
  repeated Status history = 24;
  repeated int32 counts = 25;
  map<bool, double> flags = 26;
  map<string, Status> states = 27;
  Nothing nothing = 28;
  repeated google.protobuf.Timestamp visits = 29;
  uint32 visitors = 30;
}
message Nothing {}
message Line {
  string sku = 1;
  int64 count = 2;
  repeated string tags = 3;
}
enum Status {
  UNKNOWN = 0;
  OPEN = 1;
  CLOSED = 2;
}
"""

OVEN = """
syntax = "proto2";
message Oven {
  required string name = 1;
  optional Heat heat = 2;
  repeated Shelf shelves = 3;
  optional int32 degrees = 4 [default = 180];
  optional group Door = 5 { optional bool open = 1; }
  repeated int32 packed = 6 [packed = true];
  repeated int32 loose = 7;
  map<string, Shelf> named = 8;
  extensions 100 to 200;
}
message Shelf { required int32 level = 1; optional Oven inside = 2; }
enum Heat { COLD = 0; HOT = 1; }
extend Oven { optional string maker = 100; repeated Shelf spare = 101; }
"""


class Files:
    """A library of files by name; `@name` is another name of a file."""

    def __init__(self, files: Mapping[str, Any]) -> None:
        self._files = files

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        found = self._files.get(reference)
        if isinstance(found, str) and found.startswith("@"):
            return self.find(found[1:])
        return None if found is None else LibraryDocument(reference, found)

    def neighbours(self) -> Iterator[LibraryDocument]:
        return iter(())


def proto3(body: str) -> str:
    return f'syntax = "proto3"; {body}'


def proto2(body: str) -> str:
    return f'syntax = "proto2"; {body}'


def schema(text: Any, fragment: str = "", version: str = "", files: Mapping[str, Any] | None = None) -> Protobuf:
    return parse(SchemaDocument(document=text, fragment=fragment, version=version, library=Files(files or {})))
