"""Values back into XML: elements in the order that their content model asks for."""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from typing import Any

from lxml import etree

from postroom.formats.xsd import content_model, safe_parser
from postroom.formats.xsd.content_model import AllGroup, ChoiceGroup, ElementWildcard, Leaf, Model, SequenceGroup
from postroom.formats.xsd.element_codec import ANY, ANY_ATTRIBUTES, IS_NIL, TEXT, ElementPlan, TypePlan
from postroom.formats.xsd.xml_names import NIL, XSI, namespace_of

_WILD = "*"
_RAW = re.compile(r"<\?raw (\d+)\?>")


def document(plan: ElementPlan, value: Any) -> bytes:
    """A value as an XML document."""
    return _Writer().document(plan, value)


class _Writer:
    """Makes elements; XML text in a value is put in at the end, as it is."""

    def __init__(self) -> None:
        self.raw: list[str] = []

    def document(self, plan: ElementPlan, value: Any) -> bytes:
        if plan.is_open:
            return str(value).encode()
        root = self.element(plan, value)
        etree.cleanup_namespaces(root)
        text: str = etree.tostring(root, encoding="unicode")
        return _RAW.sub(lambda found: self.raw[int(found[1])], text).encode()

    def element(self, plan: ElementPlan, value: Any) -> Any:
        namespace = namespace_of(plan.tag)
        made = etree.Element(plan.tag, nsmap={"xsi": XSI, **({"p": namespace} if namespace else {})})
        if value is None or (isinstance(value, dict) and value.get(IS_NIL)):
            made.set(NIL, "true")
        if value is None:
            return made
        if plan.codec is not None:
            made.text = plan.codec.encode(value)
        elif plan.type is not None:
            self._fill(made, plan.type, value)
        return made

    def _fill(self, made: Any, type_plan: TypePlan, value: Any) -> None:
        members = value if isinstance(value, dict) else {TEXT: value}
        for found in type_plan.attributes.values():
            if members.get(found.key) is not None:
                made.set(found.tag, found.codec.encode(members[found.key]))
        for tag, text in (members.get(ANY_ATTRIBUTES) or {}).items():
            made.set(tag, text)
        if members.get(IS_NIL):
            return
        if type_plan.mixed:
            made.append(self._as_it_is(str(members.get(TEXT) or "")))
        elif type_plan.text is not None:
            made.text = "" if members.get(TEXT) is None else type_plan.text.encode(members[TEXT])
        else:
            made.extend(_Order(self._queues(type_plan, members)).arranged(type_plan.model))

    def _queues(self, type_plan: TypePlan, members: dict[str, Any]) -> dict[str, deque[Any]]:
        queues: dict[str, deque[Any]] = {}
        for tag, child in {child.key: (tag, child) for tag, child in type_plan.children.items()}.values():
            if child.key not in members:
                continue
            held = members[child.key]
            for one in (held or []) if child.many else [held]:
                if child.plan.is_open:
                    queues.setdefault(_tag_of(one, tag), deque()).append(self._as_it_is(str(one)))
                else:
                    queues.setdefault(tag, deque()).append(self.element(child.plan, one))
        for text in members.get(ANY) or []:
            queues.setdefault(_WILD, deque()).append(self._as_it_is(str(text)))
        return queues

    def _as_it_is(self, text: str) -> Any:
        self.raw.append(text)
        return etree.ProcessingInstruction("raw", str(len(self.raw) - 1))


def _tag_of(text: Any, otherwise: str) -> str:
    try:
        return str(safe_parser.read(str(text).encode(), safe_parser.parser()).tag)
    except safe_parser.XmlRefused:
        return otherwise  # not a value that we decoded; what it is is for the validator to say


class _Order:
    """Puts child elements, waiting by name, in an order that fits a model."""

    def __init__(self, queues: dict[str, deque[Any]]) -> None:
        self.queues = queues
        self.kept: Counter[str] = Counter()
        self.placed: list[Any] = []
        self.repeated: set[str] = set()

    def arranged(self, model: Model) -> list[Any]:
        """All elements, in order; those that have no place come last."""
        times = Counter(_queue_name(leaf) for leaf in content_model.leaves(model))
        self.repeated = {name for name, count in times.items() if count > 1}
        self._emit(model)
        for queue in self.queues.values():
            self.placed.extend(queue)
        return self.placed

    def _emit(self, model: Model) -> None:
        if isinstance(model, Leaf | ElementWildcard):
            queue = self.queues.get(_queue_name(model))
            if queue:
                self.placed.append(queue.popleft())
        elif isinstance(model, SequenceGroup):
            for index, part in enumerate(model.parts):
                self._emit_keeping(part, model.parts[index + 1 :])
        elif isinstance(model, AllGroup):
            for part in model.parts:
                self._emit(part)
        elif isinstance(model, ChoiceGroup):
            wanted = next((part for part in model.parts if self._rounds(part)), None)
            if wanted is not None:
                self._emit(wanted)
        elif isinstance(model, content_model.Repeat):
            self._emit_repeated(model)

    def _emit_keeping(self, part: Model, later: tuple[Model, ...]) -> None:
        """Emit a part and leave enough for later parts that need elements of the same name."""
        names = {_queue_name(leaf) for leaf in content_model.leaves(part)} & self.repeated
        kept = Counter({name: sum(_least(other, name) for other in later) for name in names})
        self.kept += kept
        self._emit(part)
        self.kept -= kept

    def _emit_repeated(self, model: content_model.Repeat) -> None:
        most = math.inf if model.most is None else model.most
        rounds = int(min(self._rounds(model.part), most))
        names = {_queue_name(leaf) for leaf in content_model.leaves(model.part)} & self.queues.keys()
        least = {name: _least(model.part, name) for name in names}
        if rounds < model.least and content_model.nullable(model.part):
            rounds = model.least
        for turn in range(rounds):
            if not any(len(self.queues.get(name, ())) > self.kept[name] for name in names):
                break
            kept = Counter({name: least[name] * (rounds - turn - 1) for name in names})
            self.kept += kept
            self._emit(model.part)
            self.kept -= kept

    def _rounds(self, model: Model) -> int:
        """How often a model has to come to take all that waits for it."""
        if isinstance(model, Leaf | ElementWildcard):
            name = _queue_name(model)
            return max(len(self.queues.get(name, ())) - self.kept[name], 0)
        if isinstance(model, content_model.Repeat):
            inside = self._rounds(model.part)
            return min(inside, 1) if model.most is None else -(-inside // model.most)
        if isinstance(model, ChoiceGroup):
            return sum(self._rounds(part) for part in model.parts)
        parts = model.parts if isinstance(model, SequenceGroup | AllGroup) else ()
        return max((self._rounds(part) for part in parts), default=0)


def _queue_name(leaf: Leaf | ElementWildcard) -> str:
    return leaf.tag if isinstance(leaf, Leaf) else _WILD


def _least(model: Model, name: str) -> int:
    """How many elements of a name a model needs at least."""
    if isinstance(model, Leaf | ElementWildcard):
        return 1 if _queue_name(model) == name else 0
    if isinstance(model, content_model.Repeat):
        return model.least * _least(model.part, name)
    if isinstance(model, ChoiceGroup):
        return min((_least(part, name) for part in model.parts), default=0)
    return sum(_least(part, name) for part in model.parts) if isinstance(model, SequenceGroup | AllGroup) else 0
