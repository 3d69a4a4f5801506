"""Compiled templates make what exact rendering makes: random definitions, all protocols, modes and payload formats."""

from __future__ import annotations

import copy
import random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.errors import MakeRefused
from postroom.messages.making.make import AUTO, Maker
from postroom.protocols.records import Record
from tests.messages.random_catalogs import catalogs, lengthy

WIRES = ("HTTP", "AMQP/1.0", "MQTT/3.1.1", "MQTT/5.0", "KAFKA", "NATS")
OPEN_NAMES = (
    "subject",
    "time",
    "level",
    "x9",
    "traceid",
    "dataschema",
    "datacontenttype",
    "topic",
    "key",
    "path",
    "ring",
)
NOON = "2026-05-04T12:00:00.000Z"
NOON_NS = 1_777_896_000_000_000_000
SOURCE = {"type": "uritemplate", "value": "/plants/{plant}"}


def opened(message: dict[str, Any]) -> Maker:
    return Catalog({"messagegroups": {"g": {"messages": {"m": message}}}}).message("m").maker


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(tree=catalogs(), data=st.data(), seed=st.integers(0, 2**32))
def test_a_compiled_template_makes_what_exact_rendering_makes(
    tree: dict[str, Any], data: st.DataObject, seed: int
) -> None:
    catalog = Catalog(tree)
    assume(not catalog.refused)
    maker = catalog.message("/messagegroups/g/messages/m").maker
    own = maker.definition.protocol
    options = {
        "protocol": own or data.draw(st.sampled_from(["", *WIRES] if maker.is_event else WIRES), label="protocol"),
        "mode": data.draw(st.sampled_from(["", "binary", "structured"]), label="mode"),
    }
    more = data.draw(
        st.dictionaries(st.sampled_from(OPEN_NAMES), st.sampled_from(["a", "é %", 7, True, NOON]), max_size=1)
    )
    body = data.draw(st.sampled_from([AUTO, AUTO, None, {"a": 1}, b"plain", b"\xff"]), label="data")
    with patch("postroom.messages.making.sample_values.time.time_ns", return_value=NOON_NS):
        for _ in range(2):  # the first message is rendered exactly
            values = {name: data.draw(lengthy | st.just("oslo"), label=name) for name in maker.variables} | more
            made = outcome(lambda v=values: maker.make(v, body, **options, rng=random.Random(seed)))
            exact = outcome(lambda v=values: maker.draft(v, body, **options, rng=random.Random(seed)).record())
            if isinstance(made, str) and "no message can be made" in made:
                return
            assert made == exact
    event("compiled" if any(maker._compiled.values()) else "exact only")


def outcome(make: Any) -> Record | str:
    try:
        record: Record = make()
    except MakeRefused as error:
        return error.sentence
    return record


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("protocol", ["", *WIRES])
def test_templates_are_compiled_for_every_protocol_and_mode(protocol: str, mode: str) -> None:
    maker = opened({"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t"}, "source": SOURCE}})
    for given_values in ({"plant": "oslo"}, {"plant": "a b", "subject": "s"}):
        maker.make(given_values, {"n": 1}, protocol=protocol, mode=mode)
    assert len(maker._compiled) == 2
    assert all(maker._compiled.values())


STRINGS = (
    *("oslo", "a-b_c.d~e", "a b", '"', "\\", "\\u0041", "%", "%41", "%s", "{table}", "'", "</p>&", ",}]"),
    *("\x00\x1f\n\t\x7f", "é", "Å", "\u2028", "\ufeff", "😀", "a" * 5_000),
)
DATA = (
    *(
        {},
        {"n": 1},
        {'"\\\n\x00é😀\u2028': ["%s", None, 1.5e300, -0.0, True]},
        {"n": 2**63},
        {"n": 2**64},
        {"n": -(10**40)},
    ),
    *([], [{"n": 1}], 7, True, None, "text", '"quoted"', b"", b' {"n" : 1 } ', b"text", b"\xff", AUTO),
    *({"n": "\ud800"}, {"n": object()}, {"n": float("nan")}),
)


def odd_maker(**more: Any) -> Maker:
    """Constants, templates, open attributes and sampled values, all of them with characters that some protocol writes
    differently."""
    metadata = {
        "type": {"value": 'com.example."odd"\\ é 100%'},
        "source": {"type": "uritemplate", "value": '/tables/é "x"/{table}'},
        "subject": {"type": "string", "value": 'Table "{table}" at 100%\\é {guest}'},
        "guest": {"type": "string", "value": "{guest}"},
        "level": {"type": "integer", "required": True},
        "share": {"type": "number", "required": True},
        "paid": {"type": "boolean"},
        "note": {"type": "string"},
    }
    return opened({"envelope": "CloudEvents/1.0", "envelopemetadata": metadata} | more)


def assert_same(maker: Maker, values: dict[str, Any], data: Any, protocol: str, mode: str) -> None:
    with patch("postroom.messages.making.sample_values.time.time_ns", return_value=NOON_NS):
        made, exact = (
            outcome(lambda make=make: make(values, data, protocol=protocol, mode=mode, rng=random.Random(1)))
            for make in (maker.make, lambda *given, **options: maker.draft(*given, **options).record())
        )
    assert made == exact


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("protocol", ["", *WIRES])
def test_every_character_is_written_as_exact_rendering_writes_it(protocol: str, mode: str) -> None:
    maker = odd_maker()
    maker.make({"table": "7", "guest": "ann"}, {"n": 1}, protocol=protocol, mode=mode)
    maker.make({"table": "7", "guest": "ann", "note": "x", "paid": True, "level": 1}, {}, protocol=protocol, mode=mode)
    assert len(maker._compiled) == 2
    assert all(maker._compiled.values())
    for text in STRINGS:
        assert_same(maker, {"table": text, "guest": "ann"}, {"n": 1}, protocol, mode)
        assert_same(maker, {"table": "7", "guest": text}, {"n": 1}, protocol, mode)
        others = {"note": text, "paid": False, "level": -(2**31)}
        assert_same(maker, {"table": text, "guest": text} | others, {"n": 1}, protocol, mode)


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("protocol", ["", *WIRES])
@pytest.mark.parametrize("contenttype", ["", "application/json", "text/plain", "application/x-odd"])
def test_all_data_is_encoded_as_exact_rendering_encodes_it(contenttype: str, protocol: str, mode: str) -> None:
    stated = {"datacontenttype": contenttype} if contenttype else {}
    schema = {"dataschemaformat": "JsonSchema/draft-07", "dataschema": {"type": ["object", "array"]}}
    for more in (stated, stated | schema):
        maker = odd_maker(**more)
        maker.make({"table": "7", "guest": "ann"}, {"n": 1}, protocol=protocol, mode=mode)
        assert all(maker._compiled.values())
        for data in DATA:
            assert_same(maker, {"table": "7", "guest": "ann"}, data, protocol, mode)


@pytest.mark.parametrize("schema", [{}, {"dataschemaformat": "JsonSchema/draft-07", "dataschema": {"type": "object"}}])
def test_data_that_no_json_can_hold_is_refused(schema: dict[str, Any]) -> None:
    endless: dict[str, Any] = {}
    endless["endless"] = endless
    maker = odd_maker(**schema)
    for _ in range(2):  # exact rendering, and the compiled template
        for data in ({"n": "\ud800"}, {"n": object()}, {(1, 2): 3}, endless):
            with pytest.raises(MakeRefused, match="the data cannot be written"):
                maker.make({"table": "7", "guest": "ann"}, data, protocol="KAFKA")
        maker.make({"table": "7", "guest": "ann"}, {"n": 1}, protocol="KAFKA")


def test_an_open_content_type_is_not_compiled() -> None:
    declared = {"type": {"value": "t"}, "datacontenttype": {"required": True}}
    maker = opened({"envelope": "CloudEvents/1.0", "envelopemetadata": declared})
    for _ in range(2):
        assert maker.make({"datacontenttype": "text/plain"}, "hi", protocol="HTTP").payload == b"hi"
    assert not any(maker._compiled.values())


def test_records_of_one_template_share_no_objects() -> None:
    pairs = [{"name": "tenant", "value": "north"}]
    for protocol, headers in (("KAFKA", {"tenant": {"value": "north"}}), ("HTTP", pairs)):
        message = {"protocol": protocol, "protocoloptions": {"headers": headers}, "envelope": "CloudEvents/1.0"}
        maker = opened(message | {"envelopemetadata": {"type": {"value": "t"}, "source": SOURCE}})
        first, second, third = (maker.make({"plant": "oslo"}, {"n": 1}) for _ in range(3))
        kept = copy.deepcopy(third.metadata)
        for record in (first, second):
            record.metadata["headers"].clear()
        assert third.metadata == kept
        assert len(maker.make({"plant": "oslo"}, {"n": 1}).metadata["headers"]) == len(kept["headers"])


def test_compiled_templates_refuse_wrong_values_and_data() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    message = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t"}, "source": SOURCE}}
    maker = opened(message | {"dataschemaformat": "JsonSchema/draft-07", "dataschema": schema})
    for _ in range(2):
        maker.make({"plant": "oslo"}, {"n": 1}, protocol="KAFKA")
    for values, data, says in (
        ({"plant": ""}, {"n": 1}, "values are missing for plant"),
        ({}, {"n": 1}, "values are missing for plant"),
        ({"plant": "\ud800"}, {"n": 1}, "not text that can be sent"),
        ({"plant": "oslo", "type": "u"}, {"n": 1}, "type is fixed"),
        ({"plant": "oslo"}, {"n": "one"}, "the data does not fit"),
        ({"plant": "oslo"}, None, "the definition needs data"),
    ):
        with pytest.raises(MakeRefused, match=says):
            maker.make(values, data, protocol="KAFKA")


@pytest.mark.parametrize("mode", ["binary", "structured"])
def test_names_are_never_read_as_code(mode: str) -> None:
    names = ('"', "}", "{c.0}", "v0", "\\", "\n", "%s", "fill", "__import__('os')")
    headers = {f"{name}{number}": {"value": f"{name}{{table}}"} for number, name in enumerate(names)}
    maker = odd_maker(protocol="KAFKA", protocoloptions={"headers": headers, "key": {"value": '"{table}'}})
    maker.make({"table": "7", "guest": "ann"}, {"n": 1}, mode=mode)
    assert all(maker._compiled.values())
    for text in ("7", *names):
        assert_same(maker, {"table": text, "guest": "ann"}, {"n": 1}, "KAFKA", mode)
    sent = maker.make({"table": "7", "guest": "ann"}, {"n": 1}, mode=mode).metadata["headers"]
    assert headers.keys() <= sent.keys()


def test_a_message_with_very_many_headers_is_rendered_exactly() -> None:
    headers = {f"h{number}": {"value": "x"} for number in range(1_500)}
    maker = odd_maker(protocol="KAFKA", protocoloptions={"headers": headers})
    for _ in range(2):
        assert len(maker.make({"table": "7", "guest": "ann"}, {"n": 1}).metadata["headers"]) > 1_500
    assert not any(maker._compiled.values())
