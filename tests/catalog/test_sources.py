import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from postroom.catalog.sources import read_source
from postroom.catalog.targets import count_entities, write_target
from postroom.cli.main import execute
from postroom.errors import DocumentRefused, PostroomError, ServiceUnreachable, SourceUnknown
from postroom.settings import Settings
from tests.catalog.strict_model import STRICT
from tests.http.running_service import serving

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


@pytest.fixture
def strict_service(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "strict.json").write_text(json.dumps(STRICT))
    with serving(f"sqlite:///{tmp_path}/strict.db", "--model", str(tmp_path / "strict.json")) as (_, url):
        yield url


@pytest.mark.audit("clients-7")
def test_the_demo_catalog_loads_into_a_registry_with_a_strict_model(strict_service: str) -> None:
    """Also file by file as it is written, but for the name of base messages, which the published model has wrong."""
    write_target(read_source(str(ROOT / "demo" / "catalog"), SETTINGS), strict_service, SETTINGS)
    for file in (ROOT / "demo" / "catalog").iterdir():
        text = json.dumps(read_source(str(file), SETTINGS)).replace('"basemessage"', '"basemessageuri"')
        reply = httpx.post(strict_service, content=text)
        assert reply.status_code == 200, (file.name, reply.text)


OVEN, HOT = "/messagegroups/ovens/messages/oven", {"envelopemetadata": {"type": {"value": "oven.hot"}}}


@pytest.mark.audit("clients-7")
@pytest.mark.parametrize("base_name", ["basemessage", "basemessageuri", "basemessageurl"])
def test_what_a_message_takes_from_its_group_is_written_for_registries_that_inherit_nothing(
    strict_service: str, tmp_path: Path, base_name: str
) -> None:
    group = {
        "envelope": "CloudEvents/1.0",
        "protocol": "KAFKA",
        "messages": {
            "oven": {"protocoloptions": {"topic": "ovens"}},
            "hot": {**HOT, base_name: "#" + OVEN},
            "hotter": {"versions": {"1": {**HOT, base_name: OVEN}}},
            "same": {"meta": {"xref": f"{OVEN}"}},
        },
    }
    file = tmp_path / "ovens.json"
    file.write_text(json.dumps({"messagegroups": {"ovens": group}}))
    assert execute(["load", str(file), "--to", strict_service]) == 0
    shown = httpx.get(f"{strict_service}/messagegroups/ovens/messages").json()
    for name in ("hot", "hotter"):
        assert (shown[name]["envelope"], shown[name]["basemessageuri"]) == ("CloudEvents/1.0", OVEN)
    assert shown["same"]["protocoloptions"] == {"topic": "ovens"}
