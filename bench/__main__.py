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
        "throughput",
        "tail",
        "access",
        "writing",
        "latency",
        "changes",
        "delivery",
        "replication",
        "schema_registry",
        "pages",
    ),
    "pipeline",
    "impact",
    "tidy",
    "cluster",
    "object_store",
)


def main(chosen: list[str]) -> None:
    """Run the chosen parts, or all."""
    if unknown := [name for name in chosen if name not in PARTS]:
        sys.exit(f"bench: there is no part {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    print("Measured in turns with a yardstick in the same run: × is cost, smaller is better; shares of rates are of 1:")
    for part in chosen or PARTS:
        print(part)
        for found in importlib.import_module(f"bench.{part}").measure():
            print(found, flush=True)


main(sys.argv[1:])
