from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.pipeline.names import folder_of, id_of

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
    ],
)
def test_ids_become_folder_names(identifier: str, folder: str) -> None:
    assert folder_of(identifier) == folder


@given(ids)
def test_folder_names_lead_back_to_the_id(identifier: str) -> None:
    folder = folder_of(identifier)
    assert id_of(folder) == identifier
    assert not folder.startswith(("_", "."))
    assert not set(folder) & set(":@%/")
