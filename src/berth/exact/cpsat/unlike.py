"""A model whose plans have to differ from one that is known, counted in operators."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ortools.sat.python import cp_model

from berth.evaluation.situation import Unlike
from berth.exact.cpsat.model import CpSatModel


def add_unlike(model: CpSatModel, known: Unlike) -> None:
    """At least so many operators are elsewhere."""
    graph = model.placement.graph
    elsewhere = []
    for item in graph.operators:
        places = Counter(known.nodes[list(item.instances)].tolist())
        elsewhere.append(_elsewhere(model, list(item.instances), places))
    model.cp.add(cp_model.LinearExpr.sum(elsewhere) >= known.least)


def _elsewhere(model: CpSatModel, instances: list[int], places: Counter[int]) -> Any:
    """A literal that is true only if fewer of an operator's instances than before are on some node.

    As many are placed as before: where any is elsewhere, some node has lost one.
    """
    fewer = []
    for node, count in places.items():
        at = [model.at[block] for block in model.placement.block_of[instances].tolist()]
        here = [places_of[node] for places_of in at if node in places_of]
        if len(here) < count:
            return model.cp.new_constant(1)
        literal = here[0].negated() if len(instances) == 1 else model.cp.new_bool_var("")
        if len(instances) > 1:
            model.cp.add(cp_model.LinearExpr.sum(here) <= count - 1).only_enforce_if(literal)
        fewer.append(literal)
    if len(fewer) == 1:
        return fewer[0]
    any_of_them = model.cp.new_bool_var("")
    model.cp.add_bool_or([*fewer, any_of_them.negated()])
    return any_of_them
