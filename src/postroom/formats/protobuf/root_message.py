"""Which message of a document payloads hold (SCH-022)."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor, FileDescriptor

from postroom.errors import SchemaRefused

_MOST_SHOWN = 10


def root_message(file: FileDescriptor, fragment: str = "") -> Descriptor:
    """The message that a fragment names; without one, the only message that no other message of the file uses."""
    name = fragment.lstrip("#/:.")
    return _named(file, name) if name else _only(file)


def top_messages(file: FileDescriptor) -> list[Descriptor]:
    """The messages that stand at the top of a file, in its order."""
    return list(file.message_types_by_name.values())


def unused_messages(file: FileDescriptor) -> list[Descriptor]:
    """The messages at the top of a file that no other message of the file has a field of."""
    used = {
        field.message_type.full_name
        for message in _all(file)
        for field in message.fields
        if field.message_type is not None and not _inside(message, field.message_type)
    }
    return [message for message in top_messages(file) if message.full_name not in used]


def relative_name(message: Descriptor) -> str:
    """The name of a message without its package."""
    package = message.file.package
    return message.full_name.removeprefix(f"{package}.") if package else message.full_name


def _named(file: FileDescriptor, name: str) -> Descriptor:
    messages = list(_all(file))
    for found in (
        [message for message in messages if message.full_name == name],
        [message for message in messages if relative_name(message) == name],
        [message for message in messages if message.full_name.endswith(f".{name}")],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            raise SchemaRefused(f"several messages are named {name!r}: {_names(found)}.")
    raise SchemaRefused(f"the document has no message {name!r}.", remedy=f"It has {_names(messages) or 'none'}.")


def _only(file: FileDescriptor) -> Descriptor:
    messages = top_messages(file)
    if len(messages) == 1:
        return messages[0]
    if not messages:
        raise SchemaRefused("the document declares no message.")
    unused = unused_messages(file)
    if len(unused) == 1:
        return unused[0]
    raise SchemaRefused(
        "the document has several messages and nothing says which one payloads hold.",
        remedy=f"End the reference in one of {_names(unused or messages)}, as in #{relative_name(messages[0])}.",
    )


def _all(file: FileDescriptor) -> Iterator[Descriptor]:
    waiting = top_messages(file)[::-1]
    while waiting:
        message = waiting.pop()
        yield message
        waiting += [nested for nested in message.nested_types[::-1] if not nested.GetOptions().map_entry]


def _inside(message: Descriptor, candidate: Descriptor) -> bool:
    """Whether a message is the candidate or lies in it: a tree of itself is used by nobody else."""
    return message.full_name == candidate.full_name or message.full_name.startswith(f"{candidate.full_name}.")


def _names(messages: list[Descriptor]) -> str:
    names = [relative_name(message) for message in messages[:_MOST_SHOWN]]
    return ", ".join(names) + (", …" if len(messages) > _MOST_SHOWN else "")
