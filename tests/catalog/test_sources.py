import json
from pathlib import Path

import pytest

from postroom.catalog.sources import read_source
from postroom.catalog.targets import count_entities, write_target
from postroom.errors import DocumentRefused, PostroomError, ServiceUnreachable, SourceUnknown
from postroom.settings import Settings

SETTINGS = Settings(timeout_s=2)
ROOT = Path(__file__).parents[2]


def test_a_folder_is_one_catalog() -> None:
    tree = read_source(str(ROOT / "demo" / "catalog"), SETTINGS)
    assert count_entities(tree) == {
        "endpoints": 3,
        "messagegroups": 4,
        "messages": 16,
        "schemagroups": 4,
        "schemas": 14,
    }


def test_the_same_group_in_two_files_is_refused(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps({"messagegroups": {"g": {}}}))
    with pytest.raises(DocumentRefused, match="a.json has messagegroups 'g' as well"):
        read_source(str(tmp_path), SETTINGS)


@pytest.mark.parametrize("text", ["[]", "{}", '{"messagegroups": 5}', '"x"'])
def test_what_is_no_catalog_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DocumentRefused, match="no catalog|is a JSON object"):
        read_source(str(path), SETTINGS)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("ftp://example.com/x", SourceUnknown),
        ("http://127.0.0.1:9/", ServiceUnreachable),
        ("http://", ServiceUnreachable),
        ("http://[", ServiceUnreachable),
    ],
)
def test_sources_that_cannot_be_read(source: str, error: type[PostroomError]) -> None:
    with pytest.raises(error):
        read_source(source, SETTINGS)


def test_targets_that_cannot_be_written() -> None:
    with pytest.raises(SourceUnknown, match=r"Give http\(s\)"):
        write_target({}, "somewhere", SETTINGS)


def test_a_catalog_does_not_rename_the_registry_it_is_loaded_into(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    catalog = {"description": "of the file", "documentation": {"url": "README.md"}, "messagegroups": {"g": {}}}
    write_target(catalog, url, SETTINGS)
    assert "description" not in read_source(url, SETTINGS)


def test_a_catalog_survives_a_store(tmp_path: Path) -> None:
    from postroom.catalog.catalog import Catalog

    tree = read_source(str(ROOT / "demo" / "catalog"), SETTINGS)
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    write_target(tree, url, SETTINGS)
    again = read_source(url, SETTINGS)
    assert count_entities(again) == count_entities(tree)
    assert Catalog(again).definitions == Catalog(tree).definitions
