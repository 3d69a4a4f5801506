"""Panics of the validator's Rust code, which Python sees as exceptions outside of its own tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


def is_panic(error: BaseException) -> bool:
    """Whether the Rust code of the validator gave up; Python has no class of its own for that."""
    return type(error).__name__ == "PanicException"


@contextmanager
def panics_as(refusal: Exception) -> Iterator[None]:
    """Turn a panic into a plain refusal."""
    try:
        yield
    except BaseException as error:
        if not is_panic(error):
            raise
        raise refusal from None
