"""Take the pictures of the web pages that the documentation shows, light and dark, from a service that runs.

make demo UI=1
.venv/bin/python scripts/screenshots.py http://127.0.0.1:PORT
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Literal

from playwright.sync_api import ViewportSize, sync_playwright

ASSETS = Path(__file__).parents[1] / "docs" / "assets"
POSITION = "/messagegroups/fleet.telemetry/messages/vehicle.telemetry.position"
PICTURES = {
    "definition": f"/ui{POSITION}",
    "graph": "/ui/-/graph?open=/messagegroups/fleet.telemetry",
    "dead-letters": "/ui/-/lake/dead?outcome=invalid",
}
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
SIZE = ViewportSize(width=1240, height=575)


def main() -> None:
    """Write `docs/assets/page-NAME-SCHEME.png` for each picture, in both schemes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("url", help="address of a service with the demonstration catalog and its lake")
    url = parser.parse_args().url.rstrip("/").removesuffix("/ui")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for scheme in SCHEMES:
            page = browser.new_context(color_scheme=scheme, viewport=SIZE).new_page()
            for name, path in PICTURES.items():
                page.goto(url + path)
                page.wait_for_load_state("networkidle")
                page.wait_for_selector("[aria-busy]", state="detached")
                page.screenshot(path=ASSETS / f"page-{name}-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
