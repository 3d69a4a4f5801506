from __future__ import annotations

import json
import logging
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from postroom.catalog.targets import write_target
from postroom.errors import FileMissing
from postroom.pipeline.catalog_reload import CatalogWatch, watch_catalog
from postroom.settings import Settings
from tests.catalog.sites import answering

DEPOT = {"messagegroups": {"depot": {"messages": {"gate.opened": {"protocol": "NATS"}}}}}


def rewrite(file: Path, catalog: Any) -> None:
    """Change a file so that its time changes too, whatever the clock of the file system."""
    before = file.stat().st_mtime_ns if file.exists() else 0
    file.write_text(catalog if isinstance(catalog, str) else json.dumps(catalog))
    os.utime(file, ns=(before + 10**9, before + 10**9))


def test_a_file_is_followed_by_its_content(fleet: Any, catalog_file: Path) -> None:
    watch = watch_catalog(str(catalog_file))
    first = watch()
    assert watch() is first
    rewrite(catalog_file, fleet.catalog(heading={"type": "integer"}))
    assert watch().digest != first.digest


def test_a_folder_is_followed_too(fleet: Any, tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    folder.mkdir()
    rewrite(folder / "fleet.json", fleet.catalog())
    watch = watch_catalog(folder)
    before = len(watch().definitions)
    rewrite(folder / "depot.json", DEPOT)
    assert len(watch().definitions) == before + 1


def test_the_last_good_catalog_stays_and_that_is_said_once(
    fleet: Any, catalog_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watch = watch_catalog(str(catalog_file))
    good = watch()
    with caplog.at_level(logging.WARNING):
        rewrite(catalog_file, "{ half a catalog")
        assert watch() is good
        assert watch() is good
        assert len(caplog.records) == 1
        catalog_file.unlink()
        assert watch() is good
        assert watch() is good
        assert len(caplog.records) == 2
    rewrite(catalog_file, fleet.catalog(heading={"type": "integer"}))
    assert watch().digest != good.digest


def test_a_catalog_that_never_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        watch_catalog(str(tmp_path / "nowhere.json"))


def test_a_store_is_followed_by_its_changes(fleet: Any, tmp_path: Path) -> None:
    url, settings = f"sqlite:///{tmp_path / 'catalog.db'}", Settings()
    write_target(fleet.catalog(), url, settings)
    watch = CatalogWatch(url, settings)
    first = watch()
    assert watch() is first
    write_target(DEPOT, url, settings)
    assert len(watch().definitions) == len(first.definitions) + 1


class Service(BaseHTTPRequestHandler):
    """A registry that gives out one document, with an ETag."""

    document: ClassVar[dict[str, Any]] = {}
    answers: ClassVar[list[int]] = []

    def do_GET(self) -> None:
        body = json.dumps(self.document).encode()
        etag = f'"{len(body)}"'
        status = 304 if self.headers.get("If-None-Match") == etag else 200
        self.answers.append(status)
        self.send_response(status)
        self.send_header("ETag", etag)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) if status == 200 else 0))
        self.end_headers()
        if status == 200:
            self.wfile.write(body)

    def log_message(self, *said: Any) -> None:
        pass


def test_a_service_is_asked_whether_its_catalog_still_holds(fleet: Any) -> None:
    Service.document, Service.answers[:] = fleet.catalog(), []
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        watch = CatalogWatch(f"http://127.0.0.1:{server.server_port}", Settings(timeout_s=5))
        first = watch()
        assert watch() is first
        assert Service.answers == [200, 200, 304, 304]
        Service.document = fleet.catalog() | {
            "messagegroups": fleet.catalog()["messagegroups"] | DEPOT["messagegroups"]
        }
        second = watch()
        assert len(second.definitions) == len(first.definitions) + 1
        server.shutdown()
    assert watch() is second


def test_a_catalog_that_is_open_does_not_change(catalog: Any) -> None:
    assert watch_catalog(catalog)() is catalog
    assert watch_catalog(catalog.compiled)().digest == catalog.digest


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("postgresql://me:secret@host/catalog?sslmode=require", "postgresql://host/catalog"),
        ("https://registry.example.com/", "https://registry.example.com/"),
    ],
)
def test_names_hold_no_secrets(source: str, name: str) -> None:
    watch = CatalogWatch.__new__(CatalogWatch)
    watch._source, watch._endpoint = source, ""
    assert watch.name == name


def test_a_site_that_does_not_inline_is_followed_by_what_it_exports(fleet: Any) -> None:
    pages: dict[str, Any] = {"/": {"specversion": "1.0-rc4", "messagegroupsurl": "/m", "messagegroupscount": 1}}
    asked: list[str] = []

    def answer(path: str, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        asked.append(path)
        return 200, {}, json.dumps(pages[path]).encode()

    def export(catalog: Any) -> None:
        groups = catalog["messagegroups"]
        pages["/"] |= {"messagegroupscount": len(groups)}
        pages["/export"] = {**pages["/"], **catalog}

    export(fleet.catalog())
    with answering(answer) as url:
        watch = CatalogWatch(url, Settings(timeout_s=5))
        first = watch()
        assert len(first.definitions) > 0
        assert watch() is first
        assert set(asked) == {"/", "/export"}
        changed = fleet.catalog()
        changed["messagegroups"] |= DEPOT["messagegroups"]
        export(changed)
        assert len(watch().definitions) == len(first.definitions) + 1


def test_a_document_on_a_server_is_followed_too(fleet: Any) -> None:
    pages = {"/fleet.json": fleet.catalog()}

    def answer(path: str, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        return (200, {}, json.dumps(pages[path]).encode()) if path in pages else (404, {}, b"")

    with answering(answer) as url:
        watch = CatalogWatch(f"{url}/fleet.json", Settings(timeout_s=5))
        first = watch()
        assert watch() is first
        pages["/fleet.json"] = DEPOT
        assert len(watch().definitions) == 1
