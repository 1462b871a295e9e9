"""Failovers of a plan that runs: ready while all is well, so that nothing has to be solved when it isn't."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from berth.evaluation import Setting, Situation
from berth.model import Plan, Problem
from berth.policies.failover import failover_of


def prepared(problem: Problem, plan: Plan) -> Plan:
    """A plan with a failover for every loss that it can survive, as the problem is now.

    Where measured values break the plan itself, failovers are no worse than nothing for breaking something.
    """
    if not problem.losses or not set(problem.instances.names) <= plan.assignment.keys():
        return plan
    setting = Setting(problem)
    broken = bool(Situation(setting, replace(plan, failover={})).broken)
    return replace(plan, failover=failover_of(setting, plan, broken=broken))


def stored_failover(problem: Problem, plan: Plan, dead: Collection[str]) -> Plan | None:
    """The plan to go on by at once when nodes are dead; None: something on them has no other node in store.

    Where a zone may be lost and only some of its nodes are, only what was on these moves.
    """
    homeless = {name: node for name, node in plan.assignment.items() if node in dead}
    index, moves = problem.network.index, {}
    for loss in problem.losses:
        names = {problem.network.nodes[number].name for number in loss.nodes.tolist()}
        for instance, node in plan.failover.get(loss.name, {}).items():
            if homeless.get(instance) in names and node in index and node not in dead:
                moves[instance] = node
    if not homeless or homeless.keys() - moves.keys():
        return None
    return replace(plan, assignment={**plan.assignment, **moves}, failover={})
