"""Links between pages lead somewhere, and every page can be found in the navigation."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.sessions import ROOT

DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]

ONLY = ("only-light", "only-dark")
"""What the site knows of a picture by its anchor."""
MOST_BYTES = 150_000

_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|href|srcset)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#+ +(.+?)(?: *\{#([\w-]+)\})?$", re.MULTILINE)


def _prose(page: Path) -> str:
    return re.sub(r"`[^`\n]+`\]", "code]", _FENCE.sub("", page.read_text()))


def _links(page: Path) -> Iterator[str]:
    for markdown, html in _LINK.findall(_prose(page)):
        target = markdown or html
        if not re.match(r"[a-z]+:", target):
            yield target


def _anchors(page: Path) -> set[str]:
    return {given or _slug(title) for title, given in _HEADING.findall(_FENCE.sub("", page.read_text()))}


def _slug(title: str) -> str:
    words = re.sub(r"[^\w\s-]", "", title.replace("`", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in _links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in (ONLY if target.suffix == ".png" else _anchors(target)), link


def test_pages_of_the_site_link_only_inside_it() -> None:
    # A link out of docs/ works in a checkout and is dead on the site.
    for page in sorted(DOCS.rglob("*.md")):
        for link in _links(page):
            path = link.partition("#")[0]
            assert not path or (page.parent / path).resolve().is_relative_to(DOCS), f"{page.name}: {link}"


def _navigated(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for target in entry.values() if isinstance(entry, dict) else [entry]:
            if isinstance(target, list):
                yield from _navigated(target)
            else:
                yield target


def test_every_page_is_in_the_navigation() -> None:
    project = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]
    assert sorted(_navigated(project["nav"])) == sorted(str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md"))


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    zensical = shutil.which("zensical", path=str(Path(sys.executable).parent))
    assert zensical
    built = subprocess.run([zensical, "build", "--strict"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert (tmp_path / "site" / "index.html").exists()


def test_pictures_are_small_and_shown() -> None:
    shown = {(page.parent / link.partition("#")[0]).resolve() for page in PAGES for link in _links(page)}
    for picture in (DOCS / "assets").glob("*.png"):
        assert picture.stat().st_size <= MOST_BYTES, picture.name
        assert picture in shown, picture.name
