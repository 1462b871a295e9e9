"""`berth solve --alternatives`: several plans, as JSON, as files and as people read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape

from berth.amounts import counted, percentage, shortened
from berth.cli.output import homes, metric_value, out, plain_table
from berth.cli.plan_view import print_plan
from berth.evaluation import METRIC_BY_NAME
from berth.evaluation.goal import Goal
from berth.files import plan_document, save_plan
from berth.model import Plan, Problem
from berth.policies.alternatives import Alternatives

MOST_NAMED = 3
"""Operators of a plan whose nodes are shown."""


def alternatives_document(found: Alternatives) -> dict[str, Any]:
    """All of it as plain data: the plan files of what was found, the best one first."""
    return {
        "plans": [plan_document(plan) for plan in found.plans if plan.found],
        "status": found.plans[0].status,
        "within": found.within,
        "differ": found.differ,
        "exhausted": found.exhausted,
        "reason": found.reason,
    }


def save_alternatives(found: Alternatives, file: Path) -> list[Path]:
    """Write `plan.json`, `plan-2.json`, ...; says which."""
    written = []
    for number, plan in enumerate((plan for plan in found.plans if plan.found), start=1):
        written.append(file if number == 1 else file.with_name(f"{file.stem}-{number}{file.suffix}"))
        save_plan(plan, written[-1])
    return written


def print_alternatives(problem: Problem, found: Alternatives) -> None:
    """The best plan as `solve` shows it, then a row for each other one."""
    best = found.plans[0]
    print_plan(problem, best)
    if not best.found:
        return
    others = list(zip(found.plans, found.elsewhere, strict=True))[1:]
    if others:
        near, operators = percentage(found.within), counted(found.differ, "operator")
        out.print(f"\n[bold]others[/] within {near}, any two of them different in at least {operators}")
        name = Goal(best.first_goal).single
        title = (name or "weighted sum").replace("_", " ")
        table = plain_table("", title, "", "elsewhere", "", right=(0, 1, 2, 3))
        for number, (plan, names) in enumerate(others, start=2):
            key = METRIC_BY_NAME[name].key if name is not None else ""
            table.add_row(
                str(number),
                metric_value(key, plan.objective),
                _worse(best, plan),
                str(len(names)),
                escape(_moves(problem, best, plan, names)),
            )
        out.print(table)
    if found.reason:
        count = counted(len(found.plans), "plan")
        out.print(f"\nno more than {count}: {escape(found.reason)}", soft_wrap=True)


def _worse(best: Plan, plan: Plan) -> str:
    """By which share of the best objective a plan is worse."""
    if best.objective is None or plan.objective is None or not best.objective:
        return ""
    share = abs(plan.objective - best.objective) / abs(best.objective)
    return "the same" if share <= 1e-9 else f"{percentage(share)} worse"


def _moves(problem: Problem, best: Plan, plan: Plan, names: tuple[str, ...]) -> str:
    """The operators that are elsewhere, and where: `tag: rome`."""
    graph = problem.instances
    told = []
    for name in names:
        item = graph.operators[graph.operator_index[name]]
        instances = [graph.names[number] for number in item.instances]
        there = homes([plan.assignment[each] for each in instances if each in plan.assignment])
        told.append(f"{item.operator.name}: {there or 'not computed'}")
    return shortened(told, MOST_NAMED)
