"""Reading from other people's services: all that they hold, or an error, and never nothing."""

from __future__ import annotations

import gzip
import json
import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest

from postroom.catalog import service_reader
from postroom.catalog.catalog import Catalog
from postroom.catalog.export import export_source
from postroom.catalog.service_client import open_client
from postroom.catalog.service_reader import ServiceReader
from postroom.catalog.sources import read_source
from postroom.cli.main import execute
from postroom.errors import DocumentRefused, PostroomError, ServiceRefused, ServiceUnreachable
from postroom.settings import Settings
from tests.catalog.sites import answering, download, paging, running, static
from tests.http.running_service import serving

pytestmark = pytest.mark.sqlite  # the file of one service is copied for others

DEMO = Path(__file__).parents[2] / "demo" / "catalog"
SETTINGS = Settings(timeout_s=20)
SITES = ("files", "files without export", "pages", "no flags")
LOAF = "/schemagroups/bakery/schemas/loaf"
BREAD = "/messagegroups/bakery/messages/bread"
KITCHENS = {"singular": "kitchen", "resources": {"recipes": {"singular": "recipe"}}}


def write(url: str) -> None:
    """A registry with everything that is shown otherwise inside an export: Versions, references, texts, bytes."""
    source = httpx.get(f"{url}/modelsource").json()
    source["groups"]["kitchens"] = KITCHENS
    httpx.put(f"{url}/modelsource", json=source).raise_for_status()
    for number in ("1", "2"):
        body = {"format": "JsonSchema/draft-07", "schema": {"type": "object", "title": number}}
        httpx.put(f"{url}{LOAF}/versions/{number}$details", json=body).raise_for_status()
    bread = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "bread.baked"}},
        "dataschemaxid": LOAF,
    }
    httpx.put(url + BREAD, json=bread).raise_for_status()
    same = {"meta": {"xref": BREAD}}
    httpx.put(f"{url}/messagegroups/bakery/messages/bun", json=same).raise_for_status()
    for name, kind, content in (("rye", "text/plain", "Mix."), ("photo", "image/png", b"\x89PNG"), ("none", "", "")):
        headers = {"content-type": kind} if kind else {}
        httpx.put(f"{url}/kitchens/k/recipes/{name}", content=content, headers=headers).raise_for_status()


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The URL of each site, and of what the registry said while it still inlined."""
    folder = tmp_path_factory.mktemp("sites")
    with serving(f"sqlite:///{folder}/one.db") as (_, url):
        assert execute(["load", str(DEMO), "--to", url]) == 0
        write(url)
        download(url, folder / "files")
    shutil.copytree(folder / "files", folder / "bare", ignore=shutil.ignore_patterns("export"))
    shutil.copy(folder / "one.db", folder / "two.db")
    with ExitStack() as stack:
        _, first = stack.enter_context(serving(f"sqlite:///{folder}/one.db"))
        _, second = stack.enter_context(serving(f"sqlite:///{folder}/two.db"))
        httpx.patch(f"{second}/capabilities", json={"flags": []}).raise_for_status()
        yield {
            "inlining": first,
            "files": stack.enter_context(static(folder / "files")),
            "files without export": stack.enter_context(static(folder / "bare")),
            "pages": stack.enter_context(paging(folder / "files")),
            "no flags": second,
        }


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    capsys.readouterr()
    assert execute(list(arguments)) == code
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def dump(sites: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """All of the registry in a file."""
    file = tmp_path_factory.mktemp("dump") / "dump.json"
    assert execute(["dump", "--from", sites["inlining"], "-o", str(file)]) == 0
    return str(file)


@pytest.mark.audit("clients-1")
@pytest.mark.parametrize("site", SITES)
def test_dump_has_all_that_a_service_has_which_does_not_inline(
    sites: dict[str, str], dump: str, site: str, tmp_path: Path
) -> None:
    assert execute(["dump", "--from", sites[site], "-o", str(tmp_path / "dump.json")]) == 0
    assert json.loads((tmp_path / "dump.json").read_text()) == json.loads(Path(dump).read_text())


def test_a_service_of_another_dialect_is_dumped_too(sites: dict[str, str], tmp_path: Path) -> None:
    assert execute(["dump", "--from", f"{sites['inlining']}/v0.5", "-o", str(tmp_path / "dump.json")]) == 0
    assert len(json.loads((tmp_path / "dump.json").read_text())["messagegroups"]) == 5


OLDER = {
    "specversion": "1.0-rc2",
    "messagegroups": {
        "ovens": {
            "messagegroupid": "ovens",
            "envelope": "CloudEvents/1.0",
            "messages": {
                "oven": {"messageid": "oven", "envelopemetadata": {"type": {"value": "oven.hot"}}},
                "hot": {
                    "messageid": "hot",
                    "basemessageurl": "#/messagegroups/ovens/messages/oven",
                    "dataschemaformat": "JsonSchema/draft-07",
                    "dataschemauri": "#/schemagroups/ovens/schemas/heat",
                },
            },
        }
    },
    "schemagroups": {
        "ovens": {
            "schemagroupid": "ovens",
            "schemas": {
                "heat": {
                    "schemaid": "heat",
                    "versionid": "1",
                    "ancestor": "1",
                    "format": "JsonSchema/draft-07",
                    "schemauri": "https://ovens.example/heat.json",
                }
            },
        }
    },
}
"""A catalog in the names of 1.0-rc2."""


def with_versions(document: Any) -> Any:
    """The messages of a document with their Versions, as a service shows them."""
    shown = json.loads(json.dumps(document))
    for message in shown["messagegroups"]["ovens"]["messages"].values():
        message |= {"versionid": "1", "meta": {"defaultversionid": "1"}, "versions": {"1": {**message}}}
    return shown


@pytest.mark.audit("clients-5")
@pytest.mark.parametrize("way", ["service", "document", "file"])
def test_a_catalog_of_an_older_release_is_written_in_the_names_of_this_one(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ovens.json").write_text(json.dumps(OLDER))
    with service({"/": with_versions(OLDER), "/ovens.json": OLDER}) as url:
        source = {"service": url, "document": f"{url}/ovens.json", "file": str(tmp_path / "ovens.json")}[way]
        for command in (["dump", "--from", source], ["convert", source, "--dialect", "1.0-rc4", "--plain"]):
            found = json.loads(said(capsys, *command))
            hot = found["messagegroups"]["ovens"]["messages"]["hot"]
            heat = found["schemagroups"]["ovens"]["schemas"]["heat"]
            assert found["specversion"] == "1.0-rc4"
            assert (hot["basemessage"], hot["dataschemauri"]) == (
                "/messagegroups/ovens/messages/oven",
                "/schemagroups/ovens/schemas/heat",
            )
            heat = heat.get("versions", {"1": heat})["1"]
            assert (heat["ancestorid"], heat["schemaurl"]) == ("1", "https://ovens.example/heat.json")
            assert not {"basemessageurl", "ancestor", "schemauri"} & {*hot, *heat}
        report = json.loads(said(capsys, "convert", source, "--dialect", "0.5-service", "--json"))
        assert report["from"] == "1.0-rc2"


@pytest.mark.audit("clients-5", "clients-9")
@pytest.mark.parametrize("way", ["service", "document", "file"])
def test_references_of_a_loaded_catalog_lead_to_what_is_loaded(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ovens.json").write_text(json.dumps(OLDER))
    target = f"sqlite:///{tmp_path}/registry.db"
    with service({"/": with_versions(OLDER), "/ovens.json": OLDER}) as url:
        source = {"service": url, "document": f"{url}/ovens.json", "file": str(tmp_path / "ovens.json")}[way]
        said(capsys, "load", source, "--to", target)
    tree = read_source(target, SETTINGS)
    hot = tree["messagegroups"]["ovens"]["messages"]["hot"]
    assert (hot["basemessage"], hot["dataschemauri"]) == (
        "/messagegroups/ovens/messages/oven",
        "/schemagroups/ovens/schemas/heat",
    )
    assert tree["schemagroups"]["ovens"]["schemas"]["heat"]["schemaurl"] == "https://ovens.example/heat.json"


def test_lint_reads_an_older_release_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    with service({"/": OLDER}) as url:
        found = json.loads(said(capsys, "lint", url, "--json"))
    assert "/messagegroups/ovens/messages/hot/basemessageurl" in {one["pointer"] for one in found}


def test_a_service_that_does_not_give_its_model_is_dumped_without(caplog: pytest.LogCaptureFixture) -> None:
    root = {"specversion": "1.0-rc4", "messagegroupscount": 1, "messagegroupsurl": "m", "messagegroups": {"ovens": {}}}
    with service({"/": root}) as url:
        assert export_source(url, SETTINGS) == {"specversion": "1.0-rc4", "messagegroups": {"ovens": {}}}
    assert "does not give its model" in caplog.text


@pytest.mark.parametrize("site", SITES)
def test_convert_has_all_of_it_in_other_words(
    sites: dict[str, str], site: str, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = said(capsys, "convert", sites["inlining"], "--dialect", "0.5-service")
    found = said(capsys, "convert", sites[site], "--dialect", "0.5-service")
    assert json.loads(found) == json.loads(expected)


@pytest.mark.parametrize("site", SITES)
def test_diff_finds_no_difference_to_a_copy_that_does_not_inline(
    sites: dict[str, str], site: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for pair in ((sites["inlining"], sites[site]), (sites[site], sites["inlining"])):
        found = json.loads(said(capsys, "diff", *pair, "--json"))
        # Those of another host, and what no rule looks at.
        assert {one["place"].rpartition("/")[2] for one in found} <= {"versionsurl", "kitchensurl", "kitchens"}


@pytest.mark.parametrize("site", SITES)
def test_lint_looks_at_all_of_a_service_which_does_not_inline(
    sites: dict[str, str], site: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def findings(source: str) -> list[tuple[str, str]]:
        return sorted((one["code"], one["pointer"]) for one in json.loads(said(capsys, "lint", source, "--json")))

    assert len(findings(sites[site])) > 10
    assert findings(sites[site]) == findings(sites["inlining"])


@pytest.mark.parametrize("site", ["inlining", *SITES])
def test_load_takes_all_of_it(
    sites: dict[str, str], dump: str, site: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded, expected = f"sqlite:///{tmp_path}/loaded.db", f"sqlite:///{tmp_path}/expected.db"
    assert execute(["load", sites[site], "--to", loaded]) == 0
    assert (
        "\n  the target's model has no such groups; a dump brings its own (1)\n    /kitchens: "
        in capsys.readouterr().err
    )
    said(capsys, "load", dump, "--to", expected)
    found, wanted = read_source(loaded, SETTINGS), read_source(expected, SETTINGS)
    for kind in ("messagegroups", "schemagroups", "endpoints"):
        assert found[kind].keys() == wanted[kind].keys()
    assert found["schemagroups"]["bakery"]["schemas"]["loaf"]["versions"].keys() == {"1", "2"}
    assert found["messagegroups"]["bakery"]["messages"]["bun"]["meta"]["xref"] == BREAD
    assert Catalog(found).definitions == Catalog(wanted).definitions


@pytest.mark.parametrize("site", SITES)
def test_messages_are_made_and_matched_by_it(
    sites: dict[str, str], site: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "records").write_text(said(capsys, "make", "--catalog", sites[site], BREAD, "--data", "auto"))
    matched = json.loads(said(capsys, "match", "--catalog", sites[site], "--input", str(tmp_path / "records")))
    assert (matched["outcome"], matched["message"]) == ("landed", BREAD)


@pytest.mark.parametrize("site", SITES)
def test_replicate_pulls_all_of_it_and_verifies_that(
    sites: dict[str, str], dump: str, site: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = f"sqlite:///{tmp_path}/copy.db"
    model = json.loads(Path(dump).read_text())["modelsource"]
    (tmp_path / "model.json").write_text(json.dumps({"modelsource": model, "kitchens": {}}))
    said(capsys, "load", str(tmp_path / "model.json"), "--to", target)
    link = [sites[site], target, "--plain", "--json"]
    taken = json.loads(said(capsys, "replicate", "pull", *link))["taken"]
    assert set(taken) == set(units(json.loads(Path(dump).read_text())))
    said(capsys, "replicate", "verify", *link)
    shown = read_source(target, SETTINGS)["kitchens"]["k"]["recipes"]
    assert (shown["rye"]["recipe"], shown["photo"]["recipebase64"]) == ("Mix.", "iVBORw==")


def units(document: Any) -> Iterator[str]:
    """The xids of all groups and resources in a dump."""
    for plural in document["modelsource"]["groups"]:
        for group, body in document.get(plural, {}).items():
            yield f"/{plural}/{group}"
            for kind in ("messages", "schemas", "recipes"):
                yield from (f"/{plural}/{group}/{kind}/{one}" for one in body.get(kind, {}))


MODEL = {
    "groups": {
        "messagegroups": {
            "singular": "messagegroup",
            "resources": {"messages": {"singular": "message", "hasdocument": False}},
        }
    }
}
OVENS = {"messagegroupid": "ovens", "messagesurl": "/messagegroups/ovens/messages", "messagescount": 1}
HOT = {"messageid": "hot", "versionid": "1", "metaurl": "m", "versionsurl": "v", "versionscount": 1}
WHOLE: dict[str, Any] = {
    "/": {"specversion": "1.0-rc4", "messagegroupsurl": "/messagegroups", "messagegroupscount": 1},
    "/model": MODEL,
    "/messagegroups": {"ovens": OVENS},
    "/messagegroups/ovens": OVENS,
    "/messagegroups/ovens/messages": {"hot": {**HOT, "metaurl": "/hot/meta", "versionsurl": "/hot/versions"}},
    "/messagegroups/ovens/messages/hot": {**HOT, "versionsurl": "/hot/versions"},
    "/hot/meta": {"messageid": "hot", "defaultversionid": "1"},
    "/hot/versions": {"1": {"messageid": "hot", "versionid": "1", "envelope": "CloudEvents/1.0"}},
}
"""A registry that gives its messages at places of its own, which its URLs say."""


@contextmanager
def service(pages: dict[str, Any], headers: dict[str, dict[str, str]] | None = None) -> Iterator[str]:
    """A service that answers the given pages and nothing else, whatever the flags; a number is a status."""

    def answer(path: str, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        page = pages.get(path, 404)
        if isinstance(page, int):
            return page, (headers or {}).get(path, {}), b""
        return 200, (headers or {}).get(path, {}), page if isinstance(page, bytes) else json.dumps(page).encode()

    with answering(answer) as url:
        yield url


def read(url: str, settings: Settings = SETTINGS) -> Any:
    return read_source(url, settings)


def test_urls_that_a_service_gives_are_followed() -> None:
    with service(WHOLE) as url:
        assert read(url)["messagegroups"]["ovens"]["messages"]["hot"]["envelope"] == "CloudEvents/1.0"


def without(path: str) -> dict[str, Any]:
    return {name: page for name, page in WHOLE.items() if name != path}


TWO = {**WHOLE["/"], "messagegroupscount": 2}
EXPORT_OF_ONE = {**TWO, "messagegroups": {"ovens": {"messagegroupid": "ovens"}}}
BROKEN = {
    "fewer groups than it says": ({**WHOLE, "/": TWO}, "says that /messagegroups has 2 members, and gives 1"),
    "no groups at all": (without("/messagegroups"), "says that /messagegroups has 1 members, and gives 0"),
    "no messages": (
        without("/messagegroups/ovens/messages"),
        "says that /messagegroups/ovens/messages has 1 members, and gives 0",
    ),
    "no meta": (without("/hot/meta"), "/hot/meta answers 404"),
    "no versions": (without("/hot/versions"), "versions has 1 members, and gives 0"),
    "no model": (without("/model"), "/model answers 404"),
    "an export that lacks a group": ({**WHOLE, "/": TWO, "/export": EXPORT_OF_ONE}, "has 2 members, and gives 1"),
    "an export that is no JSON": ({**WHOLE, "/": TWO, "/export": b"<html>"}, "has 2 members, and gives 1"),
    "an error": ({**WHOLE, "/messagegroups": 500}, "/messagegroups answers 500"),
    "a page for people": ({**WHOLE, "/": b"<html>"}, "does not answer with JSON"),
    "a list": ({**WHOLE, "/": []}, "something that is no registry"),
    "groups that are none": ({**WHOLE, "/messagegroups": {"ovens": 7}}, "something that is no registry"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_service_that_lacks_what_it_says_it_has_is_an_error(broken: str) -> None:
    pages, sentence = BROKEN[broken]
    with service(pages) as url, pytest.raises(PostroomError, match=sentence):
        read(url)


COMMANDS = {
    "lint": ["lint", "{url}"],
    "dump": ["dump", "--from", "{url}"],
    "convert": ["convert", "{url}", "--dialect", "0.5-service"],
    "load": ["load", "{url}", "--to", "sqlite:///{folder}/to.db"],
    "diff": ["diff", "{url}", str(DEMO)],
    "match": ["match", "--catalog", "{url}", "--input", "{folder}/empty"],
    "make": ["make", "--catalog", "{url}", "hot"],
    "pull": ["replicate", "pull", "{url}", "sqlite:///{folder}/to.db"],
    "verify": ["replicate", "verify", "{url}", str(DEMO)],
}


@pytest.mark.audit("clients-1")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("broken", ["fewer groups than it says", "no messages"])
def test_no_command_takes_nothing_for_an_answer(
    broken: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages, sentence = BROKEN[broken]
    (tmp_path / "empty").write_text("")
    with service(pages) as url:
        assert execute([one.format(url=url, folder=tmp_path) for one in COMMANDS[command]]) == 3
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("status", [400, 405, 413])
def test_a_service_that_refuses_to_inline_is_asked_without(status: int) -> None:
    def answer(path: str, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        page = WHOLE.get(path, 404)
        if "inline" in query:
            return status, {}, b""
        return (page, {}, b"") if isinstance(page, int) else (200, {}, json.dumps(page).encode())

    with answering(answer) as url:
        assert "hot" in read(url)["messagegroups"]["ovens"]["messages"]


@pytest.mark.parametrize("document", [{}, {"hello": "world"}, {"messagegroups": 7}])
def test_what_is_no_catalog_is_not_an_empty_one(document: Any) -> None:
    with service({"/": document, "/x.json": document}) as url:
        for address in (url, f"{url}/x.json"):
            with pytest.raises(DocumentRefused, match="is no catalog"):
                read(address)


@pytest.mark.parametrize(
    "part",
    [
        {"messagegroupsurl": "groups.json", "schemagroups": {}},
        {"definitionGroupsUrl": "groups.json"},
        {"messagegroupsurl": "#/messagegroups", "messagegroupscount": 2, "messagegroups": {"ovens": {}}},
        {"messagegroups": {"ovens": {"messagesurl": "http://elsewhere.example/m", "messagescount": 3}}},
        {"messagegroups": {"ovens": {}}, "messagegroupsurl": "x", "messagegroupscount": 2},
    ],
)
def test_a_document_whose_parts_are_elsewhere_is_not_taken_for_the_whole(part: Any) -> None:
    pages = {"/catalog.json": {"specversion": "1.0-rc4", **part}}
    with service(pages) as url, pytest.raises(DocumentRefused, match="does not have all of"):
        read(f"{url}/catalog.json")


@pytest.mark.audit("clients-12")
def test_an_export_is_read_by_its_own_address(sites: dict[str, str], dump: str, tmp_path: Path) -> None:
    for site in ("files", "no flags"):
        assert execute(["dump", "--from", f"{sites[site]}/export", "-o", str(tmp_path / "dump.json")]) == 0
        assert json.loads((tmp_path / "dump.json").read_text()) == json.loads(Path(dump).read_text())


def test_other_hosts_are_asked_only_if_a_setting_names_them() -> None:
    messages = {name: page for name, page in WHOLE.items() if name.startswith("/hot")}
    with service({**messages, "/m": WHOLE["/messagegroups/ovens/messages"]}) as other:
        there = {**OVENS, "messagesurl": f"{other}/m"}
        pages = {**WHOLE, "/messagegroups": {"ovens": there}, "/messagegroups/ovens": there}
        del pages["/messagegroups/ovens/messages"]
        with service(pages) as url:
            with pytest.raises(ServiceRefused, match="has 1 members, and gives 0"):
                read(url)
            tree = read(url, Settings(allow_fetch=(other.removeprefix("http://"),)))
            assert "hot" in tree["messagegroups"]["ovens"]["messages"]


@pytest.mark.parametrize(
    ("headers", "pages", "sentence"),
    [
        (
            {"/": {"Location": "http://elsewhere.example/"}},
            {"/": 301},
            "another host, http://elsewhere.example/.*allow_fetch",
        ),
        ({"/": {"Location": "/"}}, {"/": 302}, "redirects again and again"),
        ({"/messagegroups": {"Link": "</messagegroups>;rel=next"}}, WHOLE, "go round in a circle"),
        ({"/messagegroups": {"Link": "<http://elsewhere.example/>;rel=next"}}, WHOLE, "another host"),
    ],
)
def test_a_service_leads_neither_away_nor_round_in_circles(
    headers: dict[str, dict[str, str]], pages: dict[str, Any], sentence: str
) -> None:
    with service(pages, headers) as url, pytest.raises(ServiceRefused, match=sentence):
        read(url)


def test_user_and_password_are_given_to_the_host_they_are_for_and_never_told(sites: dict[str, str]) -> None:
    url = sites["pages"].replace("http://", "http://ann:s3cret@")
    assert len(read(url)["messagegroups"]) == 5
    with pytest.raises(PostroomError) as refused:
        read(url + "/nowhere")
    assert "s3cret" not in str(refused.value)


def test_a_page_that_fails_is_named_without_the_password() -> None:
    def answer(path: str, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        if "page" in query:
            return 500, {}, b"boom"
        return 200, {"Link": '</messagegroups?page=2>;rel="next"'}, b"{}"

    with answering(answer) as url, open_client(url.replace("http://", "http://ann:s3cret@"), SETTINGS) as client:
        first = client.ask("GET", "/messagegroups")
        with pytest.raises(ServiceRefused, match="answers 500") as refused:
            client.get(urljoin(first.url, "/messagegroups?page=2"))
    assert "s3cret" not in str(refused.value)


def test_the_work_of_a_reading_is_bounded(sites: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_reader, "MAX_REQUESTS", 20)
    with open_client(sites["files without export"], SETTINGS) as client:
        with pytest.raises(DocumentRefused, match="more than 20 requests"):
            ServiceReader(client).whole()
        assert client.requests < 50  # redirects count with what they lead to


def test_an_answer_that_is_packed_small_and_large_inside_is_not_unpacked_whole() -> None:
    def answer(path: str, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        return 200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * 50_000_000)

    with answering(answer) as url, pytest.raises(DocumentRefused, match="more than the 1 MB"):
        read(url, Settings(max_document_mb=1))


def test_an_answer_that_never_ends_is_given_up() -> None:
    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b" ")
                    time.sleep(0.05)
            except OSError:
                return

        def log_message(self, *_: Any) -> None:
            pass

    with running(Slow) as url, pytest.raises(ServiceUnreachable, match="longer than 1 seconds"):
        read(url, Settings(timeout_s=0.1))


def test_long_readings_say_how_far_they_are(sites: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "postroom.progress"):
        read(sites["files without export"])
    assert "does not inline" in caplog.messages[0]
    assert any("100 requests" in line for line in caplog.messages)
