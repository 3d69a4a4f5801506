"""`postroom serve` with one more format: `numbers`, which the reference server has to test itself with.

Every line is blank or an integer; a document is backward compatible when its sum does not fall below its ancestor's.
Run as `python -m tests.http.counting serve …`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

import postroom.catalog.wiring
from postroom.catalog.wiring import COMPATIBILITY_MODES, RULES, PayloadFormats
from postroom.formats.compatibility import compatible
from postroom.formats.schema import Verdict
from postroom.registry.rules import Judgement, ReferencedDocument, Surroundings

NAME = "numbers"


class WithNumbers(PayloadFormats):
    """The payload formats and one more."""

    @property
    def offered(self) -> Mapping[str, tuple[str, ...]]:
        """All of them."""
        return {**super().offered, NAME: COMPATIBILITY_MODES}

    def check(self, name: str, content: bytes, around: Surroundings) -> Judgement:
        """Whether every line is blank or an integer."""
        if name.lower() != NAME:
            return super().check(name, content, around)
        try:
            total(content)
        except ValueError as error:
            return Judgement("no", str(error))
        return Judgement("yes") if content else Judgement("no", "it is empty")

    def compare(
        self,
        name: str,
        older: list[ReferencedDocument],
        newer: bytes,
        rule: str,
        around: Surroundings,
        *,
        is_strict: bool = False,
    ) -> Judgement:
        """Whether the sums rise or fall as the rule says."""
        if name.lower() != NAME:
            return super().compare(name, older, newer, rule, around, is_strict=is_strict)
        verdict = compatible([one.content for one in older], newer, rule, readable)
        return Judgement("yes" if verdict.answer == "compatible" else "no", verdict.reason)


def total(content: bytes) -> int:
    """The sum of all lines."""
    return sum(int(line) for line in content.decode().splitlines() if line.strip())


def readable(writer: bytes, reader: bytes) -> Verdict:
    """Whether the reader's sum is at least the writer's."""
    if total(reader) >= total(writer):
        return Verdict(answer="compatible")
    return Verdict(answer="incompatible", reason=f"{total(reader)} is less than {total(writer)}")


if __name__ == "__main__":
    postroom.catalog.wiring.PayloadFormats = WithNumbers  # type: ignore[misc]
    postroom.catalog.wiring.RULES = msgspec.structs.replace(RULES, documents=WithNumbers())
    from postroom.cli.main import run

    run()
