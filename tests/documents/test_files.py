"""Catalogs in several files: parts, references between files, and what may not be read."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.lint import lint_source
from postroom.documents.catalog_files import read_catalog
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
    write(tmp_path, main={"schemagroupsurl": "https://example.com/x", "messagegroups": {}})  # as a service answers
    assert "is not fetched" in read_catalog(tmp_path / "main.cereg", SETTINGS).notes[0].sentence


@pytest.fixture
def server() -> Iterator[tuple[str, dict[str, Any]]]:
    """A server of documents, and what it has by path."""
    documents: dict[str, Any] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = documents.get(self.path)
            self.send_response(404 if found is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as serving:
        threading.Thread(target=serving.serve_forever).start()
        yield f"http://127.0.0.1:{serving.server_port}", documents
        serving.shutdown()


ALLOWED = Settings(allow_fetch=("127.0.0.1",))


@pytest.mark.audit("services-B8")
@pytest.mark.parametrize("fragment", ["", "#/definitionGroups"])
def test_a_part_on_a_server_is_fetched_where_its_host_is_allowed(
    tmp_path: Path, server: tuple[str, dict[str, Any]], fragment: str
) -> None:
    url, documents = server
    documents["/all/groups.cereg"] = {"definitionGroups": {"ovens": GROUP}}
    documents["/all/far.cereg"] = {"definitionGroupsUrl": f"groups.cereg{fragment}"}
    for address in (f"{url}/all/groups.cereg{fragment}", f"{url}/all/far.cereg"):
        write(tmp_path, main={"definitionGroupsUrl": address, "schemaGroups": {}})
        for source in (tmp_path / "main.cereg", tmp_path):
            assert "hot" in read_catalog(source, ALLOWED).tree["messagegroups"]["ovens"]["messages"]


@pytest.mark.audit("services-B8")
def test_a_part_that_cannot_be_fetched_is_an_error_with_the_reason_and_the_remedy(
    tmp_path: Path, server: tuple[str, dict[str, Any]]
) -> None:
    url, _ = server
    write(tmp_path, main={"definitionGroupsUrl": f"{url}/groups.cereg"})
    with pytest.raises(DocumentRefused, match="127.0.0.1 is not among the hosts") as refused:
        read_catalog(tmp_path / "main.cereg", SETTINGS)
    assert "allow_fetch" in refused.value.remedy
    with pytest.raises(DocumentRefused, match="it answers with status 404"):
        read_catalog(tmp_path / "main.cereg", ALLOWED)
    (finding,) = lint_source(str(tmp_path / "main.cereg"), SETTINGS)
    assert (finding.code, finding.severity, finding.pointer) == ("file_not_fetched", "warning", "/definitionGroupsUrl")


@pytest.mark.audit("services-B8")
def test_a_reference_into_a_document_on_a_server_is_followed_where_its_host_is_allowed(
    tmp_path: Path, server: tuple[str, dict[str, Any]]
) -> None:
    url, documents = server
    documents["/groups.cereg"] = {"definitionGroups": {"ovens": GROUP}}
    reference = f"{url}/groups.cereg#/definitionGroups/ovens"
    write(tmp_path, main={"endpoints": {"kitchen": {"usage": "consumer", "definitionGroups": [reference]}}})
    tree = read_catalog(tmp_path / "main.cereg", ALLOWED).tree
    assert tree["endpoints"]["kitchen"]["messagegroups"] == ["/messagegroups/ovens"]
    assert "hot" in tree["messagegroups"]["ovens"]["messages"]
    tree = read_catalog(tmp_path / "main.cereg", SETTINGS).tree
    assert tree["endpoints"]["kitchen"]["messagegroups"] == [reference]
    assert "messagegroups" not in tree


@pytest.mark.audit("services-B8")
def test_findings_in_a_fetched_part_name_its_url(tmp_path: Path, server: tuple[str, dict[str, Any]]) -> None:
    url, documents = server
    documents["/groups.cereg"] = {"definitionGroups": {"ovens": {**GROUP, "definitions": {"hot": {"metadata": {}}}}}}
    write(tmp_path, main={"definitionGroupsUrl": f"{url}/groups.cereg"})
    found = {(one.file, one.pointer) for one in lint_source(str(tmp_path / "main.cereg"), ALLOWED)}
    assert (f"{url}/groups.cereg", "/definitionGroups/ovens/definitions/hot") in found


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


LOAF = {"type": "record", "name": "Loaf", "fields": [{"name": "grams", "type": "int"}]}


def bakery(**versions: str) -> Any:
    """A schema of the bakery with versions in files."""
    listed = {name: {"format": "Avro/1.11", "schemaurl": address} for name, address in versions.items()}
    return {"schemagroups": {"bread": {"schemas": {"loaf": {"versions": listed}}}}, "messagegroups": {}}


def versions_of(path: Path) -> Any:
    return read_catalog(path, SETTINGS).tree["schemagroups"]["bread"]["schemas"]["loaf"]["versions"]


def test_schemas_in_files_of_their_own_are_read(tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "loaf.avsc").write_text(json.dumps(LOAF))
    (tmp_path / "schemas" / "loaf v2.proto").write_text('syntax = "proto3";')
    (tmp_path / "schemas" / "loaf.bin").write_bytes(b"\xff\xfe")
    document = bakery(v1="schemas/loaf.avsc", v2="./schemas/loaf%20v2.proto", v3="schemas/loaf.bin")
    (tmp_path / "bakery.xreg.json").write_text(json.dumps(document))
    for source in (tmp_path, tmp_path / "bakery.xreg.json"):
        found = versions_of(source)
        assert found["v1"] == {"format": "Avro/1.11", "schema": LOAF}
        assert found["v2"]["schema"] == 'syntax = "proto3";'
        assert found["v3"]["schemabase64"] == "//4="


@pytest.mark.parametrize("address", ["nowhere.avsc", "../secret.avsc", "link.avsc"])
def test_a_schema_file_that_is_not_there_or_outside_is_a_note(tmp_path: Path, address: str) -> None:
    (tmp_path / "secret.avsc").write_text(json.dumps(LOAF))
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link.avsc").symlink_to(tmp_path / "secret.avsc")
    (inner / "bakery.xreg.json").write_text(json.dumps(bakery(v1=address)))
    reading = read_catalog(inner / "bakery.xreg.json", SETTINGS)
    assert reading.tree["schemagroups"]["bread"]["schemas"]["loaf"]["versions"]["v1"]["schemaurl"] == address
    assert any(address in note.sentence and "/v1/schemaurl" in note.place for note in reading.notes)


@pytest.mark.parametrize("address", ["https://example.com/loaf.avsc", "#/schemagroups/x", "/schemagroups/x", "urn:a:b"])
def test_addresses_that_name_no_file_stay(tmp_path: Path, address: str) -> None:
    (tmp_path / "bakery.xreg.json").write_text(json.dumps(bakery(v1=address)))
    assert versions_of(tmp_path)["v1"]["schemaurl"] == address
