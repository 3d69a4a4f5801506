from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.pipeline.lake.folder_names import folder_of, id_of

ids = st.text(alphabet=string.ascii_letters + string.digits + "-._~:@%", min_size=1, max_size=128)


@pytest.mark.parametrize(
    ("identifier", "folder"),
    [
        ("order.placed", "order.placed"),
        ("urn:orders", "urn~3Aorders"),
        ("orders@2", "orders~402"),
        ("_ledger", "~5Fledger"),
        (".hidden", "~2Ehidden"),
        ("100%", "100~25"),
        ("a~b", "a~7Eb"),
        ("a_b.c", "a_b.c"),
        ("a\0b\n", "a~00b~0A"),
        ("../a/b\\", "~2E.~2Fa~2Fb~5C"),
        ("", "~"),
    ],
)
def test_ids_become_folder_names(identifier: str, folder: str) -> None:
    assert folder_of(identifier) == folder


@given(st.text(min_size=100), st.text(min_size=100))
def test_every_id_has_a_folder_of_its_own(one: str, other: str) -> None:
    names = {folder_of("x" * 200 + identifier) for identifier in (one, other)}
    assert len(names) == len({one, other})
    for name in names:
        assert len(name.encode()) <= 250
        assert not set(name) & set("/\0\n")


@given(ids.filter(lambda identifier: len(identifier) < 80))
def test_folder_names_lead_back_to_the_id(identifier: str) -> None:
    folder = folder_of(identifier)
    assert id_of(folder) == identifier
    assert not folder.startswith(("_", "."))
    assert not set(folder) & set(":@%/")
