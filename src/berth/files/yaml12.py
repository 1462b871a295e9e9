"""YAML by the rules of 1.2. Reading is safe: plain data only, bounded depth and size, no key twice."""

from __future__ import annotations

import re
from typing import Any

import yaml

from berth.model import BadInput
from berth.model.errors import shortened

DEEPEST = 100
LARGEST = 64 * 2**20
"""Characters that a document may have, its aliases written out: as many as a file may have bytes."""
LARGEST_KEY = 10**18
"""Keys should be names. Larger numbers can be chosen so that a dict finds none of them quickly."""
MOST_DIGITS = 400
"""More are beyond all bounds anyway."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"([-+]?\.(inf|Inf|INF))|(\.(nan|NaN|NAN))")
_TEXT_TAG = "tag:yaml.org,2002:str"
_NUMBER_TAGS = {"tag:yaml.org,2002:int": (int,), "tag:yaml.org,2002:float": (int, float)}


def parse_yaml(text: str, largest: int = LARGEST) -> Any:
    """The one document in a text.

    Args:
        text: YAML, or JSON, which is YAML.
        largest: characters that it may have when all aliases are written out.

    Raises:
        BadInput: it is no YAML, has a key twice, is nested too deeply or blows up through aliases.
    """
    try:
        return _Builder(largest).build(text)
    except yaml.YAMLError as error:
        raise BadInput([_line(error)]) from None


def _line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "can't be read"
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return f"{where}not valid YAML: {shortened(str(problem).splitlines()[0], 200)}"


class _Builder:
    """Builds values from parser events with a stack of its own, so that depth can't crash it."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._open: list[_Collection] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._documents: list[Any] = []

    def build(self, text: str) -> Any:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.ScalarEvent):
                self._add(_scalar(event), len(event.value) + 2, event)
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                self._start(event)
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                done = self._open.pop()
                self._add(done.value, done.size, done.event)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
        if len(self._documents) != 1:
            raise BadInput([f"one YAML document expected, found {len(self._documents) or 'none'}"])
        return self._documents[0]

    def _start(self, event: Any) -> None:
        if event.tag is not None:
            raise BadInput([f"{_place(event)}: tag {_short(event.tag)} is not allowed"])
        if len(self._open) >= DEEPEST:
            raise BadInput([f"{_place(event)}: nested more than {DEEPEST} deep"])
        self._open.append(_Collection({} if isinstance(event, yaml.MappingStartEvent) else [], event))

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise BadInput([f"{_place(event)}: unknown alias {_short(event.anchor)}"])
        self._add(*self._anchors[event.anchor], event)

    def _add(self, value: Any, size: int, event: Any) -> None:
        anchor = None if isinstance(event, yaml.AliasEvent) else event.anchor
        if anchor is not None:
            self._anchors[anchor] = value, size
        if not self._open:
            self._documents.append(value)
            return
        if self._open[-1].size + size > self._largest:
            words = f"with all aliases written out, the file has more than {self._largest:,} characters"
            raise BadInput([f"{_place(event)}: {words}"])
        self._open[-1].add(value, size, event)


class _Collection:
    """A mapping or list that is still being read."""

    def __init__(self, value: dict[Any, Any] | list[Any], event: Any) -> None:
        self.value = value
        self.event = event
        self.size = 2
        """Characters, as JSON would have them at least: what aliases stand for counts each time."""
        self._key: Any = None
        self._has_key = False

    def add(self, value: Any, size: int, event: Any) -> None:
        self.size += size
        if isinstance(self.value, list):
            self.value.append(value)
        elif not self._has_key:
            self._take_key(value, event)
        else:
            self.value[self._key] = value
            self._has_key = False

    def _take_key(self, key: Any, event: Any) -> None:
        if isinstance(key, dict | list) or (isinstance(key, int) and abs(key) > LARGEST_KEY):
            raise BadInput([f"{_place(event)}: a key must be a name"])
        if key in self.value:
            raise BadInput([f"{_place(event)}: key {_short(key)} is there twice"])
        self._key, self._has_key = key, True


def _place(event: Any) -> str:
    return f"line {event.start_mark.line + 1}, column {event.start_mark.column + 1}"


def _short(value: Any) -> str:
    return repr(shortened(value) if isinstance(value, str) else value)


def _scalar(event: Any) -> Any:
    text: str = event.value
    if event.tag is not None and event.tag != "!":
        return _tagged(event.tag, text, event)
    return text if not event.implicit[0] else _plain(text)


def _tagged(tag: str, text: str, event: Any) -> Any:
    """A scalar that says itself whether it is text or a number."""
    if tag == _TEXT_TAG:
        return text
    if tag not in _NUMBER_TAGS:
        raise BadInput([f"{_place(event)}: tag {_short(tag)} is not allowed"])
    value = _plain(text)
    if isinstance(value, bool) or not isinstance(value, _NUMBER_TAGS[tag]):
        raise BadInput([f"{_place(event)}: {_short(text)} does not fit its tag"])
    return value


def _plain(text: str) -> Any:
    """A plain scalar by the core schema of YAML 1.2."""
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) < MOST_DIGITS else float("inf")
    if _FLOAT.fullmatch(text):
        return float(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8) if len(text) < MOST_DIGITS else float("inf")
    if _HEXADECIMAL.fullmatch(text):
        return int(text, 16) if len(text) < MOST_DIGITS else float("inf")
    if _SPECIAL.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text


def yaml_text(document: Any) -> str:
    """Plain data as YAML that people read, and that reads as the same data by the rules of 1.2."""
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None)
    return str(text)


_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]
    """Quotes by 1.2: PyYAML itself quotes by 1.1, where 1e9 is no number."""

    def ignore_aliases(self, data: Any) -> bool:
        """Whether equal parts are written out again: always, people read it."""
        return True


def _quoted_where_needed(dumper: Any, text: str) -> Any:
    number_like = text[:1] in "+-.0123456789" and not isinstance(parse_yaml(text), str) if text else False
    return dumper.represent_scalar(_TEXT_TAG, text, style="'" if number_like else None)


_Dumper.add_representer(str, _quoted_where_needed)
