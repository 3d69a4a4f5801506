"""What a client of an older version writes it reads again, and what it reads it can write back without a change."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.model.messaging import MESSAGING
from postroom.registry.configuration.capabilities_update import reset_capabilities
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

Json = dict[str, Any]
NUMBERS = itertools.count()
VERSIONS = st.sampled_from(["1.0-rc2", "1.0-rc3"])
MANAGED = ("epoch", "createdat", "modifiedat")
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One registry for all examples: each of them writes into groups of its own."""
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('dialects')}/registry.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def asgi(store: Store) -> AsgiClient:
    return AsgiClient(create_app(store, Settings()))


words = st.text('abcdefgh äé%"', min_size=1, max_size=8).map(lambda text: text.strip() or "a")
labels = st.dictionaries(st.from_regex(r"[a-z][a-z0-9_.-]{0,6}", fullmatch=True), words, max_size=3)
urls = st.sampled_from(["https://ovens.localhost/a", "https://ovens.localhost/b?c=d#e"])


def optional(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Objects with some of the members."""
    return st.fixed_dictionaries({}, optional=members)


common = {"name": words, "description": words, "documentation": urls, "labels": labels}
deprecated = optional(documentation=urls, alternative=urls, removal=st.just("2031-05-01T00:00:00Z"))


@st.composite
def schemas(draw: st.DrawFn) -> Json:
    """A schema with Versions in any tree of ancestors."""
    count = draw(st.integers(1, 4))
    versions = {}
    for number in range(1, count + 1):
        ancestor = str(draw(st.integers(1, number)))
        content = draw(st.sampled_from([{"type": "string"}, {"type": "string", "ancestor": "1"}]))
        own = {"format": "Avro/1.11", "schema": content, "ancestorid": ancestor}
        versions[str(number)] = {**draw(optional(**common, extra=words)), **own}
    meta = draw(optional(deprecated=deprecated, labels=labels))
    if draw(st.booleans()):
        meta |= {"defaultversionid": str(draw(st.integers(1, count))), "defaultversionsticky": True}
    return {"meta": meta, "versions": versions}


@st.composite
def messages(draw: st.DrawFn) -> Json:
    base = draw(
        st.sampled_from(
            ["/messagegroups/g~0/messages/b", "https://ovens.localhost/m", "/messagegroups/a:b/messages/c@d"]
        )
    )
    return {
        **draw(optional(**common, datacontenttype=st.just("text/plain"))),
        **({"basemessage": base} if draw(st.booleans()) else {}),
    }


@st.composite
def endpoints(draw: st.DrawFn) -> Json:
    usage = draw(st.sampled_from([["producer"], ["consumer"], ["subscriber"], ["consumer", "subscriber"]]))
    brokers = st.sampled_from(["mqtt://ovens.localhost", "mqtts://ovens.localhost:8883"])
    addresses = st.lists(st.fixed_dictionaries({"uri": brokers}, optional={"region": words}), max_size=2)
    secrets = [{"type": "SASL", "mechanism": "PLAIN"}, {"type": "OAuth2", "resourceuri": "https://ovens.localhost/"}]
    grants = st.lists(st.sampled_from(secrets), max_size=2)
    options = draw(optional(endpoints=addresses, authorization=grants, deployed=st.booleans(), topicfilter=words))
    own = {"usage": usage, "protocol": "MQTT/5.0", "protocoloptions": options}
    return {**draw(optional(**common, deprecated=deprecated)), **own, "messages": {"m": draw(messages())}}


catalogs = st.fixed_dictionaries(
    {},
    optional={
        "schemagroups": st.fixed_dictionaries({"schemas": st.fixed_dictionaries({"oven": schemas()})}),
        "messagegroups": st.fixed_dictionaries(
            {"messages": st.fixed_dictionaries({"hot": messages()})}, optional=common
        ),
        "endpoints": endpoints(),
    },
)


def stored(document: Any) -> Any:
    """What is there, without what every write changes."""
    if not isinstance(document, dict):
        return document
    return {name: stored(one) for name, one in document.items() if name not in MANAGED}


def read(asgi: AsgiClient, paths: list[str], flag: str = "") -> Json:
    found = {}
    for path in paths:
        inline = "inline=messages.meta,messages" if "endpoints" in path or "messagegroups" in path else "inline"
        reply = asgi.ask("GET", f"{path}?{inline}{flag}")
        assert reply.status == 200, reply.body
        found[path] = reply.json
    return found


@FEW
@given(catalogs, VERSIONS)
def test_what_is_read_can_be_written_back(asgi: AsgiClient, catalog: Json, version: str) -> None:
    """Written natively, read and written back in an older version: nothing has changed."""
    one, flag = f"g{next(NUMBERS)}", f"&specversion={version}"
    written = asgi.ask("POST", "/", {kind: {one: group} for kind, group in catalog.items()})
    assert written.status == 200, written.body
    paths = [f"/{kind}/{one}" for kind in catalog]
    before = read(asgi, paths)
    shown = read(asgi, paths, flag)
    for path, document in shown.items():
        back = asgi.ask("PUT", f"{path}?{flag[1:]}", document)
        assert back.status == 200, back.body
    assert stored(read(asgi, paths)) == stored(before)
    assert stored(read(asgi, paths, flag)) == stored(shown)


def contains(shown: Any, written: Any) -> bool:
    """Whether an answer says all that was written; the server adds what it fills in."""
    if isinstance(written, dict):
        return isinstance(shown, dict) and all(
            name in shown and contains(shown[name], one) for name, one in written.items()
        )
    if isinstance(written, list):
        return isinstance(shown, list) and len(shown) == len(written) and all(map(contains, shown, written))
    return bool(shown == written)


def older(document: Any, version: str) -> Any:
    """A catalog of this page in the words of an older version, said without the code under test."""
    if isinstance(document, list):
        return [older(one, version) for one in document]
    if not isinstance(document, dict):
        return document
    made = {name: one if name in ("schema", "labels") else older(one, version) for name, one in document.items()}
    names = {"ancestorid": "ancestor", **({"uri": "url"} if version == "1.0-rc3" else {})}
    if version == "1.0-rc2":
        names["basemessage"] = "basemessageurl"
        if "usage" in made and len(made["usage"]) == 1:
            made["usage"] = made["usage"][0]
        if "alternative" in made or "removal" in made:
            names["documentation"] = "docs"
        if str(made.get("basemessage")).startswith("/"):
            made["basemessage"] = "#" + made["basemessage"].replace("~", "~0")
    return {names.get(name, name): one for name, one in made.items()}


@FEW
@given(catalogs, VERSIONS)
def test_what_is_written_is_read_again(asgi: AsgiClient, catalog: Json, version: str) -> None:
    """Written in an older version: read there with the same words, and natively with those of today."""
    one, flag = f"g{next(NUMBERS)}", f"&specversion={version}"
    theirs = older(catalog, version)
    written = asgi.ask("POST", f"/?{flag[1:]}", {kind: {one: group} for kind, group in theirs.items()})
    assert written.status == 200, written.body
    for kind in catalog:
        path = f"/{kind}/{one}"
        assert contains(read(asgi, [path], flag)[path], theirs[kind])
        assert contains(read(asgi, [path])[path], catalog[kind])


@FEW
@given(labels=labels, name=words, version=VERSIONS)
def test_headers_are_read_again(asgi: AsgiClient, labels: Json, name: str, version: str) -> None:
    """A document with the headers of an answer, sent back: nothing has changed."""
    target = f"/schemagroups/g{next(NUMBERS)}/schemas/oven/versions/1"
    body = {"format": "Avro/1.11", "schema": {"type": "string"}, "labels": labels, "name": name}
    assert asgi.ask("PUT", f"{target}$details", body).status == 201
    before, shown = asgi.ask("GET", f"{target}$details").json, asgi.ask("GET", f"{target}?specversion={version}")
    sent = {k: v for k, v in shown.headers.items() if k.startswith("xregistry-") or k == "content-type"}
    assert asgi.ask("PUT", f"{target}?specversion={version}", shown.body, sent).status == 200
    assert stored(asgi.ask("GET", f"{target}$details").json) == stored(before)


known = st.sampled_from(
    (
        *(
            "ancestor",
            "ancestorid",
            "versions",
            "meta",
            "schemas",
            "messages",
            "schemagroups",
            "endpoints",
            "deprecated",
        ),
        *("docs", "documentation", "usage", "protocol", "protocoloptions", "authorization", "compatibility", "url"),
        *("compatibilityauthority", "validation", "capabilities", "modelsource", "specversion", "groups", "resources"),
        *("attributes", "metaattributes", "ifvalues", "item", "apis", "flags", "mutable", "basemessageurl", "1"),
    )
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "1", "none", "server", "#/a", "string", "*"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(known, inner, max_size=4),
    max_leaves=12,
)
places = st.sampled_from(
    (
        *("/", "/schemagroups", "/schemagroups/x", "/schemagroups/x/schemas/y$details", "/endpoints", "/endpoints/e"),
        *("/schemagroups/x/schemas/y/meta", "/schemagroups/x/schemas/y/versions", "/messagegroups/g/messages/m"),
        *("/modelsource", "/capabilities", "/model", "/export", "/match", "/nothing"),
    )
)


@settings(FEW, max_examples=100)
@given(st.sampled_from(["PUT", "PATCH", "POST", "DELETE"]), places, anything, VERSIONS)
def test_no_body_is_too_odd(store: Store, asgi: AsgiClient, method: str, place: str, body: Any, version: str) -> None:
    """Whatever is written, it is not the server that fails."""
    reply = asgi.ask(method, f"{place}?specversion={version}", body)
    assert reply.status < 500, reply.body
    if reply.status == 200 and place in ("/", "/modelsource", "/capabilities"):
        with store.write() as tx:
            reset_capabilities(tx)
        assert asgi.ask("PUT", "/modelsource", MESSAGING).status == 200
