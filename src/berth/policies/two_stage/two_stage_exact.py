"""Two stages, each solved exactly (paper 001, eq. 8 and 7), and what deciding in two stages costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from berth.evaluation import Setting, evaluate
from berth.evaluation.goal import Goal
from berth.evaluation.situation import assignment_of
from berth.exact.minimise import minimise
from berth.exact.placement import modelled, unmodelled
from berth.model import Plan
from berth.model.parameters import parameter
from berth.policies.policy import About, Answer, Task, plan_of
from berth.policies.two_stage.both_stages import two_stages
from berth.policies.two_stage.mips import MipsParameters
from berth.policies.two_stage.policies import HOLDS, SUM
from berth.policies.two_stage.stage_inputs import Cluster, most_of, requests
from berth.policies.two_stage.stages import SecondStageName

JOINT = Goal({"communication_cost": 1.0})
"""W, what the second stage minimises."""
STAGES_SHARE = 0.5
"""The share of the time for the two stages where both are then decided at once, too."""


@dataclass(frozen=True)
class TwoStageExactParameters(MipsParameters):
    """What users may set: the two stages' own, and whether to tell the price of deciding in two."""

    second_stage: SecondStageName = parameter("exact", "how containers get onto servers")
    price: bool = parameter(False, "also solve both stages at once, and tell what deciding in two costs")


class TwoStageExact:
    """The best packing, and the best servers for it."""

    about = About("two-stage-exact", "001, the problems (8) and (7) themselves, solved exactly", SUM, HOLDS)
    parameters = TwoStageExactParameters

    def solve(self, task: Task) -> Answer:
        """Solve one stage after the other, with a proof for each."""
        goal = task.parameters.goal(most_of(task.setting))
        budget = task.budget.part(STAGES_SHARE if task.parameters.price else 1.0)
        answer = two_stages(replace(task, budget=budget), self.about.name, "exact", goal)
        if answer.nodes is None:
            return answer
        proved = all(
            stages.get(name, {}).get("proved", False)
            for stages in _stages(answer).values()
            for name in ("first", "second")
        )
        answer = replace(
            answer,
            status="optimal" if proved else "feasible",
            bound=_bound(task, goal, answer),
            reason=_unproved(answer),
        )
        if task.parameters.price:
            answer = replace(
                answer, trace={**answer.trace, "price_of_two_stages": _price(task, answer, goal)}
            )
        return answer


def _stages(answer: Answer) -> dict[str, dict[str, dict[str, Any]]]:
    """What each application's stages have to tell."""
    found: dict[str, dict[str, dict[str, Any]]] = answer.trace.get("applications", {})
    return found


def _unproved(answer: Answer) -> str | None:
    """Which stages are without a proof, and why."""
    lines = []
    for application, stages in _stages(answer).items():
        if "stuck_before" in stages:
            lines.append(f"{application}: the best packing fits on no servers, another one is taken")
        lines += [
            f"{application}, {name} stage: {stages[name]['ended']}"
            for name in ("first", "second")
            if "ended" in stages.get(name, {})
        ]
    return "; ".join(lines) or None


def _bound(task: Task, goal: Goal, answer: Answer) -> float | None:
    """A bound on the first stage's goal over all plans, from the bounds of the applications' first stages.

    There is none where a stage knew less than all: servers that others had filled, a packing other than the
    best, or equal operators, which the judge counts once.
    """
    stages = _stages(answer)
    free = Cluster(task.setting)
    total = 0.0
    for request in requests(task.setting):
        first = stages.get(request.name, {}).get("first", {})
        alone = len(stages) == 1 or len(request.first(free).group_servers) == 1
        if "bound" not in first or "stuck_before" in stages[request.name] or not alone:
            return None
        total += float(first["bound"])
    return None if task.problem.sharing_keys.matters else goal.from_costs(total)


def _price(task: Task, answer: Answer, goal: Goal) -> dict[str, Any]:
    """W of this plan against the least W of all plans, and what either is worth to the first stage."""
    setting = task.setting
    plan = plan_of(setting.problem, answer)
    task.progress(None, None, "both stages at once")
    joint = minimise(modelled(setting), JOINT, task.budget, task.seed, known=plan)
    told: dict[str, Any] = {"status": joint.status, "W": {"two_stages": _values(setting, plan, JOINT)}}
    told["first_stage_goal"] = {"two_stages": _values(setting, plan, goal)}
    if joint.nodes is not None:
        both = Plan(assignment_of(setting.problem, joint.nodes), containers=joint.containers)
        told["W"]["joint"] = _values(setting, both, JOINT)
        told["first_stage_goal"]["joint"] = _values(setting, both, goal)
    told["W"]["joint_bound"] = joint.bound
    broken = evaluate(setting.problem, plan, setting.previous, setting.occupied).violations
    doubt = unmodelled(setting.problem, packs=True)
    if broken:
        doubt = "the plan of two stages breaks constraints that the other one keeps"
    return {"ratio": None if doubt else _ratio(told["W"]), **told} | ({"no_ratio": doubt} if doubt else {})


def _values(setting: Setting, plan: Plan, goal: Goal) -> float | None:
    """A goal's value by the judge."""
    return goal.value(evaluate(setting.problem, plan, setting.previous, setting.occupied).metrics)


def _ratio(values: dict[str, float | None]) -> float | None:
    """How many times as much as both at once; None where that costs nothing, or is not known."""
    one, other = values["two_stages"], values.get("joint")
    if one is None or other is None:
        return None
    if other == 0.0:
        return 1.0 if one == 0.0 else None
    return one / other
