"""Compilation of catalog documents to definitions: bases merged, implied rules added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from postroom.errors import DefinitionRefused
from postroom.formats.format_table import format_named
from postroom.messages.definitions.catalog_tree import CatalogMessage, Tree, catalog_messages, xref_target
from postroom.messages.definitions.constraints import is_required, template_of
from postroom.messages.definitions.definition import CompiledCatalog, Constraint, Definition, SchemaSource
from postroom.messages.definitions.inheritance import Chain, Fetch, chain_of, declarer, envelope_of, merged
from postroom.messages.definitions.property_types import EVENT_RULES
from postroom.messages.definitions.schema_documents import with_fetched
from postroom.messages.definitions.schema_sources import schema_source, stored_schemas
from postroom.messages.definitions.templates import has_placeholder
from postroom.model.json_pointers import pointer
from postroom.protocols.cloudevents import ENVELOPE, is_event_type
from postroom.protocols.protocol import Option
from postroom.protocols.protocol_table import canonical_protocol, wire_named

# The type each CloudEvents attribute has unless the definition narrows it (MSG-065 to MSG-073).
_ATTRIBUTE_TYPES = {"source": "uritemplate", "time": "timestamp", "dataschema": "uritemplate"}
ALWAYS_REQUIRED = ("specversion", "id", "source", "type")
_OPTIONAL = ("time", "subject", "dataschema")
_RULED = frozenset(EVENT_RULES)
# What an author says of `dataschema` stands for the rule.
_RULED_IF_DECLARED = _RULED - {"dataschema"}
# DESIGN "Matching rules": absent, these two are taken from the definition, where it says or implies a value.
TAKEN_FROM_DEFINITION = ("datacontenttype", "dataschema")
# What producers call payloads besides the names that a format has of its own.
_SUFFIXES = {"JsonSchema": ("text/json", "+json"), "JsonStructure": ("text/json", "+json"), "XSD": ("+xml",)}
_OF_BINARY_FORMATS = ("application/octet-stream", "+json")


class _Implied(NamedTuple):
    """A value that a message implies, the member that implies it where the author wrote another, and its equals."""

    value: str = ""
    by: str = ""
    accepts: tuple[str, ...] = ()


_NOT_IMPLIED = _Implied()


def compile_catalog(tree: Tree, fetch: Fetch | None = None) -> tuple[CompiledCatalog, list[DefinitionRefused]]:
    """All usable definitions of a catalog, and why the others are not usable."""
    definitions: list[Definition] = []
    refused: list[DefinitionRefused] = []
    for message in catalog_messages(tree):
        if xref_target(message):  # an xref stands for its target and never competes with it
            continue
        try:
            definitions.append(compile_definition(tree, message, fetch))
        except DefinitionRefused as error:
            refused.append(error)
    # In one order wherever the catalog came from, so that the same definitions have the same digest.
    definitions.sort(key=lambda definition: definition.xid)
    paths = [definition.schema.place for definition in definitions if definition.schema and definition.schema.place]
    # All documents of the groups that are used: schemas refer to their neighbours.
    groups = sorted({path.split("/")[2] for path in paths})
    compiled = CompiledCatalog(tuple(definitions), stored_schemas(tree, groups))
    return compiled if fetch is None else with_fetched(compiled, fetch), refused


def compile_definition(tree: Tree, entry: CatalogMessage, fetch: Fetch | None = None) -> Definition:
    """Compile one definition."""
    return compile_chain(tree, entry, chain_of(tree, entry, fetch), fetch)


def compile_chain(tree: Tree, entry: CatalogMessage, chain: Chain, fetch: Fetch | None = None) -> Definition:
    """Compile one definition whose bases have been looked up."""
    message, bases = merged(chain), tuple(xid for xid, _ in chain[1:])
    envelope = envelope_of(message)
    is_event = envelope.lower() == ENVELOPE.lower()
    schema = schema_source(tree, message, fetch)
    options = message.get("envelopeoptions") or {}
    mode = _string(options, "mode").lower()
    stated = _stated_type(message)
    protocol_constraints = tuple(_protocol(message))
    is_of_message = bool(stated) and (not is_event or is_event_type(stated, mode))
    implied = _implied(message, "" if is_of_message else stated, schema) if is_event else {}
    definition = Definition(
        xid=entry.xid,
        version=str(message.get("versionid") or message.get("epoch") or "1"),
        group=f"/{entry.owner_type}/{entry.owner_id}",
        id=entry.id,
        name=_string(message, "name"),
        description=_string(message, "description"),
        protocol=canonical_protocol(_string(message, "protocol")),
        envelope=ENVELOPE if is_event else envelope,
        envelope_constraints=_declared(_envelope(message, is_event, implied) if envelope else (), chain),
        protocol_constraints=_declared(protocol_constraints, chain),
        contenttype=_content_type(message, "" if is_of_message and is_event else stated, protocol_constraints, schema),
        message_type=next(iter(_declared(_message_type(stated) if is_of_message else (), chain)), None),
        mode=mode,
        format=_string(options, "format"),
        schema=schema,
        bases=bases,
    )
    for constraint in (*definition.envelope_constraints, *definition.protocol_constraints):
        try:
            template_of(constraint)
        except DefinitionRefused as error:
            raise DefinitionRefused(error.sentence, place=f"{entry.xid}{constraint.at}", remedy=error.remedy) from None
    path = key_schema_path(definition)
    key_schema = schema_source(tree, {"dataschemauri": path}) if path else None
    if key_schema is None or key_schema.missing:
        return definition
    return msgspec.structs.replace(definition, key_schema=key_schema)


def key_schema_path(definition: Definition) -> str:
    """Where the schema of the keys would be: TOPIC-key beside that of the payloads; empty where nobody asks for it."""
    group = definition.schema.place.split("/")[2:3] if definition.schema is not None else []
    says_key = any(constraint.path == ("key",) for constraint in definition.protocol_constraints)
    return f"/schemagroups/{group[0]}/schemas/{definition.topic}-key" if group and says_key and definition.topic else ""


def _declared(constraints: Iterable[Constraint], chain: Chain) -> tuple[Constraint, ...]:
    """The constraints, each with the base that declares it."""
    if len(chain) == 1:
        return tuple(constraints)
    own = chain[0][0]
    origins = ((constraint, declarer(chain, constraint.at)) for constraint in constraints)
    return tuple(msgspec.structs.replace(c, origin=origin if origin != own else "") for c, origin in origins)


def _envelope(message: Tree, is_event: bool, implied: Mapping[str, _Implied]) -> Iterator[Constraint]:
    declared: Tree = {name: _property(value) for name, value in (message.get("envelopemetadata") or {}).items()}
    # "Requirements for absent definitions are implied by the CloudEvents specification" (MSG-056).
    ruled: frozenset[str] = frozenset()
    if is_event:
        ruled = _RULED_IF_DECLARED if "dataschema" in declared else _RULED
        for name in ALWAYS_REQUIRED:
            declared[name] = {**declared.get(name, {}), "required": True}
        declared["specversion"].setdefault("value", "1.0")
        for name in (*_OPTIONAL, *implied):
            declared.setdefault(name, {})
    for name, value in declared.items():
        rule = name if name in ruled else ""
        type_name = _type(value, _ATTRIBUTE_TYPES.get(name, "string") if is_event else "any")
        own, description = _value(value), _string(value, "description")
        taken = implied.get(name, _NOT_IMPLIED) if own is None else _NOT_IMPLIED
        found = taken.value or own
        if found is None:
            yield _open_attribute(name, type_name, value.get("required") is True, description, rule)
            continue
        is_taken = name in TAKEN_FROM_DEFINITION
        yield Constraint(
            at=_attribute_pointer(name),
            path=(name,),
            type=type_name,
            value=found,
            required=is_required(own, type_name, value.get("required")) and not is_taken,
            description=description,
            event_rule=rule,
            implied=taken.by,
            accepts=taken.accepts,
        )


@lru_cache(maxsize=4096)  # most definitions leave the same few attributes open
def _open_attribute(name: str, type_name: str, required: bool, description: str, event_rule: str) -> Constraint:
    """The constraint on an attribute that may have any value of its type."""
    return Constraint(
        at=_attribute_pointer(name),
        path=(name,),
        type=type_name,
        required=required,
        description=description,
        event_rule=event_rule,
    )


@lru_cache(maxsize=4096)
def _attribute_pointer(name: str) -> str:
    return pointer(("envelopemetadata", name))


def _implied(message: Tree, stated: str, schema: SchemaSource | None) -> dict[str, _Implied]:
    """What a message implies of attributes that it gives no value."""
    media, others = _implied_type(schema)
    type_ = _Implied(stated) if stated else _Implied(media, "dataschemaformat", others)
    reference, by = _implied_schema(message)
    found = {"datacontenttype": type_, "dataschema": _Implied(reference, by, _same_references(reference, schema))}
    return {name: implied for name, implied in found.items() if implied.value}


def _stated_type(message: Tree) -> str:
    """The content type that a message states as a whole; empty where it states none, or leaves it open."""
    stated = message.get("datacontenttype")
    return stated if isinstance(stated, str) and not has_placeholder(stated) else ""


def _implied_type(schema: SchemaSource | None) -> tuple[str, tuple[str, ...]]:
    """The content type that the format of the schema implies, and the others that its payloads may have (C-21)."""
    known = format_named(schema.format) if schema is not None else None
    if known is None:
        return "", ()
    family = known.family
    return family.media_types[0], (*family.media_types, *_SUFFIXES.get(family.name, _OF_BINARY_FORMATS))


def _implied_schema(message: Tree) -> tuple[str, str]:
    """The reference that a message implies for `dataschema`, and the member that has it; empty where there is none."""
    if message.get("dataschema") is None:
        for name in ("dataschemauri", "dataschemaxid"):
            reference = message.get(name)
            if isinstance(reference, str) and reference and not has_placeholder(reference):
                return reference, name
    return "", ""


def _same_references(reference: str, schema: SchemaSource | None) -> tuple[str, ...]:
    """Other references to the schema that a reference names: its default version is meant by its own path too."""
    if schema is None or "/versions/" not in reference or not schema.place or "/versions/" in schema.place:
        return ()
    return (schema.place,)


def _protocol(message: Tree) -> Iterator[Constraint]:
    options = message.get("protocoloptions")
    if not isinstance(options, dict):
        return
    wire = wire_named(_string(message, "protocol"))
    for name, value in options.items():
        option = wire.option(name)
        if option is None:
            # A protocol we do not know is matched literally; lint reports an unknown option of one we know.
            if not wire.options and not isinstance(value, list):
                yield _constraint(Option(name, "any"), (name,), pointer(("protocoloptions", name)), _property(value))
            continue
        yield from _option(option, value, pointer(("protocoloptions", name)))


def _option(option: Option, value: Any, at: str) -> Iterator[Constraint]:
    if option.shape == "value":
        yield _constraint(option, (option.name,), at, _property(value))
        return
    for name, item, step in _pairs(value):
        if option.members and name not in option.members:  # no message can have it; lint says so
            continue
        yield _constraint(option, (option.name, name), at + pointer((step,)), item)


def _pairs(value: Any) -> Iterator[tuple[str, Tree, str]]:
    """The named constraints of headers, sections and the like: (name, property, step of the pointer)."""
    if isinstance(value, dict):
        for key, member in value.items():
            item = _property(member)
            yield str(item.get("name") or key), item, key  # C-09: `name` holds the true spelling
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict) and "name" in item:
                yield str(item["name"]), item, str(index)


def _constraint(option: Option, path: tuple[str, ...], at: str, value: Tree) -> Constraint:
    default = option.members.get(path[-1], option.type) if len(path) > 1 else option.type
    type_name = _type(value, default)
    return Constraint(
        at=at,
        path=path,
        type=type_name,
        value=_value(value),
        required=is_required(_value(value), type_name, value.get("required")),
        decides=option.decides,
        description=_string(value, "description"),
    )


def _property(value: Any) -> Tree:
    # C-05: a bare scalar means a property of which only the value is known.
    return value if isinstance(value, dict) else {"value": value}


def _value(value: Tree) -> Any:
    found = value.get("value")
    return None if isinstance(found, dict | list) else found


def _type(value: Tree, default: str) -> str:
    stated = value.get("type")
    type_name = stated.lower() if isinstance(stated, str) and stated else default
    return {"var": "any", "datetime": "timestamp"}.get(type_name, type_name)


def _content_type(message: Tree, stated: str, options: Iterable[Constraint], schema: SchemaSource | None) -> str:
    """The content type of the data: as the envelope, the message or the protocol state it, or as the schema implies."""
    declared = _property((message.get("envelopemetadata") or {}).get("datacontenttype"))
    return str(_value(declared) or "") or stated or _protocol_type(message, options) or _implied_type(schema)[0]


def _protocol_type(message: Tree, options: Iterable[Constraint]) -> str:
    """The content type that protocol options fix for the data; one of an envelope is not the data's."""
    path = wire_named(_string(message, "protocol")).contenttype
    for constraint in options:
        is_it = tuple(map(str.lower, constraint.path)) == path and isinstance(constraint.value, str)
        if is_it and not has_placeholder(constraint.value) and not is_event_type(constraint.value, ""):
            return str(constraint.value)
    return ""


def _message_type(stated: str) -> Iterator[Constraint]:
    yield Constraint(at="/datacontenttype", path=("datacontenttype",), type="string", value=stated)


def _string(holder: Tree, name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""
