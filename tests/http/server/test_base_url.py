from __future__ import annotations

from typing import Any

import pytest

from postroom.errors import BadSetting
from postroom.http.server.base_url import BaseUrlReader
from postroom.registry.problems import RegistryProblem

FORWARDED = {"x-forwarded-proto": "https", "x-forwarded-host": "registry.example", "x-forwarded-prefix": "/api"}


def base(trusted: tuple[str, ...] = (), peer: str = "10.0.0.7", scheme: str = "http", **headers: str) -> str:
    given = {name.replace("_", "-").encode(): value.encode("latin-1") for name, value in headers.items()}
    scope: dict[str, Any] = {"scheme": scheme, "client": (peer, 1), "root_path": ""}
    return BaseUrlReader(trusted).base(scope, given)


@pytest.mark.feature("HTTP-001", "REG-039")
@pytest.mark.parametrize(
    ("trusted", "peer", "headers", "expected"),
    [
        ((), "10.0.0.7", {}, "http://ovens.example:8080"),
        ((), "10.0.0.7", FORWARDED, "http://ovens.example:8080"),
        (("10.0.0.0/8",), "10.0.0.7", FORWARDED, "https://registry.example/api"),
        (("10.0.0.7",), "10.0.0.7", FORWARDED, "https://registry.example/api"),
        (("10.0.0.8",), "10.0.0.7", FORWARDED, "http://ovens.example:8080"),
        (("::1",), "::1", FORWARDED, "https://registry.example/api"),
        (("*",), "198.51.100.1", FORWARDED, "https://registry.example/api"),
        (("10.0.0.7",), "no address", FORWARDED, "http://ovens.example:8080"),
        (("*",), "10.0.0.7", {"x-forwarded-proto": "https, http"}, "https://ovens.example:8080"),
        (("*",), "10.0.0.7", {"x-forwarded-prefix": "/"}, "http://ovens.example:8080"),
    ],
)
def test_only_trusted_proxies_say_where_the_registry_is(
    trusted: tuple[str, ...], peer: str, headers: dict[str, str], expected: str
) -> None:
    assert base(trusted, peer, host="ovens.example:8080", **headers) == expected


@pytest.mark.parametrize("host", ["[::1]:8080", "127.0.0.1", "a-b.c_d", "localhost:1"])
def test_hosts_of_every_kind(host: str) -> None:
    assert base(host=host) == f"http://{host}"
    assert base() == "http://localhost"


@pytest.mark.parametrize("host", ["a b", 'x";y', "a/b", "x>;rel=evil", "a\r\nb", "ö", "h:999999", "[::1", "u@h"])
def test_a_host_that_is_none_is_refused(host: str) -> None:
    with pytest.raises(RegistryProblem, match="Host"):
        base(host=host)
    with pytest.raises(RegistryProblem, match="Host"):
        base(("*",), host="fine", x_forwarded_host=host)


@pytest.mark.parametrize(("name", "value"), [("x_forwarded_proto", "javascript"), ("x_forwarded_prefix", "//evil/x y")])
def test_what_a_proxy_says_is_checked_too(name: str, value: str) -> None:
    with pytest.raises(RegistryProblem, match="proxy"):
        base(("*",), host="fine", **{name: value})


def test_a_proxy_that_is_no_address_is_a_bad_setting() -> None:
    with pytest.raises(BadSetting, match="no address"):
        BaseUrlReader(("ovens",))
