"""JSON that every reader takes, and mistakes with the field and the line that they belong to."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import yaml

from berth.model import BadInput


def json_bytes(document: Any) -> bytes:
    """A document as JSON; what is no number becomes null."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        return json_bytes(without_nan(document))


def finite(value: float) -> float | None:
    """A number, or None where it is none or beyond all bounds."""
    return float(value) if math.isfinite(value) else None


def without_nan(value: Any) -> Any:
    """The same, with null for what is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value


LARGEST_LOCATED = 2 * 2**20
"""In larger texts nobody looks for a line."""
_HEAD = re.compile(r"(?:--set )?([^\s:]+): ")
_PLACE = re.compile(r"line (\d+), column (\d+): ")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Mistake:
    """One mistake; `path` is empty where it belongs to no field."""

    path: str
    message: str
    line: int | None = None
    column: int | None = None

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def mistakes_from(error: BadInput, file: str = "") -> list[Mistake]:
    """The lines that commands print, taken apart; `file` is what they may begin with."""
    return [_mistake(line.removeprefix(f"{file}: ") if file else line) for line in error.mistakes]


def _mistake(line: str) -> Mistake:
    place = _PLACE.match(line)
    if place:
        return Mistake("", line, int(place[1]), int(place[2]))
    head = _HEAD.match(line)
    if head is None:
        return Mistake("", line)
    path, message = head[1], line[head.end() :]
    if line.startswith("--set "):
        path = f"parameters.{path}"
    elif path.startswith("--"):
        path = path[2:].replace("-", "_")
    return Mistake(path, message)


def located(mistakes: Iterable[Mistake], text: str) -> list[Mistake]:
    """The same with line and column of each field in a text that can be read as YAML (or JSON)."""
    found = list(mistakes)
    if not any(each.path for each in found) or len(text) > LARGEST_LOCATED:
        return found
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError:  # JSON may have what YAML may not: tabs
        return found
    return [_located(each, root) if each.path and each.line is None else each for each in found]


def _located(mistake: Mistake, node: Any) -> Mistake:
    mark, rest = None, mistake.path
    while rest and node is not None:
        step = _into(node, rest)
        if step is None:
            break
        mark, node, rest = step
        rest = rest.removeprefix(".")
    if mark is None and node is not None:
        # what is missing belongs where the file begins
        mark = node.start_mark
    if mark is None:
        return mistake
    return replace(mistake, line=mark.line + 1, column=mark.column + 1)


def _into(node: Any, rest: str) -> tuple[Any, Any, str] | None:
    """The mark of the entry that a path goes to next, its value, and the rest of the path."""
    if isinstance(node, yaml.SequenceNode):
        found = re.match(r"\[(\d+)\]", rest)
        if found is None or int(found[1]) >= len(node.value):
            return None
        item = node.value[int(found[1])]
        return item.start_mark, item, rest[found.end() :]
    if not isinstance(node, yaml.MappingNode):
        return None
    # keys may have dots in them: the longest that fits is meant
    fitting = [
        (key, value)
        for key, value in node.value
        if isinstance(key, yaml.ScalarNode)
        and rest.startswith(key.value)
        and rest[len(key.value) : len(key.value) + 1] in ("", ".", "[")
    ]
    if not fitting:
        return None
    key, value = max(fitting, key=lambda pair: len(pair[0].value))
    mark = value.start_mark if isinstance(value, yaml.ScalarNode) else key.start_mark
    return mark, value, rest[len(key.value) :]
