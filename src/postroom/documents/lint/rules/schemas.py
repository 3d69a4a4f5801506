"""Rules on payload schemas and on what messages say about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import text
from postroom.documents.lint.rules.messages import malformed_format, unknown_format
from postroom.documents.lint.rules.schema_documents import reference_name, refusal, refused
from postroom.documents.lint.subjects import COLLECTIONS, LintedDocument, LintedMessage, LintedSchema
from postroom.formats.format_table import check_schema, format_named
from postroom.messages.definitions.catalog_tree import Tree, local_path, member

_REFERENCES = re.compile(
    r'"\$(?:ref|import|importdefs|extends)"\s*:\s*"([^"]+)"|import\s+(?:public\s+|weak\s+)?"([^"]+)"'
)
_LOCATIONS = re.compile(r"schemaLocation\s*=\s*\\?[\"']([^\"'\\]+)")


def reference_malformed(message: LintedMessage) -> Iterator[Diagnostic]:
    """A reference inside the catalog names a schema, a Version of one, or something in its document."""
    for name in ("dataschemaxid", "dataschemauri"):
        path = local_path(text(message.own, name), message.tree)
        steps = path.partition("#")[0].strip("/").split("/") if path else []
        is_of_catalog = name == "dataschemaxid" or (steps and steps[0] in COLLECTIONS)
        is_schema = len(steps) > 3 and (steps[0], steps[2]) == ("schemagroups", "schemas")
        if path is not None and is_of_catalog and not is_schema:
            remedy = "Write it like /schemagroups/GROUP/schemas/SCHEMA."
            yield Diagnostic(message.at(name), f"{path!r} is not the path of a schema.", remedy)


def reference_dangling(document: LintedDocument) -> Iterator[Diagnostic]:
    """A schema of this catalog that is not there."""
    homes = {schema.steps[3]: schema.xid for schema in document.schemas}
    for message in document.messages:
        source, name = message.schema, reference_name(message)
        is_missing = source is not None and source.missing.startswith("the catalog has no") and name in message.own
        if source is not None and is_missing and not list(reference_malformed(message)):
            wanted = source.reference.partition("/schemas/")[2].partition("/")[0].partition("#")[0]
            near = homes.get(wanted) or homes.get(wanted.partition(":")[0])
            remedy = f"Did you mean {near}?" if near else "Correct the reference, or add the schema."
            sentence = f"{source.missing}: {source.reference}; payloads land unchecked."
            yield Diagnostic(message.at(name), sentence, remedy)


def reference_outside(message: LintedMessage) -> Iterator[Diagnostic]:
    """A schema elsewhere is never fetched."""
    source = message.schema
    name = reference_name(message)
    if source is not None and source.missing.startswith("it lies outside") and name in message.own:
        yield Diagnostic(
            message.at(name), f"{source.reference} {source.missing}; payloads land unchecked.".replace(" it ", " ")
        )


def type_after_colon(message: LintedMessage) -> Iterator[Diagnostic]:
    """A type is picked by the fragment; a colon is for references that have a fragment already."""
    source, name = message.schema, reference_name(message)
    reference = text(message.own, name)
    if source is not None and source.place and source.fragment and ":" in reference and "#" not in reference:
        sentence = f"{source.fragment!r} is picked by a colon, and the reference has no fragment."
        yield Diagnostic(message.at(name), sentence, f"Write #{source.fragment} at its end.")


def formats_differ(message: LintedMessage) -> Iterator[Diagnostic]:
    """dataschemaformat is the format of the schema that is referred to."""
    source = message.schema
    stated = text(message.effective, "dataschemaformat")
    if source is None or not source.place or "dataschemaformat" not in message.own or not source.format:
        return
    if str(format_named(stated) or stated.lower()) != str(format_named(source.format) or source.format.lower()):
        sentence = f"dataschemaformat is {stated}, and the schema is {source.format}."
        yield Diagnostic(message.at("dataschemaformat"), sentence, f"Write {source.format}.")


def inline_refused(message: LintedMessage) -> Iterator[Diagnostic]:
    """A schema written in place is one that its format allows."""
    source = message.schema
    if source is None or source.document is None or "dataschema" not in message.own:
        return
    error = refusal(lambda: check_schema(source.format, source.document))
    if error is not None:
        yield refused(message.at("dataschema"), error)


def format_missing(schema: LintedSchema) -> Iterator[Diagnostic]:
    """Every schema has a format."""
    for name in schema.versions:
        if not schema.format_of(name):
            yield Diagnostic(schema.version_at(name), "the schema has no format.", "Add format, as NAME/VERSION.")


def format_version_missing(schema: LintedSchema) -> Iterator[Diagnostic]:
    """Formats are NAME/VERSION."""
    for pointer, stated in _formats(schema):
        if stated:
            yield from malformed_format(pointer, stated)


def format_unknown(schema: LintedSchema) -> Iterator[Diagnostic]:
    """Schemas in a format that nobody here reads are kept, and not used."""
    for pointer, stated in _formats(schema):
        if stated and format_named(stated) is None:
            yield unknown_format(pointer, stated)


def format_variant(schema: LintedSchema) -> Iterator[Diagnostic]:
    """Other names of a format are read; one is the present one."""
    for pointer, stated in _formats(schema):
        known = format_named(stated)
        if known is not None and stated.partition("/")[0].strip().lower() != known.family.name.lower():
            yield Diagnostic(pointer, f"{stated} is another name of {known}.", f"Write {known}.")


def ids_twice(schema: LintedSchema) -> Iterator[Diagnostic]:
    """An id of a schema registry names one Version."""
    owners: dict[int, str] = {}
    for name, version in schema.versions.items():
        given = version.get("schemaids")
        for place, number in enumerate(given if isinstance(given, list) else ()):
            if not isinstance(number, int) or owners.setdefault(number, name) == name:
                continue
            if not _say_the_same(version, schema.versions[owners[number]]):
                sentence = (
                    f"the schema id {number} is that of version {owners[number]} too: payloads with it are not read."
                )
                yield Diagnostic(schema.version_at(name, "schemaids", place), sentence, "Leave it where it belongs.")


def _say_the_same(version: Tree, other: Tree) -> bool:
    return all(version.get(name) == other.get(name) for name in ("schema", "schemabase64", "references"))


def _formats(schema: LintedSchema) -> Iterator[tuple[str, str]]:
    """Each spelling once: that of the schema, and those of Versions that differ from it."""
    seen: set[str] = set()
    own = text(schema.raw, "format")
    if own:
        seen.add(own)
        yield schema.version_at("", "format"), own
    for name, version in schema.versions.items():
        stated = text(version, "format")
        if stated and stated not in seen:
            seen.add(stated)
            yield schema.version_at(name, "format"), stated


def formats_of_versions_differ(schema: LintedSchema) -> Iterator[Diagnostic]:
    """All Versions of a schema have one format, that of their group if it has one."""
    wanted = own = text(schema.raw, "format")
    for name in schema.versions:
        stated = schema.format_of(name)
        wanted = wanted or stated
        if stated and _same_name(stated) != _same_name(wanted):
            other = "the schema" if own else "another Version"
            sentence = f"the format is {stated}, and that of {other} is {wanted}."
            yield Diagnostic(schema.version_at(name, "format"), sentence, "Give all Versions one format.")


def group_format_differs(document: LintedDocument) -> Iterator[Diagnostic]:
    """A schema has the format of its group."""
    for schema in document.schemas:
        group = member(document.tree, "schemagroups", schema.steps[1])
        wanted, stated = text(group, "format"), schema.format_of(next(iter(schema.versions)))
        if wanted and stated and _same_name(wanted) != _same_name(stated):
            sentence = f"the format is {stated}, that of the group is {wanted}."
            yield Diagnostic(schema.at("format"), sentence, "Make both the same, or leave the group's out.")


def _same_name(stated: str) -> str:
    return str(format_named(stated) or stated.lower())


def document_missing(schema: LintedSchema) -> Iterator[Diagnostic]:
    """A schema without a document checks nothing."""
    for name, version in schema.versions.items():
        if version.get("schema") is None and version.get("schemabase64") is None and not _url(version):
            yield Diagnostic(schema.version_at(name), "the schema has no document.", "Add `schema`.")


def document_elsewhere(schema: LintedSchema) -> Iterator[Diagnostic]:
    """A document behind a URL is not fetched."""
    for name, version in schema.versions.items():
        if version.get("schema") is None and version.get("schemabase64") is None and _url(version):
            yield Diagnostic(
                schema.version_at(name), f"the document is at {_url(version)} and is not fetched from there."
            )


def url_name_variant(schema: LintedSchema) -> Iterator[Diagnostic]:
    """The address of a document is called schemaurl."""
    for name, version in schema.versions.items():
        if "schemauri" in version:
            yield Diagnostic(
                schema.version_at(name, "schemauri"), "schemauri is another name of schemaurl.", "Write schemaurl."
            )


def _url(version: Tree) -> str:
    return text(version, "schemaurl") or text(version, "schemauri") or text(version, "schemaproxyurl")


def unused(document: LintedDocument) -> Iterator[Diagnostic]:
    """Schemas that no message refers to, in a catalog that has messages."""
    if not document.messages:
        return
    used = {message.schema.reference for message in document.messages if message.schema is not None}
    mentioned = _mentioned(document)
    for schema in document.schemas:
        if schema.xid not in used and schema.steps[3] not in mentioned:
            yield Diagnostic(schema.at(), "no message uses this schema.", "Remove it if it is not used elsewhere.")


def _mentioned(document: LintedDocument) -> set[str]:
    """The ids that schema documents refer to, as far as their texts tell."""
    names: set[str] = set()
    for schema in document.schemas:
        for version in schema.versions.values():
            content = version.get("schema")
            shown = content if isinstance(content, str) else msgspec.json.encode(content).decode()
            for found in (*_REFERENCES.findall(shown), *((one, "") for one in _LOCATIONS.findall(shown))):
                path = (found[0] or found[1]).partition("#")[0]
                name = path.rstrip("/").rpartition("/")[2]
                names.update((name, name.rpartition(".")[0]))
    return names - {""}
