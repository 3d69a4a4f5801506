"""Errors of expressions: those that do not parse, and those that an evaluation collects."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["parse", "math", "cast", "missingAttribute", "missingFunction", "functionEvaluation", "generic"]


class Failure(msgspec.Struct, frozen=True):
    """An error of an evaluation: one of the types that the specification names, and a sentence."""

    kind: Kind
    sentence: str


class ExpressionRefused(ValueError):
    """An expression that does not parse; the sentence names the position."""


class WorkExceeded(Exception):
    """An evaluation that would cost more than an expression may."""
