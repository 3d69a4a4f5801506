"""Compiled schemas: descriptors in a pool of their own, so that equal names in different schemas do not meet."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.message import DecodeError

from postroom.errors import SchemaRefused
from postroom.formats.protobuf import protoc, schema_files
from postroom.formats.protobuf.mergeable_messages import make_mergeable
from postroom.formats.protobuf.utf8_verification import verified
from postroom.formats.schema import SchemaDocument

_KEPT = 4096


class CompiledSchema:
    """The descriptors of a schema document and of what it imports."""

    def __init__(self, serialised: bytes) -> None:
        self._serialised = serialised
        self.pool = descriptor_pool.DescriptorPool()
        try:
            for file in self._verified():
                self.pool.AddSerializedFile(file.SerializeToString())
            self.file: FileDescriptor = self.pool.FindFileByName(schema_files.ROOT)
        except (TypeError, KeyError) as error:
            raise SchemaRefused(f"the schema cannot be used: {str(error).splitlines()[0]}.") from None

    def _verified(self) -> Iterator[descriptor_pb2.FileDescriptorProto]:
        for file in _files(self._serialised):
            file.ClearField("source_code_info")
            yield verified(file)

    @functools.cached_property
    def mergeable(self) -> descriptor_pool.DescriptorPool:
        """The messages in a form that can be merged; TypeError where they have none."""
        pool = descriptor_pool.DescriptorPool()
        for file in self._verified():
            make_mergeable(file)
            pool.AddSerializedFile(file.SerializeToString())
        return pool

    def members(self, message: Descriptor) -> list[FieldDescriptor]:
        """The fields of a message, and the extensions that the schema declares for it."""
        extensions = self.pool.FindAllExtensions(message) if message.is_extendable else []
        return [*message.fields, *sorted(extensions, key=lambda field: field.number)]

    def reachable(self, message: Descriptor) -> Iterator[Descriptor]:
        """A message type and all that its members lead to."""
        seen = {message.full_name}
        waiting = [message]
        while waiting:
            current = waiting.pop()
            yield current
            for member in self.members(current):
                inner = member.message_type
                if inner is not None and inner.full_name not in seen:
                    seen.add(inner.full_name)
                    waiting.append(inner)

    @functools.cached_property
    def comments(self) -> dict[str, str]:
        """What the author wrote above or behind each field, by the field's full name."""
        found: dict[str, str] = {}
        for file in _files(self._serialised):
            names = dict(_paths(file))
            for location in file.source_code_info.location:
                name = names.get(tuple(location.path))
                text = (location.leading_comments or location.trailing_comments).strip()
                if name and text:
                    found[name] = " ".join(text.split())
        return found


def compile_schema(source: SchemaDocument) -> CompiledSchema:
    """The descriptors of a document; equal texts are compiled once per process."""
    return _compiled(schema_files.collect_files(source))


@functools.lru_cache(_KEPT)
def _compiled(texts: schema_files.SchemaTexts) -> CompiledSchema:
    return CompiledSchema(protoc.compile_texts(dict(texts.files), schema_files.ROOT, texts.shift))


def _files(serialised: bytes) -> list[descriptor_pb2.FileDescriptorProto]:
    try:
        return list(descriptor_pb2.FileDescriptorSet.FromString(serialised).file)
    except DecodeError:
        raise SchemaRefused("the schema is nested too deeply.") from None


def _paths(file: Any) -> Iterator[tuple[tuple[int, ...], str]]:
    """The place of each field in a file's descriptor, as source info writes it, and the field's full name."""
    prefix = f"{file.package}." if file.package else ""
    waiting: list[tuple[tuple[int, ...], str, Any]] = [
        ((4, index), prefix + message.name, message) for index, message in enumerate(file.message_type)
    ]
    while waiting:
        path, name, message = waiting.pop()
        for index, field in enumerate(message.field):
            yield (*path, 2, index), f"{name}.{field.name}"
        waiting += [
            ((*path, 3, index), f"{name}.{nested.name}", nested) for index, nested in enumerate(message.nested_type)
        ]
