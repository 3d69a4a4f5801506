"""Lint of single entities in a store, beside lint of the whole catalog that they are in."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from postroom.catalog.entity_lint import lint_entities
from postroom.catalog.lint import diagnose
from postroom.catalog.open_store import open_store
from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.rule_table import RULES, LintRule
from postroom.documents.lint.subjects import LintedDocument
from postroom.registry.operations import export_document, import_document
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.documents.lint.catalogs import CLEAN, GROUP, MOVED, SCHEMA, Tree, merged, spoilt
from tests.documents.lint.test_rules import FOUND, LEFT_ALONE

KINDS = ("messagegroups", "schemagroups", "endpoints")
# What the registry has looked at itself, and what only all definitions together can tell.
ELSEWHERE = {
    "attribute_invalid",
    "registry_attribute_invalid",
    "definition_shadowed",
    "always_ambiguous",
    "message_ids_collide",
}
EVENT = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "vehicle.stopped"}}}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('lint')}/lint.db") as opened:
        yield opened


class Undone(Exception):
    """Ends a transaction without keeping anything."""


def undo() -> NoReturn:
    raise Undone


def subject(pointer: str) -> str:
    """The group or resource that a finding is about."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:5]]
    return "/" + "/".join(steps if len(steps) == 4 and steps[2] in ("messages", "schemas") else steps[:2])


def of_all(tx: Transaction) -> Counter[tuple[str, str, str]]:
    """Errors and warnings that lint of the whole catalog has: subject, code and sentence."""

    def is_elsewhere(rule: LintRule) -> bool:
        return rule.severity == "info" or rule.subject == "documents" or rule.code in ELSEWHERE

    rules = [rule for rule in RULES if not is_elsewhere(rule)]
    found: Iterator[tuple[LintRule, Diagnostic]] = diagnose(LintedDocument(export_document(tx)), Settings(), rules)
    return Counter((subject(one.pointer), rule.code, one.sentence) for rule, one in found)


def units(tx: Transaction) -> list[str]:
    """Every Group and Resource that lint has rules for."""
    found = [xid for xid in tx.xids() if xid.split("/")[1] in KINDS]
    return sorted(xid for xid in found if xid.count("/") in (2, 4))


def one_by_one(tx: Transaction) -> Counter[tuple[str, str, str]]:
    """What lint of each entity by itself has."""
    found = [(xid, one) for xid in units(tx) for one in lint_entities(tx, [xid])]
    assert {subject(one.pointer) for xid, one in found if subject(one.pointer) != xid} == set()
    return Counter((xid, one.code, one.sentence) for xid, one in found)


def assert_alike(store: Store, trees: list[Tree]) -> Counter[str]:
    """Compare both ways for catalogs, each alone in a registry; the codes that were found."""
    codes: Counter[str] = Counter()
    for tree in trees:
        with contextlib.suppress(Undone, RegistryProblem), store.write() as tx:
            import_document(tx, json.loads(json.dumps(tree)))
            codes.update(compared(tx))
            undo()
    return codes


def compared(tx: Transaction) -> Iterator[str]:
    """The codes of what lint of the whole catalog has, and what lint of entities has as well."""
    wanted = of_all(tx)
    alone = one_by_one(tx)
    assert wanted <= alone
    # That others derive from a message, which says that it is no message by itself, is not known where it is alone.
    assert {code for _, code, _ in alone - wanted} <= {"type_open"}
    assert Counter((subject(one.pointer), one.code, one.sentence) for one in lint_entities(tx, units(tx))) == wanted
    return (code for _, code, _ in wanted)


def test_an_entity_has_the_findings_that_it_has_in_its_catalog(store: Store) -> None:
    trees: list[Any] = [CLEAN, *(tree for _, tree, _ in FOUND), *(tree for _, tree in LEFT_ALONE)]
    codes = assert_alike(store, trees)
    assert len(codes) > 40


def test_an_entity_of_a_real_catalog_has_the_findings_that_it_has_there(store: Store, shared: Path) -> None:
    names = ("samples/message-definitions/contoso-erp", "samples/message-definitions/inkjet-protocol-variants")
    files = [shared / "catalogs" / "codegen" / f"{name}.xreg.json" for name in names]
    assert assert_alike(store, [json.loads(file.read_text()) for file in files])


@pytest.mark.parametrize("count", [1, 1500])
def test_every_entity_of_a_large_write_is_looked_at(store: Store, count: int) -> None:
    messages = {f"stopped{number}": EVENT for number in range(count)}
    tree = spoilt({"messagegroups": {"fleet": {"messages": {**messages, "broken": {"envelope": "CloudEvents/1.0"}}}}})
    assert assert_alike(store, [tree])["metadata_missing"] == 1


USUAL: Tree = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {
        "type": {"value": "vehicle.parked"},
        "source": {"type": "uritemplate", "value": "/vehicles/{vin}", "description": "Which one."},
        "subject": {"type": "string", "value": "{vin}"},
    },
    "protocol": "KAFKA",
    "protocoloptions": {"topic": "vehicles", "key": {"value": "{vin}"}, "partition": 1},
    "dataschemaformat": "JsonSchema/draft-07",
    "dataschemauri": SCHEMA,
}
TEXTS = ("parked", "None", "", "{a}{b}", "{a}/{b}", "{", "{a b}", "a b", "1", "-1", "0000-01-01T00:00:00Z")
REFERENCES = (SCHEMA, f"{SCHEMA}/versions/9", f"{SCHEMA}:lat", MOVED)
WITH_TYPE = ({"value": "x", "type": "timestamp"}, {"value": "a/b", "type": "symbol"})
# Names under which messages of one shape are looked at, and which mean something else here.
SHARED = ("x", "/messagegroups/g/messages/m", "/schemagroups/g/schemas/s")
OTHERS: tuple[Any, ...] = (*TEXTS, *REFERENCES, *SHARED, 1, True, {}, {"value": "{vin}"}, *WITH_TYPE)
PLACES = (
    *(f"envelopemetadata.{name}" for name in ("type", "source", "vin", "dataschema", "datacontenttype", "id", "my_id")),
    *(f"envelopemetadata.subject.{name}" for name in ("value", "type", "description", "required", "Value")),
    *(f"protocoloptions.{name}" for name in ("topic", "key", "key_base64", "partition", "qos", "Topic", "headers")),
    *(f"protocoloptions.key.{name}" for name in ("value", "type", "required")),
    *("envelope", "protocol", "basemessage", "dataschemaformat", "dataschemauri", "dataschemaxid", "datacontenttype"),
    *("deprecated", "format", "schema", "dataschema"),
)


TOGETHER: list[Tree] = [
    *(
        {"envelopeoptions": {"mode": "binary"}, "protocoloptions": {"headers": [{"name": "ce_type", "value": value}]}}
        for value in ("vehicle.moved", "x")
    ),
    {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": "parked", "topic-name": "x", "key": None}},
    *({"meta": {"xref": xid}} for xid in SHARED[1:]),
    *({"meta": {"deprecated": {"alternative": xid}}} for xid in SHARED[1:]),
]


def at(place: str, value: Any) -> Tree:
    """A change in one place."""
    for step in reversed(place.split(".")):
        value = {step: value}
    return dict(value)


def put(tx: Transaction, message: Tree) -> None:
    import_document(tx, {"messagegroups": {"fleet": {"messages": {"vehicle.parked": message}}}})


@pytest.mark.parametrize(
    "changes", [*([at(place, value) for value in OTHERS] for place in PLACES), TOGETHER], ids=[*PLACES, "together"]
)
def test_a_message_that_looks_like_others_has_the_findings_of_its_own(store: Store, changes: list[Tree]) -> None:
    with contextlib.suppress(Undone), store.write() as tx:
        import_document(tx, json.loads(json.dumps({**CLEAN, "endpoints": {}})))
        put(tx, {**USUAL, "name": "Parked"})
        assert lint_entities(tx, [f"{GROUP}/messages/vehicle.parked"]) == []  # and so its shape is known
        for change in changes:
            with contextlib.suppress(RegistryProblem):
                put(tx, merged(USUAL, change))
                compared(tx)
        undo()
