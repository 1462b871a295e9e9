"""Mistakes taken apart: the field that each is about, and where in the text of its file that is.

The lines of a `BadInput` begin with the path of a field. Commands show them behind the file's name and the
line in it, the service gives path, line and column in its answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import yaml

from berth.model import BadInput

LARGEST_LOCATED = 2 * 2**20
"""In larger texts nobody looks for a line."""
_HEAD = re.compile(r"(?:--set )?([^\s:]+): ")
_PLACE = re.compile(r"line (\d+), column (\d+): ")
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
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

    def in_file(self, name: str) -> str:
        """As commands show it: `problem.yaml:14: applications[0].name: is needed`."""
        if not self.path:
            place = "" if self.line is None else f":{self.line}:{self.column}"
            return f"{name}{place}: {self.message}"
        place = "" if self.line is None else f":{self.line}"
        return f"{name}{place}: {self.path}: {self.message}"


def mistakes_from(error: BadInput) -> list[Mistake]:
    """The lines of an error, taken apart; how many more there are is the last."""
    return [_mistake(line) for line in error.mistakes]


def _mistake(line: str) -> Mistake:
    place = _PLACE.match(line)
    if place:
        return Mistake("", line[place.end() :], int(place[1]), int(place[2]))
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
    """The same with line and column of each field in a text that is YAML or JSON."""
    found = list(mistakes)
    if not any(each.path for each in found) or len(text) > LARGEST_LOCATED:
        return found
    try:
        root = yaml.compose(as_yaml(text), Loader=_Loader)
    except yaml.YAMLError:
        return found
    return [_located(each, root) if each.path and each.line is None else each for each in found]


def as_yaml(text: str) -> str:
    """A text in which what JSON may have and YAML may not, tabs and halves of characters, is replaced."""
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return text
    return _HALF_CHARACTER.sub("______", text.replace("\t", " "))


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
