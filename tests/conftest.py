"""Fixtures that several wings use, and the loud report of what this machine does not have."""

from __future__ import annotations

import logging
import os
import shutil
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from postroom.catalog import open_store as open_store_module
from postroom.catalog.catalog import Catalog, open_catalog
from postroom.store.interface import Store
from tests.absence import absent
from tests.http import running_service
from tests.postgres import postgres  # noqa: F401  # a fixture

ROOT = Path(__file__).parent.parent
DEMO_CATALOG = ROOT / "demo" / "catalog"
SHARED = ROOT.parent / "shared"
ON_POSTGRES = os.environ.get("TEST_STORE") == "postgresql"


# A run of the suite repeats the one before: what it proves does not depend on luck. `make search` looks further.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_configure(config: pytest.Config) -> None:
    # A developer's own settings must not leak into the tests.
    for name in [name for name in os.environ if name.startswith("POSTROOM_")]:
        del os.environ[name]


@pytest.fixture(scope="session", autouse=True)
def every_store_on_postgres(request: pytest.FixtureRequest) -> Iterator[None]:
    """With TEST_STORE=postgresql, what tests open or serve as a SQLite file is a registry in PostgreSQL instead."""
    if not ON_POSTGRES:
        yield
        return
    server = request.getfixturevalue("postgres")
    located: dict[str, str] = {}

    def locate(url: str) -> str:
        if url.startswith("sqlite:") and url not in located:
            located[url] = server.registry()
        return located.get(url, url)

    def opened(url: str, create: bool, *more: Any) -> Store:
        if not create and url not in located:
            return opened_file(url, create, *more)
        return open_store_module._open_postgres(locate(url), create, *more)

    opened_file = open_store_module._open_sqlite
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_store_module, "_open_sqlite", opened)
        patch.setattr(running_service, "locate", locate)
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On PostgreSQL leave out what is about the SQLite file itself; with TEST_SHARE=N run one in N, always the same."""
    share = int(os.environ.get("TEST_SHARE", "1"))
    kept, left_out = [], []
    for item in items:
        is_about_files = ON_POSTGRES and item.get_closest_marker("sqlite") is not None
        is_chosen = zlib.crc32(item.nodeid.encode()) % share == 0
        (kept if is_chosen and not is_about_files else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Leave the log as it was: a command that runs in this process sets it up, and later tests would hear nothing."""
    logger = logging.getLogger("postroom")
    before = list(logger.handlers), logger.level, logger.propagate
    try:
        return (yield)
    finally:
        logger.handlers, level, logger.propagate = before
        logger.setLevel(level)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = sorted({str(report.longrepr[2]) for report in skipped if isinstance(report.longrepr, tuple)})
    missing = [reason for reason in reasons if "NOT HERE" in reason]
    if missing:
        terminalreporter.section("NOT TESTED ON THIS MACHINE", sep="!")
        for reason in missing:
            terminalreporter.line(reason.removeprefix("Skipped: "))


@pytest.fixture(scope="session")
def system_program() -> Callable[[str], str]:
    """Find a program that only the operating system's packages give; CI requires it, elsewhere it is reported."""

    def find(name: str) -> str:
        found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
        if found is None:
            absent(name, f"its tests did not run (apt-get install {name})")
        return found

    return find


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real catalogs and events beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("NOT HERE: ../shared; the checks against real catalogs and events did not run")
    return SHARED


@pytest.fixture(scope="session")
def demo_catalog() -> Catalog:
    return open_catalog(str(DEMO_CATALOG))
