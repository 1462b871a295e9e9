"""What policies find where losses have to be survived: those that know nothing of it are helped."""

from __future__ import annotations

from dataclasses import replace

from berth.engine.failovers import search_failover
from berth.evaluation import Setting, Situation
from berth.model import Plan
from berth.policies.policy import Answer, Policy, Task, plan_of


def answer_of(policy: Policy, task: Task) -> Answer:
    """A policy's answer, with a failover for every loss that has to be survived.

    A policy whose class has `survives = True` knows of losses; any other gets a problem without them.
    """
    if not task.problem.losses or getattr(policy, "survives", False):
        return with_failover(task, policy.solve(task))
    # Plans that survive losses reuse nothing: whoever knows nothing of losses shall not know of sharing.
    safe = replace(task.problem, survive=None, sharing=False)
    answer = with_failover(task, policy.solve(replace(task, setting=replace(task.setting, problem=safe))))
    if not task.problem.sharing_keys.matters:
        return answer
    if answer.status == "infeasible":
        return replace(answer, status="unknown", reason=f"no plan found: {answer.reason}")
    return replace(answer, bound=None)


def with_failover(task: Task, answer: Answer, better: bool = False) -> Answer:
    """The answer with a way to survive every loss, as far as one is found.

    What can't be survived gets the failover that breaks least, so that the judge can say what is in the way.

    Args:
        task: what was asked for.
        answer: what a policy has found.
        better: look for faster failovers than those that it has, too.
    """
    if answer.nodes is None or not task.problem.losses:
        return answer
    plan = plan_of(task.problem, answer)
    if Situation(task.setting, plan).broken:
        return answer
    return replace(answer, failover=failover_of(task.setting, plan, task.seed, better=better))


def failover_of(
    setting: Setting, plan: Plan, seed: int = 0, *, better: bool = False, broken: bool = True
) -> dict[str, dict[str, str]]:
    """A plan's failover: its own where that holds, and what a short search finds where it doesn't.

    Args:
        setting: what the plan is judged in.
        plan: with or without a failover.
        seed: of the search.
        better: look for faster ones than its own, too.
        broken: take those that break something, where none is found that doesn't.
    """
    situation = Situation(setting, plan)
    own = {item.loss.name for item in situation.losses if not item.broken}
    failover = {}
    for loss in setting.problem.losses:
        if not loss.moving(situation.node_of).any():
            continue
        known = plan.failover.get(loss.name) if loss.name in own else None
        found = None
        if better or known is None:
            found = search_failover(setting, loss, situation.node_of, seed, known)
        if found is not None and (found.whole or (known is None and broken)):
            failover[loss.name] = found.moves
        elif known is not None:
            failover[loss.name] = dict(known)
    return failover
