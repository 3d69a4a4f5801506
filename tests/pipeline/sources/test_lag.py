from __future__ import annotations

import pytest

from postroom.pipeline.sources.lag import Lag, sized


@pytest.mark.parametrize(
    ("lag", "text"),
    [
        (Lag(records=1200), "1,200 behind"),
        (Lag(files=1, bytes=512), "1 file (512 B) to do"),
        (Lag(files=1200, bytes=3_400_000_000), "1,200 files (3.4 GB) to do"),
    ],
)
def test_lag_in_words(lag: Lag, text: str) -> None:
    assert lag
    assert str(lag) == text


def test_nothing_to_do_is_no_lag() -> None:
    assert not Lag()


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"), (10**19, "10000.0 PB")],
)
def test_bytes_for_people(count: int, text: str) -> None:
    assert sized(count) == text
