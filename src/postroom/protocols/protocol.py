"""What a protocol is to us: a table of its options and of where it carries a CloudEvent. One value per protocol."""

from __future__ import annotations

import base64
import binascii
import functools
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any, Literal

import msgspec

from postroom.protocols.header_values import decoded

Shape = Literal["value", "named", "section"]


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CONTENT_ENCODING = "content-encoding"
_OF_THE_BODY = ("content-type", CONTENT_ENCODING)
_LONGEST_KNOWN = 64
_MOST_KNOWN = 2048
_name_and_value = itemgetter("name", "value")


class HeaderBroken(ValueError):
    """A header that carries an attribute and cannot be read."""

    def __init__(self, attribute: str, value: str) -> None:
        super().__init__(attribute, value)
        self.attribute = attribute
        self.value = value


class Headers(msgspec.Struct, frozen=True, gc=False):
    """What headers say: CloudEvents attributes as they are written, and the content type and encodings of the body."""

    attributes: dict[str, Any]
    contenttype: str
    contentencoding: str


class Option(msgspec.Struct, frozen=True):
    """One member of `protocoloptions`.

    `shape` is value (one value), named (repeatable name and value pairs) or section (an object of further members).
    An option that does not decide is never compared: brokers rewrite it. A channel option says where a message goes.
    `base64_of` and `text_of` name the option that says the same in the other form.
    """

    name: str
    type: str = "string"
    shape: Shape = "value"
    decides: bool = True
    channel: bool = False
    members: dict[str, str] = {}
    aliases: tuple[str, ...] = ()
    base64_of: str = ""
    text_of: str = ""


class Wire(msgspec.Struct, frozen=True, kw_only=True):
    """A protocol: its names, its options, and how a CloudEvent travels on it.

    `headers` names the option that carries attributes in binary mode, `prefixes` what attribute names start with
    there (the first one is written), `contenttype` and `contentencoding` the paths of what says how to read the body;
    `schema_id` and `key_schema_id` name the headers in which serialisers name the schema of the body, and of the key,
    instead of in front of it;
    `channel`, `discriminator`, `key` and `sent` the paths of where a message went, of what tells its type, of its key,
    and of the time at which it was sent. The others say how headers look; `native_values` that they keep numbers and
    booleans, `contenttype_attribute` that the content type is one of them.
    """

    name: str
    spellings: tuple[str, ...]
    options: tuple[Option, ...]
    headers: str = ""
    prefixes: tuple[str, ...] = ("",)
    contenttype: tuple[str, ...] = ()
    contentencoding: tuple[str, ...] = ()
    schema_id: str = ""
    key_schema_id: str = ""
    channel: tuple[str, ...] = ()
    discriminator: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    headers_ignore_case: bool = False
    headers_as_map: bool = False
    percent_encoded: bool = False
    native_values: bool = False
    contenttype_attribute: bool = False

    def option(self, name: str) -> Option | None:
        """The option of that name, any accepted spelling."""
        for option in self.options:
            if name == option.name or name in option.aliases:
                return option
        return None

    def lookup(self, metadata: dict[str, Any], path: tuple[str, ...]) -> Any:
        """The value at a path of the record's metadata, or None. Named pairs are found by name."""
        if len(path) == 2:
            section = metadata.get(path[0])
            if type(section) is dict and section.get(path[1]) is not None:
                return section[path[1]]
        option = self.option(path[0])
        found = _member(metadata, option) if option else metadata.get(path[0])
        if len(path) == 1 or found is None:
            return found
        if option is not None and option.shape == "named":
            return self._named(found, path[1])
        return found.get(path[1]) if isinstance(found, dict) else None

    def _named(self, container: Any, name: str) -> Any:
        if isinstance(container, dict) and name in container:
            return container[name]
        return self._find(pairs(container), name)

    def _find(self, headers: list[tuple[str, Any]], name: str) -> Any:
        wanted = name.lower() if self.ignores_case(name) else ""
        for found, value in headers:
            if found == name or (wanted and found.lower() == wanted):
                return value
        return None

    def ignores_case(self, header: str) -> bool:
        """Whether a header is found by its name in any case; those about the body are on every protocol, because
        gateways write them as HTTP does."""
        return self.headers_ignore_case or header.lower() in _OF_THE_BODY

    def content_type(self, metadata: dict[str, Any]) -> str:
        """The content type of the body as the protocol states it; empty when it does not."""
        if not self.contenttype:
            return ""
        found = metadata.get(self.contenttype[0]) if len(self.contenttype) == 1 else None
        found = self.lookup(metadata, self.contenttype) if found is None else found
        return found if isinstance(found, str) else ""

    def content_encoding(self, metadata: dict[str, Any]) -> str:
        """The content encodings of the body as the protocol states them; empty when it does not."""
        if not self.contentencoding:
            return ""
        section, name = self.contentencoding
        container = metadata[section] if section in metadata else self.lookup(metadata, (section,))
        return _encoding_in(container.items() if type(container) is dict else pairs(container), name)

    def schema_header(self, metadata: dict[str, Any], *, of_key: bool = False) -> bytes:
        """What a header says about the schema of the body (or the key), as it would stand in front of it; empty where
        none does."""
        name = self.key_schema_id if of_key else self.schema_id
        container = metadata.get(self.headers) if name else None
        if type(container) is dict:
            return _bytes_of(container.get(name), None)
        for item in container if type(container) is list else ():
            if isinstance(item, dict) and item.get("name") == name:
                return _bytes_of(item.get("value"), item.get("value_base64"))
        return b""

    def read_headers(self, metadata: dict[str, Any]) -> Headers:
        """What headers say, looked through once."""
        if not self.headers:
            return Headers({}, self.content_type(metadata), "")
        container = metadata[self.headers] if self.headers in metadata else self.lookup(metadata, (self.headers,))
        names = _attribute_names(self.prefixes)
        is_map = type(container) is dict
        try:
            attributes, others = _split(container.items() if is_map else map(_name_and_value, container), names)
        except (TypeError, KeyError):  # no headers, a pair without a value, a name that is no string, or no pair at all
            attributes, others = _split(pairs(container), names)
        section, name = self.contenttype[0], self.contenttype[-1]
        if section != self.headers:
            stated = self.content_type(metadata)
        elif is_map and name in container:
            stated = container[name]
            if len(others) == 1:  # no other header could state an encoding
                return Headers(attributes, stated if isinstance(stated, str) else "", "")
        else:
            stated = self._find(others, name)
        in_headers = self.contentencoding[0] == self.headers
        encoding = _encoding_in(others, self.contentencoding[1]) if in_headers else self.content_encoding(metadata)
        return Headers(attributes, stated if isinstance(stated, str) else "", encoding)

    def attribute_values(self, carried: dict[str, Any]) -> dict[str, Any]:
        """The values of attributes that headers carry; HeaderBroken for one that cannot be read."""
        if self.percent_encoded:
            return _percent_decoded(carried)
        if self.native_values and type(carried.get("time")) is int:
            return carried | {"time": timestamp_text(carried["time"])}
        return carried

    def header_of(self, attribute: str, metadata: dict[str, Any]) -> str:
        """The name of the header that carries an attribute, as it is spelled."""
        names = [name for name, _ in pairs(self.lookup(metadata, (self.headers,)))]
        return next(name for name in reversed(names) if attribute_name(name, self.prefixes) == attribute)


def _split(headers: Iterable[tuple[Any, Any]], names: _AttributeNames) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """The values of headers that carry attributes, by attribute, and the other headers."""
    attributes: dict[str, Any] = {}
    others: list[tuple[str, Any]] = []
    for name, value in headers:
        attribute = names[name]
        if not attribute:
            others.append((str(name), value))
        elif value is not None:
            attributes[attribute] = value
    return attributes, others


def _percent_decoded(carried: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in carried.items():
        try:
            values[name] = decoded(value) if isinstance(value, str) else value
        except UnicodeDecodeError:
            raise HeaderBroken(name, value) from None
    return values


def _encoding_in(headers: Iterable[tuple[str, Any]], name: str) -> str:
    for found, value in headers:
        if len(found) == len(name) and found.lower() == name:
            return value if isinstance(value, str) else ""
    return ""


def _bytes_of(text: Any, encoded: Any) -> bytes:
    """The value of a header that has bytes: as text, and as base64 where they are none."""
    try:
        return base64.b64decode(encoded, validate=True) if isinstance(encoded, str) else str(text or "").encode()
    except binascii.Error:
        return str(text or "").encode()


def pairs(container: Any) -> list[tuple[str, Any]]:
    """The name and value pairs of headers, whether they came as a map or as an array of `{name, value}`."""
    if isinstance(container, dict):
        return [(str(name), value) for name, value in container.items()]
    if isinstance(container, list):
        return [
            (str(item["name"]), item.get("value")) for item in container if isinstance(item, dict) and "name" in item
        ]
    return []


def _member(metadata: dict[str, Any], option: Option) -> Any:
    if option.name in metadata:
        return metadata[option.name]
    for alias in option.aliases:
        if alias in metadata:
            return metadata[alias]
    if option.base64_of:
        text = metadata.get(option.base64_of)
        return base64.b64encode(text.encode()).decode() if isinstance(text, str) else None
    return _text_in(metadata.get(option.text_of)) if option.text_of else None


def _text_in(encoded: Any) -> str | None:
    """The text whose base64 this is; None where it is none."""
    try:
        return base64.b64decode(encoded, validate=True).decode() if isinstance(encoded, str) else None
    except ValueError:  # no base64, or no UTF-8
        return None


def attribute_name(header: str, prefixes: tuple[str, ...]) -> str:
    """The CloudEvents attribute that a header carries; empty for any other header."""
    return _attribute_names(prefixes)[header]


def is_attribute_name(name: str) -> bool:
    """Whether a CloudEvents attribute may have this name."""
    return name.isascii() and name.isalnum() and name == name.lower()


class _AttributeNames(dict[Any, str]):
    """Attributes by header: a stream names the same few headers over and over."""

    def __init__(self, prefixes: tuple[str, ...]) -> None:
        super().__init__()
        self._prefixes = prefixes

    def __missing__(self, header: Any) -> str:
        attribute = self._find(str(header).lower())
        if type(header) is str and len(header) <= _LONGEST_KNOWN:
            if len(self) >= _MOST_KNOWN:
                self.clear()
            self[header] = attribute
        return attribute

    def _find(self, name: str) -> str:
        for prefix in self._prefixes:
            if prefix and name.startswith(prefix.lower()):
                return name[len(prefix) :]
        # Where attributes have no prefix, what cannot be the name of one is none.
        return name if "" in self._prefixes and is_attribute_name(name) else ""


_attribute_names = functools.cache(_AttributeNames)


def timestamp_text(milliseconds: int) -> Any:
    """The text of an AMQP timestamp; the number itself where no calendar reaches it."""
    try:
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return milliseconds
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
