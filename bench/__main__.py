"""`make bench`: every measurement, one ratio a line."""

from __future__ import annotations

import importlib

PARTS = (
    *(
        "startup",
        "matching",
        "formats",
        "documents",
        "serving",
        "writing",
        "latency",
        "changes",
        "delivery",
        "replication",
    ),
    "pipeline",
)


def main() -> None:
    """Run all parts."""
    print("CPU time as a ratio to a yardstick measured in turns in the same run (smaller is better):")
    for part in PARTS:
        print(part)
        for found in importlib.import_module(f"bench.{part}").measure():
            print(found, flush=True)


main()
