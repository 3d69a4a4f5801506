"""One request to the schema registry, inside one transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import msgspec

from postroom.http.confluent.refusals import plain_problem
from postroom.http.server.request import Request
from postroom.http.server.request_body import parse_json
from postroom.registry.numbering.subjects import DEFAULT, Contexts, Subject, parse_subject
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.settings import Settings

Tree = dict[str, Any]
UNLIMITED = -1


class Call(msgspec.Struct, frozen=True):
    """A request: the transaction it is answered in, and the context that its path begins with."""

    tx: Transaction
    request: Request
    settings: Settings
    context: str = DEFAULT

    @property
    def contexts(self) -> Contexts:
        """Which Group is which context."""
        return Contexts(self.settings.schema_registry_group)

    def subject(self, segment: str) -> Subject:
        """The subject that a segment of the path means."""
        return self.named(unquote(segment))

    def named(self, name: str) -> Subject:
        """The subject of a name in the path, the query or the body."""
        return self.contexts.normal(parse_subject(name, self.context))

    def query(self, name: str) -> str | None:
        """The first parameter of a name."""
        return next((value for key, value in self.request.query if key == name), None)

    def flag(self, name: str) -> bool:
        """Whether a parameter says true."""
        return (self.query(name) or "").lower() == "true"

    def page(self, found: list[Any]) -> list[Any]:
        """What `offset` and `limit` leave of a list."""
        offset, limit = self._number("offset", 0), self._number("limit", UNLIMITED)
        start = max(offset, 0)
        return found[start:] if limit <= 0 else found[start : start + limit]

    def _number(self, name: str, default: int) -> int:
        given = self.query(name)
        try:
            return default if given in (None, "") else int(str(given))
        except ValueError:
            raise plain_problem(404) from None

    def body(self) -> Tree:
        """The body, which has to be a JSON object."""
        if not self.request.body.strip():
            raise plain_problem(400, "The request needs a body.")
        try:
            found = parse_json(self.request.body, self.settings.max_depth, "/")
        except RegistryProblem as problem:
            raise plain_problem(400, problem.sentence) from None
        if not isinstance(found, dict):
            raise plain_problem(400, "The body must be a JSON object.")
        return found

    def work(self) -> UnitOfWork:
        """The unit of work of a write."""
        return UnitOfWork(self.tx, actor=self.request.actor)


Handler = Callable[..., Any]
