"""The error by which a registry says no: one of xRegistry's error types with its arguments."""

from __future__ import annotations

from typing import Any

from postroom.errors import PostroomError
from postroom.registry.problem_types import PROBLEMS

__all__ = ["PROBLEMS", "RegistryProblem"]

LONGEST_ARGUMENT = 500


class RegistryProblem(PostroomError):
    """A refused request: an error type with its arguments, the entity it concerns and, where known, a JSON pointer."""

    def __init__(
        self,
        name: str,
        subject: str = "/",
        /,
        *,
        detail: str = "",
        pointer: str = "",
        status: int = 0,
        headers: dict[str, str] | None = None,
        **args: Any,
    ) -> None:
        problem_type = PROBLEMS[name]
        self.name = name
        self.subject = _shortened(subject)
        self.args_map = {key: _shortened(str(value)) for key, value in args.items()}
        self.detail = detail
        self.pointer = _shortened(pointer)
        self.status = status or problem_type.status
        self.extra_headers = headers or {}
        super().__init__(problem_type.title.format(subject=self.subject, **self.args_map), remedy=detail)
        self.code = name
        self.exit_code = 3 if self.status >= 500 else 2

    def document(self) -> dict[str, Any]:
        """The problem as the JSON object that a client gets."""
        problem_type = PROBLEMS[self.name]
        document: dict[str, Any] = {
            "type": problem_type.base + self.name,
            "title": self.sentence,
            "status": self.status,
            "subject": self.subject,
        }
        if self.args_map:
            document["args"] = self.args_map
        if self.detail:
            document["detail"] = self.detail
        if self.pointer:
            document["pointer"] = self.pointer
        return document


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_ARGUMENT else text[:LONGEST_ARGUMENT] + "…"
