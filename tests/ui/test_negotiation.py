"""Which requests get a page: those below its root, and those of the registry that would rather have one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from postroom.catalog.open_store import open_store
from postroom.http.operations.server_process import ServerProcess
from postroom.http.server.app import create_app
from postroom.registry.operations import import_document
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.ui.website import open_pages
from tests.http.requests import AsgiClient

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
GROUP = "/schemagroups/ovens"
SCHEMA = f"{GROUP}/schemas/baked"
DOCUMENT = {"type": "object", "properties": {"loaves": {"type": "integer"}}}
TREE = {
    "schemagroups": {
        "ovens": {
            "schemagroupid": "ovens",
            "schemas": {"baked": {"schemaid": "baked", "format": "JsonSchema/draft-07", "schema": DOCUMENT}},
        }
    }
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as opened:
        with opened.write() as tx:
            import_document(tx, TREE)
        yield opened


@pytest.fixture
def asgi(store: Store) -> AsgiClient:
    return AsgiClient(create_app(store, Settings(), ServerProcess(pages=open_pages(Settings()))))


def content_type(client: AsgiClient, path: str, accept: str) -> str:
    return client.ask("GET", path, headers={"accept": accept}).headers["content-type"].partition(";")[0]


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (BROWSER, "text/html"),
        ("text/html", "text/html"),
        ("text/html;q=0.9, application/json;q=0.5", "text/html"),
        ("text/html;q=0.5, application/json", "application/json"),
        ("text/html, application/json", "application/json"),
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("text/*", "application/json"),
        ("text/html;q=0, */*", "application/json"),
        ("text/html;q=much", "application/json"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/schemagroups", GROUP, f"{SCHEMA}$details"])
def test_a_page_is_for_those_who_name_html_and_prefer_it(
    asgi: AsgiClient, path: str, accept: str, expected: str
) -> None:
    assert content_type(asgi, path, accept) == expected
    assert "accept" in asgi.ask("GET", path, headers={"accept": accept}).headers["vary"].lower().split(", ")


def test_kept_answers_are_kept_for_either_kind(asgi: AsgiClient) -> None:
    for _ in range(3):
        assert content_type(asgi, GROUP, BROWSER) == "text/html"
        assert content_type(asgi, GROUP, "application/json") == "application/json"


def test_a_document_is_never_a_page(asgi: AsgiClient) -> None:
    assert asgi.ask("GET", SCHEMA, headers={"accept": BROWSER}).json == DOCUMENT


def test_flags_are_for_programs(asgi: AsgiClient) -> None:
    assert content_type(asgi, "/?inline=model", BROWSER) == "application/json"


def test_what_is_not_there_is_a_page_for_people_and_a_problem_for_programs(asgi: AsgiClient) -> None:
    missing = asgi.ask("GET", "/ui/schemagroups/none", headers={"accept": BROWSER})
    assert (missing.status, missing.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert b"There is nothing here" in missing.body
    assert asgi.ask("GET", "/ui/schemagroups/none").problem == "not_found"
    assert asgi.ask("GET", "/schemagroups/none").problem == "not_found"
    assert content_type(asgi, "/schemagroups/none", BROWSER) == "text/html"
    assert content_type(asgi, "/-/subscriptions/none", BROWSER) == "application/json"


def test_pages_are_read_and_not_written(asgi: AsgiClient) -> None:
    refused = asgi.ask("DELETE", f"/ui{GROUP}")
    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")
    assert asgi.ask("HEAD", f"/ui{GROUP}").status == 200


def test_a_group_type_of_that_name_goes_first(asgi: AsgiClient, store: Store) -> None:
    model = {"groups": {"ui": {"singular": "widget", "plural": "ui"}}}
    assert asgi.ask("DELETE", "/schemagroups").status == 204
    assert asgi.ask("PUT", "/modelsource", model).status == 200
    assert asgi.ask("PUT", "/ui/button", {}).status == 201
    assert asgi.ask("GET", "/ui/button").json["widgetid"] == "button"
    page = asgi.ask("GET", "/-/ui/ui/button", headers={"accept": BROWSER})
    assert page.status == 200
    assert b'href="/-/ui/' in page.body
    assert content_type(asgi, "/ui/button", BROWSER) == "text/html"


def test_assets_are_kept_for_ever_and_others_are_not_there(asgi: AsgiClient) -> None:
    page = asgi.ask("GET", "/ui/").body.decode()
    name = page.split("/ui/-/assets/page.")[1].split('"')[0]
    asset = asgi.ask("GET", f"/ui/-/assets/page.{name}")
    assert "immutable" in asset.headers["cache-control"]
    assert asgi.ask("GET", "/ui/-/assets/page.0000000000000000.css").status == 404
    assert asgi.ask("GET", "/ui/-/assets/../website.py").status == 404


def test_without_pages_the_server_is_as_it_was(store: Store) -> None:
    plain = AsgiClient(create_app(store, Settings()))
    assert plain.ask("GET", "/ui/").status == 404
    answer = plain.ask("GET", GROUP, headers={"accept": BROWSER})
    assert (answer.headers["content-type"], answer.headers["vary"]) == (
        "application/json; charset=utf-8",
        "Accept-Encoding",
    )


def test_the_wheel_brings_its_pages_into_an_empty_environment(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    python = Path(sys.executable)
    subprocess.run(
        [python, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=root, check=True, capture_output=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([python, "-m", "venv", "--without-pip", tmp_path / "empty"], check=True)
    own = tmp_path / "empty" / "bin" / "python"
    uv = [python.with_name("uv"), "pip", "install", "--quiet", "--python", own]
    subprocess.run([*uv, "--require-hashes", "-r", root / "requirements" / "plain.txt"], check=True)
    subprocess.run([*uv, "--no-deps", wheel], check=True)
    command = [own, "-m", "postroom", "serve", "--port", "0", "--db", f"sqlite:///{tmp_path}/registry.db"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().removeprefix("listening on ").strip()
        page = httpx.get(f"{url}/ui/", timeout=30)
        assert page.status_code == 200
        assert "Nothing is described here yet" in page.text
        for name in ("page.", "icon."):
            path = page.text.split(f'"/ui/-/assets/{name}')[1].split('"')[0]
            assert httpx.get(f"{url}/ui/-/assets/{name}{path}").status_code == 200
    finally:
        server.terminate()
        server.wait(20)


@pytest.mark.parametrize("path", [GROUP, f"{SCHEMA}$details", SCHEMA, "/"])
def test_a_tag_of_what_may_be_a_page_elsewhere_holds_for_writes(asgi: AsgiClient, path: str) -> None:
    etag = asgi.ask("GET", path).headers["etag"]
    method = "PUT" if path == SCHEMA else "PATCH"
    assert asgi.ask(method, path, {"description": "new"}, {"If-Match": etag}).status == 200
    assert asgi.ask(method, path, {"description": "newer"}, {"If-Match": etag}).status == 412
