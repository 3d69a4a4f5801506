"""Versions: numbers, ids, authorities and URIs (sections 2.2.1, 2.2.2, 2.2.5, 4.4)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.xregistry.dispatch import answer
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.messagecatalog.requests import HEATED, CatalogClient, varied
from tests.http.requests import Reply

BAKERY = "https://bakery.example/messagecatalog"
PATH = "ovens/messagedefinitions/heated"


@pytest.fixture(autouse=True)
def ovens(catalog: CatalogClient) -> None:
    catalog.group()


def look_up(catalog: CatalogClient, uri: str, method: str = "GET", at: str = "/messagedefinition") -> Reply:
    return catalog.ask(method, f"{at}?uri={quote(uri, safe='')}")


@pytest.mark.feature("CAT-004", "CAT-008", "CAT-025")
def test_versions_are_counted(catalog: CatalogClient) -> None:
    for number in range(1, 13):
        assert catalog.post(varied(subject=str(number))).json["version"] == number
    assert catalog.get(f"{PATH}/versions").json == list(range(1, 13))
    assert [catalog.get(f"{PATH}/versions/{one}").json["attributes"]["subject"] for one in (1, 9, 12)] == [
        "1",
        "9",
        "12",
    ]


@pytest.mark.feature("CAT-026")
@pytest.mark.parametrize("version", ["0", "3", "-1", "1.0", "x", "", "999999999999999999999999", "%31x", "²"])
def test_versions_that_are_not_there(catalog: CatalogClient, version: str) -> None:
    catalog.post()
    catalog.post()
    reply = catalog.ask("GET", f"/messagecatalog/{PATH}/versions/{version}".encode())
    assert reply.status == (404 if version else 200)
    if version == "3":
        assert reply.json["detail"] == "There are versions 1 to 2."
        assert reply.json["title"] == f"/messagecatalog/{PATH}/versions/3 does not exist."


def test_the_examples_of_the_text_say_version_too(catalog: CatalogClient) -> None:
    catalog.post()
    assert catalog.get(f"{PATH}/version/1").json == HEATED


@pytest.mark.feature("CAT-008")
def test_the_id_of_a_version_is_its_path_unless_one_is_given(catalog: CatalogClient) -> None:
    assert catalog.post().json["id"] == f"/messagecatalog/{PATH}/versions/1"
    assert catalog.post(Id="").json["id"] == f"/messagecatalog/{PATH}/versions/2"
    assert catalog.post(Id="342").json["id"] == "342"


@pytest.mark.feature("CAT-009", "CAT-007")
@pytest.mark.parametrize(
    ("authority", "version_id", "uri"),
    [
        # The five rows of the table in section 2.2.2, with our reading of three of them (C-72).
        ("", "342", "https://example.com/messagecatalog/342"),
        ("https://example.com/messagecatalog", "342", "https://example.com/messagecatalog/342"),
        (
            "http://messagecatalog.example.com/",
            "/mygroup/messagedefinitions/myMessage definition/versions/2",
            "http://messagecatalog.example.com/mygroup/messagedefinitions/myMessage%20definition/versions/2",
        ),
        (
            "http://messagecatalog.example.org/",
            "http://messagedefinitions.example.org/41751",
            "http://messagedefinitions.example.org/41751",
        ),
        ("urn:example:messagecatalog", "a1b2c3d4", "urn:example:messagecatalog:a1b2c3d4"),
    ],
)
def test_the_uri_of_a_version_and_the_look_up_by_it(
    catalog: CatalogClient, authority: str, version_id: str, uri: str
) -> None:
    def ask(method: str, target: str, body: object = b"") -> Reply:
        return catalog.ask(method, target, body, host=b"example.com", scheme="https", peer="127.0.0.1")

    query = f"?authority={quote(authority)}&id={quote(version_id)}"
    posted = ask("POST", f"/messagecatalog/{PATH}{query}", HEATED)
    assert (posted.status, posted.json["uri"]) == (201, uri)
    assert posted.json["authority"] == (authority or "https://example.com/messagecatalog")
    found = ask("GET", f"/messagedefinition?uri={quote(uri, safe='')}")
    assert (found.status, found.json) == (200, HEATED)
    assert found.headers["message-definition-uri"] == uri
    blank = ask("GET", f"/messagedefinition?uri={quote(uri.replace('%20', ' '), safe='')}")
    assert blank.body == found.body


@pytest.mark.feature("CAT-009")
def test_in_the_default_case_the_uri_is_where_the_version_is_read(catalog: CatalogClient) -> None:
    posted = catalog.post()
    uri = f"http://ovens.localhost/messagecatalog/{PATH}/versions/1"
    assert posted.json["uri"] == posted.headers["location"] == uri
    assert look_up(catalog, uri).json == HEATED


@pytest.mark.feature("CAT-027")
@pytest.mark.parametrize("at", ["/messagedefinition", "/messagecatalog/messagedefinition", "/-/messagedefinition"])
def test_a_version_is_found_by_its_uri(catalog: CatalogClient, at: str) -> None:
    catalog.post(Id=f"{BAKERY}/1", Authority=BAKERY)
    catalog.post(varied(subject="2"), Id=f"{BAKERY}/2")
    found = look_up(catalog, f"{BAKERY}/1", at=at)
    assert (found.status, found.json, found.headers["message-definition-version"]) == (200, HEATED, "1")
    head = look_up(catalog, f"{BAKERY}/2", "HEAD", at)
    assert (head.status, head.body, head.headers["message-definition-version"]) == (200, b"", "2")
    assert look_up(catalog, f"{BAKERY}/3", at=at).problem == "not_found"
    assert look_up(catalog, f"{BAKERY}/1", "DELETE", at).status == 405
    assert look_up(catalog, f"{BAKERY}/1", "OPTIONS", at).headers["allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.feature("CAT-027")
@pytest.mark.parametrize(
    "uri",
    [
        "http://[",
        "http://ovens.localhost/messagecatalog/ovens/messagedefinitions/heated/versions/7",
        "http://ovens.localhost/messagecatalog/ovens/messagedefinitions/heated",
        "http://ovens.localhost/messagecatalog/../messagegroups",
        "\x00\n",
        "x" * 9000,
        "::::",
    ],
)
def test_uris_that_nothing_has(catalog: CatalogClient, uri: str) -> None:
    catalog.post()
    assert look_up(catalog, uri).problem == "not_found"


@pytest.mark.feature("CAT-027")
@pytest.mark.parametrize("query", ["", "?uri=", "?url=x", "?uri=a&uri=b"])
def test_the_look_up_takes_one_uri(catalog: CatalogClient, query: str) -> None:
    assert catalog.ask("GET", f"/messagedefinition{query}").problem == "bad_request"
    assert catalog.ask("GET", f"/messagedefinition/x{query}").problem == "api_not_found"


def test_a_group_may_have_the_name_of_the_look_up(catalog: CatalogClient) -> None:
    catalog.group("messagedefinition")
    assert catalog.get("messagedefinition").json["id"] == "messagedefinition"
    assert look_up(catalog, BAKERY, at="/messagecatalog/messagedefinition").problem == "not_found"


@pytest.mark.feature("CAT-007")
def test_without_an_authority_the_catalog_has_it(catalog: CatalogClient) -> None:
    catalog.post(Authority="")
    assert catalog.get().headers["message-definition-authority"] == "http://ovens.localhost/messagecatalog"
    assert "authority" not in catalog.native()


@pytest.mark.feature("CAT-007", "CAT-009")
def test_what_is_imported_keeps_its_authority(catalog: CatalogClient) -> None:
    catalog.post(Authority=BAKERY, Id=f"{BAKERY}/{PATH}/versions/7")
    native = catalog.native()
    assert (native["authority"], native["versionuri"]) == (BAKERY, f"{BAKERY}/{PATH}/versions/7")
    second = catalog.post().json
    assert (second["authority"], second["version"]) == (BAKERY, 2)
    assert second["uri"] == f"https://bakery.example/messagecatalog/{PATH}/versions/2"
    assert look_up(catalog, second["uri"]).headers["message-definition-version"] == "2"


@pytest.mark.feature("CAT-007")
@pytest.mark.parametrize("first", ["", BAKERY])
def test_a_definition_of_another_origin_cannot_take_its_place(catalog: CatalogClient, first: str) -> None:
    catalog.post(Authority=first)
    refused = catalog.post(Authority="https://elsewhere.example")
    assert refused.status == 409
    assert "the authority of this definition is" in refused.json["title"]
    assert catalog.post(Authority=f"{first}/" if first else "http://ovens.localhost/messagecatalog").status == 201


@pytest.mark.feature("CAT-008")
def test_an_id_is_one_version_s_only(catalog: CatalogClient) -> None:
    first = catalog.post(Id="342")
    repeated = catalog.post(Id="342")
    assert (repeated.status, repeated.json) == (200, first.json)
    assert catalog.get(f"{PATH}/versions").json == [1]
    for document, path in ((varied(subject="x"), PATH), (HEATED, f"{PATH}-again")):
        refused = catalog.post(document, path, Id="342")
        assert refused.status == 409
        assert f"is there already, as /messagecatalog/{PATH}/versions/1" in refused.json["title"]
    catalog.ask("DELETE", f"/messagecatalog/{PATH}")
    assert catalog.post(path=f"{PATH}-again", Id="342").status == 201


@pytest.mark.parametrize(
    "id_and_uri", [("/x/1", "http://ovens.localhost/x/1"), ("//other.example/1", "http://other.example/1")]
)
def test_ids_are_references_to_be_resolved(catalog: CatalogClient, id_and_uri: tuple[str, str]) -> None:
    version_id, uri = id_and_uri
    assert catalog.post(Id=version_id).json["uri"] == uri
    if version_id == "/x/1":
        assert look_up(catalog, uri).json == HEATED


def test_the_catalog_under_its_other_name(catalog: CatalogClient) -> None:
    catalog.post()
    reply = catalog.ask("GET", f"/-/messagecatalog/{PATH}")
    uri = f"http://ovens.localhost/-/messagecatalog/{PATH}/versions/1"
    assert reply.headers["content-location"] == reply.headers["message-definition-uri"] == uri
    assert look_up(catalog, uri, at="/-/messagedefinition").json == HEATED


@pytest.mark.feature("CAT-008")
def test_versions_that_come_at_once_have_numbers_of_their_own(store: Store) -> None:
    def ask(method: str, path: str, body: object) -> Response:
        request = Request(method=method, path=path, base="http://ovens.localhost", body=json.dumps(body).encode())
        return answer(request, store, Settings())

    assert ask("PUT", "/messagecatalog/ovens", {"format": "CloudEvents"}).status == 201
    with ThreadPoolExecutor(8) as pool:
        documents = [varied(subject=str(number)) for number in range(24)]
        made = list(pool.map(lambda document: ask("POST", f"/messagecatalog/{PATH}", document), documents))
    assert sorted(json.loads(one.content)["version"] for one in made) == list(range(1, 25))
    for one, document in zip(made, documents, strict=True):
        path = one.headers["Location"].removeprefix("http://ovens.localhost")
        assert json.loads(ask("GET", path, "").content) == document


@pytest.mark.feature("CAT-008")
@pytest.mark.parametrize(
    ("version_id", "status"),
    [
        (f"/messagecatalog/{PATH}/versions/1", 409),
        (f"/messagecatalog/{PATH}/versions/2", 201),
        (f"http://ovens.localhost/messagecatalog/{PATH}/versions/2", 201),
        (f"{PATH}/versions/3", 409),
        ("mixers/messagedefinitions/stirred/version/1", 409),
        ("mixers/messagedefinitions/stirred", 201),
    ],
)
def test_the_path_of_another_version_is_no_id(catalog: CatalogClient, version_id: str, status: int) -> None:
    catalog.post()
    assert catalog.post(Id=version_id).status == status


@pytest.mark.audit("services-C9")
@pytest.mark.feature("CAT-008")
def test_an_id_is_one_version_s_in_the_whole_catalog(catalog: CatalogClient) -> None:
    catalog.group("mixers")
    headers = {"Id": "342", "Authority": "https://bakery.example"}
    assert catalog.post(**headers).status == 201
    assert catalog.post(**headers).status == 200
    others = {"Id": "342", "Authority": "https://mill.example"}
    refused = catalog.post(path="mixers/messagedefinitions/stirred", **others)
    assert refused.status == 409
    assert "give the absolute URI as the id, https://mill.example/342" in refused.json["title"]
    assert catalog.post(path="mixers/messagedefinitions/stirred", Id="342").status == 409
    absolute = {**others, "Id": "https://mill.example/342"}
    assert catalog.post(path="mixers/messagedefinitions/stirred", **absolute).status == 201
    assert catalog.ask("DELETE", "/messagecatalog/ovens/messagedefinitions/heated").status == 204
    assert catalog.post(path="mixers/messagedefinitions/mixed", **others).status == 409  # the same URI
    assert catalog.post(path="mixers/messagedefinitions/mixed", Id="342").status == 201


@pytest.mark.audit("services-C11")
@pytest.mark.parametrize("path", ["/Message%20definition", "/messagecatalog/Message%20definition"])
def test_a_version_is_looked_up_by_the_printed_path(catalog: CatalogClient, path: str) -> None:
    made = catalog.post()
    assert look_up(catalog, made.json["uri"], at=path).json == HEATED
    assert look_up(catalog, made.json["uri"], at=path).headers["content-location"] == made.headers["location"]
