"""Running xRegistry services, ours or anyone's: read their catalog, send them a document."""

from __future__ import annotations

from typing import Any

from postroom.catalog.messagecatalog_reader import is_catalog_url, read_message_catalog
from postroom.catalog.service_client import ServiceClient, open_client
from postroom.catalog.service_entities import Tree, as_document, find_incomplete_part
from postroom.catalog.service_reader import ServiceReader
from postroom.documents.dialects.convert import ParsedCatalog, read_tree
from postroom.documents.dialects.detect import dialect_of
from postroom.documents.dialects.release_candidates import RC4
from postroom.documents.media_types import form_of_type
from postroom.documents.read_files import read_yaml
from postroom.errors import DocumentBroken, DocumentRefused
from postroom.settings import Settings

_REGISTRY_MEMBERS = ("specversion", "specVersion", "registryid", "modelsource")


def read_service(url: str, settings: Settings, *, with_model: bool = False) -> ParsedCatalog:
    """The whole catalog of a service in the names of 1.0-rc4, whatever release it speaks; its model where wanted."""
    document = read_service_document(url, settings, with_model=with_model)
    return read_tree(document) or ParsedCatalog(document, RC4.name)


def read_service_document(url: str, settings: Settings, *, with_model: bool = False) -> Tree:
    """The whole catalog of a service, or of a document on a file server, as one document, as it is written there."""
    with open_client(url, settings) as client:
        if client.is_document:
            document = _read_document(client, settings)
        elif is_catalog_url(url):
            document = read_message_catalog(client)
        else:
            document = ServiceReader(client).whole(modelsource=with_model)
        if not dialect_of(document) and not any(name in document for name in _REGISTRY_MEMBERS):
            raise DocumentRefused("what is there is no catalog.", place=client.name)
    return document


def read_modelsource(url: str, settings: Settings) -> Tree:
    """The model of a service as it was written."""
    with open_client(url, settings) as client:
        return _object(client.get("/modelsource"), client)


def read_model(url: str, settings: Settings) -> Tree:
    """The model of a service as it is read; empty where the service does not show it."""
    with open_client(url, settings) as client:
        reply = client.ask("GET", "/model")
        return _object(client.json(reply, "/model"), client) if reply.is_success else {}


def replace_service(url: str, changes: Tree, settings: Settings) -> None:
    """Change the registry's own attributes, its model and its groups in one request, all of it or nothing.

    A PUT of the registry replaces the groups it holds, as a PATCH would not, but also the registry's attributes: those
    that nobody changes are sent back as they were read, with the epoch that tells the service when they are outdated.
    """
    with open_client(url, settings) as client:
        client.send("PUT", "/", {**_object(client.get("/"), client), **changes})


def write_service(url: str, document: Tree, settings: Settings) -> Tree:
    """Send groups with all they hold in one request, so that all of it is taken or nothing."""
    with open_client(url, settings) as client:
        answered = client.send("POST", "/", document)
    return answered if isinstance(answered, dict) else {}


def _read_document(client: ServiceClient, settings: Settings) -> Tree:
    """A document, which has to have all of the catalog in itself."""
    reply = client.ask("GET", "")
    if reply.is_success and form_of_type(reply.headers.get("content-type", "")) == "yaml":
        try:
            found = read_yaml(reply.body.decode(), client.name, settings)
        except UnicodeDecodeError:
            raise DocumentBroken("this is not UTF-8 text.", place=client.name) from None
    else:
        found = client.json(reply, "it")
    document = _object(found, client)
    missing = find_incomplete_part(document)
    if missing:
        raise DocumentRefused(
            f"it does not have all of {missing}, only where they are.",
            place=client.name,
            remedy="Give the address of the registry, or a document with everything in it.",
        )
    return as_document(document)


def _object(found: Any, client: ServiceClient) -> Tree:
    if not isinstance(found, dict):
        raise DocumentRefused("what the service answers is no registry.", place=client.name)
    return found
