"""The problem of a watch: loaded while its rates are unknown, measured, and made ready for planning again."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from berth.evaluation.goal import goal_mistakes
from berth.files import problem_document, problem_from
from berth.files.document import mistakes_in, read_document
from berth.model import BadInput, Operator, Plan, Problem
from berth.model.errors import did_you_mean

_OBJECTIVE = ("objective", "objective_within", "objective_scale", "objective_bounds")
_UTILISATION = "max_utilisation"
"""A limit of the network that a file may only have where all loads are known."""


def computed_for_itself(problem: Problem) -> Problem:
    """The problem of a run: it computes everything itself, whatever other applications compute."""
    return replace(problem, sharing=False)


def without_nodes(problem: Problem, dead: Collection[str]) -> Problem:
    """The problem while some nodes are dead: they neither run operators nor serve data."""
    if not dead:
        return problem
    nodes = tuple(
        replace(node, hosts=False, holds=frozenset()) if node.name in dead else node
        for node in problem.network.nodes
    )
    return replace(problem, network=replace(problem.network, nodes=nodes))


def with_state(problem: Problem, application: str, state_bytes: Mapping[str, float]) -> Problem:
    """The problem with the state that an application's operators are seen to keep, spread over instances."""

    def measured(owner: str, operator: Operator) -> Operator:
        if owner != application or operator.name not in state_bytes:
            return operator
        return replace(operator, state_bytes=state_bytes[operator.name] / operator.parallelism)

    return _with_operators(problem, measured)


def with_operators_kept(problem: Problem, plan: Plan, operators: Collection[str]) -> Problem:
    """The problem with some operators (`application/operator`) only where a plan has them.

    Nodes that host nothing are left out; an operator that has no other keeps all its candidates.
    """
    hosting = {node.name for node in problem.network.nodes if node.hosts}
    homes: dict[str, dict[str, None]] = {}
    for instance, node in plan.assignment.items():
        if node in hosting:
            homes.setdefault(instance.partition("#")[0], {})[node] = None

    def kept(owner: str, operator: Operator) -> Operator:
        name = f"{owner}/{operator.name}"
        stays = name in operators and name in homes
        return replace(operator, candidates=tuple(homes[name])) if stays else operator

    return _with_operators(problem, kept)


def _with_operators(problem: Problem, change: Callable[[str, Operator], Operator]) -> Problem:
    """The problem with every operator changed by a function of its application's name and itself."""
    applications = tuple(
        replace(each, operators=tuple(change(each.name, operator) for operator in each.operators))
        for each in problem.applications
    )
    return replace(problem, applications=applications)


def kept_operators(problem: Problem, frozen: Collection[str], application: str | None) -> frozenset[str]:
    """The operators that may not be moved: the frozen ones, and all of applications that aren't watched.

    Raises:
        BadInput: a frozen name is none of an operator.
    """
    owners = {item.name: problem.applications[item.application].name for item in problem.instances.operators}
    short = {name: name.partition("/")[2] for name in owners}
    kept = {name for name, owner in owners.items() if application is not None and owner != application}
    kept |= {name for name in owners if name in frozen or short[name] in frozen}
    unknown = sorted(set(frozen) - set(owners) - set(short.values()))
    if unknown:
        raise BadInput([f"--freeze: no operator {did_you_mean(name, short.values())}" for name in unknown])
    return frozenset(kept)


def homeless_operators(problem: Problem) -> dict[str, tuple[str, ...] | None]:
    """The operators that no node may host, each with its candidates; None: any node would do."""
    graph = problem.instances
    return {
        item.name: item.operator.candidates
        for item, nodes in zip(graph.operators, graph.allowed_nodes, strict=True)
        if len(nodes) == 0
    }


def unmeasured_streams(problem: Problem) -> list[str]:
    """The streams whose rate is not known, or else whose size of tuples: `application/sender -> receiver`."""
    graph = problem.instances
    names = [
        f"{graph.operators[sender].name} -> {stream.receiver}"
        for stream, sender in zip(graph.streams, graph.stream_ends[:, 0].tolist(), strict=True)
    ]
    for values in (graph.stream_rate, graph.tuple_bytes):
        unknown = [name for name, value in zip(names, values.tolist(), strict=True) if math.isnan(value)]
        if unknown:
            return unknown
    return []


def source_rate(problem: Problem, application: str) -> float | None:
    """What an application's sources send, in bytes per second; None where a rate is not known."""
    graph = problem.instances
    receivers = set(graph.stream_ends[:, 1].tolist())
    sent: dict[int, list[float]] = {}
    for sender, rate in zip(graph.stream_ends[:, 0].tolist(), graph.stream_rate.tolist(), strict=True):
        owner = problem.applications[graph.operators[sender].application].name
        if owner == application and sender not in receivers:
            sent.setdefault(sender, []).append(rate)
    # each stream of a source carries its whole output
    total = sum(max(rates) if not any(map(math.isnan, rates)) else math.nan for rates in sent.values())
    return None if not sent or math.isnan(total) else total


OF_WORK = (
    "response_time",
    "response_time_sum",
    "loaded_response_time",
    "failover_response_time",
    "utilisation_max",
    "processing_power",
)
"""Objectives that work on the nodes is a part of."""


def waits_for_work(problem: Problem, application: str) -> bool:
    """Whether the objective needs the work of an application's operators, and that of none is known yet."""
    operators = (item for each in problem.applications if each.name == application for item in each.operators)
    return any(name in OF_WORK for name in problem.objective) and not any(item.work_ms for item in operators)


def waits_for_rates(problem: Problem) -> bool:
    """Whether the objective can't be computed now, and can be once all rates are measured."""
    return any(goal_mistakes(problem)) and not any(goal_mistakes(_with_any_rates(problem)))


def _with_any_rates(problem: Problem) -> Problem:
    applications = tuple(
        replace(
            each,
            streams=tuple(replace(stream, bytes_per_s=1.0, tuple_bytes=1.0) for stream in each.streams),
        )
        for each in problem.applications
    )
    return replace(problem, applications=applications)


def document_to_measure(problem: Problem) -> dict[str, Any]:
    """A problem's document without what is wished: one that can be loaded while rates are unknown."""
    return _without_wishes(problem_document(problem))


def load_watched(path: str | Path) -> Problem:
    """Read a problem file whose objective and limit of utilisation may have to wait for rates.

    Raises:
        BadInput: what measuring would not cure.
    """
    document = read_document(Path(path))
    with mistakes_in(path):
        try:
            return problem_from(document)
        except BadInput as error:
            return _without_rates(document, error)


def _without_wishes(document: Mapping[str, Any]) -> dict[str, Any]:
    network = {key: value for key, value in document["network"].items() if key != _UTILISATION}
    rest = {key: value for key, value in document.items() if key not in _OBJECTIVE}
    return {**rest, "network": network}


def _without_rates(document: Any, error: BadInput) -> Problem:
    """The problem, if all that is wrong with it is that rates are not known yet."""
    try:
        plain = problem_from(_without_wishes(document))
        measured = problem_from(_with_rates(document))
    except (BadInput, AttributeError, KeyError, TypeError):
        raise error from None
    return with_wishes_of(measured, plain)


def _with_rates(document: dict[str, Any]) -> dict[str, Any]:
    filled = copy.deepcopy(document)
    for application in filled["applications"]:
        for stream in application.get("streams", ()):
            stream.setdefault("bytes_per_s", 1.0)
            stream.setdefault("tuple_bytes", 1.0)
    return filled


def with_wishes_of(wanted: Problem, problem: Problem) -> Problem:
    """A problem with what another one asks for: its objective, and how busy processors may be."""
    return replace(
        problem,
        network=replace(problem.network, max_utilisation=wanted.network.max_utilisation),
        objective=wanted.objective,
        then=wanted.then,
        objective_within=wanted.objective_within,
        objective_scale=wanted.objective_scale,
        objective_bounds=wanted.objective_bounds,
    )
