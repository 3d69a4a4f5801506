"""Which landed messages a change may concern: whatever is ruled out really lands where it landed before."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.messages.matching.definition_matcher import DefinitionMatcher
from postroom.pipeline.impact.affected import CatalogChanges, can_meet
from tests.messages.random_catalogs import Tree
from tests.pipeline.impact.random_plants import GROUP, edits, plants, records


@settings(max_examples=150, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.data())
def test_what_is_ruled_out_lands_where_it_landed(data: st.DataObject) -> None:
    tree = data.draw(plants())
    old, new = Catalog(tree), Catalog(data.draw(edits(tree)))
    changes = CatalogChanges(old.compiled, new.compiled)
    for record in data.draw(st.lists(records(), min_size=6, max_size=16)):
        line = json.dumps(record).encode()
        for before, after in zip(old.engine.sort_exactly(line), new.engine.sort_exactly(line), strict=True):
            xid = before.match.message or ""
            if before.match.outcome == "landed" and not changes.may_concern(xid):
                event(f"ruled out beside {len(changes.changed)} changes")
                assert (after.match.outcome, after.match.message, after.data) == ("landed", xid, before.data)


def catalog(**messages: Tree) -> Catalog:
    schema = {"type": "object", "properties": {"value": {"$ref": "/schemagroups/s/schemas/value"}}}
    schemas = {name: {"versions": {"1": {"schema": one}}} for name, one in {"reading": schema, "value": {}}.items()}
    return Catalog({"messagegroups": {"plant": {"messages": messages}}, "schemagroups": {"s": {"schemas": schemas}}})


def typed(name: str, **more: Any) -> Tree:
    return {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": name}}} | more


def on(topic: str, **more: Any) -> Tree:
    options = {"topic_name": {"type": "uritemplate", "value": topic}}
    return {"protocol": "MQTT/5.0", "protocoloptions": options} | more


@pytest.mark.parametrize(
    ("known", "other", "may"),
    [
        (typed("reading"), typed("alarm"), False),
        (typed("reading"), typed("reading"), True),
        (typed("reading"), {"envelope": "CloudEvents/1.0"}, True),
        (typed("reading"), on("plant/1"), True),
        (on("plant/1"), on("plant/2"), False),
        (on("plant/1"), on("plant/{n}"), True),
        (on("plant/{n}"), on("yard/{n}"), False),
        (on("plant/{n}"), on("{any}"), True),
        (on("plant 1/{n}"), on("plant%201/{n}"), True),
        (on("plant/1"), on("plant/1") | {"protocol": "MQTT/3.1.1"}, False),
        (on("plant/1", **typed("reading")), on("plant/1", **typed("alarm")), True),
        (on("plant/1", **typed("reading")), on("plant/2", **typed("alarm")), False),
        (on("plant/1", **typed("reading")), typed("alarm"), False),
    ],
)
def test_definitions_meet_where_one_message_may_fit_both(known: Tree, other: Tree, may: bool) -> None:
    first, second = (DefinitionMatcher(one) for one in catalog(a=known, b=other).definitions)
    assert can_meet(first, second) is may


def test_who_derives_from_a_definition_hides_it() -> None:
    opened = {"envelope": "CloudEvents/1.0", **on("plant/1")}
    derived = typed("reading", basemessage=f"{GROUP}/a", **on("plant/2"))
    first, second = (DefinitionMatcher(one) for one in catalog(a=opened, b=derived).definitions)
    assert can_meet(first, second)


def test_a_schema_concerns_those_that_may_refer_to_it() -> None:
    stored = {"dataschemaformat": "JsonSchema/draft-07", "dataschemauri": "/schemagroups/s/schemas/reading"}
    inline = {"dataschemaformat": "JsonSchema/draft-07", "dataschema": {"type": "object"}}
    old = catalog(a=typed("a", **stored), b=typed("b", **inline), c=typed("c"))
    tree = json.loads(json.dumps(old.tree))
    tree["schemagroups"]["s"]["schemas"]["value"]["versions"]["1"]["schema"] = {"type": "number"}
    changes = CatalogChanges(old.compiled, Catalog(tree).compiled)
    assert changes.changed == {f"{GROUP}/a"}
    assert [changes.may_concern(f"{GROUP}/{name}") for name in "abc"] == [True, False, False]


def test_constants_that_python_takes_for_equal_are_not() -> None:
    one, other = (
        typed("a", dataschemaformat="JsonSchema/draft-07", dataschema={"const": value}) for value in (1, True)
    )
    assert CatalogChanges(catalog(a=one).compiled, catalog(a=other).compiled).changed == {f"{GROUP}/a"}
