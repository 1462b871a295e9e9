"""Goals that are sums: what they cost is known for every block and every two blocks.

Candidates, capacities, processors, links and rules are held. Bandwidth, cards and requirements are left to
the judge: a best plan without them that keeps them is the best plan; otherwise it is a bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from berth.budget import Budget
from berth.evaluation.goal import SMALLEST_AVAILABILITY, Goal
from berth.evaluation.metrics import AVAILABILITY, METRIC_BY_NAME, AdditiveMetric
from berth.exact.additive.branch_and_bound import Search
from berth.exact.additive.tables import IndexArray, Tables, size_of, tables_of
from berth.exact.costs import Costs, add_metric
from berth.exact.placement import Placement, unmodelled
from berth.exact.structure.pipelines import Chain, best_chain
from berth.exact.symmetry import interchangeable
from berth.exact.task import ExactTask, Found, Outcome

LARGEST_TABLES = 20_000_000
"""Numbers in the tables of costs, at most."""
MOST_WORK = 2e10
"""Steps of loops, about, after which others may try."""
COARSE = 1e-8
"""The share of the best costs that rounding may come to, before dearer choices are left out."""
SHARE, SHARE_OF_TREES = 0.6, 0.3
"""The share of the time after which others may try; for graphs with circles they have the better bounds."""
AGREED = 1e-7
"""The share by which the judge may see other costs than the tables have."""


def solve_sums(task: ExactTask) -> Found | None:
    """Solve a placement whose goal is a sum over blocks and pairs of blocks; None: not the case."""
    placement, goal = task.placement, task.goal
    if not _is_sum(goal) or placement.packings or unmodelled(placement.setting.problem) is not None:
        return None
    if size_of(placement) > LARGEST_TABLES:
        return None
    costs = task.costs
    if costs.factors or costs.node.any() or not _in_range(goal, placement):
        return None
    tables = tables_of(placement, costs)
    report = _Reporter(task, tables)
    found = _found(task, tables, report)
    if found.outcome == "optimal" and found.nodes is not None and costs.nonnegative:
        total = tables.total(found.nodes)
        if tables.noise > COARSE * total > 0.0:
            # Beside costs that no good plan has, the good ones drown in rounding.
            tables = tables.below(total)
            again = _found(task, tables, report)
            found = again if again.outcome == "optimal" and again.nodes is not None else found
    if costs.nonnegative:
        # A bound was lowered by what rounding can have added.
        found = replace(found, bound=max(found.bound, 0.0))
    return _judged(task, tables, found)


def _found(task: ExactTask, tables: Tables, report: _Reporter) -> Found:
    """The cheapest plan by places: as a pipeline where it is one, else by branch and bound."""
    row = row_of(tables)
    if row is not None:
        return _as_row(task, tables, row, report)
    alike = interchangeable(task.placement, [task.costs])
    search = Search(tables, alike, task.gap, task.seed, task.goal.constant)
    return _by_search(search, task.budget, report)


def _is_sum(goal: Goal) -> bool:
    metrics = [METRIC_BY_NAME[name] for name in goal.weights]
    sums = all(isinstance(metric, AdditiveMetric) for metric in metrics)
    product = "availability" in goal.weights and goal.single is None and goal.scale == "raw"
    return sums and not product


def _in_range(goal: Goal, placement: Placement) -> bool:
    """Whether no availability is so small that its logarithm is cut off in a weighted sum."""
    if goal.single is not None or "availability" not in goal.weights:
        return True
    costs = Costs.none(placement)
    add_metric(costs, AVAILABILITY, -1.0)
    return costs.largest < -float(np.log(SMALLEST_AVAILABILITY))


class _Reporter:
    """Passes on what a search reports, of plans that the judge has seen to keep everything."""

    def __init__(self, task: ExactTask, tables: Tables) -> None:
        self._task, self._tables = task, tables
        self._known: float = np.inf
        self._objective: float | None = None

    def __call__(self, best: float, bound: float, plan: IndexArray | None = None) -> None:
        """A best plan's costs, if there is one, and a bound."""
        if plan is not None and best < self._known:
            self._known = best
            metrics = self._task.judge(self._tables.nodes[plan])
            self._objective = None if metrics is None else self._task.goal.value(metrics)
        reached = self._task.goal.from_costs(bound) if np.isfinite(bound) else None
        self._task.progress(self._objective, reached)


def _as_row(task: ExactTask, tables: Tables, row: Row, report: _Reporter) -> Found:
    """Blocks in a row, by the methods for pipelines."""
    outcome = best_chain(row.chain, task.budget.part(SHARE), task.gap, report)
    bound = outcome.bound - (tables.noise if np.isfinite(outcome.bound) else 0.0)
    trace = {"method": "sums by pipeline", "steps": outcome.work}
    if outcome.places is None:
        return Found("infeasible" if np.isinf(bound) else "unknown", None, bound, trace=trace)
    plan = np.zeros(len(row.blocks), dtype=np.intp)
    plan[row.blocks] = outcome.places
    return Found("optimal", plan, bound, trace=trace)


def _by_search(search: Search, budget: Budget, report: _Reporter) -> Found:
    """Branch and bound."""
    blocks, places = search.tables.cost.shape
    once = 20.0 * min((blocks * places) ** 2, (blocks + 15) * blocks * places * (places + 100))
    most = int(MOST_WORK / once) + 5
    whole = budget.part(SHARE)
    for share in (SHARE_OF_TREES / SHARE, 1.0):
        if "trees" not in search.bounds:
            search.run(whole.part(share), most, lambda best, bound: report(best, bound, search.plan))
    trace = {"method": "sums", "branches": search.branches, "bound_by": search.bounds}
    outcome: Outcome = "optimal" if search.done else "feasible"
    if search.plan is None:
        outcome = "infeasible" if search.done else "unknown"
    return Found(outcome, search.plan, search.bound, trace=trace)


def _judged(task: ExactTask, tables: Tables, found: Found) -> Found | None:
    """What was found in terms of nodes, as the judge sees it; None where that is something else."""
    if found.nodes is None:
        return found
    nodes = tables.nodes[found.nodes]
    metrics, goal = task.judge(nodes), task.goal
    if metrics is None:
        return Found("unknown", None, found.bound, trace=found.trace)
    expected, reached = tables.total(found.nodes), goal.costs(metrics)
    cut_off = goal.single == "availability" and metrics["availability"] <= SMALLEST_AVAILABILITY
    if not cut_off and abs(reached - expected) > AGREED * (abs(expected) + abs(goal.constant)) + tables.noise:
        return None
    return Found(found.outcome, nodes, found.bound, trace=found.trace)


@dataclass(frozen=True, eq=False)
class Row:
    """The blocks in order, and what a pipeline of them costs."""

    blocks: IndexArray
    chain: Chain


def row_of(tables: Tables) -> Row | None:
    """The row that the blocks form; None: none, or streams that cost different amounts."""
    order = _order(tables)
    if order is None or (tables.group != np.arange(len(tables.nodes))).any():
        return None
    edge_at = {tuple(ends): number for number, ends in enumerate(tables.ends.tolist())}
    steps = []
    for one, other in pairwise(order):
        number = edge_at.get((one, other))
        steps.append(tables.pair[number] if number is not None else tables.pair[edge_at[other, one]].T)
    step = steps[0]
    equal = all(np.array_equal(step, item) for item in steps[1:])
    if not equal or step.min() < 0 or tables.cost.min() < 0 or np.diagonal(step).any():
        return None
    cost = np.where(tables.allowed, tables.cost, np.inf)[order]
    chain = Chain(
        tables.nodes,
        cost,
        np.where(step >= tables.beyond, np.inf, step),
        np.ascontiguousarray(tables.demand[:, order]),
        tables.limit.copy(),
    )
    return Row(np.array(order, dtype=np.intp), chain)


def _order(tables: Tables) -> list[int] | None:
    blocks = len(tables.cost)
    beside: list[list[int]] = [[] for _ in range(blocks)]
    for first, second in tables.ends.tolist():
        beside[first].append(second)
        beside[second].append(first)
    ends = [block for block in range(blocks) if len(beside[block]) == 1]
    if len(ends) != 2 or max(map(len, beside)) > 2:
        return None
    order = [ends[0]]
    while len(order) < blocks:
        following = [block for block in beside[order[-1]] if len(order) < 2 or block != order[-2]]
        if not following:
            return None
        order.append(following[0])
    return order
