"""Dispatch of messages to the handlers of their definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from postroom.errors import MessageUnknown
from postroom.messages.definitions.definition import Definition
from postroom.messages.engine import Engine
from postroom.messages.matching.outcome import Match
from postroom.protocols.cloudevents import Malformed, Message, unwrap
from postroom.protocols.records import Record


class DispatchedMessage(msgspec.Struct, frozen=True):
    """A message as a handler gets it: its envelope, the values of its placeholders, and its payload, decoded.

    `data` is the payload as its schema decodes it, or its bytes where there is no schema.
    """

    definition: Definition
    attributes: dict[str, Any]
    variables: dict[str, str]
    metadata: dict[str, Any]
    data: Any


Handler = Callable[[DispatchedMessage], Any]
Otherwise = Callable[[Match, Record], Any]


class MessageDispatcher:
    """Calls the handler of the definition that a message fits; `otherwise` gets what has none, or fits nothing."""

    def __init__(self, engine: Engine, handlers: Mapping[str, Handler], otherwise: Otherwise | None = None) -> None:
        known = {definition.xid for definition in engine.definitions}
        unknown = [xid for xid in handlers if xid not in known]
        if unknown:
            raise MessageUnknown(f"the catalog has no message {unknown[0]!r}.", remedy="Handlers are named by xid.")
        self._engine = engine
        self._handlers = dict(handlers)
        self._otherwise = otherwise

    def __call__(self, record: Record) -> list[Any]:
        """Dispatch the messages of one record; return what the handlers returned."""
        return [self._dispatch(message, record) for message in unwrap(record)]

    def _dispatch(self, message: Message | Malformed, record: Record) -> Any:
        result = self._engine.judged(message)
        handler = self._handlers.get(result.match.message or "") if result.match.outcome == "landed" else None
        if handler is None or result.definition is None or isinstance(message, Malformed):
            return None if self._otherwise is None else self._otherwise(result.match, record)
        return handler(
            DispatchedMessage(
                result.definition,
                result.attributes,
                result.match.variables,
                message.metadata,
                self._engine.payload(result.definition, message),
            )
        )
