"""Findings: one problem of a catalog each, with its place, what it is, and what to do."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


class Diagnostic(NamedTuple):
    """One problem that a rule found: a JSON pointer into the document, a sentence, and what to do."""

    pointer: str
    sentence: str
    remedy: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A diagnostic with the file it concerns and the rule it comes from."""

    file: str
    pointer: str
    severity: Severity
    code: str
    sentence: str
    remedy: str = ""
