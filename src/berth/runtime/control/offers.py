"""What a plan is worth, what moving to it costs, and which of its moves are worth their price."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, evaluate, metric_text
from berth.evaluation.goal import Goal
from berth.model import BadInput, Plan, Problem, Together
from berth.runtime.control.failovers import prepared
from berth.runtime.control.options import WatchOptions

MOVING = ("moved_instances", "moved_state")
"""Metrics that are no merit of a plan but the price of getting there."""
Assignment = Mapping[str, str]
Places = frozenset[tuple[str, str]]
Units = Collection[frozenset[str]]
"""Instances that move together or not at all."""


@dataclass(frozen=True)
class PlanValue:
    """A plan, judged."""

    metrics: Mapping[str, float]
    violations: tuple[str, ...]
    value: float | None
    """The objective, as far as it can be known."""
    warnings: tuple[str, ...] = ()
    """What breaks nothing: nodes that would have more to do than they can."""


@dataclass(frozen=True)
class Yardstick:
    """The objective of a problem without the price of moving, the same for all plans and looks.

    A normalised sum is brought to one scale by bounds. These are learnt once, from the first plan that was
    solved for, and then kept: values of different looks can be compared.
    """

    goal: Goal

    @classmethod
    def of(cls, problem: Problem) -> Yardstick:
        """The objective that a problem asks for.

        Raises:
            BadInput: it is about moving alone, so that nothing would ever move.
        """
        weights = {name: weight for name, weight in problem.objective.items() if name not in MOVING}
        if not weights:
            raise BadInput("objective: only the price of moving; name what a move should make better")
        bounds = {name: pair for name, pair in problem.objective_bounds.items() if name in weights}
        return cls(Goal(weights, problem.objective_scale, bounds))

    def learnt(self, bounds: Mapping[str, tuple[float, float]]) -> Yardstick:
        """With the bounds that a solver used, where some are missing."""
        if not self._lacks_bounds or not bounds.keys() >= self.goal.weights.keys():
            return self
        return Yardstick(replace(self.goal, bounds={name: bounds[name] for name in self.goal.weights}))

    @property
    def _lacks_bounds(self) -> bool:
        scaled = self.goal.single is None and self.goal.scale == "normalised"
        return scaled and any(name not in self.goal.bounds for name in self.goal.weights)

    @property
    def name(self) -> str:
        """What the value is: `response time`, or `weighted sum`."""
        return "weighted sum" if self.goal.single is None else self.goal.single.replace("_", " ")

    @property
    def key(self) -> str | None:
        """The metric's key where the objective is a single one."""
        return None if self.goal.single is None else METRIC_BY_NAME[self.goal.single].key

    def text(self, value: float | None) -> str:
        """A value with its unit."""
        return "unknown" if value is None else metric_text(self.key or "", value)

    def judge(self, problem: Problem, plan: Plan) -> PlanValue:
        """What a plan is worth under a problem."""
        judged = evaluate(problem, plan)
        value = None if self._lacks_bounds else self.goal.value(judged.metrics)
        return PlanValue(judged.metrics, judged.violations, value, judged.warnings)

    def gain(self, before: PlanValue, after: PlanValue) -> float:
        """How much better `after` is: 0.2 is a fifth, below 0 is worse.

        A single metric's change is taken relative to the larger of the two values. Of a normalised sum it is
        the mean of such changes by the weights; a raw sum's is relative to the size of what is added up.
        """
        goal = self.goal
        if goal.single is None and goal.scale == "raw":
            if before.value is None or after.value is None:
                return _known(before.value, after.value)
            size = max(goal.magnitude(before.metrics), goal.magnitude(after.metrics))
            return (before.value - after.value) / size if size else 0.0
        changes = (weight * _change(name, before, after) for name, weight in goal.weights.items())
        return sum(changes) / sum(goal.weights.values())


def _change(name: str, before: PlanValue, after: PlanValue) -> float:
    metric = METRIC_BY_NAME[name]
    old, new = before.metrics.get(metric.key), after.metrics.get(metric.key)
    if old is None or new is None:
        return _known(old, new)
    size = max(abs(old), abs(new))
    step = (old - new) / size if size else 0.0
    return -step if metric.maximise else step


def _known(old: float | None, new: float | None) -> float:
    """A value that can be computed is all the better than one that can't: a link may be missing."""
    return float(new is not None) - float(old is not None)


def moved(before: Assignment, after: Assignment) -> dict[str, tuple[str, str]]:
    """The instances that are elsewhere afterwards: from where to where."""
    return {
        name: (before[name], node) for name, node in after.items() if name in before and before[name] != node
    }


def places_of(plan: Plan) -> Places:
    """A plan's assignment, as something to remember it and compare it by."""
    return frozenset(plan.assignment.items())


def state_of(problem: Problem, instances: Collection[str]) -> float:
    """The bytes of state that some instances keep."""
    graph = problem.instances
    numbers = [graph.index[name] for name in instances if name in graph.index]
    return float(sum(graph.operators[graph.operator_of[number]].operator.state_bytes for number in numbers))


@dataclass(frozen=True)
class Offer:
    """A plan to go to, judged against the present one."""

    plan: Plan
    judged: PlanValue
    gain: float
    moved: Mapping[str, tuple[str, str]]
    price: float
    """The gain that its moves have to bring before anything is won."""

    @property
    def net(self) -> float:
        """What is won beyond the price."""
        return self.gain - self.price

    @property
    def rank(self) -> tuple[int, float, int]:
        """The less the better: broken constraints first, then what is won, then how much moves."""
        return len(self.judged.violations), -round(self.net, 9), len(self.moved)


@dataclass(frozen=True)
class Situation:
    """Where an application is now: the problem as it is, and the present plan."""

    problem: Problem
    current: Plan
    options: WatchOptions
    yardstick: Yardstick
    forced: frozenset[str] = frozenset()
    """Instances that can't stay: their price is nobody's choice."""

    @cached_property
    def judged(self) -> PlanValue:
        """What the present plan is worth."""
        return self.yardstick.judge(self.problem, self.current)

    def offer(self, plan: Plan) -> Offer:
        """A plan, judged against the present one; its failovers are those that are found for it."""
        plan = self._prepared(plan)
        judged = self.yardstick.judge(self.problem, plan)
        moves = moved(self.current.assignment, plan.assignment)
        chosen = [name for name in moves if name not in self.forced]
        price = self.options.price(len(chosen), state_of(self.problem, chosen))
        return Offer(plan, judged, self.yardstick.gain(self.judged, judged), moves, price)

    def _prepared(self, plan: Plan) -> Plan:
        places = places_of(plan)
        if places not in self._known:
            self._known[places] = prepared(self.problem, plan)
        return self._known[places]

    @cached_property
    def _known(self) -> dict[Places, Plan]:
        return {}

    def trimmed(self, target: Plan, budget: Budget) -> Offer | None:
        """The best plan found between the present one and a target, within the limit of moves.

        From the target, one move after another is taken back, each time the one that is missed least. Where
        the limit binds, moves are also added one after another, each time the best. Instances that a rule
        keeps together move together. None: no plan within the limit was found in time.
        """
        offer = self.offer(target)
        units = self._units(offer.moved)
        found = [offer, *self._taking_back(target, units, budget)]
        if not self.fits(offer):
            found += self._adding(target, units, budget)
        return min(filter(self.fits, found), key=lambda offer: offer.rank, default=None)

    def _taking_back(self, target: Plan, units: Units, budget: Budget) -> Iterator[Offer]:
        plan, left = target, list(units)
        while left and not budget.over:
            tries = {unit: self.offer(self._back(plan, unit)) for unit in left}
            least = min(left, key=lambda unit: tries[unit].rank)
            left.remove(least)
            plan = tries[least].plan
            yield tries[least]

    def _adding(self, target: Plan, units: Units, budget: Budget) -> Iterator[Offer]:
        taken: frozenset[str] = frozenset()
        every = frozenset[str]().union(*units)
        while not budget.over:
            left = [unit for unit in units if not unit <= taken]
            tries = {unit: self.offer(self._back(target, every - taken - unit)) for unit in left}
            fitting = [unit for unit in left if self.fits(tries[unit])]
            if not fitting:
                return
            best = min(fitting, key=lambda unit: tries[unit].rank)
            taken |= best
            yield tries[best]

    def fits(self, offer: Offer) -> bool:
        """Whether no more instances move than may."""
        if self.options.max_moves is None:
            return True
        forced = sum(name in self.forced for name in offer.moved)
        # what is forced comes first, and may be more than the limit
        return len(offer.moved) - forced <= max(0, self.options.max_moves - forced)

    def _units(self, moves: Collection[str]) -> list[frozenset[str]]:
        """The moves that can be taken back, those of instances that must share a node as one."""
        free = [name for name in moves if name not in self.forced]
        tied = _tied(self.problem)
        groups: dict[str, set[str]] = {}
        for name in free:
            operator = name.partition("#")[0]
            groups.setdefault(tied.get(operator, name), set()).add(name)
        return [frozenset(group) for group in groups.values()]

    def _back(self, plan: Plan, unit: frozenset[str]) -> Plan:
        homes = {name: self.current.assignment[name] for name in unit}
        return replace(plan, assignment={**plan.assignment, **homes})


def _tied(problem: Problem) -> dict[str, str]:
    """For every operator that must share a node with others, the name of their group."""
    groups: dict[str, str] = {}
    for application in problem.applications:
        for rule in application.rules:
            if isinstance(rule, Together):
                names = [f"{application.name}/{operator}" for operator in rule.operators]
                joined = {groups.get(name, name) for name in names}
                leader = f"together {min(joined).removeprefix('together ')}"
                groups.update({name: leader for name, group in groups.items() if group in joined})
                groups.update(dict.fromkeys(names, leader))
    return groups
