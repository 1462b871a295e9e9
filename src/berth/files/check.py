"""A document against a schema: every mistake as one line with the field's path.

The subset of JSON Schema that berth's own schemas use, for messages that people can act on and for
matrices of a million entries.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from berth.files.schema import Schema
from berth.model.suggest import did_you_mean

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "number": (int, float),
    "integer": (int, float),
    "null": (type(None),),
}
_ARTICLES = {"object": "a mapping", "array": "a list", "integer": "a whole number", "null": "null"}


def mistakes_in(value: Any, schema: Schema, path: str = "") -> Iterator[str]:
    """Lines that say what is wrong with a value; none if it fits the schema."""
    kinds = schema.get("type")
    if kinds is not None:
        allowed = [kinds] if isinstance(kinds, str) else kinds
        if not any(_is(value, kind) for kind in allowed):
            yield f"{path or 'the file'}: expected {_kinds(allowed)}, found {shown(value)}"
            return
    if "enum" in schema and value not in schema["enum"]:
        wanted = " or ".join(repr(item) for item in schema["enum"])
        yield f"{path}: expected {wanted}, found {shown(value)}"
    elif isinstance(value, dict):
        yield from _mapping(value, schema, path)
    elif isinstance(value, list):
        yield from _sequence(value, schema, path)
    elif isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{path}: {shown(value)} is no name (names are not empty and have no '/', '#' or white space)"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number(value, schema, path)


def shown(value: Any) -> str:
    """A value in a message, short."""
    names = {True: "true", False: "false", None: "null"}
    if value is None or isinstance(value, bool):
        return names[value]
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and abs(value) > 10**30:
        return "a number beyond all bounds"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _kinds(kinds: list[str]) -> str:
    return " or ".join(_ARTICLES.get(kind, f"a {kind}") for kind in kinds)


def _mapping(value: dict[Any, Any], schema: Schema, path: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    prefix = f"{path}." if path else ""
    for key, item in value.items():
        if not isinstance(key, str):
            yield f"{prefix}{shown(key)}: expected a name as the key"
        elif key in properties:
            yield from mistakes_in(item, properties[key], prefix + key)
        elif others is False:
            yield f"{prefix}{key}: unknown key {did_you_mean(key, properties)}"
        elif isinstance(others, dict):
            yield from mistakes_in(item, others, prefix + key)
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{prefix}{key}: is needed"


def _sequence(value: list[Any], schema: Schema, path: str) -> Iterator[str]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if not least <= len(value) <= most:
        wanted = f"{least}" if least == most else f"at least {least}"
        yield f"{path}: {wanted} needed, found {len(value) or 'none'}"
    items = schema.get("items")
    if items is None or _all_plain_numbers(value, items):
        return
    for number, item in enumerate(value):
        if not surely_fits(item, items):
            yield from mistakes_in(item, items, f"{path}[{number}]")


def surely_fits(value: Any, schema: Schema) -> bool:
    """A quick yes for most of what is right: of 100,000 nodes the few with mistakes are looked at closely."""
    kinds, found = schema.get("type"), type(value)
    kinds = (kinds,) if type(kinds) is str else kinds or ()
    if "enum" in schema:
        return (not kinds or "string" in kinds) and found is str and value in schema["enum"]
    if found is float or found is int:
        whole = "integer" in kinds and found is int
        # Both bounds together keep out what is not finite.
        return (
            ("number" in kinds or whole)
            and "minimum" in schema
            and "maximum" in schema
            and bool(schema["minimum"] <= value <= schema["maximum"])
            and not value <= schema.get("exclusiveMinimum", -math.inf)
            and not value >= schema.get("exclusiveMaximum", math.inf)
        )
    if found is str:
        return "string" in kinds and re.search(schema.get("pattern", ""), value) is not None
    if found is list:
        enough = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        items = schema.get("items", {})
        return enough and "array" in kinds and all(surely_fits(item, items) for item in value)
    if found is dict:
        return "object" in kinds and _surely_fitting_mapping(value, schema)
    return found is bool and "boolean" in kinds


def _surely_fitting_mapping(value: dict[Any, Any], schema: Schema) -> bool:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties")
    for key, item in value.items():
        inner = properties.get(key, others)
        if type(key) is not str or type(inner) is not dict or not surely_fits(item, inner):
            return False
    return all(key in value for key in schema.get("required", ()))


def _all_plain_numbers(value: list[Any], items: Schema) -> bool:
    """A quick yes for long rows of numbers within the bounds; a no means to look at each."""
    kinds = items.get("type")
    if kinds not in ("number", ["number", "null"]) or not value:
        return False
    found = set(map(type, value))
    if not found <= {int, float, type(None)} or (type(None) in found and kinds == "number"):
        return False
    numbers = [item for item in value if item is not None] if type(None) in found else value
    if not numbers:
        return True
    try:
        # A NaN anywhere makes the sum NaN; minimum and maximum alone could miss it.
        finite = math.isfinite(float(sum(numbers)))
    except OverflowError:
        finite = False
    ends = (min(numbers), max(numbers))
    return finite and not any(mistake for end in ends for mistake in _number(end, items, ""))


def _number(value: float, schema: Schema, path: str) -> Iterator[str]:
    try:
        finite = math.isfinite(float(value))
    except OverflowError:
        finite = False
    if not finite:
        yield f"{path}: {shown(value)} is not a finite number"
    elif "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield f"{path}: {shown(value)} is not above {schema['exclusiveMinimum']}"
    elif value < schema.get("minimum", value):
        yield f"{path}: {shown(value)} is below {schema['minimum']:g}"
    elif value > schema.get("maximum", value):
        yield f"{path}: {shown(value)} is above {schema['maximum']:g}"
    elif "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
        yield f"{path}: {shown(value)} is not below {schema['exclusiveMaximum']}"
