"""Whatever sends HTTP requests goes through `postroom.outbound`, so that its policy holds for all of them."""

from __future__ import annotations

import ast
from pathlib import Path

import postroom

SENDING = ("httpx", "httpcore", "http.client", "urllib.request", "requests", "urllib3", "aiohttp")
SOURCE = Path(postroom.__file__).parent


def imported_modules(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def sends(module: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in SENDING)


def test_only_the_outbound_package_imports_http_clients() -> None:
    importing = {file.relative_to(SOURCE) for file in SOURCE.rglob("*.py") if any(map(sends, imported_modules(file)))}
    assert {path.parts[0] for path in importing} == {"outbound"}
