"""Fronts: the plans between the best for one metric and the best for another, none of them worse in both.

The epsilon-constraint method. A ceiling on the second metric, the best plan for the first below it, and among
those the best for the second: such a plan is on the front. Ceilings are spread evenly at first, then set into
the largest gaps. In here both metrics are costs: what is maximised has a minus.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting
from berth.evaluation.goal import OPTIMAL_GAP, Ceiling, Goal, gap_between, goal_mistakes
from berth.evaluation.situation import assigned_nodes
from berth.model import BadInput, Plan, Problem
from berth.model.errors import one_of
from berth.model.front import Front, FrontPoint
from berth.policies.policy import Policy, Progress, Task
from berth.policies.registry import DEFAULT, find_policy, policy_names
from berth.policies.solve import DEFAULT_TIME_LIMIT, solve_task, task_for

DEFAULT_POINTS = 12
SAME = OPTIMAL_GAP
"""Values that differ by no more than this share are the same: proofs tell no smaller differences apart."""
MOST_OF_IT = 0.4
"""Who has used this share of its time and proved nothing was cut short: half of it goes to the first goal."""


def front(
    problem: Problem,
    first: str,
    second: str,
    points: int = DEFAULT_POINTS,
    policy: str | Policy = DEFAULT,
    *,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    seed: int = 0,
    previous: Plan | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
    budget: Budget | None = None,
    **parameters: Any,
) -> Front:
    """Find plans from the best for one metric to the best for another.

    Args:
        problem: what to place; its own objective doesn't count.
        first: the metric that the front begins with the best value of.
        second: the other one.
        points: how many plans, at most.
        policy: `auto`, `odp` or `search`, or another one that can keep one goal while it seeks the next.
        time_limit: seconds for all of it, after which the points so far are returned; None: no limit.
        seed: the same seed gives the same front, unless the time limit cut it short.
        previous: the plan before, for `moved_instances` and `moved_state`.
        progress: is called with a `Progress` whenever something better is known.
        budget: instead of `time_limit`; `budget.stop(reason)` ends the search from another thread.
        parameters: the policy's own.

    Raises:
        BadInput: metrics that are not known, the same or can't be computed, too few points, or a policy
            that doesn't keep goals.
    """
    chosen = find_policy(policy) if isinstance(policy, str) else policy
    check_front(problem, first, second, points, chosen)
    goals = problem.for_goal({first: 1.0}, {second: 1.0})
    task = task_for(Setting(goals, previous), chosen, time_limit, seed, progress, budget, parameters)
    return _Search(task, chosen, points).front()


def check_front(problem: Problem, first: str, second: str, points: int, policy: Policy) -> None:
    """Refuse what no front can be found for.

    Raises:
        BadInput: metrics, points or the policy, as `front` has it.
    """
    for name in (first, second):
        if name not in METRIC_BY_NAME:
            raise BadInput(f"--objective: no metric {one_of(name, METRIC_BY_NAME)}")
    if first == second:
        raise BadInput(f"--objective: {first} twice; a front lies between two different metrics")
    if points < 2:
        raise BadInput(f"--points: {points} is below 2, the two ends of a front")
    alone = (problem.for_goal({name: 1.0}) for name in (first, second))
    mistakes = [line for goal in alone for line in goal_mistakes(goal)]
    if mistakes:
        raise BadInput(mistakes)
    check_keeps(policy)


def check_keeps(policy: Policy) -> None:
    """Refuse a policy that can't keep one goal while it seeks another.

    Raises:
        BadInput: it names those that can.
    """
    if not getattr(policy, "keeps_order", False):
        names = [name for name in policy_names() if getattr(find_policy(name), "keeps_order", False)]
        raise BadInput(
            f"--policy: {policy.about.name} can't keep one goal while it seeks another; "
            f"choose one of {', '.join(names)}"
        )


@dataclass(eq=False)
class _Found:
    """A point of the front as it is known so far."""

    costs: tuple[float, float]
    proved: bool
    plan: Plan
    reach: float
    """The highest ceiling on the second metric below which nothing better for the first was found."""
    settled: bool
    """Whether that is proved."""
    cut: bool
    """Whether its share of the time was too short for more."""

    def beats(self, costs: tuple[float, float]) -> bool:
        """Whether it is at least as good in both, as far as proofs can tell."""
        return all(own <= other + SAME * abs(other) for own, other in zip(self.costs, costs, strict=True))


class _Search:
    """A front in the making."""

    def __init__(self, task: Task, policy: Policy, most: int) -> None:
        self._task, self._policy, self._most = task, policy, most
        self._goals = [Goal(weights) for weights in task.problem.objectives]
        self._names = (str(self._goals[0].single), str(self._goals[1].single))
        self._found: list[_Found] = []
        """From the best for the first metric on."""
        self._bound: float | None = None
        """What no plan can do better than in the first metric."""
        self._least: Plan | None = None
        """The best plan for the second metric alone."""
        self._least_cut = False
        """Whether the time was too short to prove that."""

    def front(self) -> Front:
        """All that is found in time."""
        budget = self._task.budget
        first = self._solve(math.inf, self._share)
        if first.status == "unknown" and not budget.over:
            # Without a plan there is nothing to share the time with.
            first = self._solve(math.inf, 1.0)
        if not self._found:
            return self._concluded("infeasible" if first.status == "infeasible" else "unknown", first.reason)
        if not budget.over:
            self._other_end(self._share)
        while not budget.over:
            for ceiling in self._ceilings():
                self._solve(ceiling, self._share)
            if not self._look_longer():
                break
        return self._concluded("found", budget.reason if budget.over and not self._complete else None)

    @property
    def _share(self) -> float:
        """The share of what is left of the time for one more point, so that there is some for the others."""
        return 1.0 / max(self._most - len(self._found) + 1, 2)

    def _other_end(self, share: float) -> None:
        """The best value of the second metric, and the best plan for the first among those that have it."""
        task = self._task
        known = self._found[-1].plan if self._least is None else self._least
        alone = task.problem.for_goal(self._goals[1].weights)
        plan, self._least_cut = self._solved(alone, task.setting, known, share / 2)
        if plan.violations or plan.objective is None:
            return
        self._least = plan
        best = self._cost(1, plan.objective)
        self._solve(best + SAME * abs(best), share)

    def _look_longer(self) -> bool:
        """Go on where the time was too short, with all that is left of it; whether there was such a place."""
        waiting = [point for point in self._found if point.cut]
        left = len(waiting) + self._least_cut
        if left == 0:
            return False
        if self._least_cut:
            self._other_end(1.0 / left)
            left -= 1
        for point in waiting:
            if not self._task.budget.over and point.cut and point in self._found:
                self._solve(point.reach, 1.0 / left)
            left -= 1
        return True

    def _ceilings(self) -> Iterator[float]:
        """Where to look next, while there is room for points: evenly at first, then in the largest gap."""
        high, low = self._found[0].costs[1], self._found[-1].costs[1]
        count = self._most - 1
        for number in range(1, count):
            ceiling = high + (low - high) * number / count
            if self._wants_more and not self._known(ceiling):
                yield ceiling
        while self._wants_more:
            gap = self._largest_gap()
            if gap is None:
                return
            yield gap

    @property
    def _wants_more(self) -> bool:
        return len(self._found) < self._most and not self._task.budget.over

    def _known(self, ceiling: float) -> bool:
        """Whether it is known what is best below a ceiling."""
        return any(point.costs[1] <= ceiling <= point.reach for point in self._found)

    def _open(self) -> Iterator[tuple[_Found, _Found]]:
        """Neighbours between which nobody has looked everywhere."""
        for upper, lower in pairwise(self._found):
            if lower.reach < _below(upper.costs[1]):
                yield upper, lower

    def _largest_gap(self) -> float | None:
        """A ceiling between the two open neighbours that are the farthest apart.

        In the middle; where that has shown nothing, just below the upper one: then its neighbour is found, or
        it is known that there is none.
        """
        ranges = [abs(self._found[-1].costs[side] - self._found[0].costs[side]) or 1.0 for side in (0, 1)]

        def size(gap: tuple[_Found, _Found]) -> float:
            upper, lower = gap
            across = (lower.costs[0] - upper.costs[0]) / ranges[0]
            return math.hypot(across, (upper.costs[1] - lower.reach) / ranges[1])

        gap = max(self._open(), key=size, default=None)
        if gap is None:
            return None
        upper, lower = gap
        left, all_of_it = upper.costs[1] - lower.reach, upper.costs[1] - lower.costs[1]
        return lower.reach + left / 2 if left > all_of_it / 2 else _below(upper.costs[1])

    def _solve(self, ceiling: float, share: float) -> Plan:
        """The best plan for both goals in order below a ceiling on the second one; it joins the others."""
        setting = self._task.setting
        if ceiling < math.inf:
            setting = replace(setting, ceilings=(Ceiling(self._goals[1], self._cost(1, ceiling)),))
        below = next((point for point in self._found if point.costs[1] <= ceiling), None)
        start = self._least if below is None else below.plan
        plan, cut = self._solved(self._task.problem, setting, start, share)
        joined = not plan.violations and self._join(plan, ceiling, cut)
        if not joined and below is not None and ceiling > below.reach:
            # There is nothing to be found: nobody looks again.
            below.reach, below.settled = ceiling, False
        return plan

    def _solved(
        self, problem: Problem, setting: Setting, start: Plan | None, share: float
    ) -> tuple[Plan, bool]:
        """A plan that is found within a share of the time; and whether it could do with more."""
        budget = self._task.budget.part(share)
        seconds = budget.remaining
        stage = f"point {min(len(self._found) + 1, self._most)} of {self._most}"
        part = replace(
            self._task,
            setting=replace(setting, problem=problem),
            budget=budget,
            report=self._task.staged(stage),
            start=None if start is None else assigned_nodes(problem, start),
        )
        plan = solve_task(part, self._policy)
        return plan, plan.status == "feasible" and budget.elapsed >= MOST_OF_IT * seconds

    def _join(self, plan: Plan, ceiling: float, cut: bool) -> bool:
        """Put a plan among the others, unless one of them is as good; those that are no better leave.

        False where there is no plan.
        """
        values = [goal.value(plan.metrics) for goal in self._goals]
        if values[0] is None or values[1] is None:
            return False
        proved = plan.status == "optimal"
        new = _Found(
            (self._cost(0, values[0]), self._cost(1, values[1])),
            proved,
            replace(plan, trace={**plan.trace, "front": self._told(ceiling)}),
            ceiling,
            settled=proved or (bool(plan.levels) and _is_closed(plan.levels[0])),
            cut=cut,
        )
        if ceiling == math.inf and plan.levels:
            self._bound = plan.levels[0]["bound"]
        for point in self._found:
            if point.beats(new.costs):
                point.proved |= proved and new.beats(point.costs)
                if ceiling >= point.reach:
                    point.reach, point.settled, point.cut = ceiling, new.settled, new.cut
                return True
        gone = [point for point in self._found if new.beats(point.costs)]
        for point in gone:
            if point.reach > new.reach:
                new.reach, new.settled, new.cut = point.reach, point.settled, point.cut
        kept = [point for point in self._found if point not in gone]
        self._found = sorted([*kept, new], key=lambda point: point.costs)
        return True

    def _told(self, ceiling: float) -> dict[str, Any]:
        """What the trace of a plan says: what was sought next, and below which ceiling."""
        second = self._names[1]
        limit = {} if ceiling == math.inf else {"ceiling": {second: self._cost(1, ceiling)}}
        return {"then": second, **limit}

    def _cost(self, number: int, value: float) -> float:
        """A metric's value as a cost, or the other way round."""
        return -value if self._goals[number].maximise else value

    @property
    def _complete(self) -> bool:
        ends = self._least is not None and self._least.status == "optimal"
        proved = all(point.proved and point.settled for point in self._found)
        return ends and proved and not any(self._open())

    def _concluded(self, status: Literal["found", "infeasible", "unknown"], reason: str | None) -> Front:
        knee = _knee([point.costs for point in self._found])
        return Front(
            self._task.problem.name,
            self._names,
            tuple(self._point(point, number == knee) for number, point in enumerate(self._found)),
            status,
            status == "infeasible" or (status == "found" and self._complete),
            reason,
            round(self._task.budget.elapsed, 6),
        )

    def _point(self, found: _Found, knee: bool) -> FrontPoint:
        """Its plan is one for the first metric alone: what was proved below a ceiling holds only there."""
        values = self._cost(0, found.costs[0]), self._cost(1, found.costs[1])
        gap = None if self._bound is None else gap_between(values[0], self._bound)
        plan = replace(
            found.plan,
            goal={self._names[0]: 1.0},
            status="optimal" if gap is not None and gap <= OPTIMAL_GAP else "feasible",
            bound=self._bound,
            gap=gap,
            levels=(),
        )
        return FrontPoint(values, found.proved, plan, knee)


def _below(cost: float) -> float:
    """The highest ceiling below which nothing costs the same, as far as proofs can tell."""
    return cost - 2 * SAME * abs(cost)


def _is_closed(level: Any) -> bool:
    return level["gap"] is not None and level["gap"] <= OPTIMAL_GAP


def _knee(costs: list[tuple[float, float]]) -> int | None:
    """The point farthest from the line between both ends, on the better side, both metrics from 0 to 1."""
    if len(costs) < 3:
        return None
    (best, high), (worst, low) = costs[0], costs[-1]

    def depth(point: tuple[float, float]) -> float:
        return 1.0 - (point[0] - best) / (worst - best) - (point[1] - low) / (high - low)

    deepest = max(range(1, len(costs) - 1), key=lambda number: depth(costs[number]))
    return deepest if depth(costs[deepest]) > SAME else None
