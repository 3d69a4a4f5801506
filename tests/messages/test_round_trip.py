"""What `make` makes, `match` lands: over random definitions, all protocols, modes and payload formats."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.errors import MakeRefused
from postroom.messages.making.make import AUTO, Maker
from postroom.messages.making.make_invalid import make_invalid
from postroom.protocols.records import render_record
from tests.messages.payloads import GROUPS, SCHEMAS, declared
from tests.messages.random_catalogs import PROTOCOLS, catalogs, lengthy

XID = "/messagegroups/g/messages/m"
WIRES = ("HTTP", "AMQP/1.0", "MQTT/3.1.1", "MQTT/5.0", "KAFKA", "NATS")
slow = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def opened(tree: dict[str, Any]) -> Maker:
    catalog = Catalog(tree)
    assume(not catalog.refused)
    return catalog.message(XID).maker


def drawn(maker: Maker, data: st.DataObject) -> tuple[dict[str, str], str, str]:
    values = {name: data.draw(lengthy, label=name) for name in maker.variables}
    own = maker.definition.protocol
    protocol = own or data.draw(st.sampled_from(["", *WIRES] if maker.is_event else WIRES), label="protocol")
    # A content type that is the envelope's is that of no event in binary mode.
    is_enveloped = maker.is_event and maker.definition.message_type is not None
    modes = ["", "structured"] if is_enveloped else ["", "binary", "structured"]
    return values, protocol, data.draw(st.sampled_from(modes), label="mode")


@slow
@given(tree=catalogs(), data=st.data(), seed=st.integers(0, 2**32))
def test_every_message_that_is_made_lands(tree: dict[str, Any], data: st.DataObject, seed: int) -> None:
    maker = opened(tree)
    values, protocol, mode = drawn(maker, data)
    for way in ("exact", "route"):
        try:
            record = maker.make(values, AUTO, protocol=protocol, mode=mode, rng=random.Random(seed))
        except MakeRefused as error:
            # Values that no encoding keeps apart, or that are not of the type of what they stand in.
            if "nothing would tell" not in error.sentence and "must be of type" not in error.sentence:
                raise
            event("refused")
            return
        event(f"made, {way}")
        match = Catalog(tree).match(render_record(record))
        assert (match.outcome, match.message) == ("landed", XID), match.reasons
        assert match.variables == values


@slow
@given(tree=catalogs(), data=st.data(), seed=st.integers(0, 2**32))
def test_nothing_lands_that_was_broken(tree: dict[str, Any], data: st.DataObject, seed: int) -> None:
    maker = opened(tree)
    values, protocol, mode = drawn(maker, data)
    try:
        record, reason = make_invalid(maker, values, protocol=protocol, mode=mode, rng=random.Random(seed))
    except MakeRefused:
        event("refused")
        return
    event(reason.code)
    match = Catalog(tree).match(render_record(record))
    assert (match.outcome, match.message, match.reasons) == ("invalid", XID, (reason,))


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("protocol", WIRES)
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: f"{schema[0]}-{schema[1]}")
def test_every_format_on_every_protocol(schema: tuple[str, str, Any], protocol: str, mode: str) -> None:
    message = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t"}}, **declared(schema)}
    catalog = Catalog({"messagegroups": {"g": {"messages": {"m": message}}}, "schemagroups": GROUPS})
    maker = catalog.message("m").maker
    for seed in range(5):
        rng = random.Random(seed)
        made = render_record(maker.make({}, AUTO, protocol=protocol, mode=mode, rng=rng))
        assert catalog.match(made).outcome == "landed"
        record, reason = make_invalid(maker, {}, protocol=protocol, mode=mode, rng=rng)
        match = catalog.match(render_record(record))
        assert (match.outcome, match.reasons) == ("invalid", (reason,))
        assert reason.at
        assert reason.expected


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: f"{schema[0]}-{schema[1]}")
def test_payload_rules_of_every_format_are_broken_one_at_a_time(schema: tuple[str, str, Any]) -> None:
    message = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t"}}, **declared(schema)}
    catalog = Catalog({"messagegroups": {"g": {"messages": {"m": message}}}, "schemagroups": GROUPS})
    maker = catalog.message("m").maker
    reasons = [make_invalid(maker, {}, protocol="KAFKA", rng=random.Random(seed))[1] for seed in range(40)]
    assert any(reason.at.startswith("/data") for reason in reasons)


def test_the_strategies_reach_every_protocol() -> None:
    assert {name.partition("/")[0] for name in PROTOCOLS} == {"HTTP", "AMQP", "MQTT", "KAFKA", "NATS", "PIGEON"}
