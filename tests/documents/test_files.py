"""Catalogs in several files: parts, references between files, and what may not be read."""

import json
from pathlib import Path
from typing import Any

import pytest

from postroom.documents.files import read_catalog
from postroom.errors import DocumentRefused, FileMissing
from postroom.settings import Settings

SETTINGS = Settings()
GROUP = {"format": "CloudEvents/1.0", "definitions": {"hot": {"format": "CloudEvents/1.0", "metadata": {}}}}


def write(folder: Path, **documents: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for name, document in documents.items():
        (folder / f"{name}.cereg").write_text(json.dumps(document))
    return folder


def test_a_part_in_another_file_is_read(tmp_path: Path) -> None:
    write(tmp_path, main={"definitionGroupsUrl": "groups.cereg"}, groups={"definitionGroups": {"ovens": GROUP}})
    for source in (tmp_path / "main.cereg", tmp_path):
        assert "hot" in read_catalog(source, SETTINGS).tree["messagegroups"]["ovens"]["messages"]


def test_a_reference_to_a_group_of_another_file_is_followed(tmp_path: Path) -> None:
    endpoint = {"usage": "consumer", "definitionGroups": ["groups.cereg#/definitionGroups/ovens"]}
    write(tmp_path, main={"endpoints": {"kitchen": endpoint}}, groups={"definitionGroups": {"ovens": GROUP}})
    for source in (tmp_path / "main.cereg", tmp_path):
        tree = read_catalog(source, SETTINGS).tree
        assert tree["endpoints"]["kitchen"]["messagegroups"] == ["/messagegroups/ovens"]
        assert "ovens" in tree["messagegroups"]


def test_files_that_refer_to_groups_of_each_other_are_read_once(tmp_path: Path) -> None:
    def endpoint(other: str) -> Any:
        return {"usage": "consumer", "definitionGroups": [f"{other}.cereg#/definitionGroups/{other}"]}

    write(
        tmp_path,
        a={"endpoints": {"a": endpoint("b")}, "definitionGroups": {"a": GROUP}},
        b={"endpoints": {"b": endpoint("a")}, "definitionGroups": {"b": GROUP}},
    )
    assert set(read_catalog(tmp_path / "a.cereg", SETTINGS).tree["messagegroups"]) == {"a", "b"}


def test_parts_in_a_circle_are_refused(tmp_path: Path) -> None:
    write(tmp_path, a={"schemaGroupsUrl": "b.cereg"}, b={"schemaGroupsUrl": "a.cereg"})
    with pytest.raises(DocumentRefused, match=r"in a circle: a\.cereg → b\.cereg → a\.cereg"):
        read_catalog(tmp_path / "a.cereg", SETTINGS)


def test_nothing_outside_of_the_folder_is_read(tmp_path: Path) -> None:
    write(tmp_path, secret={"definitionGroups": {"ovens": GROUP}})
    inner = write(tmp_path / "inner", part={"definitionGroupsUrl": "../secret.cereg"})
    with pytest.raises(DocumentRefused, match="outside of the folder"):
        read_catalog(inner / "part.cereg", SETTINGS)
    endpoint = {"usage": "consumer", "definitionGroups": ["../secret.cereg#/definitionGroups/ovens"]}
    write(inner, part={"endpoints": {"kitchen": endpoint}})
    reading = read_catalog(inner / "part.cereg", SETTINGS)
    assert "messagegroups" not in reading.tree
    assert "leads out of the folder" in reading.notes[0].sentence


def test_a_part_that_is_missing_or_far_away(tmp_path: Path) -> None:
    write(tmp_path, main={"schemaGroupsUrl": "gone.cereg"})
    with pytest.raises(FileMissing, match="no such file"):
        read_catalog(tmp_path / "main.cereg", SETTINGS)
    write(tmp_path, main={"schemaGroupsUrl": "https://example.com/x.cereg", "definitionGroups": {"ovens": GROUP}})
    assert "is not fetched" in read_catalog(tmp_path / "main.cereg", SETTINGS).notes[0].sentence


def test_two_dialects_in_one_folder_are_one_catalog(tmp_path: Path) -> None:
    write(tmp_path, old={"definitionGroups": {"ovens": GROUP}}, new={"messagegroups": {"doors": {"messages": {}}}})
    reading = read_catalog(tmp_path, SETTINGS)
    assert set(reading.tree["messagegroups"]) == {"ovens", "doors"}
    assert reading.dialect == "1.0-rc4, 0.5-service"


def test_a_group_of_the_same_name_in_the_file_that_is_referred_to_is_refused(tmp_path: Path) -> None:
    endpoint = {"usage": "consumer", "definitionGroups": ["b.cereg#/definitionGroups/ovens"]}
    write(
        tmp_path,
        a={"endpoints": {"kitchen": endpoint}, "definitionGroups": {"ovens": GROUP}},
        b={"definitionGroups": {"ovens": GROUP}},
    )
    with pytest.raises(DocumentRefused, match=r"a\.cereg has messagegroups 'ovens' as well"):
        read_catalog(tmp_path / "a.cereg", SETTINGS)


def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path, secret={"definitionGroups": {"ovens": GROUP}})
    inner = write(tmp_path / "inner", main={"definitionGroupsUrl": "link.cereg"})
    (inner / "link.cereg").symlink_to(tmp_path / "secret.cereg")
    with pytest.raises(DocumentRefused, match="outside of the folder"):
        read_catalog(inner / "main.cereg", SETTINGS)


@pytest.mark.parametrize("member", ["definitionGroupsUrl", "definitionGroupsURL", "messagegroupsurl"])
def test_parts_are_named_in_any_case(tmp_path: Path, member: str) -> None:
    part = "messagegroups" if member.islower() else "definitionGroups"
    write(tmp_path, main={member: "groups.cereg", "endpoints": {}}, groups={part: {"ovens": {}}})
    assert "ovens" in read_catalog(tmp_path / "main.cereg", SETTINGS).tree["messagegroups"]
