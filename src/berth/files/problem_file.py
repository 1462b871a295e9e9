"""Problem files: reading them into problems, and writing problems as the data of a file."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.files.document import document_from, mistakes_in, read_bytes
from berth.files.format import refuse
from berth.files.kinds import expect
from berth.files.problem_checks import RULES, application_mistakes, document_mistakes, problem_mistakes
from berth.files.problem_format import (
    PROBLEM,
    PROBLEM_FORMAT,
    ApplicationDocument,
    NetworkDocument,
    NodeDocument,
    OperatorDocument,
    ProblemDocument,
    RuleDocument,
)
from berth.model import (
    Application,
    Containers,
    DataObject,
    Link,
    Network,
    Node,
    Operator,
    Problem,
    Read,
    Rule,
    Stream,
    Survive,
)
from berth.model.links import LINK_FIELDS

DECIMALS = 4
"""Of coordinates in ms: a ten-thousandth is far below what can be measured."""
_NAMES_IN_FILES = {"sender": "from", "receiver": "to"}
"""Fields of the model that are called otherwise in files."""
_DESCRIPTIONS: dict[type, type] = {
    Problem: ProblemDocument,
    Network: NetworkDocument,
    Application: ApplicationDocument,
    Operator: OperatorDocument,
}
"""What people read is written in the order in which it is described."""


def load(path: str | os.PathLike[str]) -> Problem:
    """Read a problem file (YAML or JSON); `-` is standard input.

    Raises:
        BadInput: one line for each mistake, with the file, the line in it and the path of the field.
    """
    content = read_bytes(path)
    with mistakes_in(path, content):
        return problem_from(document_from(content, path))


def problem_from(document: Any) -> Problem:
    """The problem in the data of a problem file."""
    expect(document, "problem")
    checked = PROBLEM.checked(document)
    refuse(document_mistakes(checked))
    problem = _problem(checked, _network(checked["network"]))
    refuse(problem_mistakes(problem))
    problem.network.lay_out()
    return problem


def problem_on(network: Network, document: Any) -> Problem:
    """The problem in the data of a problem file without a network, on the nodes of another one.

    Raises:
        BadInput: one line for each mistake, with the path of the field.
    """
    anywhere = {"network": {"nodes": [{"name": "any"}]}}
    checked = PROBLEM.checked({**document, **anywhere} if isinstance(document, dict) else document)
    objects = dict.fromkeys(item["name"] for item in checked.get("objects", ()))
    refuse(application_mistakes(checked, network.index, objects))
    problem = _problem(checked, network)
    refuse(problem_mistakes(problem))
    return problem


def network_from(document: Any) -> Network:
    """The network in the data of a problem file, whose applications need not be placeable yet.

    Raises:
        BadInput: one line for each mistake that the file has by itself.
    """
    expect(document, "problem")
    checked = PROBLEM.checked(document)
    refuse(document_mistakes(checked))
    return _network(checked["network"])


def _problem(document: ProblemDocument, network: Network) -> Problem:
    given = _without(document, "format")
    given |= {
        "network": network,
        "applications": tuple(_application(item) for item in document["applications"]),
        "objects": tuple(DataObject(**item) for item in document.get("objects", ())),
    }
    if "objective" in document:
        objective = document["objective"]
        levels = tuple(
            _weights(level) for level in (objective if isinstance(objective, list) else [objective])
        )
        given["objective"] = levels[0]
        given["then"] = levels[1:] if isinstance(objective, list) else None
    if "objective_within" in document:
        given["objective_within"] = tuple(float(share) for share in document["objective_within"])
    if "survive" in document:
        survive = document["survive"]
        given["survive"] = Survive(None if isinstance(survive, str) else survive["label"])
    if "objective_bounds" in document:
        pairs = document["objective_bounds"].items()
        given["objective_bounds"] = {name: (float(best), float(worst)) for name, (best, worst) in pairs}
    return Problem(**given)


def _weights(document: Mapping[str, float]) -> dict[str, float]:
    return {name: float(weight) for name, weight in document.items() if weight}


def _network(document: NetworkDocument) -> Network:
    given = _without(document, *LINK_FIELDS)
    given["nodes"] = tuple(_node(item) for item in document["nodes"])
    given["links"] = tuple(Link(**_renamed(item)) for item in document.get("links", ()))
    matrices = {name: value for name, value in document.items() if name in LINK_FIELDS}
    given["matrices"] = {name: np.array(rows, dtype=np.float64) for name, rows in matrices.items()}
    return Network(**given)


def _node(document: NodeDocument) -> Node:
    given: dict[str, Any] = {**document}
    if "coordinates" in document:
        given["coordinates"] = tuple(float(value) for value in document["coordinates"])
    if "holds" in document:
        given["holds"] = frozenset(document["holds"])
    if "labels" in document:
        given["labels"] = _labels(document["labels"])
    return Node(**given)


def _labels(document: Mapping[str, str | float | bool]) -> dict[str, str]:
    """Label values as text, so that 1 and '1' are the same zone."""
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in document.items()
    }


def _application(document: ApplicationDocument) -> Application:
    given: dict[str, Any] = {**document}
    if "containers" in document:
        containers = document["containers"]
        given["containers"] = Containers(int(containers["count"]), containers["capacity"])
    given["operators"] = tuple(_operator(item) for item in document["operators"])
    given["streams"] = tuple(Stream(**_renamed(item)) for item in document.get("streams", ()))
    given["rules"] = tuple(_rule(item) for item in document.get("rules", ()))
    return Application(**given)


def _operator(document: OperatorDocument) -> Operator:
    given = _without(document, "pinned")
    if "pinned" in document:
        given["candidates"] = (document["pinned"],)
    elif "candidates" in document:
        given["candidates"] = tuple(document["candidates"])
    if "parallelism" in document:
        given["parallelism"] = int(document["parallelism"])
    given["reads"] = tuple(Read(**item) for item in document.get("reads", ()))
    return Operator(**given)


def _rule(document: RuleDocument) -> Rule:
    kind = next(kind for kind in RULES if kind in document)
    made, first = RULES[kind]
    given: dict[str, Any] = {first if key == kind else key: value for key, value in document.items()}
    given["operators"] = tuple(given["operators"])
    if "labels" in given:
        given["labels"] = _labels(given["labels"])
    if "most" in given:
        given["most"] = int(given["most"])
    return made(**given)


def _without(document: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in keys}


def _renamed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a link or stream by their names in the model."""
    fields_of = {name: key for key, name in _NAMES_IN_FILES.items()}
    return {fields_of.get(key, key): value for key, value in document.items()}


def problem_document(problem: Problem) -> dict[str, Any]:
    """The data of a file that reads as this problem; defaults are left out."""
    return {"format": PROBLEM_FORMAT, **_document(problem)}


def _document(value: Any) -> Any:
    """A value of the model as data: of dataclasses the fields that are not at their defaults."""
    if isinstance(value, tuple):
        return [_document(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return {key: _document(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return np.where(np.isnan(value), None, value.astype(object)).tolist()  # type: ignore[call-overload]
    if not is_dataclass(value):
        return value
    given = {
        _NAMES_IN_FILES.get(field.name, field.name): _document(getattr(value, field.name))
        for field in fields(value)
        if getattr(value, field.name) != _default(field)
    }
    return _as_in_files(value, given)


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _as_in_files(item: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Where files differ from the model: one candidate is a pin, and rules go by their kinds, for example."""
    for kind, (made, first) in RULES.items():
        if isinstance(item, made):
            return {kind: given.pop(first), **given}
    if isinstance(item, Operator) and item.candidates is not None and len(item.candidates) == 1:
        (given["pinned"],) = given.pop("candidates")
    if isinstance(item, Network):
        given |= given.pop("matrices", {})
    if isinstance(item, Problem):
        levels = [dict(level) for level in item.objectives]
        given["objective"] = levels[0] if item.then is None else levels
        if item.survive is not None:
            given["survive"] = "node" if item.survive.label is None else {"label": item.survive.label}
    order = _DESCRIPTIONS[type(item)].__annotations__ if type(item) in _DESCRIPTIONS else given
    return {key: given[key] for key in order if key in given}


def with_coordinates(
    document: dict[str, Any],
    positions: NDArray[np.float64],
    heights: NDArray[np.float64] | None,
    unplaced: Collection[int],
) -> dict[str, Any]:
    """A problem's document with these coordinates instead of any that it has; all else is as it was.

    Args:
        document: the data of the problem's file.
        positions: a row for each node.
        heights: one for each node; None: nodes have none.
        unplaced: the numbers of nodes that get none; those that they have would be of another space.
    """
    changed = copy.deepcopy(document)
    for number, node in enumerate(changed["network"]["nodes"]):
        for name in ("coordinates", "height_ms"):
            node.pop(name, None)
        if number in unplaced:
            continue
        node["coordinates"] = positions[number].round(DECIMALS).tolist()
        if heights is not None:
            node["height_ms"] = round(float(heights[number]), DECIMALS)
    return changed
