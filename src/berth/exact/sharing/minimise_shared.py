"""From a goal to the best plan with sharing, and what is proved about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from ortools.sat.python import cp_model

from berth.budget import Budget
from berth.evaluation import Setting, Situation, evaluate
from berth.evaluation.goal import Goal
from berth.evaluation.metrics import METRIC_BY_NAME, AdditiveMetric
from berth.exact.cpsat.limits import decimal_factor
from berth.exact.cpsat.solver import SolverOptions, outcome_of, search
from berth.exact.sharing.choices import Terms
from berth.exact.sharing.flows import crossing, link_loads
from berth.exact.sharing.model import SharingModel
from berth.exact.sharing.shared import Shared
from berth.exact.task import Progress, concluded
from berth.model import Download, Plan

LARGEST_MODEL = 300_000
"""Entries beyond which no model is built: it would not be solved."""
MOMENT, LONG = 0.1, 20.0
"""Limits in the solver's deterministic measure of work."""
FINEST = 2.0**52
"""Units of the largest possible objective, where decimals don't suffice."""


@dataclass(frozen=True, eq=False)
class SharingSolution:
    """The best plan found and what is proved about it."""

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    plan: Plan | None = None
    bound: float | None = None
    trace: dict[str, Any] = field(default_factory=dict)


def minimise_shared(
    setting: Setting,
    goal: Goal,
    reuse: bool,
    budget: Budget,
    seed: int = 0,
    gap: float = 0.0,
    progress: Progress = lambda objective, bound: None,
) -> SharingSolution:
    """The plan that is best for a goal of covered metrics among those that keep every constraint."""
    shared = Shared(setting, reuse)
    trace: dict[str, Any] = {"method": "sharing", "combinations": shared.size}
    if shared.size > LARGEST_MODEL:
        return SharingSolution("unknown", trace={**trace, "too_large": True})
    model = SharingModel(shared)
    objective = SharingObjective(model, goal)
    if objective.over_nodes and shared.reuse:
        add_cuts(model)
    best, best_value, bound, outcome = None, np.inf, -np.inf, "unknown"
    for number, options in enumerate(_attempts(seed, gap), 1):
        trace["solves"] = number
        solver, status = search(model.cp, budget, options, _reporter(goal, objective, progress))
        outcome = outcome_of(model.cp, status)
        if outcome != "unknown":
            bound = max(bound, objective.real(solver.best_objective_bound))
        if outcome in ("optimal", "feasible"):
            found = replace(_plan(model, solver), goal=goal.weights)
            value = _value(setting, goal, found)
            if value is None:
                trace["contradiction"] = "the solver's plan breaks constraints: its verdict does not count"
            elif value < best_value:
                best, best_value = found, value
                _hint(model, solver)
        if outcome in ("optimal", "infeasible") or budget.over:
            break
    if outcome == "infeasible" and best is None and "contradiction" not in trace:
        return SharingSolution("infeasible", trace=trace)
    if best is None:
        return SharingSolution("unknown", trace=trace)
    reached = goal.from_costs(bound) if np.isfinite(bound) else None
    noise = 1e-9 * abs(best_value) + 1e-12
    closed, reached = concluded(goal, best_value, reached, noise, outcome == "optimal", trace)
    return SharingSolution(closed, best, reached, trace)


def _attempts(seed: int, gap: float) -> list[SolverOptions]:
    """A moment without linear relaxations, long with them, then a portfolio: that proved most."""
    single = SolverOptions(seed, 1, gap)
    return [
        replace(single, linear=0, work=MOMENT),
        replace(single, linear=1, work=LONG),
        replace(single, workers=6, linear=1),
    ]


def _reporter(
    goal: Goal, objective: SharingObjective, progress: Progress
) -> Callable[[float | None, float], None]:
    def report(value: float | None, bound: float) -> None:
        real = None if value is None else goal.from_costs(value / objective.factor)
        progress(real, goal.from_costs(objective.real(bound)))

    return report


def _value(setting: Setting, goal: Goal, plan: Plan) -> float | None:
    """The judge's objective; None where the plan breaks a constraint."""
    evaluation = evaluate(setting.problem, plan, setting.previous, setting.occupied)
    return None if evaluation.violations else goal.value(evaluation.metrics)


def _hint(model: SharingModel, solver: cp_model.CpSolver) -> None:
    """The best solution is where the next attempt starts."""
    model.cp.clear_hints()  # type: ignore[no-untyped-call]
    literals = [literal for places in model.x for literal in places.values()]
    literals += [literal for fates in model.fates.by for literal in fates.values()]
    literals += model.fetched.values()
    for literal in {literal.index: literal for literal in literals}.values():
        model.cp.add_hint(literal, solver.boolean_value(literal))


def _plan(model: SharingModel, solver: cp_model.CpSolver) -> Plan:
    shared, graph = model.shared, model.shared.graph
    reuse, skipped = {}, []
    for operator, fates in enumerate(model.fates.by):
        source = next((k for k, literal in fates.items() if solver.boolean_value(literal)), None)
        if source is None:
            skipped.append(shared.name(operator))
        elif source != operator:
            reuse[shared.name(operator)] = shared.name(source)
    assignment = {
        graph.names[number]: shared.node(node)
        for number, places in enumerate(model.x)
        for node, literal in places.items()
        if solver.boolean_value(literal)
    }
    plan = Plan(assignment, reuse=reuse, skipped=tuple(skipped))
    needed = Situation(shared.setting, plan).object_rates
    downloads = tuple(
        Download(name, shared.node(holder), shared.node(node))
        for (name, holder, node), literal in model.fetched.items()
        if solver.boolean_value(literal) and (name, node) in needed
    )
    return replace(plan, downloads=downloads)


def covered(name: str) -> bool:
    """Whether a metric can be minimised in this model: any sum but availability, and the fullest link."""
    metric = METRIC_BY_NAME[name]
    return name == "bandwidth_max" or (isinstance(metric, AdditiveMetric) and not metric.product)


class SharingObjective:
    """A goal over covered metrics in a model; turns whole-number bounds into real ones."""

    def __init__(self, model: SharingModel, goal: Goal) -> None:
        self._model = model
        self._fullest = 0.0
        terms: Terms = []
        shares: list[tuple[Terms, float]] = []
        for name in goal.weights:
            factor = goal.coefficient(name)
            if name == "bandwidth_max":
                shares = _link_shares(model)
                self._fullest = factor
            else:
                terms += [(literal, factor * weight) for literal, weight in metric_terms(model, name)]
        self.factor = _factor(terms, shares, self._fullest)
        expression: Any = cp_model.LinearExpr.weighted_sum(
            [literal for literal, _ in terms], [self._units(weight) for _, weight in terms]
        )
        if shares:
            expression = expression + self._fullest_link(shares)
        model.cp.minimize(expression)
        self.over_nodes = all(METRIC_BY_NAME[name].needs_rates is False for name in goal.weights)
        """Whether no metric in it depends on what crosses the network."""

    def _units(self, weight: float) -> int:
        # Rounded down, so that the bound on whole numbers is one on the real objective; what is whole
        # but for the errors of floating point stays whole.
        scaled = weight * self.factor
        near = round(scaled)
        return near if abs(scaled - near) <= 1e-11 * max(1.0, abs(scaled)) and near < 2**40 else int(scaled)

    def _fullest_link(self, shares: list[tuple[Terms, float]]) -> Any:
        cp = self._model.cp
        most = max(sum(self._units(w * self._fullest / there) for _, w in terms) for terms, there in shares)
        fullest = cp.new_int_var(0, most, "")
        for terms, there in shares:
            units = [self._units(weight * self._fullest / there) for _, weight in terms]
            cp.add(cp_model.LinearExpr.weighted_sum([literal for literal, _ in terms], units) <= fullest)
        return fullest

    def real(self, bound: float) -> float:
        """A lower bound on the goal's costs from one on the whole-number objective."""
        return bound / self.factor


def _factor(terms: Terms, shares: list[tuple[Terms, float]], fullest: float) -> float:
    weights = [weight for _, weight in terms]
    if not shares:
        decimal = decimal_factor(np.array(weights, dtype=np.float64))
        if decimal is not None and sum(map(abs, weights)) * decimal < FINEST:
            return decimal
    largest = sum(map(abs, weights))
    largest += fullest * max((sum(w for _, w in terms) / there for terms, there in shares), default=0.0)
    return FINEST / largest if largest > 0 else 1.0


def metric_terms(model: SharingModel, name: str) -> Terms:
    """A metric that is a sum, as literals and what each adds."""
    metric = METRIC_BY_NAME[name]
    assert isinstance(metric, AdditiveMetric)
    shared, network = model.shared, model.shared.network
    if name == "processing_power":
        speed = network.speed
        return [
            (literal, busy / float(speed[key[1]]))
            for key in model.work.keys
            for literal, busy in model.work.terms(key)
        ]
    terms: Terms = []
    if metric.per_node is not None:
        weights = metric.per_node(network)
        terms += [(model.used(node), float(weights[node])) for node in range(len(network.nodes))]
    if metric.per_instance is not None:
        for number, places in enumerate(model.x):
            nodes = np.array(list(places), dtype=np.intp)
            added = metric.per_instance(shared.setting, np.full(len(nodes), number), nodes)
            terms += list(zip(places.values(), added.tolist(), strict=True))
    if metric.per_flow is not None:
        for amounts, key, sender, receiver in crossing(model, metric.downloads):
            each = float(metric.per_flow(network, np.array([sender]), np.array([receiver]))[0])
            terms += [(literal, rate * each) for literal, rate in amounts.terms(key)]
    return [(literal, weight) for literal, weight in terms if weight]


def _link_shares(model: SharingModel) -> list[tuple[Terms, float]]:
    """For every link of limited bandwidth, what may cross it and the bandwidth."""
    nodes, table = len(model.shared.network.nodes), model.shared.network.table
    found = []
    for link, loads in link_loads(model).items():
        there = float(table.physical_bandwidth[divmod(link, nodes)])
        terms = [term for amounts, key in loads for term in amounts.terms(key, 2.0 * there)]
        if 0 < there < np.inf and terms:
            found.append((terms, there))
    return found


def add_cuts(model: SharingModel) -> None:
    """What every plan with reuse keeps to: implied by the model, but far from it in linear relaxations.

    There, an operator can be computed by a third, and taken by thirds from others that are computed by
    thirds. But every application's results are computed somewhere, by what is fast enough, and so is all that
    feeds them: of every class of equal operators one is computed and, where its members are alike in parts,
    some node does the work of the fastest application. It is for objectives over nodes: proofs about flows
    were seen to take longer with it.
    """
    shared = model.shared
    keys = model.computation_keys()
    for equal in {members[0]: members for members in shared.equal}.values():
        model.cp.add_bool_or([model.fates.computed(operator) for operator in equal])
        if len({shared.parallelism(operator) for operator in equal}) == 1:
            for number in shared.graph.operators[equal[0]].instances:
                _add_work(model, equal, number, keys[number])


def _add_work(model: SharingModel, equal: list[int], number: int, key: int) -> None:
    rates = [float(model.shared.throughput[operator]) for operator in equal]
    fastest = max((rate for rate in rates if not np.isnan(rate)), default=0.0)
    amount = fastest * (model.shared.graph.work_ms[number] / 1000.0 / model.shared.parallelism(equal[0]))
    nodes = range(len(model.shared.network.nodes))
    steps = [model.work.step((key, node), float(amount)) for node in nodes]
    working = [step for step in steps if step is not None]
    if working:
        model.cp.add_bool_or(working)
