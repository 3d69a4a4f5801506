"""The file formats: `.cereg` and `.xreg.json`, their parts, their references, and files in layers (FILE-001 to 012)."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from postroom.catalog.catalog import Catalog
from postroom.catalog.convert import convert
from postroom.catalog.sources import read_source
from postroom.cli.main import execute
from postroom.documents.catalog_files import read_catalog
from postroom.documents.dialects.references import pointer_steps
from postroom.documents.media_types import form_of_type, media_type
from postroom.errors import DocumentBroken, DocumentRefused
from postroom.model.shipped_models import expanded_source
from postroom.settings import Settings

SETTINGS = Settings(timeout_s=10)
HOT = {
    "format": "CloudEvents/1.0",
    "metadata": {"attributes": {"type": {"value": "oven.hot"}}},
    "schemaformat": "JsonSchema/draft-07",
    "schemaurl": "#/schemaGroups/bread/schemas/loaf",
}
OVENS = {"format": "CloudEvents/1.0", "definitions": {"oven.hot": HOT}}
BREAD = {"schemas": {"loaf": {"format": "JsonSchema/draft-07", "versions": {"1": {"schema": {"type": "object"}}}}}}
KITCHEN = {"usage": "consumer", "definitionGroups": ["#/definitionGroups/ovens"]}
CEREG: dict[str, Any] = {
    "$schema": "https://cloudevents.io/schemas/registry",
    "specversion": "0.5-wip",
    "endpoints": {"kitchen": KITCHEN},
    "definitionGroups": {"ovens": OVENS},
    "schemaGroups": {"bread": BREAD},
}


def put(folder: Path, name: str, document: Any) -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


@pytest.mark.feature("FILE-001")
@pytest.mark.parametrize("name", ["a.cereg", "a.cereg.yaml", "a.cereg.yml"])
def test_the_name_tells_the_form(tmp_path: Path, name: str) -> None:
    assert execute(["convert", str(put(tmp_path, "in.cereg", CEREG)), "--dialect", "0.5-service"]) == 0
    written = tmp_path / name
    assert execute(["convert", str(tmp_path / "in.cereg"), "--dialect", "0.5-service", "-o", str(written)]) == 0
    parse = json.loads if name == "a.cereg" else yaml.safe_load
    assert parse(written.read_text()) == CEREG
    assert "ovens" in read_catalog(written, SETTINGS).tree["messagegroups"]


@pytest.mark.feature("FILE-001")
def test_a_cereg_file_is_no_yaml(tmp_path: Path) -> None:
    with pytest.raises(DocumentBroken, match="not valid JSON"):
        read_catalog(put(tmp_path, "a.cereg", yaml.safe_dump(CEREG)), SETTINGS)


@pytest.fixture(scope="module")
def file_server() -> Iterator[str]:
    """A server of plain files that knows their media types."""
    files = {
        "/ovens.cereg": ("application/cloudevents-registry+json", json.dumps(CEREG)),
        "/ovens.cereg.yaml": ("application/cloudevents-registry+yaml; charset=utf-8", yaml.safe_dump(CEREG)),
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, text = files.get(self.path.partition("?")[0], ("", ""))
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.feature("FILE-002")
@pytest.mark.parametrize("name", ["ovens.cereg", "ovens.cereg.yaml"])
def test_documents_on_a_server_are_read_by_their_media_type(file_server: str, name: str) -> None:
    url = f"{file_server}/{name}"
    assert "oven.hot" in read_source(url, SETTINGS)["messagegroups"]["ovens"]["messages"]
    assert convert([url], "0.5-service", SETTINGS).document == CEREG


@pytest.mark.feature("FILE-002")
def test_media_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert media_type("0.5-service", "json") == "application/cloudevents-registry+json"
    assert media_type("0.5-service", "yaml") == "application/cloudevents-registry+yaml"
    assert media_type("1.0-rc4", "json") == "application/json"
    assert form_of_type("Application/CloudEvents-Registry+YAML; charset=utf-8") == "yaml"
    assert form_of_type("application/cloudevents-registry+json") == form_of_type("") == "json"
    source, target = put(tmp_path, "a.cereg", CEREG), tmp_path / "b.cereg.yaml"
    assert execute(["convert", str(source), "--dialect", "0.5-service", "-o", str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mediatype"] == "application/cloudevents-registry+yaml"


@pytest.mark.feature("FILE-003")
@pytest.mark.parametrize("stated", ["0.4-wip", "0.5-wip", "1.0-rc4", 7])
def test_the_stated_version_is_not_trusted(tmp_path: Path, stated: Any) -> None:
    reading = read_catalog(put(tmp_path, "a.cereg", {**CEREG, "specversion": stated}), SETTINGS)
    assert reading.dialect == "0.5-service"
    assert reading.tree["specversion"] == "1.0-rc4"
    written = convert([str(tmp_path / "a.cereg")], "0.5-service", SETTINGS, extras=False).document
    assert (written["$schema"], written["specversion"]) == ("https://cloudevents.io/schemas/registry", "0.5-wip")


@pytest.mark.feature("FILE-004")
@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.cereg", json.dumps(CEREG) + "\n" + json.dumps(CEREG), ":2:1: .*Extra data"),
        ("a.cereg", json.dumps([CEREG]), "a catalog is a JSON object"),
        ("a.cereg.yaml", yaml.safe_dump_all([CEREG, CEREG]), "but found another document"),
        ("a.cereg.yaml", "- ovens", "a catalog is a JSON object"),
        ("a.cereg.yaml", "", "a catalog is a JSON object"),
    ],
)
def test_a_file_has_one_document(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises((DocumentBroken, DocumentRefused), match=says):
        read_catalog(put(tmp_path, name, text), SETTINGS)


@pytest.mark.feature("FILE-005")
@pytest.mark.parametrize("part", ["endpoints", "definitionGroups", "schemaGroups"])
def test_each_part_is_there_elsewhere_or_absent_in_any_order(tmp_path: Path, part: str) -> None:
    whole = read_catalog(put(tmp_path, "whole.cereg", CEREG), SETTINGS).tree
    turned = dict(reversed(CEREG.items()))
    assert read_catalog(put(tmp_path, "turned.cereg", turned), SETTINGS).tree == whole
    rest = {name: value for name, value in CEREG.items() if name != part}
    absent = read_catalog(put(tmp_path, "absent.cereg", rest), SETTINGS).tree
    kind = {"definitionGroups": "messagegroups", "schemaGroups": "schemagroups"}.get(part, part)
    assert absent == {name: value for name, value in whole.items() if name != kind}
    (tmp_path / "parts").mkdir()
    put(tmp_path, "parts/alone.json", CEREG[part])
    put(tmp_path, "parts/named.cereg", {part: CEREG[part]})
    put(tmp_path, "parts/deep.json", {"a": {part: CEREG[part]}})
    for address in ("parts/alone.json", "parts/named.cereg", f"parts/deep.json#/a/{part}"):
        referring = put(tmp_path, "referring.cereg", {**rest, f"{part}Url": address})
        assert read_catalog(referring, SETTINGS).tree == whole, address


@pytest.mark.feature("FILE-006")
def test_an_xreg_file_has_groups_only_and_loads_by_the_model_we_know(tmp_path: Path) -> None:
    document = {
        "messagegroups": {
            "ovens": {
                "messages": {
                    "oven.hot": {
                        "envelope": "CloudEvents/1.0",
                        "envelopemetadata": {"type": {"value": "oven.hot"}},
                        "dataschemaformat": "JsonSchema/draft-07",
                        "dataschemauri": "#/schemagroups/bread/schemas/loaf",
                    }
                }
            }
        },
        "schemagroups": {
            "bread": {"schemas": {"loaf": {"format": "JsonSchema/draft-07", "schema": {"type": "object"}}}}
        },
    }
    file = put(tmp_path, "ovens.xreg.json", document)
    store = f"sqlite:///{tmp_path / 'ovens.db'}"
    assert execute(["load", str(file), "--to", store]) == 0
    loaded = read_source(store, SETTINGS)["messagegroups"]["ovens"]["messages"]["oven.hot"]
    assert (loaded["messageid"], loaded["xid"]) == ("oven.hot", "/messagegroups/ovens/messages/oven.hot")
    assert len(Catalog(read_source(str(file), SETTINGS)).definitions) == 1


@pytest.mark.feature("FILE-007", "FILE-008", "FILE-011")
@pytest.mark.parametrize(
    "reference",
    [
        "#/schemaGroups/br~0ead@home/schemas/loaf",
        "#/schemaGroups/br%7E0ead%40home/schemas/loaf/versions/1",
        "/schemagroups/br~ead@home/schemas/loaf",
        "here.cereg#/schemaGroups/br~0ead@home/schemas/loaf",
        "there.cereg#/schemaGroups/br~0ead@home/schemas/loaf",
        "#/schemaGroups/br~0ead@home/schemas/loaf:bread.Loaf",
        "#/schemaGroups/br~0ead@home/schemas/loaf/versions/1:bread.Loaf",
        "there.cereg#/schemaGroups/br~0ead@home/schemas/loaf/versions/1:bread.Loaf",
    ],
)
def test_references_find_their_schema(tmp_path: Path, reference: str) -> None:
    avro = {"type": "record", "name": "bread.Loaf", "fields": []}
    schemas = {"loaf": {"format": "Avro/1.9", "versions": {"1": {"schema": avro}}}}
    message = {**HOT, "schemaformat": "Avro/1.9", "schemaurl": reference}
    document = {"definitionGroups": {"ovens": {**OVENS, "definitions": {"oven.hot": message}}}}
    groups: dict[str, Any] = {"schemaGroups": {"br~ead@home": {"schemas": schemas}}}
    if reference.startswith("there.cereg"):
        put(tmp_path, "there.cereg", groups)
    else:
        document |= groups
    tree = read_source(str(put(tmp_path, "here.cereg", document)), SETTINGS)
    (definition,) = Catalog(tree).definitions
    assert definition.schema is not None
    assert not definition.schema.missing
    assert definition.schema.fragment == ("bread.Loaf" if reference.endswith(":bread.Loaf") else "")


@pytest.mark.feature("FILE-008")
@pytest.mark.parametrize(
    ("fragment", "steps"),
    [
        ("", ()),
        ("/", ("",)),
        ("/a~1b/c~0d", ("a/b", "c~d")),
        ("/~01", ("~1",)),
        ("/a%2Fb/%C3%B6/c%7E1d", ("a/b", "ö", "c/d")),
        ("/a%25b", ("a%b",)),
    ],
)
def test_pointers_in_fragments_are_decoded(fragment: str, steps: tuple[str, ...]) -> None:
    assert pointer_steps(fragment) == steps


@pytest.mark.feature("FILE-007")
def test_an_absolute_url_stays_one_and_is_not_fetched(tmp_path: Path, file_server: str) -> None:
    reference = f"{file_server}/ovens.cereg#/schemaGroups/bread/schemas/loaf"
    document = {"definitionGroups": {"ovens": {**OVENS, "definitions": {"oven.hot": {**HOT, "schemaurl": reference}}}}}
    (definition,) = Catalog(read_source(str(put(tmp_path, "a.cereg", document)), SETTINGS)).definitions
    assert definition.schema is not None
    assert definition.schema.reference == reference
    assert "nothing is fetched" in definition.schema.missing


@pytest.mark.feature("FILE-009", "FILE-010")
@pytest.mark.parametrize("fragment", ["groups", "/groups"])
def test_the_composite_model_is_put_together_from_three(tmp_path: Path, fragment: str) -> None:
    shipped = expanded_source("messaging")["groups"]
    folders = {"endpoint": "endpoints", "message": "messagegroups", "schema": "schemagroups"}
    for folder, kind in folders.items():
        (tmp_path / folder).mkdir()
        put(tmp_path, f"{folder}/model.json", {"groups": {kind: shipped[kind]}})
    (tmp_path / "cloudevents").mkdir()
    includes = [f"../{folder}/model.json#{fragment}" for folder in folders]
    model = put(tmp_path, "cloudevents/model.json", {"groups": {"$includes": includes}})
    assert expanded_source(str(model))["groups"] == {kind: shipped[kind] for kind in folders.values()}


@pytest.mark.feature("FILE-012")
def test_later_files_lie_over_earlier_ones(tmp_path: Path) -> None:
    below = {
        "description": "all ovens",
        "messagegroups": {
            "ovens": {
                "description": "of the house",
                "labels": {"site": "north"},
                "messages": {
                    "oven.hot": {"description": "too hot", "envelope": "CloudEvents/1.0", "envelopemetadata": {}},
                    "oven.cold": {"description": "too cold"},
                },
            },
            "doors": {"messages": {}},
        },
    }
    above = {
        "messagegroups": {
            "ovens": {"description": "ours", "messages": {"oven.hot": {"description": "glowing"}, "oven.new": {}}},
            "bells": {"messages": {}},
        },
        "endpoints": {"kitchen": {"usage": ["consumer"]}},
    }
    files = [str(put(tmp_path, "below.json", below)), str(put(tmp_path, "above.json", above))]
    made = convert(files, "1.0-rc4", SETTINGS).document
    assert made == {
        "description": "all ovens",
        "messagegroups": {
            "ovens": {
                "description": "ours",
                "labels": {"site": "north"},
                "messages": {
                    "oven.hot": {"description": "glowing"},
                    "oven.cold": {"description": "too cold"},
                    "oven.new": {},
                },
            },
            "doors": {"messages": {}},
            "bells": {"messages": {}},
        },
        "endpoints": {"kitchen": {"usage": ["consumer"]}},
    }
    assert json.loads(Path(files[0]).read_text()) == below
    turned = convert(files[::-1], "1.0-rc4", SETTINGS).document["messagegroups"]["ovens"]
    assert turned["messages"]["oven.hot"]["description"] == "too hot"


@pytest.mark.feature("FILE-012")
def test_layers_may_be_in_any_dialect_and_place(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'below.db'}"
    assert execute(["load", str(put(tmp_path, "a.cereg", CEREG)), "--to", store]) == 0
    above = {"messagegroups": {"ovens": {"messages": {"oven.off": {"format": "CloudEvents/1.0", "metadata": {}}}}}}
    made = convert([store, str(put(tmp_path, "b.xreg.json", above))], "1.0-rc4", SETTINGS)
    assert set(made.document["messagegroups"]["ovens"]["messages"]) == {"oven.hot", "oven.off"}
    assert made.read_as == "1.0-rc4, 0.5-message"
