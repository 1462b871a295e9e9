"""From one plan towards another: which moves are worth their price, and which fit into a limit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from berth.budget import Budget
from berth.model import Plan, Problem, Together
from berth.runtime.control.terms import Terms
from berth.runtime.control.worth import Worth, Yardstick

Assignment = Mapping[str, str]
Units = Collection[frozenset[str]]
"""Instances that move together or not at all."""


def moved(before: Assignment, after: Assignment) -> dict[str, tuple[str, str]]:
    """The instances that are elsewhere afterwards: from where to where."""
    return {
        name: (before[name], node) for name, node in after.items() if name in before and before[name] != node
    }


def same_place(one: Plan, other: Plan) -> bool:
    """Whether two plans have every instance on the same node."""
    return dict(one.assignment) == dict(other.assignment)


def state_of(problem: Problem, instances: Collection[str]) -> float:
    """The bytes of state that some instances keep."""
    graph = problem.instances
    numbers = [graph.index[name] for name in instances if name in graph.index]
    return float(sum(graph.operators[graph.operator_of[number]].operator.state_bytes for number in numbers))


@dataclass(frozen=True)
class Offer:
    """A plan to go to, judged against the present one."""

    plan: Plan
    worth: Worth
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
        return len(self.worth.violations), -round(self.net, 9), len(self.moved)


@dataclass(frozen=True)
class Standpoint:
    """Where an application is now: the problem as it is, and the present plan."""

    problem: Problem
    current: Plan
    terms: Terms
    yardstick: Yardstick
    forced: frozenset[str] = frozenset()
    """Instances that can't stay: their price is nobody's choice."""

    @cached_property
    def worth(self) -> Worth:
        """What the present plan is worth."""
        return self.yardstick.judge(self.problem, self.current)

    def offer(self, plan: Plan) -> Offer:
        """A plan, judged against the present one."""
        worth = self.yardstick.judge(self.problem, plan)
        moves = moved(self.current.assignment, plan.assignment)
        chosen = [name for name in moves if name not in self.forced]
        price = self.terms.price(len(chosen), state_of(self.problem, chosen))
        return Offer(plan, worth, self.yardstick.gain(self.worth, worth), moves, price)

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
        if self.terms.max_moves is None:
            return True
        forced = sum(name in self.forced for name in offer.moved)
        # what is forced comes first, and may be more than the limit
        return len(offer.moved) - forced <= max(0, self.terms.max_moves - forced)

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
