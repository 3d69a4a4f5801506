"""Ids of records: a record gets the same one however often it is sorted, and no other record gets it.

- `<16 hexadecimal digits>-<position>`: the digest of where the record came from, and its place there: file and byte,
  topic with partition and offset, or, for rows that nobody gave a place, the batch and the row.
- `<32 hexadecimal digits>`: the digest of a key that the caller named.

A record that holds several messages has an id for each: `-<index>` follows.
"""

from __future__ import annotations

import hashlib
import re

_RECORD = "([0-9a-f]{32}|[0-9a-f]{16}--?[0-9]+)"
_ID = re.compile(f"{_RECORD}(?:-[0-9]+)?")
# The id of a message that came with others, as both Python and RE2 read it.
NUMBERED = f"^{_RECORD}-[0-9]+$"


def digest_of(origin: str) -> str:
    """The part of an id that says where its record came from."""
    return hashlib.sha256(origin.encode()).hexdigest()[:16]


def id_of_key(source: str, key: str) -> str:
    """The id of a record that its caller knows by a key."""
    return hashlib.sha256(f"{source}\0{key}".encode()).hexdigest()[:32]


def origin_of_rows(source: str, batch: str) -> str:
    """Where rows came from that have no place there: their numbers tell them apart in one batch only."""
    return f"{source}\0{batch}"


def origin_in_cluster(source: str, cluster: str) -> str:
    """A partition of a topic by its cluster, `kafka://<cluster>`, in place of the brokers that it was read through."""
    _, topic, partition = source.rsplit("/", 2)
    return f"{cluster}/{topic}/{partition}"


def id_of_message(record: str, index: int, several: bool) -> str:
    """The id of a message in a record."""
    return f"{record}-{index}" if several else record


def record_of(message: str) -> str:
    """The id of the record in which a message came; an id that others made stands for the record."""
    found = _ID.fullmatch(message)
    return found[1] if found else message
