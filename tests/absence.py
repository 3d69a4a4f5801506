"""What this machine does not have: CI requires it, elsewhere the test is skipped and the end of the run says so."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def absent(what: str, remedy: str) -> NoReturn:
    """Skip the test, or fail it on CI, because something outside the project is missing."""
    text = f"NOT HERE: {what}; {remedy}"
    if os.environ.get("REQUIRE_SYSTEM_PACKAGES"):
        pytest.fail(text)
    pytest.skip(text)
