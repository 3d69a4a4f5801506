"""How sentences of the message specification are read that leave something open or contradict each other (C-nn)."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.documents.diff.compare import differences
from postroom.errors import MakeRefused
from postroom.messages.making.make import AUTO
from postroom.messages.matching.explain import explain_reason
from tests.documents.lint.catalogs import lint
from tests.messages.payloads import GROUPS, SCHEMAS, declared

EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
XID = "/messagegroups/g/messages/"
TYPE: dict[str, Any] = {"type": {"value": "t"}}
PAIR = [{"name": "a", "value": "b"}]


def catalog(message: dict[str, Any], group: dict[str, Any] | None = None, **others: Any) -> Catalog:
    return Catalog({"messagegroups": {"g": {**(group or {}), "messages": {"m": message, **others}}}})


def event(**attributes: Any) -> dict[str, Any]:
    return {"envelope": "CloudEvents/1.0", "envelopemetadata": {**TYPE, **attributes}}


def record(protocol: str, metadata: dict[str, Any], payload: str = "x") -> dict[str, Any]:
    return {"protocol": protocol, "metadata": metadata, "payload": payload}


def outcome(catalog: Catalog, sent: Any) -> str:
    return catalog.match(sent).outcome


@pytest.mark.parametrize("name", ["basemessage", "basemessageuri", "basemessageurl"])
def test_a_base_has_three_names(name: str) -> None:  # C-01
    made = catalog({name: XID + "base", **event()}, base=event(zone={"value": "north"}))
    assert outcome(made, {**EVENT, "zone": "north"}) == "landed"
    assert outcome(made, EVENT) == "invalid"


@pytest.mark.parametrize(
    "place",
    [
        {"envelopemetadata": {**TYPE, "zone": {"value": "a"}}},
        {"envelopeoptions": {**TYPE, "zone": {"value": "a"}}},  # C-02
        {"envelopemetadata": {"attributes": {**TYPE, "zone": {"value": "a"}}}},  # C-03
        {"envelopemetadata": {"type": "t", "zone": "a"}},  # C-05
    ],
)
def test_attributes_are_found_where_authors_put_them(place: dict[str, Any]) -> None:
    made = catalog({"envelope": "CloudEvents/1.0", **place})
    assert outcome(made, {**EVENT, "zone": "a"}) == "landed"
    assert outcome(made, {**EVENT, "zone": "b"}) == "invalid"


FIXED = {"value": "c"}
TIME = {"type": "timestamp", "value": "2020-01-01T00:00:00Z"}
NOW = {"type": "timestamp", "value": "0000-01-01T00:00:00Z"}
TEMPLATE = {"type": "uritemplate", "value": "{x}"}


@pytest.mark.audit("messages-D12")
@pytest.mark.feature("MSG-037", "MSG-045")
@pytest.mark.parametrize(
    ("declared", "absent"),
    [
        (FIXED, "invalid"),
        ({**FIXED, "required": False}, "invalid"),
        ({**FIXED, "required": True}, "invalid"),
        ({"type": "integer", "value": 7, "required": False}, "invalid"),
        (TIME, "invalid"),
        ({**TIME, "required": False}, "invalid"),
        (NOW, "landed"),
        ({**NOW, "required": False}, "landed"),
        ({**NOW, "required": True}, "invalid"),
        ({}, "landed"),
        ({"required": False}, "landed"),
        (TEMPLATE, "invalid"),
        ({**TEMPLATE, "required": False}, "landed"),
    ],
)
def test_a_fixed_value_is_there_whatever_required_says(declared: dict[str, Any], absent: str) -> None:
    """It "MUST be literally present"; `required` is false by default, so that to write false says nothing."""
    assert outcome(catalog(event(x=declared)), EVENT) == absent
    options = {"topic": "t", "headers": {"x": declared}}
    assert (
        outcome(catalog({"protocol": "KAFKA", "protocoloptions": options}), record("KAFKA", {"topic": "t"})) == absent
    )


@pytest.mark.audit("messages-D12")
@pytest.mark.parametrize("declared", [FIXED, TIME])
def test_to_write_that_a_fixed_value_is_not_required_is_no_change_and_no_use(declared: dict[str, Any]) -> None:
    trees = [
        {"messagegroups": {"g": {"messages": {"m": event(x=x)}}}} for x in (declared, {**declared, "required": False})
    ]
    (change,) = differences(*trees)
    assert (change.kind, change.reason) == ("compatible", "it says the same in other words.")
    told = [[finding.pointer for finding in lint(tree) if finding.code == "required_of_value"] for tree in trees]
    assert told == [[], [f"{XID}m/envelopemetadata/x/required"]]
    assert [Catalog(tree).message("m").make()["x"] for tree in trees] == [declared["value"]] * 2


@pytest.mark.audit("messages-D12")
def test_a_template_that_may_be_absent_promises_less() -> None:
    trees = [
        {"messagegroups": {"g": {"messages": {"m": event(x=x)}}}} for x in (TEMPLATE, {**TEMPLATE, "required": False})
    ]
    assert [change.kind for change in differences(*trees)] == ["breaking for consumers"]
    assert [change.kind for change in differences(*reversed(trees))] == ["breaking for producers"]


@pytest.mark.audit("messages-D22")
@pytest.mark.parametrize(
    ("kind", "template", "good", "bad"),
    [("symbol", "b_{x}", "c_x", "c-x"), ("integer", "1{x}", "7", "a"), ("boolean", "{x}", "true", "yes")],
)
def test_what_fits_a_template_has_its_type_as_well(kind: str, template: str, good: str, bad: str) -> None:
    made = catalog(event(x={"type": kind, "value": template}))
    assert made.match({**EVENT, "x": template.replace("{x}", good)}).variables == {"x": good}
    (reason,) = made.match({**EVENT, "x": template.replace("{x}", bad)}).reasons
    assert (reason.code, reason.expected) == ("type_mismatch", kind)
    assert made.message("m").make(x=good)["x"] == template.replace("{x}", good)
    for _ in range(2):
        with pytest.raises(MakeRefused, match=f"of type {kind}"):
            made.message("m").make(x=bad)


@pytest.mark.audit("messages-D22")
def test_what_may_be_anything_is_called_any_value() -> None:
    (reason,) = catalog(event(x={"type": "any", "required": True})).match(EVENT).reasons
    assert explain_reason(reason) == "/envelopemetadata/x is missing; it must be any value"


@pytest.mark.audit("messages-D19")
@pytest.mark.parametrize(
    "message",
    [{"envelopemetadata": TYPE}, {"envelopemetadata": TYPE, "basemessage": XID + "gone"}, {"envelopeoptions": TYPE}],
)
def test_attributes_without_an_envelope_are_those_of_cloudevents(message: dict[str, Any]) -> None:
    made = catalog(message)
    assert outcome(made, EVENT) == "landed"
    assert outcome(made, {**EVENT, "type": "u"}) == "unmatched"
    assert outcome(made, record("KAFKA", {"topic": "any", "headers": {"a": "b"}})) == "unmatched"
    assert made.message("m").make()["type"] == "t"


@pytest.mark.parametrize("query", [{"q": "1"}, {"q": {"value": "1"}}, [{"name": "q", "value": "1"}]])
@pytest.mark.parametrize("sent", [{"q": "1"}, [{"name": "q", "value": "1"}]])
def test_queries_are_maps_or_lists(query: Any, sent: Any) -> None:  # C-04
    made = catalog({"protocol": "HTTP", "protocoloptions": {"path": "/p", "query": query}})
    assert outcome(made, record("HTTP", {"path": "/p", "query": sent})) == "landed"
    assert outcome(made, record("HTTP", {"path": "/p"})) == "invalid"


@pytest.mark.parametrize("topic", ["t.{x}", {"value": "t.{x}"}, {"type": "uritemplate", "value": "t.{x}"}])
def test_options_are_scalars_or_properties(topic: Any) -> None:  # C-05
    made = catalog({"protocol": "KAFKA", "protocoloptions": {"topic": topic}})
    assert made.match(record("KAFKA", {"topic": "t.1"})).variables == {"x": "1"}


@pytest.mark.parametrize("group", [{"envelope": "CloudEvents/1.0"}, {"envelope": "cloudevents/1.0"}])
def test_a_message_has_the_selectors_of_its_group(group: dict[str, Any]) -> None:  # C-07, C-40
    made = catalog({"envelopemetadata": TYPE}, {**group, "protocol": "kafka"})
    (definition,) = made.definitions
    assert (definition.envelope, definition.protocol) == ("CloudEvents/1.0", "KAFKA")


def test_what_an_author_left_out_does_not_shadow_a_base() -> None:  # C-08
    made = catalog(
        {"basemessage": XID + "base", **event(level={"description": "How high."})},
        base=event(level={"type": "integer", "required": True}),
    )
    assert made.match({**EVENT, "level": "x"}).reasons[0].code == "type_mismatch"
    assert made.match(EVENT).reasons[0].code == "required_missing"


def test_the_true_spelling_of_a_name_is_in_its_item() -> None:  # C-09
    options = {"application-properties": {"kind": {"name": "Kind", "value": "a"}}}
    made = catalog({"protocol": "AMQP/1.0", "protocoloptions": options})
    assert outcome(made, record("AMQP/1.0", {"application-properties": {"Kind": "a"}})) == "landed"
    assert outcome(made, record("AMQP/1.0", {"application-properties": {"kind": "a"}})) != "landed"


def test_symbols_of_amqp_are_wider_than_those_of_messages() -> None:  # C-10
    options = {"properties": {"content-type": {"value": "application/json"}, "content-encoding": {}}}
    made = catalog({"protocol": "AMQP/1.0", "protocoloptions": options})
    sent = {"properties": {"content-type": "application/json", "content-encoding": "identity"}}
    assert outcome(made, record("AMQP/1.0", sent)) == "landed"


@pytest.mark.parametrize("now", ["0000-01-01T00:00:00Z", "01-01-0000T00:00:00Z", "0001-01-01T00:00:00+00:00"])
def test_now_has_several_spellings(now: str) -> None:  # C-11
    made = catalog(event(time={"type": "timestamp", "value": now}, seen={"type": "timestamp", "value": now}))
    assert outcome(made, {**EVENT, "time": "2026-05-04T10:00:00Z"}) == "landed"
    assert made.message("m").make()["time"][:2] == "20"
    assert made.message("m").make()["seen"][:2] == "20"


@pytest.mark.parametrize(
    ("protocol", "options", "metadata"),
    [
        ("KAFKA", {"key": "k"}, {"key": "k"}),  # C-12
        ("KAFKA", {"key_base64": "aw=="}, {"key_base64": "aw=="}),
        ("NATS", {"reply": "r"}, {"reply-to": "r"}),  # C-13
        ("NATS", {"reply-to": "r"}, {"reply": "r"}),
        ("MQTT/5.0", {"payload_format_indicator": 1}, {"payload_format": 1}),  # C-14
        ("MQTT/5.0", {"user-properties": PAIR}, {"user_properties": PAIR}),
        ("HTTP/2", {"status": "201"}, {"status": "201"}),  # C-15
        ("TransportReader/Pigeon", {"coop": "north"}, {"coop": "north"}),  # C-16
        ("KAFKA", {"partition": {"type": "integer", "value": "3"}}, {"partition": 3}),  # C-17
    ],
)  # fmt: skip
def test_options_under_any_accepted_name(protocol: str, options: Any, metadata: Any) -> None:
    made = catalog({"protocol": protocol, "protocoloptions": options})
    assert outcome(made, record(protocol, metadata)) == "landed"
    assert outcome(made, record(protocol, {})) != "landed"


def test_an_envelope_of_another_kind_is_in_the_headers() -> None:  # C-16
    message = {"envelope": "Acme/2.0", "envelopemetadata": {"acmekind": {"value": "{kind}"}}, "protocol": "NATS"}
    made = catalog({**message, "protocoloptions": {"subject": "acme"}})
    sent = record("NATS", {"subject": "acme", "headers": [{"name": "acmekind", "value": "k"}]})
    assert made.match(sent).variables == {"kind": "k"}
    assert made.match(record("NATS", {"subject": "acme"})).reasons[0].at == "/envelopemetadata/acmekind"
    made_record = made.message("m").make(kind="k", data="x")
    assert made_record["metadata"] == sent["metadata"]
    headers = [{"name": f"ce-{name}", "value": value} for name, value in EVENT.items()]
    assert outcome(made, record("NATS", {"subject": "acme", "headers": headers})) == "unmatched"


def test_text_with_a_placeholder_is_a_template_whatever_its_type() -> None:  # C-18, C-20
    made = catalog(event(subject={"type": "string", "value": "s-{a}"}, note={"value": "{not a name}"}))
    assert made.match({**EVENT, "subject": "s-1", "note": "{not a name}"}).variables == {"a": "1"}


def test_values_are_compared_after_decoding() -> None:  # C-19
    made = catalog(event(source={"value": "/v/{vin}"}, subject={"value": "x/{vin}"}))
    assert made.match({**EVENT, "source": "/v/a%20b", "subject": "x/a b"}).variables == {"vin": "a b"}
    alone = catalog(event(source={"value": "/v/{vin}"}, subject={"value": "{vin}"}))
    for subject in ("a b", "a%20b"):  # a producer may encode what stands alone, or not
        assert alone.match({**EVENT, "source": "/v/a%20b", "subject": subject}).variables == {"vin": "a b"}
    assert outcome(alone, {**EVENT, "source": "/v/a%20b", "subject": "a%2520b"}) == "invalid"


@pytest.mark.feature("MSG-061")
@pytest.mark.parametrize(
    ("schema", "contenttype"),
    [
        (SCHEMAS[0], "application/json"),
        (SCHEMAS[2], "application/avro"),
        (SCHEMAS[4], "application/protobuf"),
        (SCHEMAS[6], "application/xml"),
        (SCHEMAS[7], "application/json"),
    ],
)
def test_the_content_type_follows_from_the_format(schema: Any, contenttype: str) -> None:  # C-21
    message = {**event(), **declared((schema[0], "", schema[2]))}
    made = Catalog({"messagegroups": {"g": {"messages": {"m": message}}}, "schemagroups": GROUPS})
    assert made.message("m").make(data=AUTO)["datacontenttype"] == contenttype


@pytest.mark.feature("MSG-034")
def test_in_structured_mode_the_protocol_states_the_type_of_the_envelope() -> None:  # C-22
    options = {"content_type": "application/cloudevents+json", "topic_name": "t"}
    made = catalog(
        {**event(datacontenttype={"value": "text/plain"}), "protocol": "MQTT/5.0", "protocoloptions": options}
    )
    record = made.message("m").make(data="hello", mode="structured")
    assert record["metadata"]["content_type"] == "application/cloudevents+json"
    assert outcome(made, record) == "landed"


def test_the_attribute_dataschema_is_compared_only_where_the_author_wrote_it() -> None:  # C-23
    made = catalog({**event(), **declared(SCHEMAS[1])})
    assert outcome(made, {**EVENT, "data": [1]}) == "landed"
    assert outcome(made, {**EVENT, "dataschema": "https://example.com/any", "data": [1]}) == "landed"


@pytest.mark.feature("MSG-020")
def test_a_protocol_is_added_to_an_envelope() -> None:  # C-25
    base = event(source={"value": "/v/{vin}"})
    derived = {"basemessage": XID + "base", "protocol": "KAFKA", "protocoloptions": {"topic": "v", "key": "{vin}"}}
    made = catalog(derived, base=base)
    headers = {f"ce_{name}": value for name, value in {**EVENT, "source": "/v/7"}.items()}
    match = made.match(record("KAFKA", {"topic": "v", "key": "7", "headers": headers}))
    assert (match.message, match.variables) == (XID + "m", {"vin": "7"})
    assert made.match({**EVENT, "source": "/v/7"}).message == XID + "base"


@pytest.mark.feature("MSG-063")
@pytest.mark.parametrize(
    ("attribute", "narrowed", "good", "bad"),
    [
        ("source", {"type": "uri"}, "https://example.com/a", "/a"),
        ("subject", {"type": "integer"}, "17", "seventeen"),
        ("subject", {"type": "uri"}, "urn:a:b", "a b"),
        ("level", {"type": "boolean"}, "true", "high"),
    ],
)
def test_types_may_be_narrowed(attribute: str, narrowed: Any, good: str, bad: str) -> None:
    made = catalog(event(**{attribute: narrowed}))
    assert outcome(made, {**EVENT, attribute: good}) == "landed"
    assert outcome(made, {**EVENT, attribute: bad}) == "invalid"


@pytest.mark.feature("MSG-064")
def test_what_is_implied_may_be_written_out() -> None:
    implied = event()
    written = event(
        specversion={"type": "string", "value": "1.0", "required": True},
        id={"type": "string", "required": True},
        time={"type": "timestamp", "value": "0000-01-01T00:00:00Z"},
        datacontenttype={"value": "application/json"},
    )
    for message in (implied, written):
        made = catalog({**message, **declared(SCHEMAS[1])})
        assert outcome(made, {**EVENT, "data": [1]}) == "landed"
        assert outcome(made, {**EVENT, "id": None, "data": [1]}) == "invalid"


@pytest.mark.feature("MSG-035")
def test_versions_may_carry_what_validation_found() -> None:
    core = {"contenttype": "application/json", "format": "JsonSchema/draft-07", "formatvalidated": True}
    version = {**event(), "versionid": "1", **core, "compatibilityvalidated": False}
    tree = {"messagegroups": {"g": {"messages": {"t": {"versions": {"1": version}}}}}}
    assert [finding.code for finding in lint(tree) if finding.severity == "error"] == []
    assert outcome(Catalog(tree), EVENT) == "landed"


@pytest.mark.parametrize(("fixed", "sent", "expected"), [(1.0, 1, "landed"), (1, "1.0", "landed"), (1.5, 2, "invalid")])
def test_numbers_are_compared_as_numbers(fixed: Any, sent: Any, expected: str) -> None:
    assert outcome(catalog(event(level={"type": "number", "value": fixed})), {**EVENT, "level": sent}) == expected


def on_channel(protocol: str, template: str) -> dict[str, Any]:
    """A definition of a protocol whose channel is a template, or fixed."""
    channel: dict[str, Any] = {
        "HTTP": {"path": template},
        "KAFKA": {"topic": template},
        "MQTT/5.0": {"topic_name": template},
        "NATS": {"subject": template},
        "AMQP/1.0": {"properties": {"to": {"value": template}}},
    }
    return {"protocol": protocol, "protocoloptions": channel[protocol]}


def sent_to(protocol: str, channel: str) -> dict[str, Any]:
    name = {"HTTP": "path", "KAFKA": "topic", "MQTT/5.0": "topic_name", "NATS": "subject"}.get(protocol)
    return record(protocol, {name: channel} if name else {"properties": {"to": channel}})


@pytest.mark.audit("registry-24")
@pytest.mark.parametrize("protocol", ["HTTP", "KAFKA", "MQTT/5.0", "NATS", "AMQP/1.0"])
@pytest.mark.parametrize(
    ("template", "channel", "variables"),
    [
        ("/ovens/{oven}", "/ovens/7", {"oven": "7"}),
        ("/ovens/{oven}", "/ovens/7/door", {"oven": "7/door"}),
        ("/{shop}/ovens/{oven}", "/4/ovens/7/door", {"shop": "4", "oven": "7/door"}),
        ("/{shop}/ovens/{oven}", "/4/5/ovens/7", None),
        ("/{shop}/open", "/4/5/open", {"shop": "4/5"}),
        ("/ovens/{oven}", "/ovens/7?door", None),
        ("/ovens/{oven}", "/ovens/", None),
        ("/{oven}/of/{oven}", "/a/b/of/a/b", None),
    ],
)
def test_the_last_placeholder_takes_a_slash_where_nothing_fits_without(
    protocol: str, template: str, channel: str, variables: dict[str, str] | None
) -> None:
    match = catalog(on_channel(protocol, template)).match(sent_to(protocol, channel))
    assert (match.outcome, match.variables) == (("unmatched", {}) if variables is None else ("landed", variables))


@pytest.mark.audit("registry-24")
def test_a_definition_that_fits_without_it_comes_first() -> None:
    found = catalog(on_channel("KAFKA", "ovens/{oven}"), door=on_channel("KAFKA", "{shop}/{oven}/{part}"))
    assert [found.match(sent_to("KAFKA", one)).message for one in ("ovens/7", "ovens/7/door", "ovens/7/door/2")] == [
        f"{XID}m",
        f"{XID}door",
        None,
    ]


@pytest.mark.audit("registry-24")
def test_the_last_placeholder_of_a_source_takes_a_slash() -> None:
    found = catalog(event(source={"type": "uritemplate", "value": "/ovens/{oven}"}))
    assert found.match({**EVENT, "source": "/ovens/7/door"}).variables == {"oven": "7/door"}
    native = catalog({**on_channel("KAFKA", "ovens/{oven}"), **event(source={"value": "/ovens/{oven}"})})
    assert native.match(sent_to("KAFKA", "ovens/7/door")).outcome == "landed"
    made = native.message("m").make(oven="7/door", mode="binary")
    assert made["metadata"]["topic"].count("/") == 1, "what is made fits without"
    assert native.match(made).variables == {"oven": "7/door"}
