"""What this machine does not have: CI requires it, elsewhere the test is skipped and the end of the run says so."""

from __future__ import annotations

import importlib
import os
from typing import Any, NoReturn

import pytest


def absent(what: str, remedy: str) -> NoReturn:
    """Skip the test, or fail it on CI, because something outside the project is missing."""
    text = f"NOT HERE: {what}; {remedy}"
    if os.environ.get("REQUIRE_SYSTEM_PACKAGES"):
        pytest.fail(text)
    pytest.skip(text, allow_module_level=True)


def amqp_client(module: str = "proton") -> Any:
    """The AMQP 1.0 client, or a module of it: the one library of the tests that needs a C compiler to install."""
    try:
        return importlib.import_module(module)
    except ImportError:
        absent("python-qpid-proton", "the tests of AMQP did not run (`make setup` says why)")
