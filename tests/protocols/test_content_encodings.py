"""Content encodings: what is packed comes out again, within limits."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.protocols import content_encodings
from postroom.protocols.content_encodings import EncodingFault, pack, unpack

CODINGS = ("gzip", "deflate", "zstd", "br")
pytestmark = pytest.mark.audit("messages-D4")


@given(
    payload=st.binary(max_size=2000),
    stated=st.lists(st.sampled_from([*CODINGS, "x-gzip", "GZIP", "identity"]), max_size=3).map(", ".join),
)
def test_what_is_packed_comes_out_again(payload: bytes, stated: str) -> None:
    packed = pack(payload, stated)
    assert packed == pack(payload, stated)
    assert unpack(packed, stated, len(payload) + 1000) == payload


def test_encodings_of_other_senders_are_read() -> None:
    assert unpack(gzip.compress(b"ab") + gzip.compress(b"cd"), "gzip") == b"abcd"
    bare = zlib.compressobj(wbits=-15)
    assert unpack(bare.compress(b"ab") + bare.flush(), "deflate") == b"ab"


@pytest.mark.parametrize("stated", ["utf-8", "UTF-8", "us-ascii", "identity", ""])
def test_the_name_of_a_character_set_packs_nothing(stated: str) -> None:
    assert pack(b"{}", stated) == unpack(b"{}", stated) == b"{}"
    assert unpack(pack(b"{}", "gzip"), f"{stated}, gzip") == b"{}"


@pytest.mark.parametrize("coding", CODINGS)
def test_a_payload_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(coding: str) -> None:
    bomb = pack(bytes(30_000_000), coding)
    assert len(bomb) < 100_000
    with pytest.raises(EncodingFault) as refused:
        unpack(bomb, coding, 1_000_000)
    assert refused.value.code == "payload_too_large"
    with pytest.raises(EncodingFault) as refused:
        unpack(pack(bomb, coding), f"{coding}, {coding}", 1_000_000)
    assert refused.value.code == "payload_too_large"


def test_many_pieces_of_gzip_stay_within_the_limit_together() -> None:
    with pytest.raises(EncodingFault) as refused:
        unpack(gzip.compress(bytes(400)) * 3_000, "gzip", 1_000_000)
    assert refused.value.code == "payload_too_large"


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("damage", ["plain", "cut", "more"])
def test_a_payload_that_is_not_packed_as_it_says_is_broken(coding: str, damage: str) -> None:
    packed = pack(b'{"order": "A1"}', coding)
    sent = {"plain": b'{"order": "A1"}', "cut": packed[:-3], "more": packed + b"\x03xx"}[damage]
    with pytest.raises(EncodingFault) as refused:
        unpack(sent, coding)
    assert refused.value.code == "content_encoding_broken"


@pytest.mark.parametrize("stated", ["snappy", "gzip, lzma", "gzip,gzip,gzip,gzip,gzip"])
def test_an_unknown_encoding_has_a_code_of_its_own(stated: str) -> None:
    with pytest.raises(EncodingFault) as refused:
        unpack(b"x", stated)
    assert refused.value.code == "content_encoding_unknown"


def test_without_its_library_an_encoding_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    packed = pack(b"x", "zstd")
    monkeypatch.setattr(content_encodings.importlib, "import_module", missing)
    with pytest.raises(EncodingFault) as refused:
        unpack(packed, "zstd")
    assert (refused.value.code, refused.value.found) == ("content_encoding_unknown", "zstd")
    assert unpack(pack(b"x", "gzip"), "gzip") == b"x"
