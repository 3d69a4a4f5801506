"""Whether payloads of one schema can be read with another: the resolution rules of the specification."""

from __future__ import annotations

from postroom.formats.avro.compat.counterexamples import Witness, witness
from postroom.formats.avro.compat.resolution_rules import Mismatch, Resolution
from postroom.formats.avro.types import AvroType
from postroom.formats.schema import Verdict


def compare(writer: AvroType, reader: AvroType) -> Verdict:
    """The verdict; a no comes with a payload that a reader of the other schema was seen to refuse."""
    try:
        mismatch = Resolution().mismatch(writer, reader)
    except RecursionError:
        return Verdict(answer="undecided", reason="the schemas are nested too deeply to be compared.")
    if mismatch is None:
        return Verdict(answer="compatible")
    if mismatch.is_doubtful:
        return _undecided(mismatch, mismatch.reason)
    found = witness(writer, reader, mismatch.steps)
    if isinstance(found, Witness):
        return Verdict(
            answer="incompatible",
            reason=mismatch.reason,
            writer_at=mismatch.writer_at,
            reader_at=mismatch.reader_at,
            counterexample=found.payload,
            shown=found.shown,
        )
    return _undecided(mismatch, f"{mismatch.reason} But {found}")


def _undecided(mismatch: Mismatch, reason: str) -> Verdict:
    return Verdict(answer="undecided", reason=reason, writer_at=mismatch.writer_at, reader_at=mismatch.reader_at)
