"""Targets that documents are loaded into: a running service or a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from postroom.catalog.service import read_model, read_modelsource, replace_service, write_service
from postroom.catalog.service_entities import collections_of, resource_types
from postroom.documents.dialects.dialect import Loss, ReadNote
from postroom.documents.dialects.name_tables import BASE_NAMES, GROUP_TYPES
from postroom.documents.dialects.preserved_members import EXTRAS
from postroom.documents.dialects.walk_tree import group_types, map_objects, rename_members
from postroom.errors import FileMissing, SourceUnknown
from postroom.model.json_pointers import steps_of
from postroom.settings import Settings
from postroom.urls import STORE_SCHEMES, scheme_of

Tree = dict[str, Any]
OwnTypes = Mapping[str, tuple[str, ...]]
"""Group types with the names of their Resource types."""

REGISTRY_ATTRIBUTES = ("name", "description", "documentation", "icon", "labels")
_OF_SERVERS = frozenset(
    ("specversion", "registryid", "self", "shortself", "xid", "epoch", "createdat", "modifiedat")
) | {*("capabilities", "model", "modelsource", "$schema")}


def own_types(target: str, settings: Settings) -> OwnTypes:
    """The group types that a target has beside those of messages, each with its Resource types."""
    scheme = scheme_of(target)
    if scheme in ("http", "https"):
        found = resource_types(read_model(target, settings))
        return {plural: tuple(kinds) for plural, kinds in found.items() if plural not in GROUP_TYPES}
    return _types_of_store(target) if scheme in STORE_SCHEMES else {}


def _types_of_store(url: str) -> OwnTypes:
    from postroom.catalog.open_store import open_store

    try:
        with open_store(url, create=False) as store, store.read() as transaction:
            groups = transaction.model().groups
    except FileMissing:  # it will be made, with the model of messages
        return {}
    return {plural: tuple(kind.resources) for plural, kind in groups.items() if plural not in GROUP_TYPES}


def write_target(document: Tree, target: str, settings: Settings, own: OwnTypes | None = None) -> None:
    """Load a document's groups with all they hold, all or nothing.

    A dump has the model too and says what the registry itself is called; any other catalog names only itself, and
    several of them may be loaded into one registry. `own` are the target's own group types.
    """
    document = _with_formats(document)
    groups = {name: document[name] for name in (*group_types(document), *(own or ())) if name in document}
    is_dump = "modelsource" in document
    registry = {name: document[name] for name in REGISTRY_ATTRIBUTES if name in document} if is_dump else {}
    scheme = scheme_of(target)
    if scheme in ("http", "https"):
        _write_service(groups, registry, document, target, settings)
    elif scheme in STORE_SCHEMES:
        _write_store(groups, registry, document, target, settings)
    else:
        raise SourceUnknown(
            "nothing can be loaded there.",
            place=target,
            remedy="Give http(s)://…, sqlite:///path.db or postgresql://host/database.",
        )


def _with_formats(document: Tree) -> Tree:
    """A document in which the format of a schema is that of its Versions, where they name none.

    A registry has it in the Versions alone; beside them, what a schema says of its default Version is not looked at.
    """

    def schema(one: Tree, _: str) -> Tree:
        form, versions = one.get("format"), one.get("versions")
        if not isinstance(form, str) or not isinstance(versions, dict):
            return one
        return {**one, "versions": map_objects(versions, "", lambda version, _: {"format": form, **version})}

    def group(one: Tree, _: str) -> Tree:
        return {**one, "schemas": map_objects(one["schemas"], "", schema)} if "schemas" in one else one

    if "schemagroups" not in document:
        return document
    return {**document, "schemagroups": map_objects(document["schemagroups"], "", group)}


def left_out(document: Tree, own: OwnTypes) -> tuple[Loss, ...]:
    """What a document says and loading it does not write: attributes of the file itself, groups of unknown types."""
    collections = {name: count for name, count, _ in collections_of(document)}
    known = {
        *_OF_SERVERS,
        *own,
        *group_types(document),
        *(name + end for name in collections for end in ("url", "count")),
    }
    if "modelsource" in document:
        known |= {*REGISTRY_ATTRIBUTES}
    found = {name: value for name, value in document.items() if name not in known | {EXTRAS}}
    found |= {name: value for name, value in _extras(document) if name.lower() not in known}
    found |= {name: None for name, count in collections.items() if count and name not in document}
    return tuple(Loss((name,), value, _reason(name, value)) for name, value in found.items())


def _extras(document: Tree) -> Iterator[tuple[str, Any]]:
    """The members of the document itself that its dialect has and today's names do not say, with their values.

    A service of version 0.5 writes the address and the number of members beside each collection.
    """
    kept = {
        extra["at"].removeprefix("/"): extra["value"]
        for extra in document.get(EXTRAS, ())
        if len(steps_of(extra["at"])) == 1 and "value" in extra and "instead" not in extra
    }
    counted = {name.removesuffix("Count") for name in kept if name.endswith("Count")}
    for name, value in kept.items():
        if name.removesuffix("Count").removesuffix("URL") not in counted:
            yield name, value


def misspelt_members(document: Tree) -> tuple[ReadNote, ...]:
    """Members that nobody reads and that look like one that is read: they are loaded, and mean nothing."""
    from postroom.documents.lint.rules.document import member_misspelt
    from postroom.documents.lint.subjects import LintedDocument

    return tuple(
        ReadNote(found.pointer, f"{found.sentence} {found.remedy}")
        for found in member_misspelt(LintedDocument(document))
    )


def _reason(name: str, value: Any) -> str:
    if name in REGISTRY_ATTRIBUTES:
        return "it describes the file; a registry takes it from a dump, which has modelsource"
    if isinstance(value, dict) or value is None:
        return "the target's model has no such groups; a dump brings its own"
    return "a registry has no such attribute"


def _write_service(groups: Tree, registry: Tree, document: Tree, url: str, settings: Settings) -> None:
    groups = _for_others(groups, url, settings)
    model = _widened_model(read_modelsource(url, settings), document, groups) if "modelsource" in document else None
    if registry or model:
        replace_service(url, {**registry, **({"modelsource": model} if model else {}), **groups}, settings)
    else:
        write_service(url, groups, settings)


def _for_others(groups: Tree, url: str, settings: Settings) -> Tree:
    """Groups of messages as registries take them that follow a published model to the letter.

    Such a registry knows nothing of a group's envelope and protocol in a message, which the text demands there too, and
    its messages may have another name for their base (C-01).
    """
    if not groups.get("messagegroups"):
        return groups
    base_name = _base_name(read_model(url, settings))

    def change(group: Tree, _: str) -> Tree:
        inherited = {name: group[name] for name in ("envelope", "protocol") if isinstance(group.get(name), str)}
        messages = map_objects(group.get("messages"), "", lambda one, _: _complete(one, inherited, base_name))
        return {**group, "messages": messages} if messages is not None else group

    return {**groups, "messagegroups": map_objects(groups["messagegroups"], "", change)}


def _complete(message: Tree, inherited: Tree, base_name: str) -> Tree:
    meta = message.get("meta")
    if isinstance(meta, dict) and "xref" in meta:
        return message
    made = rename_members(message, {name: base_name for name in BASE_NAMES if name != base_name})
    made |= {name: value for name, value in inherited.items() if name not in made}
    if "versions" in made:
        made["versions"] = map_objects(made["versions"], "", lambda one, _: _complete(one, inherited, base_name))
    return made


def _base_name(model: Tree) -> str:
    """What the messages of a model call their base."""
    known = model
    for step in ("groups", "messagegroups", "resources", "messages", "attributes"):
        found = known.get(step)
        known = found if isinstance(found, dict) else {}
    return next((name for name in BASE_NAMES if name in known), BASE_NAMES[0])


def _write_store(groups: Tree, registry: Tree, document: Tree, url: str, settings: Settings) -> None:
    from postroom.catalog.open_store import open_store
    from postroom.catalog.wiring import rules_of
    from postroom.registry.operations import import_document, update_registry
    from postroom.registry.transaction_interface import Transaction
    from postroom.registry.write.unit_of_work import UnitOfWork
    from postroom.store.checked_write import write_checked

    def write(transaction: Transaction) -> None:
        model = _widened_model(transaction.modelsource(), document, groups) if "modelsource" in document else None
        if registry or model:
            work = UnitOfWork(transaction)
            update_registry(work, {**registry, **({"modelsource": model} if model else {})}, patch=True)
            work.finish()
        import_document(transaction, groups)

    rules, registry_id = rules_of(settings), settings.registry_id
    with open_store(url, rules=rules, write_wait_s=settings.write_wait_s, registry_id=registry_id) as store:
        write_checked(store, write)


def _widened_model(present: Tree, document: Tree, groups: Tree) -> Tree | None:
    """The target's model with the group types that the document needs and the target lacks; None: it lacks none."""
    offered = (document.get("modelsource") or {}).get("groups") or {}
    known = present.get("groups") or {}
    missing = {
        group_type: offered[group_type] for group_type in groups if group_type in offered and group_type not in known
    }
    return {**present, "groups": {**known, **missing}} if missing else None


def count_entities(document: Tree, own: OwnTypes | None = None) -> dict[str, int]:
    """How many groups and resources a document holds, by type."""
    counts: dict[str, int] = {}
    resources = own or {}
    for group_type in dict.fromkeys((*group_types(document), *resources)):
        groups = document.get(group_type) or {}
        if groups:
            counts[group_type] = len(groups)
        for group in groups.values():
            for name in resources.get(group_type, ("messages", "schemas")):
                held = group.get(name) if isinstance(group, dict) else None
                if isinstance(held, dict) and held:
                    counts[name] = counts.get(name, 0) + len(held)
    return counts
