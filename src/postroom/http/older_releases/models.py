"""Translation of models from and to an older version.

A model source comes back as it was written: only names change, both ways. The full model is for reading only and also
shows what the version defines itself: its defaults, and attributes that it has and today's does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.documents.dialects.name_tables import ADDRESS_MEMBERS
from postroom.documents.dialects.walk_tree import rename_members
from postroom.http.older_releases.releases import FLAG, OlderRelease
from postroom.http.older_releases.request_entities import ENDPOINTS, SCHEMAS
from postroom.http.older_releases.walk_entities import Tree
from postroom.model.core_attributes import SPECVERSION
from postroom.model.older_words import NO_RULE, without_no_rule
from postroom.registry.problems import RegistryProblem

STICKY = "setdefaultversionsticky"
NEVER_STICKY = {"type": "boolean", "enum": [False], "required": True, "default": False}
"""What takes the place of rc2's aspect `setdefaultversionsticky`, when it is false."""

Change = Callable[[str, Tree], Tree]


def read_source(release: OlderRelease, source: Any, subject: str) -> Any:
    """A model source of a client, in the names of today."""

    def group(plural: str, entity_type: Tree) -> Tree:
        return _read_level(release, _endpoint_model(plural, entity_type, ADDRESS_MEMBERS, _list_of_words))

    def resource(plural: str, entity_type: Tree) -> Tree:
        made = _read_level(release, entity_type)
        _change(made, "attributes", lambda attributes: _renamed(attributes, release.attributes))
        return _read_rc2(plural, made) if release.is_rc2 else made

    made = _each(source, group, resource)
    if isinstance(made, dict):
        _change(made, "attributes", lambda known: _with_version(known, release.specversion, SPECVERSION))
    return _everywhere(made, lambda name, aspects: _without_case(name, aspects, subject))


def write_source(release: OlderRelease, source: Any) -> Any:
    """The model source, in the names of the version."""

    def group(plural: str, entity_type: Tree) -> Tree:
        members = {"uri": release.address}
        return _write_level(
            release, _endpoint_model(plural, entity_type, members, _one_word if release.is_rc2 else _same)
        )

    def resource(plural: str, entity_type: Tree) -> Tree:
        made = _write_level(release, entity_type)
        _change(made, "attributes", lambda attributes: _renamed(attributes, release.theirs))
        return _write_rc2(made) if release.is_rc2 else made

    made = _each(source, group, resource)
    if isinstance(made, dict):
        _change(made, "attributes", lambda known: _with_version(known, SPECVERSION, release.specversion))
    return made


def write_model(release: OlderRelease, model: Tree) -> Tree:
    """The full model as the version defines it."""

    def group(plural: str, entity_type: Tree) -> Tree:
        if plural == ENDPOINTS:
            _change(entity_type, "attributes", _not_deployed)
        return entity_type

    def resource(plural: str, entity_type: Tree) -> Tree:
        if not release.is_rc2:
            return entity_type
        _change(
            entity_type, "attributes", lambda known: {name: one for name, one in known.items() if name not in hidden}
        )
        _change(entity_type, "metaattributes", lambda known: _rc2_meta(plural, entity_type, known))
        return {STICKY: entity_type.get("maxversions") != 1, **entity_type}

    hidden = release.hidden
    made: Tree = _each(write_source(release, model), group, resource)
    return made


def _each(source: Any, group: Change, resource: Change) -> Any:
    """A model whose Group types and Resource types are changed; each change gets a copy of its own."""
    if not isinstance(source, dict):
        return source

    def resources(known: Tree) -> Tree:
        return {plural: resource(plural, dict(one)) if isinstance(one, dict) else one for plural, one in known.items()}

    def whole(plural: str, entity_type: Tree) -> Tree:
        made = group(plural, dict(entity_type))
        _change(made, "resources", resources)
        return made

    def groups(known: Tree) -> Tree:
        return {plural: whole(plural, one) if isinstance(one, dict) else one for plural, one in known.items()}

    made = dict(source)
    _change(made, "groups", groups)
    return made


def _change(holder: Tree, name: str, change: Callable[[Tree], Tree]) -> None:
    if isinstance(holder.get(name), dict):
        holder[name] = change(holder[name])


def _read_level(release: OlderRelease, entity_type: Tree) -> Tree:
    return rename_members(entity_type, release.model_aspects)


def _write_level(release: OlderRelease, entity_type: Tree) -> Tree:
    return rename_members(entity_type, {ours: theirs for theirs, ours in release.model_aspects.items()})


def _renamed(attributes: Tree, names: dict[str, str]) -> Tree:
    """Attributes under other names; those say their name inside, too."""
    made = rename_members(attributes, names)
    for name in names.values():
        if name in made and name not in attributes and isinstance(made[name], dict) and "name" in made[name]:
            made[name] = {**made[name], "name": name}
    return made


def _everywhere(holder: Any, change: Change) -> Any:
    """A part of a model in which every attribute, however deep, is changed."""
    if not isinstance(holder, dict):
        return holder
    made = dict(holder)
    for section in ("attributes", "resourceattributes", "metaattributes", "siblingattributes"):
        _change(
            made,
            section,
            lambda known: {
                name: _everywhere(change(name, one), change) if isinstance(one, dict) else one
                for name, one in known.items()
            },
        )
    if "item" in made:
        made["item"] = _everywhere(made["item"], change)
    for section in ("ifvalues", "groups", "resources"):
        _change(made, section, lambda known: {name: _everywhere(one, change) for name, one in known.items()})
    return made


def _endpoint_model(plural: str, entity_type: Tree, members: dict[str, str], usage: Callable[[Tree], Tree]) -> Tree:
    """The Group type of endpoints: the member of an address that holds it, and whether usages are a list."""
    if plural != ENDPOINTS or "protocol" not in _object(entity_type.get("attributes")):
        return entity_type

    def change(name: str, aspects: Tree) -> Tree:
        item = aspects.get("item")
        if name != ENDPOINTS or not isinstance(item, dict) or not isinstance(item.get("attributes"), dict):
            return aspects
        return {**aspects, "item": {**item, "attributes": _renamed(item["attributes"], members)}}

    made: Tree = _everywhere({name: value for name, value in entity_type.items() if name != "resources"}, change)
    _change(made, "attributes", lambda known: _with_usage(known, usage))
    return {**entity_type, **made}


def _with_usage(attributes: Tree, usage: Callable[[Tree], Tree]) -> Tree:
    found = attributes.get("usage")
    return {**attributes, "usage": usage(found)} if isinstance(found, dict) else attributes


def _same(usage: Tree) -> Tree:
    return usage


def _one_word(usage: Tree) -> Tree:
    if usage.get("type") != "array" or usage.get("item") != {"type": "string"}:
        return usage
    return {**{name: value for name, value in usage.items() if name != "item"}, "type": "string"}


def _list_of_words(usage: Tree) -> Tree:
    if usage.get("type") not in ("array", "string"):
        return usage
    return {"item": {"type": "string"}, **usage, "type": "array"}


def _not_deployed(attributes: Tree) -> Tree:
    """Until 1.0-rc3 an endpoint is not deployed unless it says so."""

    def change(name: str, aspects: Tree) -> Tree:
        return {**aspects, "default": False} if name == "deployed" and aspects.get("default") is True else aspects

    made: Tree = _everywhere({"attributes": attributes}, change)["attributes"]
    return made


def _with_version(attributes: Tree, version: str, other: str) -> Tree:
    found = attributes.get(FLAG)
    if not isinstance(found, dict) or found.get("default") != version:
        return attributes
    return {**attributes, FLAG: {**found, "default": other}}


def _without_case(name: str, aspects: Tree, subject: str) -> Tree:
    """rc3, `matchcase`: today no comparison minds the case, so it can be left out only where nothing is compared."""
    if "matchcase" not in aspects:
        return aspects
    if aspects["matchcase"] and (aspects.get("enum") or aspects.get("matchversions")):
        detail = f"matchcase of {name} cannot be true: values are compared without minding their case"
        raise RegistryProblem("model_error", subject, error_detail=detail)
    return {aspect: value for aspect, value in aspects.items() if aspect != "matchcase"}


def _read_rc2(plural: str, entity_type: Tree) -> Tree:
    made = {name: value for name, value in entity_type.items() if name != STICKY}
    known = made.get("metaattributes")
    meta = dict(known) if isinstance(known, dict) else {}
    meta.pop("compatibilityauthority", None)
    if plural == SCHEMAS:
        meta.pop("validation", None)
    if isinstance(meta.get("compatibility"), dict):
        meta["compatibility"] = without_no_rule(meta["compatibility"])
    if entity_type.get(STICKY) is False and entity_type.get("maxversions") != 1:
        meta.setdefault("defaultversionsticky", NEVER_STICKY)
    return {**made, "metaattributes": meta} if meta or isinstance(known, dict) else made


def _write_rc2(entity_type: Tree) -> Tree:
    known = entity_type.get("metaattributes")
    if not isinstance(known, dict):
        return entity_type
    made = {**entity_type, "metaattributes": dict(known)}
    sticky = {name: value for name, value in _object(known.get("defaultversionsticky")).items() if name in NEVER_STICKY}
    if sticky == NEVER_STICKY:
        made[STICKY] = False
        del made["metaattributes"]["defaultversionsticky"]
    rule = _object(known.get("compatibility"))
    if rule.get("enum"):
        made["metaattributes"]["compatibility"] = {**rule, "enum": [*rule["enum"], NO_RULE]}
    return made


def _rc2_meta(plural: str, entity_type: Tree, attributes: Tree) -> Tree:
    """What 1.0-rc2 has in the meta of every Resource type, and of schemas."""
    authority = {"name": "compatibilityauthority", "type": "string", "enum": ["external", "server"], "strict": True}
    made = {**attributes, "compatibilityauthority": attributes.get("compatibilityauthority", authority)}
    _change(made, "compatibility", lambda rule: {**rule, "required": True, "default": NO_RULE})
    if plural == SCHEMAS:
        checked = {"name": "validation", "type": "boolean", "required": True, "default": False}
        made = {**made, "validation": attributes.get("validation", checked)}
    return made


def _object(value: Any) -> Tree:
    return value if isinstance(value, dict) else {}
