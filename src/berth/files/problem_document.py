"""A problem as the data of a problem file: what `problem_file` reads, the other way round."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from berth.files.schema import PROBLEM_FORMAT
from berth.model import Apart, Application, Network, Operator, Problem, Rule, Together

Document = dict[str, Any]


def problem_document(problem: Problem) -> Document:
    """The data of a file that reads as this problem; defaults are left out."""
    whole: Document = {"format": PROBLEM_FORMAT, "name": problem.name, "network": _network(problem.network)}
    if problem.objects:
        whole["objects"] = [_given(item) for item in problem.objects]
    whole["applications"] = [_application(item) for item in problem.applications]
    if not problem.sharing:
        whole["sharing"] = False
    whole["objective"] = dict(problem.objective)
    if problem.objective_scale != "normalised":
        whole["objective_scale"] = problem.objective_scale
    if problem.objective_bounds:
        whole["objective_bounds"] = {name: list(pair) for name, pair in problem.objective_bounds.items()}
    return whole


def _given(item: Any, *apart: str) -> Document:
    """The fields of a value that are not at their defaults, without some that are written otherwise."""
    shown = {}
    for field in fields(item):
        value = getattr(item, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if field.name not in apart and value != default:
            shown[field.name] = value
    return shown


def _ends(item: Any) -> Document:
    return {"from": item.sender, "to": item.receiver, **_given(item, "sender", "receiver")}


def _network(network: Network) -> Document:
    whole = _given(network, "nodes", "links", "matrices")
    whole["nodes"] = []
    for node in network.nodes:
        entry = _given(node, "holds", "coordinates")
        if node.coordinates is not None:
            entry["coordinates"] = list(node.coordinates)
        if node.holds:
            entry["holds"] = sorted(node.holds)
        whole["nodes"].append(entry)
    if network.links:
        whole["links"] = [_ends(link) for link in network.links]
    for name, matrix in network.matrices.items():
        whole[name] = np.where(np.isnan(matrix), None, matrix.astype(object)).tolist()  # type: ignore[call-overload]
    return whole


def _application(application: Application) -> Document:
    whole = _given(application, "operators", "streams", "containers", "rules")
    if application.containers is not None:
        containers = application.containers
        whole["containers"] = {"count": containers.count, "capacity": dict(containers.capacity)}
    if application.rules:
        whole["rules"] = [_rule(rule) for rule in application.rules]
    whole["operators"] = [_operator(operator) for operator in application.operators]
    if application.streams:
        whole["streams"] = [_ends(stream) for stream in application.streams]
    return whole


def _operator(operator: Operator) -> Document:
    whole = _given(operator, "candidates", "reads")
    if operator.candidates is not None:
        one = len(operator.candidates) == 1
        whole |= {"pinned": operator.candidates[0]} if one else {"candidates": list(operator.candidates)}
    if operator.reads:
        whole["reads"] = [_given(read) for read in operator.reads]
    return whole


def _rule(rule: Rule) -> Document:
    if isinstance(rule, Together):
        return {"together": list(rule.operators)}
    if isinstance(rule, Apart):
        return {"apart": list(rule.operators), **({} if rule.by is None else {"by": rule.by})}
    return {"where": dict(rule.labels), "operators": list(rule.operators)}
