"""Other people's servers: a registry laid out as files, one without flags, one that pages and packs its answers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx

Tree = dict[str, Any]


def download(url: str, folder: Path) -> None:
    """Lay a registry out as `xr download` does: index files for collections and groups, files for all the rest.

    The URLs inside are those of the registry that it was copied from. Nothing is left of flags.
    """
    client = httpx.Client(base_url=url)

    def fetch(path: str) -> bytes:
        return client.get(quote(path, safe="/$")).raise_for_status().content

    def save(path: str, content: bytes) -> None:
        file = folder / path.strip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    for name in ("export", "model", "modelsource"):
        save(name, fetch(f"/{name}"))
    capabilities = json.loads(fetch("/capabilities"))
    save("capabilities", json.dumps({**capabilities, "flags": None, "pagination": False}).encode())
    model = json.loads(fetch("/model"))["groups"]
    save("index.html", fetch("/"))
    for plural, group_type in model.items():
        save(f"{plural}/index.html", fetch(f"/{plural}"))
        for group in json.loads(fetch(f"/{plural}")):
            save(f"{plural}/{group}/index.html", fetch(f"/{plural}/{group}"))
            for kind, resource_type in group_type["resources"].items():
                home = f"{plural}/{group}/{kind}"
                save(f"{home}/index.html", fetch(f"/{home}"))
                for resource in json.loads(fetch(f"/{home}")):
                    _save_resource(f"{home}/{resource}", resource_type.get("hasdocument", True), fetch, save)
    client.close()


def _save_resource(
    home: str, has_document: bool, fetch: Callable[[str], bytes], save: Callable[[str, bytes], None]
) -> None:
    save(f"{home}$details", fetch(f"/{home}$details"))
    save(f"{home}/index.html", fetch(f"/{home}" if has_document else f"/{home}$details"))
    save(f"{home}/meta", fetch(f"/{home}/meta"))
    versions = fetch(f"/{home}/versions")
    save(f"{home}/versions/index.html", versions)
    for version in json.loads(versions):
        place = f"{home}/versions/{version}"
        save(f"{place}$details", fetch(f"/{place}$details"))
        save(f"{place}/index.html", fetch(f"/{place}" if has_document else f"/{place}$details"))


@contextmanager
def running(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server in a thread; its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def static(folder: Path) -> Iterator[str]:
    """A plain server of files, which knows no flags and redirects `/x` to `/x/` where that is a folder."""

    class Files(SimpleHTTPRequestHandler):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given, directory=str(folder))

        def log_message(self, *_: Any) -> None:
            pass

    with running(Files) as url:
        yield url


@contextmanager
def answering(answer: Callable[[str, dict[str, str]], tuple[int, dict[str, str], bytes]]) -> Iterator[str]:
    """A server that answers GET with a function of the path and the query: status, headers, body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
            status, headers, body = answer(parts.path, query)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with running(Handler) as url:
        yield url


@contextmanager
def paging(folder: Path, size: int = 2) -> Iterator[str]:
    """The same files by a service that gives collections page by page, and packs all that it answers."""

    def answer(path: str, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        file = folder / path.strip("/")
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file() or path == "/export":
            return 404, {}, b""
        body, headers = file.read_bytes(), {"Content-Encoding": "gzip"}
        if path.strip("/").count("/") % 2 == 0 and path.strip("/") and file.name == "index.html":
            members, start = sorted(json.loads(body).items()), int(query.get("from", 0))
            body = json.dumps(dict(members[start : start + size])).encode()
            if start + size < len(members):
                headers["Link"] = f'<{path}?from={start + size}>; rel="next"'
        return 200, headers, gzip.compress(body)

    with answering(answer) as url:
        yield url
