"""Problem files: reading and checking them, and building the problem they describe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from berth.evaluation.goal import goal_mistakes
from berth.files.check import mistakes_in, shown
from berth.files.document import read_document
from berth.files.problem_checks import application_mistakes, document_mistakes
from berth.files.schema import MOST_INSTANCES, PROBLEM_SCHEMA
from berth.model import (
    Apart,
    Application,
    BadInput,
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
    Together,
    Where,
)
from berth.model.links import LINK_FIELDS

MOST_LINES = 100
Document = dict[str, Any]


def load(path: str | os.PathLike[str]) -> Problem:
    """Read a problem file (YAML or JSON).

    Raises:
        BadInput: one line for each mistake, with the path of the field.
    """
    return problem_from(read_document(path))


def problem_from(document: Any) -> Problem:
    """The problem in the data of a problem file."""
    _refuse(mistakes_in(document, PROBLEM_SCHEMA))
    _refuse(document_mistakes(document))
    problem = _problem(document, _network(document["network"]))
    _refuse(_problem_mistakes(problem))
    problem.network.lay_out()
    return problem


def problem_on(network: Network, document: Any) -> Problem:
    """The problem in the data of a problem file without a network, on the nodes of another one.

    Raises:
        BadInput: one line for each mistake, with the path of the field.
    """
    anywhere = {"network": {"nodes": [{"name": "any"}]}}
    _refuse(mistakes_in({**document, **anywhere} if isinstance(document, dict) else document, PROBLEM_SCHEMA))
    objects = dict.fromkeys(item["name"] for item in document.get("objects", ()))
    _refuse(application_mistakes(document, network.index, objects))
    problem = _problem(document, network)
    _refuse(_problem_mistakes(problem))
    return problem


def network_from(document: Any) -> Network:
    """The network in the data of a problem file, whose applications need not be placeable yet.

    Raises:
        BadInput: one line for each mistake that the file has by itself.
    """
    _refuse(mistakes_in(document, PROBLEM_SCHEMA))
    _refuse(document_mistakes(document))
    return _network(document["network"])


def _refuse(mistakes: Iterator[str]) -> None:
    found = list(islice(mistakes, MOST_LINES))
    if found:
        more = ["... and more mistakes"] if next(mistakes, None) is not None else []
        raise BadInput(found + more)


def _problem(document: Document, network: Network) -> Problem:
    weights = document.get("objective", {"response_time": 1.0})
    bounds = document.get("objective_bounds", {})
    return Problem(
        name=document["name"],
        network=network,
        applications=tuple(_application(item) for item in document["applications"]),
        objects=tuple(DataObject(item["name"], item["bytes"]) for item in document.get("objects", ())),
        sharing=document.get("sharing", True),
        objective={name: float(weight) for name, weight in weights.items() if weight},
        objective_scale=document.get("objective_scale", "normalised"),
        objective_bounds={name: (float(best), float(worst)) for name, (best, worst) in bounds.items()},
    )


def _network(document: Document) -> Network:
    settings = ("symmetric", "routing", "duplex", "one_port", "headroom")
    matrices = {name: np.array(document[name], dtype=np.float64) for name in LINK_FIELDS if name in document}
    return Network(
        nodes=tuple(_node(item) for item in document["nodes"]),
        links=tuple(
            Link(item["from"], item["to"], **{name: item.get(name) for name in LINK_FIELDS})
            for item in document.get("links", ())
        ),
        matrices=matrices,
        **{name: document[name] for name in settings if name in document},
    )


def _node(document: Document) -> Node:
    fields = dict(document)
    if "coordinates" in fields:
        fields["coordinates"] = tuple(float(value) for value in fields["coordinates"])
    fields["holds"] = frozenset(fields.get("holds", ()))
    fields["labels"] = _labels(fields.get("labels", {}))
    return Node(**fields)


def _labels(document: Document) -> dict[str, str]:
    """Label values as text, so that 1 and '1' are the same zone."""
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in document.items()
    }


def _application(document: Document) -> Application:
    fields = dict(document)
    if "containers" in fields:
        containers = fields["containers"]
        fields["containers"] = Containers(int(containers["count"]), containers["capacity"])
    fields["operators"] = tuple(_operator(item) for item in document["operators"])
    fields["streams"] = tuple(_stream(item) for item in document.get("streams", ()))
    fields["rules"] = tuple(_rule(item) for item in document.get("rules", ()))
    return Application(**fields)


def _operator(document: Document) -> Operator:
    fields = dict(document)
    if "pinned" in fields:
        fields["candidates"] = (fields.pop("pinned"),)
    elif "candidates" in fields:
        fields["candidates"] = tuple(fields["candidates"])
    if "parallelism" in fields:
        fields["parallelism"] = int(fields["parallelism"])
    fields["reads"] = tuple(Read(item["object"], item["per_s"]) for item in document.get("reads", ()))
    return Operator(**fields)


def _stream(document: Document) -> Stream:
    return Stream(
        document["from"], document["to"], document.get("bytes_per_s"), document.get("grouping", "shuffle")
    )


def _rule(document: Document) -> Rule:
    if "together" in document:
        return Together(tuple(document["together"]))
    if "apart" in document:
        return Apart(tuple(document["apart"]), document.get("by"))
    return Where(_labels(document["where"]), tuple(document["operators"]))


def _problem_mistakes(problem: Problem) -> Iterator[str]:
    """Mistakes that show only when everything is put together."""
    total = sum(o.parallelism for a in problem.applications for o in a.operators)
    if total > MOST_INSTANCES * 10:
        yield f"applications: {total} instances in all; at most {MOST_INSTANCES * 10} are handled"
        return
    yield from _homeless(problem)
    yield from _unequal_equals(problem)
    yield from goal_mistakes(problem)


def _operator_path(problem: Problem, number: int) -> str:
    graph = problem.instances
    item = graph.operators[number]
    first = next(k for k, other in enumerate(graph.operators) if other.application == item.application)
    return f"applications[{item.application}].operators[{number - first}]"


def _homeless(problem: Problem) -> Iterator[str]:
    for number, nodes in enumerate(problem.instances.candidate_nodes):
        if len(nodes) == 0:
            operator = problem.instances.operators[number].operator
            among = (
                ""
                if operator.candidates is None
                else f" ({', '.join(operator.candidates) or 'no candidates'})"
            )
            yield (
                f"{_operator_path(problem, number)}: no node may host {operator.name!r}: "
                f"none of its candidates{among} hosts operators"
            )


def _unequal_equals(problem: Problem) -> Iterator[str]:
    """Operators that compute the same thing must take the same work and give the same output."""
    if not problem.sharing_keys.possible:
        return
    graph, classes = problem.instances, problem.sharing_keys.classes
    first: dict[int, int] = {}
    for number, group in enumerate(classes.tolist()):
        model = graph.operators[first.setdefault(group, number)]
        for field in ("work_ms", "output_bytes"):
            here, there = (getattr(item.operator, field) for item in (graph.operators[number], model))
            if here != there:
                yield (
                    f"{_operator_path(problem, number)}.{field}: {shown(here)} differs from {shown(there)} "
                    f"of {model.name}, which has the same type and inputs"
                )
