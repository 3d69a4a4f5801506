from __future__ import annotations

import contextlib
import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.http.server.request_body import parse_json
from postroom.registry.problems import RegistryProblem

HEATED = "/messagegroups/ovens/messages/heated"


@pytest.mark.feature("REG-086", "HTTP-006", "REG-001")
@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        (b"", 400, "missing_body"),
        (b"  \n", 400, "missing_body"),
        (b"{", 400, "parsing_data"),
        (b'{"a": 1, "a": 2}', 400, "parsing_data"),
        (b'{"a": {"b": 1, "b": 1}}', 400, "parsing_data"),
        (b'{"name": "\xff"}', 400, "parsing_data"),
        (b'{"name": "\\ud800"}', 400, "parsing_data"),
        (b'{"a": NaN}', 400, "parsing_data"),
        (b'{"a": 1e400}', 400, "parsing_data"),
        (b'{"a": ' + b"9" * 5000 + b"}", 400, "parsing_data"),
        (b'{"a": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", 400, "parsing_data"),
        (b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", 400, "parsing_data"),
        (b"[]", 400, "parsing_data"),
        (b"null", 400, "parsing_data"),
        (b'"text"', 400, "parsing_data"),
        (b'{"epoch": 1180591620717411303424}', 201, ""),
        (b'{"a": 1180591620717411303424}', 201, ""),
        (b'{"a": "\\ud83d\\ude00"}', 201, ""),
        (b'\xef\xbb\xbf{"a": 1}', 201, ""),
        (b'{"a": "' + b"x" * 1_000_000 + b'"}', 201, ""),
        (b'{"description": "' + b"x" * 10_000 + b'"}', 400, "invalid_attribute"),
        (b'{"a": "' + b"x" * (17 * 1024 * 1024) + b'"}', 413, "bad_request"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_anything_can_arrive(client: httpx.Client, body: bytes, status: int, problem: str) -> None:
    answer = client.put(HEATED, content=body)
    assert answer.status_code == status
    if problem:
        assert answer.json()["type"].endswith("#" + problem)
        assert client.get("/messagegroups").json() == {}
    else:
        assert client.get(HEATED).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/messagegroups/%ff", "/messagegroups/a%2Fb", "//", "/messagegroups/../x", "/-/nothing", "/kitchens", "/model/x"],
)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_odd_paths_are_problems(client: httpx.Client, method: str, path: str) -> None:
    answer = client.request(method, str(client.base_url).rstrip("/") + path, content=b"{}")
    assert 400 <= answer.status_code < 500 or path == "//"
    assert answer.headers["content-type"].startswith("application/json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(JSON)
def test_json_is_read_as_it_is(value: object) -> None:
    import json

    assert parse_json(json.dumps(value).encode(), 128, "/") == value


@given(st.binary(max_size=40))
def test_bytes_are_json_or_a_problem(body: bytes) -> None:
    with contextlib.suppress(RegistryProblem):
        parse_json(body, 128, "/")


KEYS = st.sampled_from(("heat", "Heat", 'a"b', "\\", "ö", "\x7f", "{"))
SCALARS = KEYS | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none()


def json_of(value: object) -> str:
    """The text of a value in which objects are tuples of pairs, so that keys can be there twice."""
    if isinstance(value, list):
        return f"[{', '.join(map(json_of, value))}]"
    if isinstance(value, tuple):
        members = (f"{json.dumps(key, ensure_ascii=False)}: {json_of(one)}" for key, one in value)
        return f"{{{', '.join(members)}}}"
    return json.dumps(value, ensure_ascii=False)


def is_doubled(value: object) -> bool:
    if isinstance(value, tuple):
        return len({key for key, _ in value}) < len(value) or any(is_doubled(one) for _, one in value)
    return isinstance(value, list) and any(map(is_doubled, value))


@given(
    st.recursive(
        SCALARS, lambda inner: st.lists(inner) | st.lists(st.tuples(KEYS, inner), max_size=3).map(tuple), max_leaves=12
    )
)
def test_a_text_means_what_json_says_unless_a_key_is_there_twice(value: object) -> None:
    text = json_of(value)
    if is_doubled(value):
        with pytest.raises(RegistryProblem):
            parse_json(text.encode(), 100, "/")
    else:
        assert repr(parse_json(text.encode(), 100, "/")) == repr(json.loads(text))


@pytest.mark.parametrize("limit", [1, 2, 7])
@pytest.mark.parametrize("innermost", ["1", "[]", "{}"])
def test_nesting_is_counted_in_containers(limit: int, innermost: str) -> None:
    depth = limit - (innermost != "1")
    assert parse_json(f"{'[' * depth}{innermost}{']' * depth}".encode(), limit, "/") is not None
    with pytest.raises(RegistryProblem):
        parse_json(f"[{'[' * depth}{innermost}{']' * depth}]".encode(), limit, "/")
