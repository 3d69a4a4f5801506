"""Lint as a whole: never a crash, the right file, real catalogs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.catalog.lint import lint_source
from postroom.catalog.sources import read_source
from postroom.catalog.targets import write_target
from postroom.cli.main import execute
from postroom.documents.dialects.convert import write_tree
from postroom.documents.dialects.dialect_table import DIALECTS
from postroom.documents.lint.rule_table import RULES
from postroom.documents.read_files import document_files
from postroom.errors import DocumentRefused, FileMissing
from postroom.model.names import is_entity_id
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from tests.documents.lint.catalogs import CLEAN, SCHEMA, lint, merged, spoilt, with_attribute

# Names that lead into the depths of every rule, and values that no rule expects.
NAMES = st.sampled_from(
    [
        "messagegroups",
        "schemagroups",
        "endpoints",
        "messages",
        "schemas",
        "versions",
        "meta",
        "xref",
        "versionid",
        "defaultversionid",
        "envelope",
        "envelopemetadata",
        "envelopeoptions",
        "attributes",
        "protocol",
        "protocoloptions",
        "basemessage",
        "basemessageuri",
        "dataschema",
        "dataschemauri",
        "dataschemaxid",
        "dataschemaformat",
        "datacontenttype",
        "type",
        "value",
        "required",
        "name",
        "headers",
        "query",
        "method",
        "status",
        "qos",
        "topic_name",
        "user_properties",
        "properties",
        "header",
        "message-id",
        "key",
        "key_base64",
        "id",
        "source",
        "time",
        "specversion",
        "format",
        "schema",
        "schemabase64",
        "compatibility",
        "ancestorid",
        "usage",
        "deprecated",
        "alternative",
        "removal",
        "effective",
        "willmessage",
        "authorization",
        "self",
        "mode",
        "²",
        "1",
        "a",
    ]
)
TEXTS = st.one_of(
    st.sampled_from(
        [
            "CloudEvents/1.0",
            "MQTT/5.0",
            "MQTT/3.1.1",
            "MQTT",
            "KAFKA",
            "AMQP/1.0",
            "HTTP",
            "NATS",
            "None",
            "/",
            "//",
            "/messagegroups/a/messages/a",
            "#/schemagroups/a/schemas/a",
            "/schemagroups/a/schemas/a:b",
            "JsonSchema/draft-07",
            "Avro/1.11",
            "Protobuf/3",
            "XSD/1.0",
            "JsonStructure/draft-02",
            "backward",
            "{a}",
            "{a}{b}",
            "x/{a}",
            "timestamp",
            "uritemplate",
            "integer",
            "application/json",
            "producer",
            "0000-01-01T00:00:00Z",
        ]
    ),
    st.text(max_size=5),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=5)),
    max_leaves=25,
)
TREES = st.dictionaries(NAMES, VALUES, max_size=5)
MESSAGES = st.dictionaries(NAMES, VALUES, max_size=6)


@given(TREES)
@settings(max_examples=100, deadline=None)
def test_no_tree_makes_lint_crash(tree: dict[str, Any]) -> None:
    assert all(finding.code for finding in lint(tree))


@given(MESSAGES, MESSAGES, MESSAGES)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_message_schema_or_endpoint_makes_lint_crash(
    message: dict[str, Any], schema: dict[str, Any], endpoint: dict[str, Any]
) -> None:
    tree = {
        "messagegroups": {"a": {"messages": {"a": message, "b": merged(message, endpoint)}}},
        "schemagroups": {"a": {"schemas": {"a": schema}}},
        "endpoints": {"a": endpoint},
    }
    assert all(finding.sentence for finding in lint(tree))


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_no_value_anywhere_in_a_real_catalog_makes_lint_crash(data: st.DataObject) -> None:
    tree = json.loads(json.dumps(CLEAN))
    holder: Any = tree
    while True:
        name = data.draw(st.sampled_from(sorted(holder)))
        if not isinstance(holder[name], dict) or not holder[name] or data.draw(st.booleans()):
            break
        holder = holder[name]
    holder[name] = data.draw(VALUES)
    lint(tree)


def test_in_a_folder_each_finding_has_its_file(tmp_path: Path) -> None:
    tree = with_attribute("id", {"value": "1"})
    (tmp_path / "messages.json").write_text(json.dumps({"messagegroups": tree["messagegroups"]}))
    (tmp_path / "schemas.json").write_text(json.dumps({"schemagroups": spoilt({})["schemagroups"]}))
    [finding] = lint_source(str(tmp_path), Settings())
    assert (finding.code, finding.file) == ("id_fixed", str(tmp_path / "messages.json"))


def test_a_group_in_two_files_is_a_finding(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(CLEAN))
    findings = lint_source(str(tmp_path), Settings())
    assert {finding.code for finding in findings} == {"group_twice"}
    assert {finding.file for finding in findings} == {str(tmp_path / "b.json")}
    assert {finding.pointer for finding in findings} == {
        "/messagegroups/fleet",
        "/schemagroups/fleet.schemas",
        "/endpoints/fleet.mqtt",
    }


def test_what_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        lint_source(str(tmp_path / "gone.json"), Settings())
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(DocumentRefused):
        lint_source(str(tmp_path), Settings())
    (tmp_path / "list.json").write_text("{}")
    with pytest.raises(DocumentRefused):
        lint_source(str(tmp_path), Settings())


def test_errors_come_first() -> None:
    tree = merged(
        with_attribute("id", {"value": "1", "required": False}), {"messagegroups": {"fleet": {"format": "x"}}}
    )
    severities = [finding.severity for finding in lint(tree)]
    assert severities == sorted(severities)  # in the order of the alphabet as well


def test_a_message_of_its_own_group_only_counts_once() -> None:
    tree = spoilt({"messagegroups": {"fleet": {"messages": {"vehicle.moved": {"dataschemauri": f"{SCHEMA}s"}}}}})
    assert [finding.code for finding in lint(tree)] == ["schema_dangling", "schema_unused"]


def test_no_real_catalog_makes_lint_crash(shared: Path) -> None:
    known = {rule.code for rule in RULES}
    files = [path for path in document_files(shared / "catalogs") if path.is_file()]
    clean = 0
    for path in files:
        findings = lint_source(str(path), Settings())
        assert {finding.code for finding in findings} <= known
        clean += not any(finding.severity == "error" for finding in findings)
    assert len(files) >= 100
    assert clean > len(files) * 0.85


QUIRKS = [
    ("real-time-sources/bluesky.xreg.json", "protocol_none"),
    ("real-time-sources/usgs-earthquakes.xreg.json", "timestamp_template"),
    ("codegen/samples/message-definitions/contoso-erp.xreg.json", "type_variant"),
    ("codegen/samples/message-definitions/inkjet-protocol-variants.xreg.json", "member_misspelt"),
    ("codegen/samples/message-definitions/mqtt-sparkplugB.xreg.json", "schema_dangling"),
    ("codegen/samples/protocols/mqtt-producer-endpoint.xreg.json", "messagegroup_dangling"),
    ("forza-telemetry-bridge/xregistry/forza-telemetry.xreg.json", "contenttype_of_other_format"),
]


@pytest.mark.parametrize(("name", "code"), QUIRKS)
def test_what_real_catalogs_get_wrong_is_found(shared: Path, name: str, code: str) -> None:
    assert code in {finding.code for finding in lint_source(str(shared / "catalogs" / name), Settings())}


EVENT = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "moved"}}}
JSON_SCHEMA = {"format": "JsonSchema/draft-07", "schema": {}}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", ["../../evil", "..", "a\0b", "\x1b[2J"])
def test_ids_that_load_refuses_are_errors_at_their_places(dialect: str, name: str, tmp_path: Path) -> None:
    trees: list[Any] = [
        {"messagegroups": {name: {"messages": {"moved": EVENT}}}},
        {"messagegroups": {"fleet": {"messages": {name: EVENT}}}},
        {"schemagroups": {"fleet": {"schemas": {name: JSON_SCHEMA}}}},
    ]
    file = tmp_path / "catalog.json"
    if dialect == "catalog" and name == "../../evil":
        return  # a segment of a path of a message catalog, which can have slashes, percent-encoded
    for tree in trees[: 2 if dialect == "catalog" else 3]:
        document = write_tree(tree, dialect).document
        file.write_text(json.dumps(document))
        found = [finding for finding in lint_source(str(file), Settings()) if finding.code == "id_malformed"]
        assert [name in steps(document, finding.pointer) for finding in found] == [True]
        with pytest.raises(RegistryProblem, match="malformed_id|id"):
            write_target(read_source(str(file), Settings()), f"sqlite:///{tmp_path}/registry.db", Settings())


def steps(document: Any, place: str) -> list[str]:
    """The steps of a pointer, each of which is a member that is there."""
    made = [step.replace("~1", "/").replace("~0", "~") for step in place.split("/")[1:]]
    for step in made:
        document = document[step]
    return made


@given(st.text(max_size=5) | st.text("a.-_~:@", max_size=130))
def test_an_id_is_an_error_exactly_where_a_registry_refuses_it(name: str) -> None:
    codes = [finding.code for finding in lint({"messagegroups": {name: {"messages": {}}}})]
    assert ("id_malformed" in codes) is not is_entity_id(name)


def test_findings_do_not_speak_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "catalog.json"
    file.write_text(json.dumps({"messagegroups": {"\x1b[2Jgone\0": {}}}))
    assert execute(["lint", str(file)]) == 1
    shown = capsys.readouterr().out
    assert "/messagegroups/\\x1b[2Jgone\\x00" in shown
    assert "\x1b" not in shown


@pytest.mark.audit("registry-22")
@pytest.mark.parametrize("name", ["ovens.json", "ovens.cereg"])
def test_members_that_are_there_twice_are_named_and_do_not_stop_anybody(tmp_path: Path, name: str) -> None:
    group = '"definitionGroups": {"ovens": {"definitions": {"hot": {%s}}}}'
    if name == "ovens.json":
        group = '"messagegroups": {"ovens": {"messages": {"hot": {"envelope": "CloudEvents/1.0", %s}}}}'
    twice = '"name": "Hot", "name": "Hot", "description": "warm", "description": "hot"'
    path = tmp_path / name
    path.write_text("{" + group % twice + "}")
    message = (
        "/definitionGroups/ovens/definitions/hot" if name.endswith("cereg") else "/messagegroups/ovens/messages/hot"
    )
    found = {(one.code, one.severity, one.pointer) for one in lint_source(str(path), Settings())}
    assert ("member_twice", "warning", f"{message}/name") in found
    assert ("member_conflict", "error", f"{message}/description") in found
    assert read_source(str(path), Settings())["messagegroups"]["ovens"]["messages"]["hot"]["description"] == "hot"
