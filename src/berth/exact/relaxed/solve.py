"""Bounds for graphs with circles, and fewer candidates for the methods that follow.

The programs are solved by a first-order method, which is quick and inexact. No bound rests on that: it
follows from the prices that the method comes to, whatever they are (`Relaxation.certificate`).
"""

from __future__ import annotations

import numpy as np

from berth.budget import Budget
from berth.exact.costs import Costs
from berth.exact.placement import Placement
from berth.exact.relaxed.program import LEAST_ITERATIONS, FirstOrder
from berth.exact.relaxed.relaxation import Certificate, Relaxation
from berth.exact.task import ExactTask, Found

SMALLEST, LARGEST = 2_000, 400_000
"""Combinations of candidates: below, the general model is as quick; beyond, a program takes too long."""
MOST_EDGES = 4
"""Per block: where nearly everybody talks to everybody, other bounds see more."""
LARGEST_TOGETHER = 20_000_000
"""Blocks x blocks x nodes, at most."""
SHARE = 0.5
"""The share of the time that is left."""
MOST_WORK, AT_ONCE = 3e9, 1.5e8
"""Numbers of the matrix times iterations, in all and between two looks at the clock: a second and a half."""
TOLERANCES = (4e-3, 1e-3, 2e-4)
"""First coarse, while there are triangles to add; then finer."""
FEW = 20
"""Triangles that are not worth another round at the same tolerance."""


def solve_by_relaxation(task: ExactTask) -> Found | None:
    """A bound; candidates that no better plan uses go. None where it doesn't suit."""
    placement, known = task.placement, task.costs_at(task.start)
    if task.ties != "any" or not np.isfinite(known) or not _suits(placement, task.costs):
        return None
    relaxation = Relaxation(placement, task.costs, abs(known) or task.costs.largest or 1.0)
    best, rounds = _best_bound(relaxation, task.budget.part(SHARE))
    trace = {"relaxation": {"bound": best.value, "rounds": rounds, "triangles": relaxation.triangles}}
    if best.value >= known - 1e-9 * abs(known):
        return Found("optimal", task.start, min(best.value, known), trace=trace)
    assert task.start is not None
    stays = [
        keep | (nodes == node)
        for keep, nodes, node in zip(
            best.within(known),
            placement.candidates,
            task.start[: len(placement.blocks)].tolist(),
            strict=True,
        )
    ]
    placement.keep(stays)
    return Found("unknown", None, best.value, trace=trace)


def _suits(placement: Placement, costs: Costs) -> bool:
    places = len(np.unique(np.concatenate(placement.candidates)))
    return (
        SMALLEST <= placement.size <= LARGEST
        and len(placement.edges) <= MOST_EDGES * len(placement.blocks)
        and len(placement.blocks) ** 2 * places <= LARGEST_TOGETHER
        and not placement.packings
        # where nearly all stay, what is left is small
        and placement.staying is None
        and bool((costs.node >= 0).all())
        # what is no sum, and no response time, is left out: it must not be able to lower the costs again
        and all(factor >= 0 for factor in costs.factors.values())
    )


def _best_bound(relaxation: Relaxation, budget: Budget) -> tuple[Certificate, int]:
    """The best bound of some rounds of solving and adding triangles, and how many these were."""
    method, program = FirstOrder(), relaxation.program.arrays()
    best = relaxation.certificate(program, np.zeros(len(program.low)))
    level, work, rounds = 0, 0.0, 0
    while level < len(TOLERANCES) and work < MOST_WORK and not budget.over:
        allowed = max(int(AT_ONCE / program.matrix.nnz), LEAST_ITERATIONS)
        made = method.go_on(program, TOLERANCES[level], allowed, budget.remaining)
        work += program.matrix.nnz * max(made, LEAST_ITERATIONS)
        rounds += 1
        found = relaxation.certificate(program, method.dual)
        best = found if found.value > best.value else best
        if made >= allowed:
            continue
        if relaxation.add_triangles(method.primal) < FEW:
            level += 1
        program = relaxation.program.arrays()
    return best, rounds
