"""What policies find where losses have to be survived: those that know nothing of it are helped."""

from __future__ import annotations

from dataclasses import replace

from berth.engine.failovers import search_failover
from berth.evaluation import Situation
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
    nodes = answer.nodes
    if nodes is None or not task.problem.losses:
        return answer
    if Situation(task.setting, plan_of(task.problem, answer)).broken:
        return answer
    failover = dict(answer.failover)
    for loss in task.problem.losses:
        known = failover.get(loss.name)
        if (better or known is None) and loss.moving(nodes).any():
            found = search_failover(task.setting, loss, nodes, task.seed, known)
            if found is not None and (found.whole or known is None):
                failover[loss.name] = found.moves
    return replace(answer, failover=failover)
