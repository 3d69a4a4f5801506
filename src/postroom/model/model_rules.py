"""Rules of model.md for a full model; an error has the JSON pointer of what breaks one."""

from __future__ import annotations

from postroom.model import core_attributes
from postroom.model.attribute_rules import check_attributes
from postroom.model.constraints import constraint_error
from postroom.model.model_refused import ModelRefused
from postroom.model.names import PLURAL_LENGTH, SINGULAR_LENGTH, is_attribute_name, is_map_key
from postroom.model.scalar_types import is_among
from postroom.model.types import GroupType, Model, ResourceType

VERSION_MODES = ("createdat", "manual", "modifiedat", "semver")
TYPEMAP_VALUES = ("binary", "json", "string")
# Paths of the registry itself (http.md, Registry HTTP APIs): a Group type of that name could not be reached.
RESERVED_PATHS = frozenset({"capabilities", "capabilitiesoffered", "export", "model", "modelsource"})


def check_model(model: Model) -> None:
    """Raise ModelRefused at the first rule the model breaks."""
    _check_labels(model.labels, "")
    check_attributes(model.attributes, "/attributes")
    names: set[str] = set()
    for plural, group in model.groups.items():
        pointer = f"/groups/{plural}"
        _check_names(group, names, SINGULAR_LENGTH, pointer)
        _check_collection(plural, core_attributes.registry_attributes(), pointer)
        if plural in RESERVED_PATHS:
            raise ModelRefused(f"{plural!r} is a path of the registry itself.", place=pointer)
        _check_group(group, pointer)


def _check_group(group: GroupType, pointer: str) -> None:
    _check_id_name(group.singular, core_attributes.group_attributes(""), pointer)
    _check_labels(group.labels, pointer)
    check_attributes(group.attributes, f"{pointer}/attributes", frozenset({group.singular + "id"}))
    used: set[str] = set()
    for name, resource in group.resources.items():
        below = f"{pointer}/resources/{name}"
        _check_names(resource, used, PLURAL_LENGTH, below)
        _check_collection(name, core_attributes.group_attributes(group.singular), below)
        _check_resource(resource, below)
    for key, constraint in group.constraints.items():
        if error := constraint_error(group, key, constraint):
            raise ModelRefused(f"{error}.", place=f"{pointer}/constraints/{key}")


def _check_names(owner: GroupType | ResourceType, used: set[str], singular_length: int, pointer: str) -> None:
    for name, length in ((owner.plural, PLURAL_LENGTH), (owner.singular, singular_length)):
        if not is_attribute_name(name) or len(name) > length:
            raise ModelRefused(f"{name!r} is not a legal type name.", place=pointer)
        if name in used:
            raise ModelRefused(f"the name {name!r} is used twice.", place=pointer)
        used.add(name)


def _check_collection(plural: str, beside: dict[str, core_attributes.Definition], pointer: str) -> None:
    clash = next((name for name in core_attributes.collection_attributes(plural) if name in beside), None)
    if clash:
        raise ModelRefused(f"its attribute {clash!r} is one of the specification's already.", place=pointer)


def _check_id_name(singular: str, beside: dict[str, core_attributes.Definition], pointer: str) -> None:
    if singular + "id" in beside:
        raise ModelRefused(f"its attribute '{singular}id' is one of the specification's already.", place=pointer)


def _check_resource(resource: ResourceType, pointer: str) -> None:
    _check_own_names(resource, pointer)
    _check_labels(resource.labels, pointer)
    if resource.maxversions < 0:
        raise ModelRefused("must not be negative.", place=f"{pointer}/maxversions")
    if resource.versionmode not in VERSION_MODES:
        raise ModelRefused(f"must be one of {', '.join(VERSION_MODES)}.", place=f"{pointer}/versionmode")
    if resource.validatecompatibility and not resource.validateformat:
        raise ModelRefused("needs validateformat.", place=f"{pointer}/validatecompatibility")
    _check_sticky(resource, pointer)
    _check_narrowed(resource, pointer)
    for pattern, form in resource.typemap.items():
        if form.lower() not in TYPEMAP_VALUES or not pattern:
            raise ModelRefused("maps media type patterns to binary, json or string.", place=f"{pointer}/typemap")
    implied = frozenset({resource.singular + "id", *core_attributes.document_attributes(resource.singular)})
    check_attributes(resource.attributes, f"{pointer}/attributes", implied, versioned=True)
    for section in ("resourceattributes", "metaattributes"):
        check_attributes(getattr(resource, section), f"{pointer}/{section}", implied)


def _check_own_names(resource: ResourceType, pointer: str) -> None:
    """The names that a singular implies (its id, its document) must not be those of the specification."""
    singular = resource.singular
    specified = {
        **core_attributes.version_attributes("", False),
        **core_attributes.resource_attributes(""),
        **core_attributes.meta_attributes(""),
    }
    del specified["id"]  # what the id is called is what is asked here
    _check_id_name(singular, specified, pointer)
    names = core_attributes.document_attributes(singular) if resource.hasdocument else {}
    # A type called `format` is one of the specification's samples: its document takes the name of the attribute.
    clash = next((name for name in names if name in specified and name != "format"), None)
    if clash:
        raise ModelRefused(f"its attribute {clash!r} is one of the specification's already.", place=pointer)


def _check_sticky(resource: ResourceType, pointer: str) -> None:
    sticky = resource.metaattributes["defaultversionsticky"]
    if resource.maxversions == 1 and (sticky.default is True or (sticky.enum and False not in sticky.enum)):
        raise ModelRefused(
            "cannot be true where there is one Version only.", place=f"{pointer}/metaattributes/defaultversionsticky"
        )


def _check_narrowed(resource: ResourceType, pointer: str) -> None:
    """Values that the specification gives an attribute may become fewer, not more (model.md, Creating or Updating)."""
    for name, definition in core_attributes.meta_attributes(resource.singular).items():
        attribute, allowed = resource.metaattributes[name], definition.get("enum", ())
        wider = [value for value in attribute.enum if not is_among(value, allowed)]
        if allowed and (wider or not attribute.enum or not attribute.strict):
            raise ModelRefused(
                f"its values may only be fewer than those of the specification: {', '.join(allowed)}.",
                place=f"{pointer}/metaattributes/{name}",
            )


def _check_labels(labels: dict[str, str], pointer: str) -> None:
    wrong = next((key for key in labels if not is_map_key(key)), None)
    if wrong is not None:
        raise ModelRefused(f"{wrong!r} is not a legal map key.", place=f"{pointer}/labels")
