"""`make bench`: every measurement, one ratio a line; `python -m bench PART…`: some of them."""

from __future__ import annotations

import importlib
import sys

PARTS = (
    *(
        "startup",
        "matching",
        "formats",
        "documents",
        "serving",
        "access",
        "writing",
        "latency",
        "changes",
        "delivery",
        "replication",
    ),
    "pipeline",
)


def main(chosen: list[str]) -> None:
    """Run the chosen parts, or all."""
    if unknown := [name for name in chosen if name not in PARTS]:
        sys.exit(f"bench: there is no part {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    print("CPU time as a ratio to a yardstick measured in turns in the same run (smaller is better):")
    for part in chosen or PARTS:
        print(part)
        for found in importlib.import_module(f"bench.{part}").measure():
            print(found, flush=True)


main(sys.argv[1:])
