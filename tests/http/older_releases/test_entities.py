"""`?specversion=1.0-rc2` and `1.0-rc3` on entities: the words of a client on both sides, today's in the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.http.requests import AsgiClient

AVRO = {"format": "Avro/1.11", "schema": {"type": "string"}}
GROUP, OVEN = "/schemagroups/kitchen", "/schemagroups/kitchen/schemas/oven"
VERSIONS = f"{OVEN}/versions"
OLDER = ("1.0-rc2", "1.0-rc3")
Json = dict[str, Any]


@pytest.fixture
def ovens(asgi: AsgiClient) -> AsgiClient:
    """A schema with two Versions, the second after the first."""
    labels = {"stage": "dev", "my-team": "bakers"}
    body = {"1": {**AVRO, "ancestorid": "1"}, "2": {**AVRO, "ancestorid": "1", "labels": labels}}
    written = asgi.ask("POST", VERSIONS, body)
    assert written.status == 200, written.body
    return asgi


def said(asgi: AsgiClient, target: str, version: str) -> Any:
    """What a GET answers to a client of a version."""
    reply = asgi.ask("GET", f"{target}{'&' if '?' in target else '?'}specversion={version}")
    assert reply.status == 200, reply.body
    return reply.json


def names(document: Any) -> Iterator[str]:
    """All names in a document."""
    if isinstance(document, dict):
        yield from document
        for one in document.values():
            yield from names(one)


@pytest.mark.feature("FLAG-068", "REG-065")
@pytest.mark.parametrize(
    ("asked", "spoken"),
    [
        *(("1.0-rc2", "1.0-rc2"), ("1.0-RC2", "1.0-rc2"), ("v1.0.4-rc2", "1.0-rc2")),
        *(("1.0-rc3", "1.0-rc3"), ("1.0.0-Rc3", "1.0-rc3"), ("1.0-rc4", "1.0-rc4")),
    ],
)
def test_versions_are_asked_for_in_any_spelling(asgi: AsgiClient, asked: str, spoken: str) -> None:
    assert said(asgi, "/", asked)["specversion"] == spoken


@pytest.mark.feature("FLAG-068")
@pytest.mark.parametrize(
    ("query", "problem"),
    [
        *((f"specversion={one}", "unsupported_specversion") for one in ("1.0-rc1", "1.0-rc5", "1.0", "rc3", "0.5", "")),
        ("specversion=1.0-rc3&specversion=1.0-rc3", "bad_flag"),
        ("specversion=1.0-rc2&specversion=1.0-rc3", "bad_flag"),
    ],
)
def test_other_versions_and_several_are_refused(asgi: AsgiClient, query: str, problem: str) -> None:
    for path in ("/", "/schemagroups", "/model", "/modelsource", "/capabilities", "/export"):
        assert asgi.ask("GET", f"{path}?{query}").problem == problem


@pytest.mark.feature("FLAG-002", "CAP-009")
def test_a_registry_without_the_flag_does_not_see_it(ovens: AsgiClient) -> None:
    assert ovens.ask("PATCH", "/capabilities", {"flags": ["inline"]}).status == 200
    assert "ancestorid" in ovens.ask("GET", f"{VERSIONS}/2$details?specversion=1.0-rc2").json
    refused = ovens.ask("GET", "/schemagroups/none?specversion=1.0-rc2")
    assert refused.problem == "not_found"
    assert refused.json["subject"] == "/schemagroups/none"


PLACES = (
    "/?inline",
    "/?doc&inline",
    "/export",
    "/?collections",
    "/schemagroups?inline",
    f"{GROUP}?inline",
    f"{GROUP}?collections",
    f"{GROUP}/schemas",
    f"{OVEN}$details?inline=meta,versions",
    f"{OVEN}?doc&inline=versions",
    VERSIONS,
    f"{VERSIONS}/2$details",
)


@pytest.mark.parametrize("version", OLDER)
def test_every_place_is_shown_in_the_words_of_the_version(ovens: AsgiClient, version: str) -> None:
    """B2: `ancestor` became `ancestorid`."""
    for target in PLACES:
        shown = set(names(said(ovens, target, version)))
        assert "ancestor" in shown, target
        assert "ancestorid" not in shown, target
        has_checks = version == "1.0-rc3" and "doc" not in target and target != "/export"
        assert ("formatvalidated" in shown) == has_checks, target


WRITES: list[tuple[str, str, Any]] = [
    ("PUT", "/", {"schemagroups": {"kitchen": {"schemas": {"oven": {"versions": {"1": AVRO, "2": 2}}}}}}),
    ("PATCH", "/", {"schemagroups": {"kitchen": {"schemas": {"oven": {"versions": {"1": AVRO, "2": 2}}}}}}),
    ("POST", "/", {"schemagroups": {"kitchen": {"schemas": {"oven": {"versions": {"1": AVRO, "2": 2}}}}}}),
    ("POST", "/schemagroups", {"kitchen": {"schemas": {"oven": {"versions": {"1": AVRO, "2": 2}}}}}),
    ("PATCH", "/schemagroups", {"kitchen": {"schemas": {"oven": {"versions": {"1": AVRO, "2": 2}}}}}),
    ("PUT", GROUP, {"schemas": {"oven": {"versions": {"1": AVRO, "2": 2}}}}),
    ("PATCH", GROUP, {"schemas": {"oven": {"versions": {"1": AVRO, "2": 2}}}}),
    ("POST", GROUP, {"schemas": {"oven": {"versions": {"1": AVRO, "2": 2}}}}),
    ("POST", f"{GROUP}/schemas", {"oven": {"versions": {"1": AVRO, "2": 2}}}),
    ("PATCH", f"{GROUP}/schemas", {"oven": {"versions": {"1": AVRO, "2": 2}}}),
    ("PUT", f"{OVEN}$details", {"versions": {"1": AVRO, "2": 2}}),
    ("PATCH", f"{OVEN}$details", {"versions": {"1": AVRO, "2": 2}}),
    ("PUT", f"{OVEN}?doc", {"versions": {"1": AVRO, "2": 2}}),
    ("POST", f"{OVEN}$details", 2),
    ("POST", VERSIONS, {"1": AVRO, "2": 2}),
    ("PATCH", VERSIONS, {"1": AVRO, "2": 2}),
    ("PUT", f"{VERSIONS}/2$details", 2),
    ("PATCH", f"{VERSIONS}/2$details", 2),
]


def with_second(body: Any, second: Json) -> Any:
    """A body of the table above: where it says 2, the second Version comes."""
    if body == 2:
        return second
    return {name: with_second(one, second) for name, one in body.items()} if isinstance(body, dict) else body


@pytest.mark.feature("FLAG-067")
@pytest.mark.parametrize("version", [*OLDER, "1.0-rc4", ""])
def test_every_write_reads_the_older_name(asgi: AsgiClient, version: str) -> None:
    assert asgi.ask("PUT", f"{VERSIONS}/1$details", AVRO).status == 201
    second = {**AVRO, "versionid": "2", "ancestor": "2"}  # a root of its own: not what the server would choose
    for method, target, body in WRITES:
        flag = f"{'&' if '?' in target else '?'}specversion={version}" if version else ""
        reply = asgi.ask(method, target + flag, with_second(body, second))
        assert reply.status in (200, 201), (method, target, reply.body)
        native = asgi.ask("GET", f"{VERSIONS}/2$details").json
        assert native["ancestorid"] == "2", (method, target)
        assert "ancestor" not in native
        assert asgi.ask("DELETE", f"{VERSIONS}/2").status == 204


@pytest.mark.feature("FLAG-067", "RES-026")
@pytest.mark.parametrize("version", OLDER)
def test_attributes_of_documents_are_headers_with_the_names_of_the_version(ovens: AsgiClient, version: str) -> None:
    """B2: `xRegistry-ancestor`. rc2, Serializing Resource Documents: a hyphen before the key of a map."""
    for target in (OVEN, f"{VERSIONS}/2"):
        shown = ovens.ask("GET", f"{target}?specversion={version}").headers
        mark = "-" if version == "1.0-rc2" else "."
        assert shown["xregistry-ancestor"] == "1"
        assert (shown[f"xregistry-labels{mark}stage"], shown[f"xregistry-labels{mark}my-team"]) == ("dev", "bakers")
        assert "xregistry-ancestorid" not in shown
        assert ("xregistry-formatvalidated" in shown) == (version == "1.0-rc3")


@pytest.mark.feature("FLAG-067", "RES-026")
@pytest.mark.parametrize("version", [*OLDER, ""])
@pytest.mark.parametrize(("method", "target"), [("PUT", f"{VERSIONS}/3"), ("POST", OVEN)])
def test_document_writes_take_headers_of_the_version(ovens: AsgiClient, method: str, target: str, version: str) -> None:
    mark = "-" if version == "1.0-rc2" else "."
    headers = {
        "xRegistry-versionid": "3",
        "xRegistry-ancestor": "1",
        "xRegistry-format": "Avro/1.11",
        f"xRegistry-labels{mark}my-team": "cooks",
        "Content-Type": "application/json",
    }
    flag = f"?specversion={version}" if version else ""
    content = b'{"ancestor": "2", "type": "string"}'
    reply = ovens.ask(method, target + flag, content, headers)
    assert reply.status == 201, reply.body
    assert reply.body == content
    assert reply.headers["xregistry-ancestor" if version else "xregistry-ancestorid"] == "1"
    native = ovens.ask("GET", f"{VERSIONS}/3$details").json
    assert (native["ancestorid"], native["labels"]) == ("1", {"my-team": "cooks"})


def test_a_document_is_never_translated(ovens: AsgiClient) -> None:
    content = {"ancestor": "1", "ancestorid": "2", "basemessageurl": "#/x", "type": "string"}
    for version in (*OLDER, "1.0-rc4"):
        target = f"{VERSIONS}/1$details"
        written = ovens.ask("PATCH", f"{target}?specversion={version}", {"schema": content})
        assert written.status == 200, written.body
        assert said(ovens, f"{target}?inline=schema", version)["schema"] == content


@pytest.mark.parametrize("version", OLDER)
def test_flags_name_attributes_as_the_version_does(ovens: AsgiClient, version: str) -> None:
    found = {
        "filter=ancestor=1": ["1", "2"],
        "filter=name=x,ancestor=1": [],
        "filter=ancestor": ["1", "2"],
        "filter=ancestor=null": [],
        "filter=ancestorid=1": ["1", "2"],
        "filter=labels.stage=dev,ancestor=1": ["2"],
        "sort=ancestor=desc": ["2", "1"],
    }
    for flag, ids in found.items():
        assert list(said(ovens, f"{VERSIONS}?{flag}", version)) == ids, flag
    filtered = "/?inline=schemagroups.schemas.versions&filter=schemagroups.schemas.versions.ancestor"
    assert "oven" in said(ovens, f"{filtered}=1", version)["schemagroups"]["kitchen"]["schemas"]
    assert ovens.ask("GET", f"{filtered}=2&specversion={version}").status == 404


def test_pages_lead_to_pages_of_the_same_version(ovens: AsgiClient) -> None:
    assert ovens.ask("PATCH", "/capabilities", {"pagination": True}).status == 200
    first = ovens.ask("GET", f"{VERSIONS}?limit=1&specversion=1.0-rc3")
    assert "specversion=1.0-rc3" in first.headers["link"].partition("rel=next")[0]


ENDPOINT_WORDS = [
    ("1.0-rc2", {"usage": "producer"}, {"usage": ["producer"]}),
    ("1.0-rc3", {"usage": ["producer"]}, {"usage": ["producer"]}),
    (
        "1.0-rc2",
        {"deprecated": {"docs": "https://ovens.localhost/gone"}},
        {"deprecated": {"documentation": "https://ovens.localhost/gone"}},
    ),
]
OPTIONS = {
    "endpoints": [{"url": "https://ovens.localhost/hot"}],
    "authorization": [{"type": "OAuth2", "resourceurl": "https://ovens.localhost/"}],
}
TODAY = {
    "endpoints": [{"uri": "https://ovens.localhost/hot"}],
    "authorization": [{"type": "OAuth2", "resourceuri": "https://ovens.localhost/"}],
}


@pytest.mark.feature("EP-021")
@pytest.mark.parametrize(("version", "theirs", "ours"), ENDPOINT_WORDS)
@pytest.mark.parametrize(("options", "deployed"), [({}, False), ({"deployed": True}, True)])
def test_endpoints(asgi: AsgiClient, version: str, theirs: Json, ours: Json, options: Json, deployed: bool) -> None:
    """A3: one usage, not deployed unless it says so; addresses are `url` in rc3 and `uri` in the text of rc2; C-34."""
    body = {"usage": ["producer"], "protocol": "HTTP", "protocoloptions": {**OPTIONS, **options}, **theirs}
    assert asgi.ask("PUT", f"/endpoints/hot?specversion={version}", body).status == 201
    native = asgi.ask("GET", "/endpoints/hot").json
    assert native.items() >= ours.items()
    assert native["protocoloptions"].items() >= {**TODAY, "deployed": deployed}.items()
    shown = said(asgi, "/endpoints/hot", version)
    assert shown["usage"] == ("producer" if version == "1.0-rc2" else ["producer"])
    assert shown["protocoloptions"]["endpoints"] == (OPTIONS if version == "1.0-rc3" else TODAY)["endpoints"]
    assert shown["protocoloptions"]["deployed"] is deployed
    if "deprecated" in ours:
        assert set(shown["deprecated"]) == {"docs", "documentation"}


def test_an_endpoint_with_two_usages_keeps_both(asgi: AsgiClient) -> None:
    """1.0-rc2 has one usage; a half of two would be all that is left after the client writes it back."""
    both = {"usage": ["subscriber", "consumer"], "protocol": "MQTT/5.0"}
    assert asgi.ask("PUT", "/endpoints/hot", both).status == 201
    shown = said(asgi, "/endpoints/hot", "1.0-rc2")
    assert asgi.ask("PUT", "/endpoints/hot?specversion=1.0-rc2", shown).status == 200
    assert asgi.ask("GET", "/endpoints/hot").json["usage"] == both["usage"]


def test_a_group_type_that_only_shares_the_name_is_no_endpoint(asgi: AsgiClient) -> None:
    own = {"groups": {"endpoints": {"singular": "endpoint", "attributes": {"protocoloptions": {"type": "any"}}}}}
    assert asgi.ask("PUT", "/modelsource", own).status == 200
    body = {"protocoloptions": {"endpoints": [{"url": "x"}]}}
    assert asgi.ask("PUT", "/endpoints/hot?specversion=1.0-rc3", body).status == 201
    assert asgi.ask("GET", "/endpoints/hot").json["protocoloptions"] == body["protocoloptions"]


@pytest.mark.feature("FLAG-067")
@pytest.mark.parametrize("version", [*OLDER, ""])
def test_a_model_that_declares_the_older_name_means_its_own(asgi: AsgiClient, version: str) -> None:
    kind = {"singular": "file", "hasdocument": False, "attributes": {"ancestor": {"type": "string"}}}
    model = {"groups": {"dirs": {"singular": "dir", "resources": {"files": kind}}}}
    assert asgi.ask("PUT", "/modelsource", model).status == 200
    flag = f"?specversion={version}" if version else ""
    assert asgi.ask("PUT", f"/dirs/d/files/f{flag}", {"ancestor": "Grandma"}).status == 201
    shown = asgi.ask("GET", f"/dirs/d/files/f{flag}").json
    assert (shown["ancestor"], shown["ancestorid"]) == ("Grandma", "1")


@pytest.mark.parametrize("version", OLDER)
def test_types_that_come_with_the_request(asgi: AsgiClient, version: str) -> None:
    model = {"groups": {"dirs": {"singular": "dir", "resources": {"files": {"singular": "file"}}}}}
    versions = {"1": {"ancestor": "1"}, "2": {"ancestor": "2"}}
    body = {"modelsource": model, "dirs": {"d": {"files": {"f": {"versions": versions}}}}}
    assert asgi.ask("PUT", f"/?specversion={version}", body).status == 200
    assert asgi.ask("GET", "/dirs/d/files/f/versions/2$details").json["ancestorid"] == "2"


BASES = [
    ("1.0-rc2", "basemessageurl", "#/messagegroups/g/messages/base"),
    ("1.0-rc2", "basemessage", "/messagegroups/g/messages/base"),
    ("1.0-rc3", "basemessage", "/messagegroups/g/messages/base"),
    ("1.0-rc3", "basemessageuri", "/messagegroups/g/messages/base"),
]


@pytest.mark.parametrize(("version", "name", "value"), BASES)
def test_base_messages(asgi: AsgiClient, version: str, name: str, value: str) -> None:
    """A5: the tag of 1.0-rc2 has a pointer, `basemessageurl`; C-01: the other names are read, too."""
    message = "/messagegroups/g/messages/hot"
    assert asgi.ask("PUT", f"{message}?specversion={version}", {name: value}).status == 201
    assert asgi.ask("GET", message).json["basemessage"] == "/messagegroups/g/messages/base"
    shown = said(asgi, message, version)
    theirs = "basemessageurl" if version == "1.0-rc2" else "basemessage"
    assert shown[theirs] == ("#" if version == "1.0-rc2" else "") + "/messagegroups/g/messages/base"


@pytest.mark.feature("META-007")
def test_compatibility_of_the_first_version(ovens: AsgiClient) -> None:
    """B1: `compatibility` is required, `none` by default; who checks it, and `validation`, stand in `meta`; C-51."""
    assert said(ovens, f"{OVEN}/meta", "1.0-rc2").items() >= {"compatibility": "none", "validation": True}.items()
    target = f"{OVEN}/meta?specversion=1.0-rc2"
    written = ovens.ask("PATCH", target, {"compatibility": "backward", "compatibilityauthority": "external"})
    assert written.json.items() >= {"compatibility": "backward", "compatibilityauthority": "server"}.items()
    native = ovens.ask("GET", f"{OVEN}/meta").json
    assert native["compatibility"] == "backward"
    assert not {"compatibilityauthority", "validation"} & native.keys()
    assert "compatibilityauthority" not in said(ovens, f"{OVEN}/meta", "1.0-rc3")
    assert "compatibilityauthority" not in ovens.ask("PATCH", target, {"compatibility": "none"}).json
    assert "compatibility" not in ovens.ask("GET", f"{OVEN}/meta").json


def test_a_reference_says_nothing_of_its_own(ovens: AsgiClient) -> None:
    borrowed = f"{GROUP}/schemas/stove"
    assert ovens.ask("PUT", f"{borrowed}/meta", {"xref": OVEN}).status == 201
    meta = said(ovens, f"{borrowed}?doc&inline=meta", "1.0-rc2")["meta"]
    assert set(meta) == {"schemaid", "self", "xid", "xref"}


BAD_ADDRESS = {"protocol": "HTTP", "protocoloptions": {"endpoints": [{"url": 5}]}}
DEPRECATED = {"documentation": "https://ovens.localhost/a", "docs": "https://ovens.localhost/b"}
MISTAKES: list[tuple[str, str, Any, str]] = [
    (f"{VERSIONS}/2$details", "1.0-rc3", {"ancestor": "1", "ancestorid": "2"}, "invalid_attribute"),
    (f"{VERSIONS}/2$details", "1.0-rc3", {"ancestor": "9"}, "unknown_id"),
    (f"{VERSIONS}/2$details", "1.0-rc3", {"ancestor": 1}, "invalid_attribute"),
    (f"{VERSIONS}/2$details", "1.0-rc3", [], "parsing_data"),
    (f"{VERSIONS}/2$details", "1.0-rc3", None, "parsing_data"),
    ("/endpoints/hot", "1.0-rc3", {"usage": 7}, "invalid_attribute"),
    ("/endpoints/hot", "1.0-rc3", {"usage": ["producer"], **BAD_ADDRESS}, "invalid_attribute"),
    (
        "/endpoints/hot",
        "1.0-rc3",
        {"usage": ["producer"], "protocoloptions": 7, "protocol": "HTTP"},
        "invalid_attribute",
    ),
]


@pytest.mark.parametrize(("target", "version", "body", "problem"), MISTAKES)
def test_mistakes_are_refused_and_nothing_is_written(
    ovens: AsgiClient, target: str, version: str, body: Any, problem: str
) -> None:
    before = ovens.ask("GET", "/export").json
    refused = ovens.ask("PATCH", f"{target}?specversion={version}", body)
    assert (refused.status, refused.problem) == (400, problem), refused.body
    assert "ancestorid" not in refused.json["title"] or problem == "invalid_attribute"
    assert ovens.ask("GET", "/export").json == before


@pytest.mark.parametrize(
    ("target", "body", "problem"),
    [
        (f"{OVEN}/meta", {"compatibilityauthority": "me"}, "invalid_data"),
        (f"{OVEN}/meta", {"validation": "yes"}, "invalid_data"),
        (f"{OVEN}/meta", {"deprecated": DEPRECATED}, "invalid_data"),
        (GROUP, {"deprecated": DEPRECATED}, "invalid_data"),
        (
            "/dirs/d/files/f/meta",
            {"compatibility": "full", "compatibilityauthority": "server"},
            "compatibility_violation",
        ),
    ],
)
def test_mistakes_in_words_of_the_first_version(ovens: AsgiClient, target: str, body: Json, problem: str) -> None:
    source = ovens.ask("GET", "/modelsource").json
    source["groups"]["dirs"] = {"singular": "dir", "resources": {"files": {"singular": "file"}}}
    assert ovens.ask("PUT", "/modelsource", source).status == 200
    assert ovens.ask("PUT", "/dirs/d/files/f$details", {}).status == 201
    refused = ovens.ask("PATCH", f"{target}?specversion=1.0-rc2", body)
    assert refused.status == 400
    assert refused.json["type"].endswith(f"#{problem}"), refused.body


@pytest.mark.parametrize("version", [*OLDER, ""])
def test_broken_bodies_meet_the_native_refusal(ovens: AsgiClient, version: str) -> None:
    flag = f"?specversion={version}" if version else ""
    for body in (b"{", b'{"ancestor": "1",}', b"\xff", b"[" * 5000, b'{"ancestor": "1", "ancestor": "1"}'):
        refused = ovens.ask("PUT", f"{VERSIONS}/2$details{flag}", body)
        assert refused.status == 400
        assert refused.json["type"].endswith("#bad_request" if version == "1.0-rc2" else "#parsing_data")


@pytest.mark.feature("FLAG-067")
def test_header_names_cannot_be_mixed(ovens: AsgiClient) -> None:
    headers = {"xRegistry-ancestor": "1", "xRegistry-ancestorid": "1"}
    assert ovens.ask("PUT", f"{VERSIONS}/2?specversion=1.0-rc3", b"{}", headers).problem == "header_error"


@pytest.mark.feature("FLAG-067")
def test_older_words_in_a_native_request(ovens: AsgiClient) -> None:
    """Only `ancestor` is read everywhere, and not beside its new name; the rest is for clients that name a version."""
    kind = {"singular": "file", "hasdocument": False}
    source = ovens.ask("GET", "/modelsource").json
    source["groups"]["dirs"] = {"singular": "dir", "resources": {"files": kind}}
    assert ovens.ask("PUT", "/modelsource", source).status == 200
    both = {"ancestor": "1", "ancestorid": "1", "versionid": "1"}
    assert ovens.ask("PUT", "/dirs/d/files/f", both).status == 201
    assert ovens.ask("PUT", "/dirs/d/files/f", {"ancestor": "7", "ancestorid": "1"}).problem == "unknown_attribute"
    assert ovens.ask("PUT", "/dirs/d/files/f/meta", {"compatibilityauthority": "server"}).problem == "unknown_attribute"
    assert ovens.ask("PATCH", "/capabilities", {"apis": ["/model"]}).problem == "capability_unknown"
    options = {"endpoints": [{"url": "https://ovens.localhost"}]}
    written = ovens.ask(
        "PUT", "/endpoints/hot", {"usage": ["producer"], "protocol": "HTTP", "protocoloptions": options}
    )
    assert written.json["protocoloptions"]["endpoints"] == options["endpoints"]  # kept as it is, and lint reports it


def test_problems_name_places_as_the_version_does(asgi: AsgiClient) -> None:
    refused = asgi.ask("PUT", "/endpoints/hot?specversion=1.0-rc3", {"usage": ["producer"], **BAD_ADDRESS})
    assert refused.json["pointer"] == "/protocoloptions/endpoints/0/url"
    assert refused.json["args"]["name"] == "protocoloptions.endpoints[0].url"


@pytest.mark.feature("FLAG-065")
@pytest.mark.parametrize("version", ["1.0-rc2", ""])
def test_flags_of_the_first_version(ovens: AsgiClient, version: str) -> None:
    """B1: four flags became values of `ignore`; an import of rc2 must not fail on its epochs, whoever sends it."""
    flag = f"&specversion={version}" if version else ""
    body = {"epoch": 99, "schemas": {"oven": {"meta": {"defaultversionid": "1", "defaultversionsticky": True}}}}
    refused = ovens.ask("PATCH", f"{GROUP}?{flag}", body)
    assert refused.json["type"].endswith("#mismatched_epoch")
    flags = "noepoch&nodefaultversionid&nodefaultversionsticky&noreadonly"
    assert ovens.ask("PATCH", f"{GROUP}?{flags}{flag}", body).status == 200
    meta = ovens.ask("GET", f"{OVEN}/meta").json
    assert (meta["defaultversionid"], meta["defaultversionsticky"]) == ("2", False)


@pytest.mark.feature("HTTP-006")
def test_an_empty_body_of_the_first_version_empties_an_entity(asgi: AsgiClient) -> None:
    """rc2, Creating or Updating Resources: without a document, nothing written means nothing there."""
    message = "/messagegroups/g/messages/hot"
    assert asgi.ask("PUT", message, {"name": "Hot"}).status == 201
    assert asgi.ask("PUT", f"{message}?specversion=1.0-rc3").problem == "missing_body"
    assert "name" not in asgi.ask("PUT", f"{message}?specversion=1.0-rc2").json


@pytest.mark.parametrize("version", OLDER)
def test_short_urls_stay_in_documents(ovens: AsgiClient, version: str) -> None:
    """B2: the document view has no `shortself` since 1.0-rc4."""
    assert "shortself" not in said(ovens, "/export", version)
    assert ovens.ask("PATCH", "/capabilities", {"shortself": True}).status == 200
    assert "shortself" not in set(names(ovens.ask("GET", f"{GROUP}?doc&inline").json))
    shown = said(ovens, "/export", version)
    group = shown["schemagroups"]["kitchen"]
    oven = group["schemas"]["oven"]
    entities = {
        "/": shown,
        GROUP: group,
        OVEN: oven,
        f"{OVEN}/meta": oven["meta"],
        f"{VERSIONS}/2": oven["versions"]["2"],
    }
    for xid, entity in entities.items():
        plain = ovens.ask("GET", f"{xid}{'$details' if 'schemas' in xid and 'meta' not in xid else ''}").json
        assert entity["shortself"] == plain["shortself"], xid


def test_the_first_version_exports_the_full_model(asgi: AsgiClient) -> None:
    """rc2, Exporting: `GET /?doc&inline=*,model,capabilities`; since rc3 it is the model source."""
    assert {"model", "modelsource", "capabilities"} & said(asgi, "/export", "1.0-rc2").keys() == {
        "model",
        "capabilities",
    }
    assert {"model", "modelsource"} & said(asgi, "/export", "1.0-rc3").keys() == {"modelsource"}
    assert "model" not in said(asgi, "/export?inline=schemagroups", "1.0-rc2")
    available = {"capabilities": {"mutable": True}, "export": {}, "entities": {"mutable": True}}
    assert asgi.ask("PATCH", "/capabilities", {"available": available}).status == 200
    assert "model" not in said(asgi, "/export", "1.0-rc2")


@pytest.mark.parametrize("version", OLDER)
def test_a_condition_is_about_what_the_client_was_shown(ovens: AsgiClient, version: str) -> None:
    target = f"{VERSIONS}/2$details?specversion={version}"
    shown = ovens.ask("GET", target)
    assert shown.headers["etag"] != ovens.ask("GET", f"{VERSIONS}/2$details").headers["etag"]
    condition = {"If-Match": shown.headers["etag"]}
    assert ovens.ask("PATCH", target, {"name": "Second"}, condition).status == 200
    assert ovens.ask("PATCH", target, {"name": "Third"}, condition).status == 412


@pytest.mark.parametrize("version", OLDER)
def test_services_beside_the_registry_speak_no_versions(ovens: AsgiClient, version: str) -> None:
    for path in ("/healthz", "/readyz", "/.xregistry", "/.well-known/xregistry"):
        assert ovens.ask("GET", f"{path}?specversion={version}").json == ovens.ask("GET", path).json
    assert ovens.ask("OPTIONS", f"/schemagroups?specversion={version}").headers["allow"]
