from __future__ import annotations

from pathlib import Path

import pytest

from postroom.errors import FileMissing
from postroom.pipeline.sources import open_source


def test_a_followed_folder_may_be_empty_yet(tmp_path: Path) -> None:
    source = open_source(tmp_path)
    source.check(follow=True)
    with pytest.raises(FileMissing, match="no record files"):
        source.check(follow=False)
    with pytest.raises(FileMissing, match="no such file"):
        open_source(tmp_path / "nowhere").check(follow=True)
