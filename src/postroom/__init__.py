"""Postroom: a registry for message definitions, and what one can do with them.

import postroom
catalog = postroom.open_catalog("demo/catalog")
match = catalog.match({"specversion": "1.0", …})
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from postroom.errors import PostroomError
from postroom.version import VERSION

if TYPE_CHECKING:
    from postroom.catalog.catalog import Catalog, open_catalog

__all__ = ["Catalog", "PostroomError", "impact", "open_catalog"]
__version__ = VERSION


def __getattr__(name: str) -> Any:
    # Loaded on first use: `import postroom` alone stays cheap for the command line.
    if name in ("Catalog", "open_catalog"):
        from postroom.catalog import catalog

        return getattr(catalog, name)
    if name == "impact":
        import_module("postroom.pipeline.spark.session").require_spark()
        return import_module("postroom.pipeline.impact.study").impact
    raise AttributeError(f"module 'postroom' has no attribute {name!r}")
