"""Findings in older documents stand where the document has them, in its words."""

import json
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.lint import lint_source
from postroom.documents.dialects.convert import translate_older
from postroom.documents.lint.source_pointers import source_pointer
from postroom.settings import Settings

SERVICE: dict[str, Any] = {
    "definitionGroups": {
        "ovens": {
            "tags": {"team": "bakery"},
            "definitions": {
                "hot": {
                    "id": "hot",
                    "version": 3,
                    "format": "CloudEvents/1.0",
                    "metadata": {"attributes": {"time": {"type": "datetime", "value": "{now}"}}},
                    "schemaurl": "#/schemaGroups/bread/schemas/loaf",
                },
                "cold": {
                    "format": "MQTT/5.0",
                    "metadata": {
                        "topic-name": {"value": "a/{b"},
                        "user-properties": [{"oven": {"value": "{x"}}],
                    },
                },
            },
        }
    },
    "endpoints": {"kitchen": {"usage": "consumer", "config": {"protocol": "KAFKA", "options": {"topic": "x"}}}},
}
MESSAGE = {
    "messagegroups": {
        "ovens": {
            "messages": {
                "hot": {
                    "format": "CloudEvents/1.0",
                    "metadata": {"time": {"required": True}},
                    "binding": "Kafka",
                    "message": {"key": {"type": "binary"}},
                    "basemessageurl": "#/messagegroups/ovens/messages/gone",
                }
            }
        }
    }
}
CATALOG = {
    "messagecatalog": {
        "ovens": {
            "format": "MQTT",
            "messagedefinitions": {"hot": {"versions": {"1": {"publish": {"topicname": "ovens", "qos": 7}}}}},
        }
    }
}
GROUP = {"format": "CloudEvents", "messagedefinitions": [{"id": "hot", "version": 1, "attributes": {"type": "hot"}}]}
HOT = "/messagegroups/ovens/messages/hot"
OLD_HOT = "/definitionGroups/ovens/definitions/hot"
COLD = "/definitionGroups/ovens/definitions/cold"


@pytest.mark.parametrize(
    ("document", "place", "own"),
    [
        (SERVICE, f"{HOT}/envelopemetadata/time/type", f"{OLD_HOT}/metadata/attributes/time/type"),
        (SERVICE, f"{HOT}/dataschemauri", f"{OLD_HOT}/schemaurl"),
        (SERVICE, f"{HOT}/messageid", f"{OLD_HOT}/id"),
        (SERVICE, f"{HOT}/versionid", f"{OLD_HOT}/version"),
        (SERVICE, f"{HOT}/envelope", f"{OLD_HOT}/format"),
        (SERVICE, f"{HOT}/envelopemetadata/subject", f"{OLD_HOT}/metadata/attributes"),
        (SERVICE, "/messagegroups/ovens/labels/team", "/definitionGroups/ovens/tags/team"),
        (SERVICE, "/messagegroups/ovens/messages/cold/protocoloptions/topic_name", f"{COLD}/metadata/topic-name"),
        (
            SERVICE,
            "/messagegroups/ovens/messages/cold/protocoloptions/user_properties/0/value",
            f"{COLD}/metadata/user-properties/0/oven/value",
        ),
        (SERVICE, "/endpoints/kitchen/protocoloptions/topic", "/endpoints/kitchen/config/options/topic"),
        (SERVICE, "/endpoints/kitchen/protocol", "/endpoints/kitchen/config/protocol"),
        (SERVICE, "", ""),
        (MESSAGE, f"{HOT}/protocoloptions/key_base64", f"{HOT}/message/key"),
        (MESSAGE, f"{HOT}/envelopemetadata/time/required", f"{HOT}/metadata/time/required"),
        (MESSAGE, f"{HOT}/basemessage", f"{HOT}/basemessageurl"),
        (
            CATALOG,
            f"{HOT}/protocoloptions/qos",
            "/messagecatalog/ovens/messagedefinitions/hot/versions/1/publish/qos",
        ),
        (
            GROUP,
            "/messagegroups/CloudEvents/messages/hot/envelopemetadata/type",
            "/messagedefinitions/0/attributes/type",
        ),
    ],
)
def test_places(document: Any, place: str, own: str) -> None:
    assert source_pointer(document, place) == own


def findings(folder: Path, **documents: Any) -> dict[tuple[str, str], str]:
    for name, document in documents.items():
        (folder / f"{name}.cereg").write_text(json.dumps(document))
    return {(found.code, found.pointer): found.sentence for found in lint_source(str(folder), Settings())}


def test_findings_are_in_the_words_of_the_file(tmp_path: Path) -> None:
    found = findings(tmp_path, ovens=SERVICE)
    assert ("template_invalid", f"{COLD}/metadata/topic-name") in found
    assert ("type_variant", f"{OLD_HOT}/metadata/attributes/time/type") in found
    assert ("timestamp_template", f"{OLD_HOT}/metadata/attributes/time/value") in found
    said = found["dataschemaformat_missing", f"{OLD_HOT}/schemaurl"]
    assert said == "schemaurl is there without schemaformat."


@pytest.mark.parametrize(
    ("written", "meant", "place"),
    [
        ({"schemaFormat": "Avro/1.9"}, "schemaformat", "/definitionGroups/ovens/definitions/hot/schemaFormat"),
        ({"metdata": {}}, "metadata", "/definitionGroups/ovens/definitions/hot/metdata"),
        ({"createdby": "me"}, "createdBy", "/definitionGroups/ovens/definitions/hot/createdby"),
    ],
)
def test_misspelt_members_of_old_documents(tmp_path: Path, written: Any, meant: str, place: str) -> None:
    document = {"definitionGroups": {"ovens": {"definitions": {"hot": {"format": "CloudEvents/1.0", **written}}}}}
    (tmp_path / "ovens.cereg").write_text(json.dumps(document))
    found = [one for one in lint_source(str(tmp_path), Settings()) if one.code == "member_misspelt"]
    assert [(one.pointer, one.remedy) for one in found] == [(place, f"Did you mean {meant}?")]


def test_every_finding_of_an_old_document_has_a_place_in_it(shared: Path) -> None:
    file = shared / "catalogs" / "spec" / "core" / "samples" / "contoso-crm.cereg"
    document = json.loads(file.read_text())
    assert translate_older(document) != document
    for found in lint_source(str(file), Settings()):
        value = document
        for step in found.pointer.split("/")[1:]:
            value = value[step]


def test_snags_between_files_are_findings(tmp_path: Path) -> None:
    group = {"definitions": {}}
    folder = tmp_path / "catalog"
    folder.mkdir()
    endpoint = {
        "usage": "consumer",
        "definitionGroups": [
            "../x.cereg#/definitionGroups/a",
            "gone.cereg#/definitionGroups/a",
            "b.cereg#/definitionGroups/ovens",
        ],
    }
    main = {"endpoints": {"kitchen": endpoint}, "definitionGroups": {"ovens": group}, "schemaGroupsUrl": "../s.cereg"}
    (folder / "b.cereg").write_text(json.dumps({"definitionGroups": {"ovens": group}}))
    (folder / "main.cereg").write_text(json.dumps(main))
    file = str(folder / "main.cereg")
    snags = {(found.code, Path(found.file).name, found.pointer) for found in lint_source(file, Settings())}
    assert snags >= {
        ("file_outside", "main.cereg", "/schemaGroupsUrl"),
        ("file_outside", "main.cereg", "/endpoints/kitchen/definitionGroups/0"),
        ("file_missing", "main.cereg", "/endpoints/kitchen/definitionGroups/1"),
        ("group_twice", "b.cereg", "/definitionGroups/ovens"),
    }


def test_a_part_is_found_in_its_own_file(tmp_path: Path) -> None:
    hot = {"format": "CloudEvents/1.0", "metadata": {"attributes": {"id": {"required": False}}}}
    (tmp_path / "main.cereg").write_text(json.dumps({"definitionGroupsUrl": "parts/all.json#/a~1b"}))
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "all.json").write_text(json.dumps({"a/b": {"ovens": {"definitions": {"hot": hot}}}}))
    (found,) = [
        one
        for one in lint_source(str(tmp_path / "main.cereg"), Settings())
        if one.code == "required_attribute_optional"
    ]
    assert Path(found.file).name == "all.json"
    assert found.pointer.startswith("/a~1b/ovens/definitions/hot/metadata/attributes/id")
