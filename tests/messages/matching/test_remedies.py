"""What would make a message fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.messages.definitions.definition import Constraint
from postroom.messages.matching.explain import SENTENCES, explain_match
from postroom.messages.matching.outcome import Match, Reason
from postroom.messages.matching.remedies import REMEDIES, pointer_in_words, remedy

SPECIAL = {"type_mismatch", "required_missing", "template_mismatch"}


def test_every_reason_has_a_remedy() -> None:
    assert {*REMEDIES, *SPECIAL} == set(SENTENCES)


@pytest.mark.parametrize(
    ("at", "path", "name"),
    [
        ("", (), "it"),
        ("/protocoloptions", (), "it"),
        ("/envelopemetadata/source", ("source",), "the attribute source"),
        ("/protocoloptions/topic", ("topic",), "topic"),
        ("/protocoloptions/headers/0", ("headers", "X-Trace"), "the header X-Trace"),
        ("/protocoloptions/headers/x~1y", ("headers", "x/y"), "the header x/y"),
        ("/protocoloptions/user_properties/1", ("user_properties", "kind"), "the user property kind"),
        ("/protocoloptions/properties/to", ("properties", "to"), "to in properties"),
        ("/data/lines/0/sku", (), "/data/lines/0/sku"),
    ],
)
def test_pointers_are_put_in_words(at: str, path: tuple[str, ...], name: str) -> None:
    assert pointer_in_words(at, Constraint(at=at, path=path, type="string") if path else None) == name


SOURCE = "/envelopemetadata/source"
TEMPLATE = Constraint(at=SOURCE, path=("source",), type="uritemplate", value="/ovens/{oven}", required=True)
OPEN = Constraint(at="/envelopemetadata/level", path=("level",), type="integer", required=True)


@pytest.mark.parametrize(
    ("reason", "constraint", "says"),
    [
        (
            Reason("/m", SOURCE, "required_missing", "/ovens/{oven}", "nothing"),
            TEMPLATE,
            "something like '/ovens/OVEN'",
        ),
        (Reason("/m", OPEN.at, "required_missing", "an integer", "nothing"), OPEN, "a whole number of 32 bits"),
        (Reason("/m", OPEN.at, "type_mismatch", "integer", "high"), OPEN, "Set the attribute level to a whole number"),
        (Reason("/m", SOURCE, "template_mismatch", "/ovens/{oven}", "/boats/7"), TEMPLATE, "like '/ovens/OVEN'."),
        (Reason("/m", SOURCE, "template_mismatch", "/ovens/{oven}", "/ovens/7/b"), TEMPLATE, "percent-encoded (%2F"),
        (Reason("/m", "/envelopemetadata/type", "constant_mismatch", "a", "b"), None, "If this definition is meant"),
        (Reason("/m", "/envelopemetadata/zone", "constant_mismatch", "a", "b"), None, "Set the attribute zone to 'a'"),
        (Reason("/m", "/data/x", "payload_enum", "a", "b"), None, "Change the value, or the schema."),
    ],
)
def test_remedies_name_the_member_and_the_value(reason: Reason, constraint: Constraint | None, says: str) -> None:
    assert says in remedy(reason, constraint)


@pytest.mark.parametrize(
    ("at", "may_be_left_out"),
    [
        ("/data/speed", True),
        ("/data/lines/0/sku", True),
        ("/data/lines/0", False),
        ("/data/lines/12", False),
        ("/data", False),
        ("", False),
    ],
)
def test_only_a_member_that_is_null_may_be_left_out(at: str, may_be_left_out: bool) -> None:
    reason = Reason("/m", at, "null_not_allowed", "a string", "null")
    told = explain_match(Match("invalid", "/m", reasons=(reason,))).lower()
    assert ("left out" in told) == ("leave it out" in told) == may_be_left_out


texts = st.text(max_size=20)


@given(
    st.sampled_from(list(SENTENCES)), st.sampled_from(["", "/", "/protocoloptions/"]) | texts, texts, texts,
)  # fmt: skip
def test_whatever_a_message_held_it_is_explained(code: str, at: str, expected: str, found: str) -> None:
    told = explain_match(Match("invalid", "/m", reasons=(Reason("/m", at, code, expected, found),)))
    assert told.startswith("invalid    /m\n           - ")
