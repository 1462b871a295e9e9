"""Optimal placement (paper 000, ODP): the best plan for any objective, with a proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from berth.evaluation.goal import Goal
from berth.evaluation.situation import assignment_of
from berth.exact.minimise import Solution, minimise
from berth.exact.placement import Sampling, modelled, unmodelled
from berth.exact.task import Ties
from berth.model import Plan
from berth.model.parameters import SHARE, Parameters, Values, parameter
from berth.policies.downloads import choose_downloads
from berth.policies.failover import with_failover
from berth.policies.policy import About, Answer, Task, problem_goal
from berth.policies.sharing.exact import solve_shared


@dataclass(frozen=True)
class OdpParameters(Parameters):
    """What users may set."""

    candidate_fraction: float = parameter(
        1.0, "consider only this share of each operator's candidates, drawn at random", SHARE
    )
    candidate_seed: int | None = parameter(None, "seed of that draw; none: the solve's seed")
    gap: float = parameter(
        0.0, "stop when the gap is at most this", Values(lambda gap: 0 <= gap < 1, "is not from 0 to below 1")
    )
    ties: Literal["better", "any", "first", "random"] = parameter(
        "better",
        "among equally good plans: one better in other ways, any, the one on the first nodes, one at random",
    )


class Odp:
    """The exact policy."""

    about = About(
        name="odp",
        paper="000: Cardellini et al., Optimal Operator Placement (DEBS 2016)",
        optimises="any objective of the contract, exactly",
        holds="all; object downloads and reuse only for objectives that are sums, and bandwidth_max",
    )
    parameters = OdpParameters
    keeps_order = True
    survives = True

    def solve(self, task: Task) -> Answer:
        """Minimise the problem's objective over all plans that keep the constraints."""
        goal = problem_goal(task)
        if goal is None:
            return infeasible(task)
        shared = _solve_with_sharing(task, goal)
        return shared if shared is not None else solve_for(task, goal)


def _solve_with_sharing(task: Task, goal: Goal) -> Answer | None:
    """The answer of the model with reuse and downloads, where these matter and it covers the goal."""
    parameters: OdpParameters = task.parameters
    packs = any(application.containers is not None for application in task.problem.applications)
    # Plans that survive losses reuse nothing.
    plain = packs or task.problem.survive is not None
    if plain or unmodelled(task.problem) is None or parameters.candidate_fraction < 1:
        return None
    from berth.exact.sharing.minimise_shared import covered  # loads the solver

    # The bounds of a normalised sum are those of plans without reuse: nothing is proved about others.
    plain = goal.single is not None or goal.scale == "raw"
    if (
        not plain
        or _picks(parameters) != "any"
        or task.setting.ceilings
        or task.setting.unlike
        or not all(map(covered, goal.weights))
    ):
        return None
    answer = solve_shared(task, goal, True, parameters.gap)
    # Beside a plan that is there already, one of the model without reuse would prove nothing.
    return None if answer.status == "unknown" and task.start is None else answer


def solve_for(task: Task, goal: Goal) -> Answer:
    """The best plan for a goal, with what is proved about it."""
    parameters: OdpParameters = task.parameters
    seed = task.seed if parameters.candidate_seed is None else parameters.candidate_seed
    solution = minimise(
        modelled(task.setting),
        goal,
        task.budget,
        task.seed,
        parameters.gap,
        Sampling(parameters.candidate_fraction, seed),
        progress=task.progress,
        ties=_picks(parameters),
        known=_known(task),
    )
    sampled = parameters.candidate_fraction < 1
    if solution.status == "infeasible" and not sampled:
        return infeasible(task, goal)
    if solution.nodes is None and solution.trace.get("method") == "greedy" and not sampled:
        # Too large for a model, but some clashes are seen without one.
        seen = infeasible(task, goal)
        if seen.trace.get("conflict"):
            return seen
    return _answer(task, goal, solution, sampled)


def _known(task: Task) -> Plan | None:
    """A plan to begin with: one that was found just now, else the previous one where it places everything."""
    nodes = task.setting.previous_nodes if task.start is None else task.start
    if nodes is None or ((nodes < 0) | (nodes >= len(task.problem.network.nodes))).any():
        return None
    return Plan(assignment_of(task.problem, nodes))


def _picks(parameters: OdpParameters) -> Ties:
    """Which of several best plans the solver itself picks."""
    return "any" if parameters.ties == "better" else parameters.ties


def _answer(task: Task, goal: Goal, solution: Solution, sampled: bool) -> Answer:
    doubt = unmodelled(task.problem, packs=True) or (
        "only a sample of the candidates was considered" if sampled else None
    )
    trace = dict(solution.trace)
    if doubt is not None:
        trace["no_proof"] = doubt
    if solution.nodes is None:
        reason = doubt if solution.status == "infeasible" else _why_it_ended(task)
        if "losses_left_out" in trace:
            reason = f"a model with {trace['losses_left_out']} losses more is too large; try --policy search"
        if solution.trace.get("method") == "greedy":
            reason = "too large for an exact model, and a greedy plan violates some constraints"
        bound = solution.bound if doubt is None else None
        return Answer("unknown", goal=goal, bound=bound, reason=f"no plan found: {reason}", trace=trace)
    ended = task.budget.reason if task.budget.over else None
    if solution.trace.get("method") == "greedy":
        ended = "too large for an exact model: a greedy plan"
    if doubt is not None:
        ended = f"not proved: {doubt}"
    answer = Answer(
        status=solution.status if doubt is None else "feasible",
        nodes=solution.nodes,
        goal=goal,
        bound=solution.bound if doubt is None else None,
        reason=ended if solution.status != "optimal" or doubt is not None else None,
        trace=trace,
        containers=solution.containers,
        downloads=choose_downloads(task.setting, solution.nodes),
        failover=solution.failover,
    )
    return with_failover(task, answer, better="failover_response_time" not in goal.weights)


def _why_it_ended(task: Task) -> str:
    """Why there is no proof."""
    if task.budget.over:
        return task.budget.reason
    return "the solver's plans break limits by no more than rounding, and nothing else is proved"


def infeasible(task: Task, goal: Goal | None = None) -> Answer:
    """No plan keeps all constraints: which of them clash."""
    doubt = unmodelled(task.problem, packs=True)
    if doubt is not None:
        reason = f"no plan found: {doubt}"
        return Answer("unknown", goal=goal, reason=reason, trace={"no_proof": doubt})
    if task.setting.ceilings or task.setting.unlike:
        asked = [ceiling.words for ceiling in task.setting.ceilings]
        asked += ["different enough from those that are known"] if task.setting.unlike else []
        return Answer("infeasible", goal=goal, reason=f"no plan is {' and '.join(asked)}")
    from berth.exact.conflict import clashes  # loads the solver

    lines = clashes(task.setting, task.budget.part(0.5, most=20.0))
    reason = "; ".join(lines) or "the constraints can't hold together"
    return Answer("infeasible", goal=goal, reason=reason, trace={"conflict": lines})
