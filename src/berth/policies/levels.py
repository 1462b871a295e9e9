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
from berth.policies.odp import Odp, OdpParameters
from berth.policies.policy import Answer, Level, Policy, Task, plan_of
from berth.policies.search.cycles import LocalSearch

SHARE = 0.5
"""The share of what is left of the time that a goal takes at most, if others come after it."""
TIES = ("response_time_sum", "traffic", "cost_per_hour", "nodes_used")
"""What is preferred among plans that are equally good, one after the other."""
EQUAL = 1e-9
"""Plans whose objectives differ by no more than this share are equally good."""
TIE_STEPS, MOST_TIE_STEPS, MOST_TIE_BLOCKS = 4_000, 1_000_000, 5_000
"""Steps for each block in which better ties are sought; at most; and the blocks beyond which nobody looks."""
TIE_SHARE = 0.1
"""The share of the time that is kept for that."""
MOST_PROVED = 20_000
"""Combinations of candidates beyond which the exact engine isn't asked for better ties."""


@dataclass(frozen=True)
class _Done:
    """A plan, with what it is worth for the goal at hand."""

    answer: Answer
    goal: Goal
    metrics: dict[str, float]

    @property
    def value(self) -> float:
        return _value(self.goal, self)


def solve_in_order(task: Task, policy: Policy, breaks_ties: bool = True) -> Answer:
    """What a policy finds for the problem's goals, one after the other, and what they leave open."""
    problem, setting = task.problem, task.setting
    kept: _Done | None = None
    levels: list[Level] = []
    traces: list[dict[str, Any]] = []
    for number, weights in enumerate(problem.objectives):
        last = number == len(problem.objectives) - 1
        part = replace(
            task,
            setting=replace(setting, problem=problem.for_goal(weights)),
            budget=task.budget.part((1.0 - TIE_SHARE) if last else SHARE),
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
        if found.goal.bounds:
            traces[-1]["objective_bounds"] = {name: list(pair) for name, pair in found.goal.bounds.items()}
        levels.append(Level(found.goal, bound, _within(problem.objective_within, number, last)))
        setting = replace(setting, ceilings=(*setting.ceilings, _ceiling(found, levels[-1])))
        kept = found
    assert kept is not None
    if breaks_ties:
        equal = (Ceiling.near(level.goal, _value(level.goal, kept), EQUAL) for level in levels[:-1])
        alone = replace(task.setting, problem=problem.for_goal(problem.objectives[-1]))
        part = replace(task, setting=replace(alone, ceilings=tuple(equal)))
        settled = break_ties(part, replace(kept.answer, goal=kept.goal, trace={}))
        kept = replace(kept, answer=replace(settled, reason=kept.answer.reason))
        traces[0] |= settled.trace
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


def _value(goal: Goal, done: _Done) -> float:
    """What a plan is worth for another goal that it was judged by."""
    value = goal.value(done.metrics)
    assert value is not None
    return value


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
    if found is None or unmodelled(problem) is not None or blocks > MOST_TIE_BLOCKS or budget.over:
        return answer
    before = found.metrics
    near = Ceiling.near(found.goal, found.value, EQUAL)
    kept = replace(task.setting, ceilings=(*task.setting.ceilings, near))
    unseen = any("failover_response_time" in ceiling.goal.weights for ceiling in kept.ceilings)
    sought = []
    for name in _ties(found):
        goal = Goal({name: 1.0})
        part = replace(task, setting=replace(kept, problem=problem.for_goal({name: 1.0})))
        try:
            other = _judged(part, _proved(part, found) if unseen else _searched(part, found, goal, blocks))
        except AllPairsError:
            # too many nodes to look at every two of them: what is left open stays so
            break
        key = METRIC_BY_NAME[name].key
        if other is not None and other.value < found.metrics[key] - EQUAL * abs(found.metrics[key]):
            found = replace(found, answer=replace(other.answer, goal=answer.goal), metrics=other.metrics)
        kept = replace(kept, ceilings=(*kept.ceilings, Ceiling.near(goal, found.metrics[key], EQUAL)))
        sought.append((name, key))
        if task.budget.over:
            break
    brought = {
        name: [before[key], found.metrics[key]]
        for name, key in sought
        if found.metrics[key] < before[key] - EQUAL * abs(before[key])
    }
    return replace(found.answer, trace={**answer.trace, "ties": brought})


def _searched(task: Task, found: _Done, goal: Goal, blocks: int) -> Answer:
    """What a short search finds among the plans that the ceilings leave."""
    assert found.answer.nodes is not None
    search = LocalSearch(Placement(task.setting, prune=False), goal, task.seed)
    search.offer(found.answer.nodes)
    search.run(task.budget, min(TIE_STEPS * blocks, MOST_TIE_STEPS), lambda: None)
    if not search.whole:
        return replace(found.answer, nodes=None)
    nodes = search.placement.nodes_of_instances(search.nodes)
    return with_failover(task, replace(found.answer, nodes=nodes, goal=goal, failover={}))


def _proved(task: Task, found: _Done) -> Answer:
    """What the exact engine finds: the search can't see whether times after losses stay as they are."""
    if Placement(task.setting).size > MOST_PROVED:
        return replace(found.answer, nodes=None)
    parameters = OdpParameters(ties="any")
    start, budget = found.answer.nodes, task.budget.part(SHARE)
    other = Odp().solve(replace(task, parameters=parameters, start=start, budget=budget))
    return replace(found.answer, nodes=other.nodes, goal=other.goal, failover=other.failover)


def _ties(found: _Done) -> Iterator[str]:
    """What can be computed, and is not what was minimised."""
    for name in TIES:
        if METRIC_BY_NAME[name].key in found.metrics and name != found.goal.single:
            yield name
