from __future__ import annotations

import pytest

from postroom.errors import SourceUnknown
from postroom.pipeline.sources.source import open_source


def test_sources_of_other_kinds_are_refused() -> None:
    with pytest.raises(SourceUnknown, match="cannot be read from ftp"):
        open_source("ftp://host/orders")
