"""What can be judged of a plan that says which container an instance is in, but not where that runs."""

from __future__ import annotations

from dataclasses import replace

from berth.evaluation import Evaluation, Setting, Situation, evaluate
from berth.evaluation.feasibility import containers
from berth.model import Plan, Problem

FIGURES = ("containers_used", "container_traffic_bytes_per_s")


def evaluate_packing(problem: Problem, plan: Plan) -> Evaluation:
    """The metrics and constraints of containers; that nothing is placed is a violation, too.

    The judge computes them with everything on one node: what is between containers is the same wherever
    these run.
    """
    anywhere = dict.fromkeys(problem.instances.names, problem.network.nodes[0].name)
    packed = replace(plan, assignment=anywhere)
    metrics = evaluate(problem, packed).metrics
    violations = evaluate(problem, plan).violations + tuple(containers(Situation(Setting(problem), packed)))
    return Evaluation({key: metrics[key] for key in FIGURES if key in metrics}, violations)
