"""Mistakes that a description of fields can't see: unknown names, doubles, cycles, shapes that don't fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from graphlib import CycleError, TopologicalSorter
from typing import Any

from berth.evaluation.goal import goal_mistakes, unknown_loads
from berth.files.format import shown
from berth.files.problem_format import (
    MOST_INSTANCES,
    ApplicationDocument,
    LinkDocument,
    NetworkDocument,
    OperatorDocument,
    ProblemDocument,
    RuleDocument,
    StreamDocument,
)
from berth.model import Apart, Problem, Rule, Spread, Together, Where
from berth.model.errors import did_you_mean
from berth.model.links import LINK_FIELDS

RULES: dict[str, tuple[type[Rule], str]] = {
    "together": (Together, "operators"),
    "apart": (Apart, "operators"),
    "spread": (Spread, "operators"),
    "where": (Where, "labels"),
}
"""Rules by the key that says of which kind they are, and the field of the model that this key holds."""
MOST_PAIRS = 20_000_000
MOST_ROUTED = 10_000
"""Nodes between which shortest paths are looked for: tables of them take 7 GB then."""


def document_mistakes(document: ProblemDocument) -> Iterator[str]:
    """The mistakes in a problem document that fits the schema."""
    nodes = [node["name"] for node in document["network"]["nodes"]]
    objects = [item["name"] for item in document.get("objects", ())]
    yield from _doubles(nodes, "network.nodes[{}].name", "a node")
    yield from _doubles(objects, "objects[{}].name", "an object")
    known_nodes, known_objects = dict.fromkeys(nodes), dict.fromkeys(objects)
    yield from _network(document["network"], known_nodes, known_objects)
    yield from application_mistakes(document, known_nodes, known_objects)


def application_mistakes(
    document: ProblemDocument, nodes: Mapping[str, object], objects: Mapping[str, object]
) -> Iterator[str]:
    """The mistakes in what is placed and wanted, on some nodes and with some objects."""
    names = [application["name"] for application in document["applications"]]
    yield from _doubles(names, "applications[{}].name", "an application")
    for number, application in enumerate(document["applications"]):
        yield from _application(application, f"applications[{number}]", nodes, objects)
    yield from _objective(document)
    yield from _survive(document)


def _doubles(names: Iterable[Any], path: str, what: str) -> Iterator[str]:
    seen: dict[Any, int] = {}
    for number, name in enumerate(names):
        if name in seen:
            first = path.format(seen[name])
            yield f"{path.format(number)}: {what} named {shown(name)} is there already ({first})"
        seen.setdefault(name, number)


def _known(names: Iterable[str], known: Iterable[str], path: str, what: str) -> Iterator[str]:
    for number, name in enumerate(names):
        if name not in known:
            yield f"{path.format(number)}: no {what} {did_you_mean(name, known)}"


def _unknown_ends(
    item: LinkDocument | StreamDocument, known: Iterable[str], path: str, what: str
) -> Iterator[str]:
    if item["from"] not in known:
        yield f"{path}.from: no {what} {did_you_mean(item['from'], known)}"
    if item["to"] not in known:
        yield f"{path}.to: no {what} {did_you_mean(item['to'], known)}"


def _ways(items: Iterable[LinkDocument | StreamDocument]) -> list[str]:
    return [f"{item['from']} -> {item['to']}" for item in items]


def _network(network: NetworkDocument, nodes: dict[str, None], objects: dict[str, None]) -> Iterator[str]:
    dimensions: dict[int, int] = {}
    for number, node in enumerate(network["nodes"]):
        holds = node.get("holds", [])
        path = f"network.nodes[{number}]"
        yield from _known(holds, objects, path + ".holds[{}]", "object")
        yield from _doubles(holds, path + ".holds[{}]", "an object")
        if "coordinates" in node:
            dimensions.setdefault(len(node["coordinates"]), number)
        elif "height_ms" in node:
            yield f"{path}.height_ms: a height needs coordinates beside it"
    if len(dimensions) > 1:
        (size, first), (other, second) = list(dimensions.items())[:2]
        yield (
            f"network.nodes[{second}].coordinates: {other} dimensions, but {size} at network.nodes[{first}]"
        )
    if network.get("routing") == "shortest_path" and len(network["nodes"]) > MOST_ROUTED:
        count = len(network["nodes"])
        yield (
            f"network.routing: shortest paths between {count:,} nodes don't fit into memory "
            f"(at most {MOST_ROUTED:,} nodes); give coordinates or direct links"
        )
    for name in LINK_FIELDS:
        yield from _matrix(dict(network).get(name), len(network["nodes"]), f"network.{name}")
    yield from _links(network, nodes)


def _matrix(rows: Any, size: int, path: str) -> Iterator[str]:
    if rows is None:
        return
    if len(rows) != size:
        yield f"{path}: {len(rows)} rows, but {size} nodes"
    for number, row in enumerate(rows):
        if len(row) != size:
            yield f"{path}[{number}]: {len(row)} entries, but {size} nodes"


def _links(network: NetworkDocument, nodes: dict[str, None]) -> Iterator[str]:
    links = network.get("links", [])
    direct = network.get("routing", "direct") == "direct"
    placed = {node["name"] for node in network["nodes"] if direct and "coordinates" in node}
    position = {name: number for number, name in enumerate(nodes)}
    for number, link in enumerate(links):
        path = f"network.links[{number}]"
        ends = link["from"], link["to"]
        unknown = list(_unknown_ends(link, nodes, path, "node"))
        if unknown:
            yield from unknown
        elif ends[0] == ends[1]:
            yield f"{path}.to: a node needs no link to itself ({ends[0]}); take the entry out"
        elif (
            "delay_ms" not in link and not placed.issuperset(ends) and not _in_matrix(network, position, ends)
        ):
            yield f"{path}.delay_ms: is needed"
    yield from _doubles(_ways(links), "network.links[{}]", "a link")


def _in_matrix(network: NetworkDocument, position: dict[str, int], ends: tuple[str, str]) -> bool:
    """Whether the delay matrix has what a link entry leaves out."""
    matrix = network.get("delay_ms")
    if matrix is None:
        return False
    row, column = position[ends[0]], position[ends[1]]
    return row < len(matrix) and column < len(matrix[row]) and matrix[row][column] is not None


def _application(
    application: ApplicationDocument, path: str, nodes: Mapping[str, object], objects: Mapping[str, object]
) -> Iterator[str]:
    operators = dict.fromkeys(operator["name"] for operator in application["operators"])
    names = [operator["name"] for operator in application["operators"]]
    yield from _doubles(names, path + ".operators[{}].name", "an operator")
    for number, operator in enumerate(application["operators"]):
        yield from _operator(operator, f"{path}.operators[{number}]", nodes, objects)
    for number, rule in enumerate(application.get("rules", ())):
        yield from _rule(rule, f"{path}.rules[{number}]", operators)
    yield from _streams(application, path, operators)


def _operator(
    operator: OperatorDocument, path: str, nodes: Mapping[str, object], objects: Mapping[str, object]
) -> Iterator[str]:
    if "pinned" in operator:
        yield from _known([operator["pinned"]], nodes, f"{path}.pinned", "node")
        if "candidates" in operator:
            yield f"{path}.pinned: stands beside candidates; keep one of the two"
    candidates = operator.get("candidates", [])
    yield from _known(candidates, nodes, path + ".candidates[{}]", "node")
    yield from _doubles(candidates, path + ".candidates[{}]", "a node")
    for name in operator.get("placement_cost", {}):
        if name not in nodes:
            yield f"{path}.placement_cost.{name}: no node {did_you_mean(name, nodes)}"
    read = [item["object"] for item in operator.get("reads", ())]
    yield from _known(read, objects, path + ".reads[{}].object", "object")
    yield from _doubles(read, path + ".reads[{}].object", "an object")


def _rule(rule: RuleDocument, path: str, operators: dict[str, None]) -> Iterator[str]:
    kinds = [kind for kind in RULES if kind in rule]
    if len(kinds) != 1:
        *others, last = RULES
        found = " and ".join(kinds) or "none"
        yield f"{path}: one of {', '.join(others)} and {last} is needed, found {found}"
        return
    (kind,) = kinds
    made, first = RULES[kind]
    companions = {field.name: field for field in fields(made) if field.name != first}
    for key in rule:
        if key != kind and key not in companions:
            yield f"{path}.{key}: does not go with {kind}"
    if rule.get("where") == {}:
        yield f"{path}.where: one label is needed at least"
    for name, field in companions.items():
        if name not in rule and field.default is MISSING:
            yield f"{path}.{name}: is needed"
    key = kind if first == "operators" else "operators"
    names: Any = dict(rule).get(key, ())
    yield from _known(names, operators, f"{path}.{key}" + "[{}]", "operator")
    yield from _doubles(names, f"{path}.{key}" + "[{}]", "an operator")


def _streams(application: ApplicationDocument, path: str, operators: dict[str, None]) -> Iterator[str]:
    streams = application.get("streams", [])
    wrong = [
        line
        for number, stream in enumerate(streams)
        for line in _unknown_ends(stream, operators, f"{path}.streams[{number}]", "operator")
    ]
    yield from wrong
    yield from _doubles(_ways(streams), path + ".streams[{}]", "a stream")
    if not wrong:
        cycle = _cycle(operators, [(stream["from"], stream["to"]) for stream in streams])
        if cycle:
            number = next(k for k, s in enumerate(streams) if (s["from"], s["to"]) == tuple(cycle[:2]))
            way = " -> ".join(cycle if len(cycle) <= 10 else [*cycle[:8], "...", cycle[-1]])
            yield f"{path}.streams[{number}]: part of a cycle ({way})"
        yield from _unequal_parallelism(application, path)
        yield from _too_many_pairs(application, path)


def _unequal_parallelism(application: ApplicationDocument, path: str) -> Iterator[str]:
    """Instance k forwards to instance k: there have to be as many of both."""
    instances = {operator["name"]: operator.get("parallelism", 1) for operator in application["operators"]}
    for number, stream in enumerate(application.get("streams", ())):
        sending, receiving = instances[stream["from"]], instances[stream["to"]]
        if stream.get("grouping") == "forward" and sending != receiving:
            ends = f"{stream['from']} has {sending} instances, {stream['to']} has {receiving}"
            yield f"{path}.streams[{number}].grouping: needs equal parallelism; {ends}"


def _too_many_pairs(application: ApplicationDocument, path: str) -> Iterator[str]:
    instances = {operator["name"]: operator.get("parallelism", 1) for operator in application["operators"]}
    total = sum(instances[s["from"]] * instances[s["to"]] for s in application.get("streams", ()))
    if total > MOST_PAIRS:
        yield f"{path}.streams: {total:,} pairs of instances; at most {MOST_PAIRS:,} are handled"


def _cycle(operators: Iterable[str], edges: list[tuple[str, str]]) -> list[str] | None:
    """One cycle as a list of names that ends where it began."""
    order: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(operators, ()))
    for sender, receiver in edges:
        order.add(receiver, sender)
    try:
        order.prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return None


def _objective(document: ProblemDocument) -> Iterator[str]:
    given: Any = document.get("objective", [])
    levels = given if isinstance(given, list) else [given]
    for number, weights in enumerate(levels):
        if not any(weights.values()):
            path = f"objective[{number}]" if isinstance(given, list) else "objective"
            yield f"{path}: one weight above 0 is needed"
    within = document.get("objective_within", [])
    if len(within) > max(len(levels), 1):
        yield f"objective_within: {len(within)} numbers, but {max(len(levels), 1)} in objective"
    for name, (best, worst) in document.get("objective_bounds", {}).items():
        path = f"objective_bounds.{name}"
        if name == "availability":
            yield from _availability_bounds(best, worst, path)
        elif best > worst:
            yield f"{path}: best ({best:g}) must not be above worst ({worst:g})"


def _survive(document: ProblemDocument) -> Iterator[str]:
    wanted = document.get("survive")
    if wanted is None:
        return
    if isinstance(wanted, str) and wanted != "node":
        yield f"survive: expected 'node' or a label as {{label: {wanted}}}, found {shown(wanted)}"
    if document.get("objects"):
        yield "survive: not together with objects; leave one of the two out"
    for number, application in enumerate(document["applications"]):
        if "containers" in application:
            yield f"survive: not together with containers (applications[{number}]); leave one of the two out"


def _availability_bounds(best: float, worst: float, path: str) -> Iterator[str]:
    if best < worst:
        yield f"{path}: best ({best:g}) must not be below worst ({worst:g})"
    if not (0 < worst <= 1 and 0 < best <= 1):
        yield f"{path}: availabilities above 0 and up to 1 are needed"


def problem_mistakes(problem: Problem) -> Iterator[str]:
    """Mistakes that show only when everything is put together."""
    total = sum(o.parallelism for a in problem.applications for o in a.operators)
    if total > MOST_INSTANCES * 10:
        yield f"applications: {total} instances in all; at most {MOST_INSTANCES * 10} are handled"
        return
    yield from _homeless(problem)
    yield from _unequal_equals(problem)
    yield from goal_mistakes(problem)
    if problem.network.max_utilisation is not None:
        yield from unknown_loads(problem, "network.max_utilisation")


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
