"""Parameters of policies and generators from what a user typed or passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from math import isfinite
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from berth.model.errors import BadInput, did_you_mean

LARGEST = 2**53
"""Whole numbers beyond are not exact as floats, and far beyond no number for compiled code."""

_TRUE = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Values(NamedTuple):
    """Which values make sense, and what is said of others."""

    make_sense: Callable[[Any], bool]
    told: str


def at_least(least: int) -> Values:
    """Numbers from this one on."""
    return Values(lambda value: value >= least, f"is below {least}")


NOT_NEGATIVE = Values(lambda value: value >= 0 and isfinite(value), "is not 0 or above")
POSITIVE = Values(lambda value: value > 0, "is not above 0")
SHARE = Values(lambda value: 0 < value <= 1, "is not above 0 and up to 1")


def parameter(default: Any, text: str, values: Values | None = None) -> Any:
    """A field of a parameter class: a default, an explanation and, `None` aside, which values make sense."""
    return field(default=default, metadata={"help": text, "values": values})


@dataclass(frozen=True)
class Parameters:
    """What users may set: fields made by `parameter`. A value out of range is a ValueError with the name."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value, values = getattr(self, item.name), item.metadata.get("values")
            if values is not None and value is not None and not values.make_sense(value):
                raise ValueError(f"{item.name}: {value} {values.told}")


def parameters_from(kind: type, given: Mapping[str, Any], owner: str) -> Any:
    """An instance of a parameter class.

    Args:
        kind: a frozen dataclass: its fields are what may be set.
        given: values by name, as text or as they are.
        owner: whose parameters they are, for messages: `policy odp`.

    Raises:
        BadInput: an unknown parameter, or a value of the wrong kind or out of range.
    """
    hints = _hints(kind)
    known = [item.name for item in fields(kind)]
    mistakes = [
        f"--set {name}: {owner} has no parameter {did_you_mean(name, known)}"
        + ("" if known else " (it has none)")
        for name in given
        if name not in known
    ]
    if mistakes:
        raise BadInput(mistakes)
    values = {name: _converted(name, value, hints[name]) for name, value in given.items()}
    try:
        return kind(**values)
    except ValueError as error:
        raise BadInput([f"--set {error}"]) from None


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of a parameter class's fields; evaluated once, as that takes longer than many a solve."""
    return get_type_hints(kind)


def _converted(name: str, value: Any, hint: Any) -> Any:
    choices = get_args(hint)
    if type(None) in choices:
        if value is None or value == "none":
            return None
        hint = next(choice for choice in choices if choice is not type(None))
        choices = ()
    try:
        if choices:
            return {str(choice): choice for choice in choices}[str(value)]
        if hint is bool:
            return value if isinstance(value, bool) else _TRUE[str(value).lower()]
        if hint is int:
            return _whole(name, value)
        return hint(value)
    except BadInput:
        raise
    except (ValueError, KeyError, TypeError, OverflowError):
        kinds = {bool: "true or false", int: "a whole number", float: "a number"}
        wanted = " or ".join(map(repr, choices)) if choices else kinds.get(hint, "a text")
        raise BadInput([f"--set {name}: expected {wanted}, found {value!r}"]) from None


def _whole(name: str, value: Any) -> int:
    number = float(value)
    if isinstance(value, bool) or not number.is_integer():
        raise ValueError
    if abs(number) > LARGEST:
        raise BadInput([f"--set {name}: {value} is beyond {LARGEST}, the largest whole number there is"])
    return int(number)


def choices_of(kind: type) -> dict[str, tuple[str, ...]]:
    """The values of the parameters that have only some, as users write them."""
    found: dict[str, tuple[str, ...]] = {}
    for name, hint in _hints(kind).items():
        if hint is bool:
            found[name] = ("true", "false")
        elif get_origin(hint) is Literal:
            found[name] = tuple(map(str, get_args(hint)))
    return found


def described(kind: type) -> list[dict[str, Any]]:
    """Every parameter with its default, for people and programs."""
    return [
        {
            "name": item.name,
            "default": None if item.default is MISSING else item.default,
            "help": item.metadata.get("help", ""),
        }
        for item in fields(kind)
    ]
