"""What becomes of a message: exactly one outcome, and the reasons for it (CONTRACT "Outcomes")."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from postroom.formats.schema_versions import WriterVersion
from postroom.messages.definitions.definition import Definition
from postroom.messages.matching.transport_metadata import NO_TRANSPORT, Transport

Outcome = Literal["landed", "invalid", "ambiguous", "unmatched", "malformed"]
OUTCOMES: tuple[Outcome, ...] = ("landed", "invalid", "ambiguous", "unmatched", "malformed")


class Reason(msgspec.Struct, frozen=True, gc=False):
    """Why a message is not what a definition asks for."""

    message: str
    at: str
    code: str
    expected: str = ""
    found: str = ""


class Match(msgspec.Struct, frozen=True, gc=False):
    """The answer to "which definition does this message fit?".

    `unchecked` says why the payload of a landed message was not checked; it is left out, and false, when it was or when
    the definition has no schema.
    """

    outcome: Outcome
    message: str | None = None
    variables: dict[str, str] = {}
    candidates: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    unchecked: str | msgspec.UnsetType = msgspec.UNSET


class Sorted(msgspec.Struct, frozen=True, gc=False):
    """One message after the engine: its match, and for a landed one all that its table row holds.

    `writer` is the version of the payload schema that a header in front of the payload names; `undeclared` is what the
    payload has and no column; `protocol` is the one that the message came by, and `transport` what came with it, where
    the engine keeps that.
    """

    match: Match
    definition: Definition | None = None
    attributes: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    data: Any = None
    checked: bool = False
    writer: WriterVersion | None = None
    undeclared: str | None = None
    protocol: str = ""
    transport: Transport = NO_TRANSPORT


class JudgedRecord(NamedTuple):
    """A record that was judged by itself: its row among those judged together, its line, and its messages."""

    row: int
    line: bytes
    messages: list[Sorted]
