"""Goals in order: each is minimised among the plans that are near enough to the best for those before it.

A goal that is done becomes a ceiling for the next ones, which exact models and the search keep like any other
limit. What is left open after the last goal is decided by what users like better: `break_ties`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from berth.evaluation import METRIC_BY_NAME, Situation
from berth.evaluation.evaluate import Evaluation, evaluation_of
from berth.evaluation.goal import OPTIMAL_GAP, Ceiling, Goal
from berth.exact.placement import Placement, unmodelled
from berth.model.pair_fields import AllPairsError
from berth.policies.failover import with_failover
from berth.policies.policy import Answer, Level, Policy, Task, plan_of
from berth.policies.search.cycles import LocalSearch

SHARE = 0.5
"""The share of what is left of the time that a goal takes at most, if others come after it."""
TIES = ("response_time_sum", "traffic", "cost_per_hour", "nodes_used")
"""What is preferred among plans that are equally good, one after the other."""
EQUAL = 1e-9
"""Plans whose objectives differ by no more than this share are equally good."""
TIE_STEPS, MOST_TIE_STEPS, MOST_TIE_BLOCKS = 400, 400_000, 5_000
"""Steps for each block in which better ties are sought; at most; and the blocks beyond which nobody looks."""
TIE_SHARE = 0.1
"""The share of the time that is kept for that."""


@dataclass(frozen=True)
class _Done:
    """A plan, with what it is worth for the goal at hand."""

    answer: Answer
    goal: Goal
    metrics: dict[str, float]

    @property
    def value(self) -> float:
        value = self.goal.value(self.metrics)
        assert value is not None
        return value


def solve_in_order(task: Task, policy: Policy) -> Answer:
    """What a policy finds for the problem's goals, one after the other."""
    problem, setting = task.problem, task.setting
    kept: _Done | None = None
    levels: list[Level] = []
    traces: list[dict[str, Any]] = []
    for number, weights in enumerate(problem.objectives):
        last = number == len(problem.objectives) - 1
        part = replace(
            task,
            setting=replace(setting, problem=problem.for_goal(weights)),
            budget=task.budget if last else task.budget.part(SHARE),
            start=task.start if kept is None else kept.answer.nodes,
            report=task.staged(stage_of(weights)),
        )
        answer = policy.solve(part)
        found = _judged(part, answer)
        traces.append(dict(answer.trace))
        if kept is None and found is None:
            return answer
        if kept is not None and (found is None or not _better(found, kept)):
            found = _of_goal(part, kept, answer)
        assert found is not None
        bound = answer.bound if _is_about(answer, weights) else None
        levels.append(Level(found.goal, bound, _within(problem.objective_within, number, last)))
        setting = replace(setting, ceilings=(*setting.ceilings, _ceiling(found, levels[-1])))
        kept = found
    assert kept is not None
    proved = all(level.proves(kept.metrics) for level in levels)
    return replace(
        kept.answer,
        status="optimal" if proved else "feasible",
        reason=None if proved else kept.answer.reason or "not every goal is proved",
        goal=levels[0].goal,
        bound=levels[0].bound,
        levels=tuple(levels),
        trace={**traces[0], "levels": traces[1:]},
    )


def stage_of(weights: Mapping[str, float]) -> str:
    """What progress calls the search for a goal."""
    return " and ".join(weights).replace("_", " ")


def _within(given: tuple[float, ...], number: int, last: bool) -> float:
    """How near to its best value a goal has to stay."""
    asked = given[number] if number < len(given) else 0.0
    return OPTIMAL_GAP if last else max(OPTIMAL_GAP, asked)


def _is_about(answer: Answer, weights: object) -> bool:
    return answer.goal is None or dict(answer.goal.weights) == weights


def _ceiling(done: _Done, level: Level) -> Ceiling:
    """What the goals after this one have to keep: near to the bound, and never less than what was reached."""
    if level.bound is not None and level.proves(done.metrics):
        near = Ceiling.near(level.goal, level.bound, level.within)
        if near.keeps(done.metrics):
            return near
    return Ceiling.near(level.goal, done.value, level.within)


def _judged(task: Task, answer: Answer) -> _Done | None:
    """A plan that breaks nothing, for the goal of a task; None where there is none."""
    if answer.nodes is None:
        return None
    evaluation = _evaluation(task, answer)
    goal = answer.goal
    if goal is None or dict(goal.weights) != dict(task.problem.objective):
        goal = Goal(
            task.problem.objective, task.problem.objective_scale, answer.goal.bounds if answer.goal else {}
        )
    if evaluation.violations or goal.value(evaluation.metrics) is None:
        return None
    return _Done(answer, goal, evaluation.metrics)


def _of_goal(task: Task, kept: _Done, answer: Answer) -> _Done:
    """The plan of the goals before, where the next one found nothing better."""
    goal = answer.goal
    if goal is None or dict(goal.weights) != dict(task.problem.objective):
        goal = Goal(task.problem.objective, "raw" if len(task.problem.objective) > 1 else "normalised")
    return _Done(replace(kept.answer, reason=answer.reason), goal, kept.metrics)


def _better(found: _Done, kept: _Done) -> bool:
    """Whether a plan is at least as good as the one of the goals before, for its own goal."""
    before = found.goal.value(kept.metrics)
    if before is None:
        return True
    return found.value >= before if found.goal.maximise else found.value <= before


def _evaluation(task: Task, answer: Answer) -> Evaluation:
    plan = replace(plan_of(task.problem, answer), goal=dict(task.problem.objective))
    return evaluation_of(Situation(task.setting, plan))


def break_ties(task: Task, answer: Answer) -> Answer:
    """Among plans that are equally good, one that is better in what users mostly like, by a short search.

    Nothing is proved about that; the trace says what it brought.
    """
    problem, budget = task.problem, task.budget
    blocks = int(problem.block_of.max(initial=-1)) + 1
    found = _judged(task, answer)
    if found is None or unmodelled(problem) is not None or not 1 < blocks <= MOST_TIE_BLOCKS or budget.over:
        return answer
    if "failover_response_time" in found.goal.weights:
        # the search can't see whether that stays as it is
        return answer
    near = Ceiling.near(found.goal, found.value, EQUAL)
    kept = replace(task.setting, ceilings=(*task.setting.ceilings, near))
    brought: dict[str, list[float]] = {}
    steps = min(TIE_STEPS * blocks, MOST_TIE_STEPS)
    for name in _ties(found):
        goal = Goal({name: 1.0})
        before = found.metrics[METRIC_BY_NAME[name].key]
        part = replace(task, setting=replace(kept, problem=problem.for_goal({name: 1.0})))
        try:
            search = LocalSearch(Placement(part.setting, prune=False), goal, task.seed)
        except AllPairsError:
            # too many nodes to look at every two of them: what is left open stays so
            break
        assert found.answer.nodes is not None
        search.offer(found.answer.nodes)
        search.run(budget, steps, lambda: None)
        if search.whole:
            nodes = search.placement.nodes_of_instances(search.nodes)
            moved = with_failover(part, replace(answer, nodes=nodes, goal=goal, failover={}))
            other = _judged(part, moved)
            if other is not None and other.value < before - EQUAL * abs(before):
                found = replace(found, answer=replace(moved, goal=answer.goal), metrics=other.metrics)
                brought[name] = [before, other.value]
        reached = found.metrics[METRIC_BY_NAME[name].key]
        kept = replace(kept, ceilings=(*kept.ceilings, Ceiling.near(goal, reached, EQUAL)))
        if task.budget.over:
            break
    return replace(found.answer, trace={**answer.trace, "ties": brought})


def _ties(found: _Done) -> Iterator[str]:
    """What can be computed, and is not what was minimised."""
    for name in TIES:
        if METRIC_BY_NAME[name].key in found.metrics and name != found.goal.single:
            yield name
