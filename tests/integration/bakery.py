"""The messages of a bakery's ovens, for any protocol, and what it means that they still land after a journey."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.catalog.catalog import Catalog
from postroom.messages.making.make import AUTO
from postroom.protocols.cloudevents import Message, unwrap
from postroom.protocols.records import Record, line_of, parse_record, render_record

VARIABLES = {"bakery": "Ærø øst", "oven": "7%"}
GIVEN = {**VARIABLES, "count": 3, "urgent": True, "note": 'he said "50% € off"'}
DATA = {"celsius": 180.5, "loaves": ["rye", "Rosinenbrötchen 🥐"]}

_SCHEMA = {
    "type": "object",
    "required": ["celsius", "loaves"],
    "properties": {"celsius": {"type": "number"}, "loaves": {"type": "array", "items": {"type": "string"}}},
}


def bakery(protocol: str, event: dict[str, Any], plain: dict[str, Any]) -> Catalog:
    """A catalog with an event and with a message that has no envelope; each with its own protocol options."""
    ready = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {
            "type": {"value": "oven.ready"},
            "source": {"type": "uritemplate", "value": "/bakeries/{bakery}/ovens/{oven}"},
            "subject": {"value": "{oven}", "required": True},
            "count": {"type": "integer", "required": True},
            "urgent": {"type": "boolean", "required": True},
            "note": {"type": "string", "required": True},
        },
        "protocol": protocol,
        "protocoloptions": event,
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschema": _SCHEMA,
    }
    cold = {
        "protocol": protocol,
        "protocoloptions": plain,
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschema": _SCHEMA,
    }
    return Catalog({"messagegroups": {"bakery": {"messages": {"oven.ready": ready, "oven.cold": cold}}}})


def check_journey(catalog: Catalog, message: str, mode: str, travel: Callable[[Record], Record]) -> Record:
    """Make a message, let it travel, and see that it lands where it was made, with all it had."""
    template = catalog.message(message)
    given = GIVEN if message == "oven.ready" else {name: VARIABLES[name] for name in template.maker.variables}
    sent = template.maker.make(given, DATA, mode=mode)
    received = travel(sent)
    for record in (received, parse_record(line_of(render_record(received)))):
        match = catalog.match(record)
        assert (match.outcome, match.message) == ("landed", f"/messagegroups/bakery/messages/{message}"), match.reasons
        assert match.variables == {name: VARIABLES[name] for name in template.maker.variables}
    before, after = only(sent), only(received)
    assert (after.attributes, after.body, after.mode) == (before.attributes, before.body, before.mode)
    return received


def check_demo(catalog: Catalog, protocol: str, travel: Callable[[Record], Record]) -> int:
    """Let invented messages of all definitions for a protocol travel in both modes; returns how many did."""
    count = 0
    for definition in catalog.engine.definitions:
        if definition.protocol != protocol or definition.xid.endswith("vehicle.message"):  # a base for others
            continue
        template = catalog.message(definition.xid)
        values = {name: f"{name} №{number}" for number, name in enumerate(template.maker.variables)}
        for mode in ("binary", "structured"):
            received = travel(template.maker.make(values, AUTO, mode=mode))
            match = catalog.match(received)
            assert (match.outcome, match.message, match.variables) == ("landed", definition.xid, values), match.reasons
            count += 1
    return count


def only(record: Record) -> Message:
    (message,) = unwrap(record)
    assert isinstance(message, Message), message
    return message
