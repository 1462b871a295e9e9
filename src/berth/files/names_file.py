"""Files of names: what telemetry calls the nodes, operators and instances of a problem (`ingest --names`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from berth.files.document import document_from, mistakes_in, read_bytes
from berth.model import BadInput, Problem
from berth.model.errors import did_you_mean

PARTS = {"nodes": "node", "operators": "operator", "instances": "instance"}
"""The parts that a file may have, and what their names are names of."""


@dataclass(frozen=True)
class Names:
    """From the names in telemetry to those in a problem, by what they name.

    Operators and instances are `name`, in any application, or `application/name`, on both sides.
    """

    nodes: Mapping[str, str] = field(default_factory=dict)
    operators: Mapping[str, str] = field(default_factory=dict)
    instances: Mapping[str, str] = field(default_factory=dict)


def load_names(path: Path, problem: Problem) -> Names:
    """Read a file of names.

    It has the parts `nodes`, `operators` and `instances`, each a mapping; or it is one mapping for all of
    them, and what a name is the name of follows from the problem.

    Raises:
        BadInput: a line for each mistake, with the file's name and the path of the field.
    """
    content = read_bytes(path)
    with mistakes_in(path, content):
        document = document_from(content, path)
        mistakes = list(_mistakes(document))
        if mistakes:
            raise BadInput(mistakes)
        return _names(document, problem)


def _mistakes(document: Any) -> Iterator[str]:
    if not isinstance(document, dict):
        yield "the file: expected a mapping from names in the telemetry to names in the problem"
        return
    for name, value in document.items():
        if isinstance(value, dict):
            if name not in PARTS:
                yield f"{name}: no part {did_you_mean(name, PARTS)}"
            entries = {f"{name}.{old}": new for old, new in value.items()}
        else:
            entries = {name: value}
        for place, new in entries.items():
            if not isinstance(new, str):
                yield f"{place}: expected the name of a node, operator or instance, found {new!r}"


def _names(document: dict[str, Any], problem: Problem) -> Names:
    known = _known(problem)
    found: dict[str, dict[str, str]] = {part: {} for part in PARTS}
    mistakes = []
    for name, value in document.items():
        entries = value if isinstance(value, dict) else {name: value}
        parts = [name] if isinstance(value, dict) else list(PARTS)
        for old, new in entries.items():
            fitting = [part for part in parts if new in known[part]]
            for part in fitting:
                found[part][old] = new
            if not fitting:
                place = f"{name}.{old}" if isinstance(value, dict) else old
                what = " or ".join(PARTS[part] for part in parts)
                near = did_you_mean(new, [each for part in parts for each in known[part]])
                mistakes.append(f"{place}: no {what} {near}")
    if mistakes:
        raise BadInput(mistakes)
    return Names(**found)


def _known(problem: Problem) -> dict[str, Collection[str]]:
    """All names of a problem, with and without the application's before them."""
    operators = [item.name for item in problem.instances.operators]
    instances = problem.instances.names
    return {
        "nodes": problem.network.index,
        "operators": dict.fromkeys([*operators, *(name.partition("/")[2] for name in operators)]),
        "instances": dict.fromkeys([*instances, *(name.partition("/")[2] for name in instances)]),
    }
