"""The default: what can be proved is proved, the rest searched; special problems go to their policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from berth.evaluation import Situation
from berth.evaluation.evaluate import evaluation_of
from berth.evaluation.goal import OPTIMAL_GAP, Goal, gap_between
from berth.exact.placement import unmodelled
from berth.model import BadInput
from berth.model.pair_fields import AllPairsError
from berth.model.parameters import SHARE, parameter
from berth.policies.failover import answer_of
from berth.policies.odp import OdpParameters, infeasible
from berth.policies.policy import About, Answer, Task, plan_of, problem_goal
from berth.policies.registry import find_policy
from berth.policies.search import SearchParameters
from berth.policies.sharing.goals import GOALS as FOREST_GOALS

CLOSE = 1e-3
"""Where `odp` came to its end with less of a gap, a search gets few steps."""
FEW_STEPS = 2_000_000
"""Not seconds: the same seed gives the same plan."""


LARGEST_EXACT = 50_000_000
"""Instances times nodes beyond which `odp` isn't asked: it can't even look at all of them."""


@dataclass(frozen=True)
class AutoParameters(OdpParameters):
    """What users may set: what `odp` takes, and how the time is shared."""

    exact_share: float = parameter(
        0.5, "the share of the time after which a proof is given up for a search", SHARE
    )

    @property
    def of_odp(self) -> OdpParameters:
        """The part that is `odp`'s."""
        return OdpParameters(**{each.name: getattr(self, each.name) for each in fields(OdpParameters)})

    @property
    def only_odp(self) -> bool:
        """Whether something was asked for that nobody else heeds."""
        return self.candidate_fraction < 1 or self.ties in ("first", "random")


class Auto:
    """Chooses policies, and gives the best plan of those that it tried, with the best bound."""

    about = About(
        name="auto",
        paper="berth's own: chooses among the others",
        optimises="any objective of the contract: proved where that can be, searched elsewhere",
        holds="all; what the chosen policy can't hold is judged and said",
    )
    parameters = AutoParameters
    keeps_order = True
    survives = True

    def solve(self, task: Task) -> Answer:
        """Prove it if there is time for that, else search with what is left of it."""
        try:
            goal = problem_goal(task)
        except AllPairsError:
            return _first(task, ("search", "mopa"))
        if goal is None:
            return replace(infeasible(task), policy="odp")
        return _Attempts(task, goal).answer()


class _Attempts:
    """Policies one after another, on one goal."""

    def __init__(self, task: Task, goal: Goal) -> None:
        self._goal = goal
        self._task = task
        self._setting = task.setting
        if goal.bounds:
            # No policy has to look for the scale of a normalised sum again.
            scaled = replace(task.problem, objective_bounds=goal.bounds)
            self._setting = replace(task.setting, problem=scaled)
        self._best: tuple[float, Answer] | None = None
        self._bound: float | None = None
        self._exact = task.budget
        self._tried: list[dict[str, Any]] = []

    def answer(self) -> Answer:
        """The best of all, or the first that settles it."""
        last = Answer("unknown", goal=self._goal, reason="no plan found")
        for name in self._policies():
            if self._tried and self._done:
                break
            last = self._attempt(name)
            if last.status == "infeasible" or self._settled:
                break
        trace = {"auto": self._tried}
        if last.status == "infeasible" or self._best is None:
            trace = {**last.trace, **trace}
            bound = None if last.status == "infeasible" else self._bound
            return replace(last, bound=bound, trace=trace, policy=self._tried[-1]["policy"])
        _, best = self._best
        optimal = self._settled and best.status in ("optimal", "feasible")
        return replace(
            best,
            status="optimal" if optimal else best.status,
            goal=self._goal,
            bound=self._bound,
            reason=None if optimal else best.reason,
            trace={**best.trace, **trace},
        )

    def _policies(self) -> Iterator[str]:
        """Who is asked, in this order."""
        if self._task.parameters.only_odp:
            yield "odp"
            return
        if self._is_of_forest:
            # It takes a fixed number of steps, and a model with reuse may not even be built in time.
            yield "forest"
            yield "odp"
            return
        if self._packs or not self._huge:
            yield "odp"
        if self._packs:
            yield "mips"
        elif self._bounded_usage:
            yield "search"
            yield "latency-bound"
        else:
            yield "search"
        if self._best is None and not self._packs and self._task.problem.sharing_keys.matters:
            # there may be room only where equal operators are computed once, which nobody above tries
            yield "proc-nb"

    @property
    def _huge(self) -> bool:
        """Whether `odp` would spend all of its time, and gigabytes, on a list of who may go where."""
        problem = self._task.problem
        return len(problem.instances) * len(problem.network.nodes) > LARGEST_EXACT

    @property
    def _packs(self) -> bool:
        return any(application.containers is not None for application in self._task.problem.applications)

    @property
    def _is_of_forest(self) -> bool:
        """Whether it is paper 004's problem: shared operators or objects, and one of its goals."""
        reuses = not self._packs and self._task.problem.survive is None and not self._task.setting.ceilings
        return reuses and unmodelled(self._task.problem) is not None and self._goal.single in FOREST_GOALS

    @property
    def _bounded_usage(self) -> bool:
        """Whether it is paper 002's problem: least network usage under a latency bound."""
        bounded = any(each.max_response_time_ms is not None for each in self._task.problem.applications)
        return bounded and self._goal.single == "network_usage"

    @property
    def _done(self) -> bool:
        """Whether nobody else is asked: for a first plan, there is always time."""
        budget = self._task.budget
        return budget.stopped is not None or (budget.over and self._best is not None)

    @property
    def _settled(self) -> bool:
        """Whether the best plan is as good as its bound, or as good as was asked for."""
        if self._best is None or self._bound is None:
            return False
        enough: float = max(OPTIMAL_GAP, self._task.parameters.gap)
        return gap_between(self._best[0], self._bound) <= enough

    @property
    def _close(self) -> bool:
        """Whether `odp` had time enough, and there is little left to gain."""
        if self._best is None or self._bound is None or self._exact.over:
            return False
        return gap_between(self._best[0], self._bound) <= CLOSE

    def _attempt(self, name: str) -> Answer:
        policy = find_policy(name)
        parameters: Any = policy.parameters()
        budget = self._task.budget
        if name == "odp":
            parameters = self._task.parameters.of_odp
            last = self._task.parameters.only_odp or self._is_of_forest
            budget = budget.part(1.0 if last else self._task.parameters.exact_share)
            self._exact = budget
        elif self._close and name == "search":
            parameters = SearchParameters(steps=FEW_STEPS)
        elif name == "search" and self._bounded_usage:
            budget = budget.part(0.7)
        began = self._task.budget.elapsed
        start = self._task.start if self._best is None else self._best[1].nodes
        task = replace(self._task, setting=self._setting, parameters=parameters, budget=budget, start=start)
        try:
            answer = replace(answer_of(policy, task), policy=name)
        except AllPairsError as error:
            answer = Answer("unknown", goal=self._goal, reason=f"{name}: {error}", policy=name)
        except BadInput as error:
            if not self._tried:
                raise
            # not every policy takes every problem, and one that was asked before did
            answer = Answer("unknown", goal=self._goal, reason=f"{name}: {error.mistakes[0]}", policy=name)
        self._note(name, answer, self._task.budget.elapsed - began)
        return answer

    def _note(self, name: str, answer: Answer, seconds: float) -> None:
        """Keep the plan if it is the best so far, and the bound if it is about the same goal."""
        objective = self._judged(answer)
        own = answer.goal is None or dict(answer.goal.weights) == dict(self._goal.weights)
        if answer.bound is not None and own:
            known = answer.bound if self._bound is None else self._bound
            self._bound = self._tighter(known, answer.bound)
            if not self._goal.maximise:
                self._bound = max(self._bound, self._goal.floor)
        if objective is not None and (self._best is None or self._better(objective, self._best[0])):
            of_another_goal = answer.status == "optimal" and not own
            self._best = objective, replace(answer, status="feasible") if of_another_goal else answer
        tried = {"policy": name, "status": answer.status, "objective": objective, "bound": answer.bound}
        self._tried.append({**tried, "seconds": round(seconds, 3)})

    def _judged(self, answer: Answer) -> float | None:
        """The plan's value for the problem's goal; None if there is no plan or it breaks something."""
        if answer.nodes is None:
            return None
        setting = self._setting
        plan = replace(plan_of(setting.problem, answer), goal=dict(self._goal.weights))
        evaluation = evaluation_of(Situation(setting, plan))
        return None if evaluation.violations else self._goal.value(evaluation.metrics)

    def _better(self, one: float, other: float) -> bool:
        return one > other if self._goal.maximise else one < other

    def _tighter(self, one: float, other: float) -> float:
        return min(one, other) if self._goal.maximise else max(one, other)


def _first(task: Task, names: tuple[str, ...]) -> Answer:
    """The answer of the first policy that has a plan, where nobody can look at all pairs of nodes."""
    answer = Answer("unknown", reason="no plan found")
    for name in names:
        policy = find_policy(name)
        answer = replace(policy.solve(replace(task, parameters=policy.parameters())), policy=name)
        if answer.nodes is not None:
            break
    return answer
