"""What a file may hold: described once by types, from which its checks, messages and JSON Schema come.

A description is a `TypedDict` whose fields have the types below (or such dicts, lists of them, and so on).
pydantic checks a document against it. The documents themselves are used as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    with_config,
)

from berth.model import BadInput
from berth.model.errors import LONGEST_NAME, LONGEST_VALUE, did_you_mean, one_of, shortened

Schema = dict[str, Any]
Document = TypeVar("Document")

LARGEST_AMOUNT = 1e30
"""More of anything is a slip of the pen, and would overflow in products."""


def _whole(value: Any) -> Any:
    """2.0 is a whole number, too."""
    return int(value) if type(value) is float and value.is_integer() else value


Finite = Annotated[float, Field(allow_inf_nan=False)]
Number = Annotated[float, Field(ge=-LARGEST_AMOUNT, le=LARGEST_AMOUNT, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, le=LARGEST_AMOUNT, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
whole = BeforeValidator(_whole)
"""Stands behind the bounds of a whole number."""
Whole = Annotated[int, whole]
# Python's $ also matches before a line break at the end
Name = Annotated[str, Field(pattern=r"^[^/#\s]+$(?!\n)", max_length=LONGEST_NAME)]
Names = Annotated[list[Name], Field(min_length=1)]
Labels = dict[str, str | Finite | bool]

closed = with_config(ConfigDict(strict=True, regex_engine="python-re", extra="forbid"))
"""Decorates a description in which unknown keys are mistakes."""
open_ended = with_config(ConfigDict(strict=True, regex_engine="python-re", extra="ignore"))
"""Decorates one in which they are left alone."""


_KINDS: dict[str, type] = {"<mapping>": dict, "<list>": list, "<text>": str}
mapping, listed, text = (Tag(kind) for kind in _KINDS)
"""Stand behind the kinds of values that a field may have, where these are not all single values."""
by_kind = Discriminator(
    lambda value: next((kind for kind, made in _KINDS.items() if isinstance(value, made)), "<mapping>")
)
"""Stands behind such a field: a value is checked as what it is, and not as what it might have been."""


def about(text: str) -> Any:
    """What a field means, for readers of the schema."""
    return Field(description=text)


def refuse(mistakes: Iterable[str]) -> None:
    """Raise `BadInput` if there are any mistakes."""
    lines = iter(mistakes)
    for first in lines:
        raise BadInput(chain([first], lines))


class Format(Generic[Document]):
    """The format of a file. pydantic works through the description when it is first used."""

    def __init__(self, description: type[Document], title: str = "") -> None:
        self._description = description
        self._title = title

    @cached_property
    def _adapter(self) -> TypeAdapter[Document]:
        return TypeAdapter(self._description)

    @cached_property
    def schema(self) -> Schema:
        """The JSON Schema, in one piece."""
        schema = self._adapter.json_schema()
        head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": self._title}
        return (head if self._title else {}) | _in_one_piece(schema, schema.get("$defs", {}))

    def checked(self, document: Any, path: str = "") -> Document:
        """The document, which fits the description then.

        Args:
            document: data of a file.
            path: where in the file it is.

        Raises:
            BadInput: one line for each mistake, with the path of the field.
        """
        refuse(self.mistakes(document, path))
        return document  # type: ignore[no-any-return]

    def mistakes(self, document: Any, path: str = "") -> Iterator[str]:
        """Lines that say what is wrong with a document; none if it fits."""
        try:
            self._adapter.validate_python(document)
        except ValidationError as found:
            order = _Order(document)
            errors = found.errors(include_url=False, include_context=False)
            before = None
            for error in sorted(errors, key=lambda error: order.of(error["loc"])):
                line = _line(error, self.schema, path)
                # each type that a value might have had is an error of its own, but one mistake
                if line != before:
                    yield line
                before = line


class _Order:
    """The order of places in a document: top to bottom, and what is missing at the end of its mapping."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._keys: dict[int, dict[Any, int]] = {}

    def of(self, place: tuple[Any, ...]) -> list[int]:
        """What places are sorted by."""
        value, numbers = self._document, []
        for step in place:
            if isinstance(value, dict):
                keys = self._keys.get(id(value)) or {key: number for number, key in enumerate(value)}
                self._keys[id(value)] = keys
                numbers.append(keys.get(step, len(keys)))
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int):
                numbers.append(step)
                value = value[step]
        return numbers


def _in_one_piece(schema: Schema, shared: Schema) -> Schema:
    """A schema without references, titles of classes, and more than one way to say the same."""
    if "$ref" in schema:
        schema = {**shared[schema["$ref"].rpartition("/")[2]], **schema}
    left_out = ("$defs", "$ref", "anyOf", "oneOf", "const", "propertyNames", "title")
    whole = {key: value for key, value in schema.items() if key not in left_out}
    if "const" in schema or "enum" in schema:
        whole.pop("type", None)
        whole["enum"] = schema.get("enum", [schema.get("const")])
    if several := schema.get("anyOf", schema.get("oneOf")):
        choices = [_in_one_piece(choice, shared) for choice in several]
        whole |= {key: value for choice in choices for key, value in choice.items()}
        whole["type"] = [choice["type"] for choice in choices]
    if "items" in schema:
        whole["items"] = _in_one_piece(schema["items"], shared)
    properties, others = schema.get("properties"), schema.get("additionalProperties")
    if "propertyNames" in schema:
        whole["propertyNames"] = _in_one_piece(schema["propertyNames"], shared)
        properties, others = dict.fromkeys(whole["propertyNames"]["enum"], others), False
    if properties is not None:
        whole["properties"] = {key: _in_one_piece(value, shared) for key, value in properties.items()}
    if others is not None:
        whole["additionalProperties"] = _in_one_piece(others, shared) if isinstance(others, dict) else others
    return whole


def _line(error: Any, schema: Schema, path: str) -> str:
    """A mistake in our words: from the value, and what the schema says of its place."""
    place = error["loc"]
    for number, step in enumerate(place):
        after = place[number + 1 :]
        if step in _KINDS:
            continue
        if "object" in schema["type"] and not (isinstance(step, int) and "array" in schema["type"]):
            inner = schema.get("properties", {}).get(step, schema.get("additionalProperties"))
            # pydantic writes keys that are no text as text into the place, but has them as the input
            key = error["input"] if _about_the_key(error["type"], after, inner) else step
            path = f"{path}." if path else ""
            if not isinstance(key, str):
                return f"{path}{shown(key)}: expected a name as the key"
            if not isinstance(inner, dict):
                # who has to choose a name from a list is told all of them
                hint = one_of if "propertyNames" in schema else did_you_mean
                return f"{path}{_step(key)}: unknown key {hint(key, schema['properties'])}"
            path, schema = path + _step(key), inner
        elif "array" in schema["type"]:
            path, schema = f"{path}[{step}]", schema["items"]
    if error["type"] == "missing":
        return f"{path}: is needed"
    return f"{path or 'the file'}: {_mistake(error['input'], schema)}"


def _step(key: str) -> str:
    """A key in a path; longer ones than names have are no keys of anything."""
    return shortened(key, 2 * LONGEST_NAME + 10)


def _about_the_key(kind: str, after: tuple[Any, ...], inner: Any) -> bool:
    """Whether an error is about the key at some step of its place, not about what is there."""
    mapping = isinstance(inner, dict) and "object" in inner.get("type", ())
    return (kind == "invalid_key" and not after) or (after == ("[key]",) and not mapping)


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "number": (int, float),
    "integer": (int,),
    "null": (type(None),),
}
_ARTICLES = {"object": "a mapping", "array": "a list", "integer": "a whole number", "null": "null"}


def _mistake(value: Any, schema: Schema) -> str:
    """What is wrong with a value by itself."""
    if "enum" in schema:
        return f"expected {' or '.join(map(repr, schema['enum']))}, found {shown(value)}"
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if not any(_is(value, kind) for kind in kinds):
        wanted = " or ".join(_ARTICLES.get(kind, f"a {kind}") for kind in kinds)
        return f"expected {wanted}, found {shown(value)}"
    if isinstance(value, list):
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        wanted = f"{least}" if least == most else f"at least {least}"
        return f"{wanted} needed, found {len(value) or 'none'}"
    if isinstance(value, str):
        if len(value) > schema.get("maxLength", len(value)):
            return f"{shown(value)} has {len(value):,} characters; names have at most {schema['maxLength']}"
        return f"{shown(value)} is not a valid name (names are not empty and have no '/', '#' or white space)"
    return f"{shown(value)} {_out_of_bounds(value, schema)}"


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _out_of_bounds(value: float, schema: Schema) -> str:
    try:
        finite = math.isfinite(float(value))
    except OverflowError:
        finite = False
    if not finite:
        return "is not a finite number"
    if value <= schema.get("exclusiveMinimum", -math.inf):
        return f"is not above {schema['exclusiveMinimum']:g}"
    if value < schema.get("minimum", -math.inf):
        return f"is below {schema['minimum']:g}"
    if value > schema.get("maximum", math.inf):
        return f"is above {schema['maximum']:g}"
    return f"is not below {schema['exclusiveMaximum']:g}"


def shown(value: Any) -> str:
    """A value in a message, short."""
    names = {True: "true", False: "false", None: "null"}
    if value is None or isinstance(value, bool):
        return names[value]
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and abs(value) > 10**30:
        return "a number beyond all bounds"
    return shortened(repr(value[: 2 * LONGEST_VALUE] if isinstance(value, str) else value))
