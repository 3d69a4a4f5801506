"""How long the command line takes to answer, against an interpreter that does nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Ratio, cpu_of_command, ratio

POSTROOM = str(Path(sys.executable).with_name("postroom"))


def measure() -> Iterator[Ratio]:
    """`postroom --help` and `postroom --version`."""
    for flag in ("--help", "--version"):
        yield ratio(
            f"postroom {flag} / python -c pass",
            lambda flag=flag: cpu_of_command([POSTROOM, flag]),  # type: ignore[misc]  # bound early on purpose
            lambda: cpu_of_command([sys.executable, "-c", "pass"]),
            8 if flag == "--help" else None,
            rounds=15,
        )
