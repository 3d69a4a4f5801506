"""Rules on base messages."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import text
from postroom.documents.lint.rules.messages import METADATA, is_circle
from postroom.documents.lint.subjects import LintedMessage
from postroom.messages.definitions.catalog_tree import MESSAGE_OWNERS, CatalogMessage, find_base, local_path
from postroom.messages.definitions.inheritance import BASE_NAMES, base_reference, normalise
from postroom.protocols.protocol_table import canonical_protocol


def _name(message: LintedMessage) -> str:
    return next((name for name in BASE_NAMES if isinstance(message.own.get(name), str)), BASE_NAMES[0])


def _local(message: LintedMessage) -> str | None:
    reference = base_reference(message.own)
    return local_path(reference, message.tree) if reference else None


def _base(message: LintedMessage) -> CatalogMessage | None:
    path = _local(message)
    return find_base(message.tree, path) if path else None


def base_conflict(message: LintedMessage) -> Iterator[Diagnostic]:
    """The three names of the base reference say the same."""
    stated = [name for name in BASE_NAMES if message.own.get(name) is not None]
    for name in stated[1:]:
        if message.own[name] != message.own[stated[0]]:
            yield Diagnostic(message.at(name), f"{name} differs from {stated[0]}.", f"Keep {BASE_NAMES[0]} only.")


def base_circle(message: LintedMessage) -> Iterator[Diagnostic]:
    """Base messages do not form a circle."""
    if message.refusal is not None and is_circle(message):
        yield Diagnostic(message.at(_name(message)), message.refusal.sentence, "Remove one of these references.")


def base_malformed(message: LintedMessage) -> Iterator[Diagnostic]:
    """A reference inside the catalog names a message or a Version of one; any other is an absolute URI."""
    path = _local(message)
    if path is None and _is_word(base_reference(message.own)):
        path = base_reference(message.own)
    parts = path.strip("/").split("/") if path else []
    wrong = len(parts) not in (4, 6) or parts[0] not in MESSAGE_OWNERS or parts[2] != "messages"
    if path is not None and (wrong or (len(parts) == 6 and parts[4] != "versions")):
        remedy = "Write it like /messagegroups/GROUP/messages/MESSAGE."
        yield Diagnostic(message.at(_name(message)), f"{path!r} is not the path of a message.", remedy)


def _is_word(reference: str) -> bool:
    """Whether a reference is neither a URI nor a pointer into a file."""
    return bool(reference) and ":" not in reference and "#" not in reference


def base_dangling(message: LintedMessage) -> Iterator[Diagnostic]:
    """A base that is not there; the message is used as if it had none."""
    path = _local(message)
    if path and _base(message) is None and not list(base_malformed(message)):
        sentence = f"the catalog has no message {path}; what it would add is missing."
        yield Diagnostic(message.at(_name(message)), sentence, "Correct the reference, or add the message.")


def base_outside(message: LintedMessage) -> Iterator[Diagnostic]:
    """A base outside of the catalog is kept; only what uses the definition may fetch it."""
    reference = base_reference(message.own)
    if reference and _local(message) is None and not _is_word(reference):
        sentence = f"the base {reference} lies outside; lint does not fetch it."
        remedy = "`match`, `make` and `sort` do, where allow_fetch names its host."
        yield Diagnostic(message.at(_name(message)), sentence, remedy)


def base_of_other_kind(message: LintedMessage) -> Iterator[Diagnostic]:
    """What a base says about another protocol or envelope is dropped."""
    base = _base(message)
    if base is None:
        return
    theirs, own = normalise(base), message.written
    for selector, member in METADATA.items():
        before, after = text(theirs, selector), text(own, selector)
        if before and after and member in theirs and canonical_protocol(before) != canonical_protocol(after):
            sentence = f"the base is for {before} and this message for {after}; {member} of the base does not count."
            yield Diagnostic(message.at(_name(message)), sentence)


def base_name_variant(message: LintedMessage) -> Iterator[Diagnostic]:
    """The base reference is called basemessage."""
    for name in BASE_NAMES[1:]:
        if name in message.own:
            yield Diagnostic(message.at(name), f"{name} is another name of basemessage.", "Write basemessage.")
