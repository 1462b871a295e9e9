"""A plan as people read it: what it is worth, where everything runs, what it breaks."""

from __future__ import annotations

from collections import Counter

from rich.markup import escape

from berth.cli.output import metric_name, metric_value, number, out, plain_table, print_violations
from berth.evaluation import METRIC_BY_NAME
from berth.model import Plan, Problem

MOST_ROWS = 40
_COLOURS = {
    "optimal": "bold green",
    "feasible": "bold yellow",
    "infeasible": "bold red",
    "unknown": "bold red",
}


def print_plan(problem: Problem, plan: Plan) -> None:
    """The whole answer of `berth solve`."""
    colour = _COLOURS[plan.status]
    out.print(
        f"[bold]{escape(plan.problem)}[/] · policy {escape(plan.policy)} · "
        f"[{colour}]{plan.status}[/] in {plan.seconds:.2f} s"
    )
    if plan.reason:
        print_reason(plan)
    if not plan.found:
        return
    print_objective(plan)
    print_placement(problem, plan)
    print_metrics(plan)
    print_price(plan)
    print_violations(plan.violations)


def print_reason(plan: Plan) -> None:
    """Why there is no plan, or why the search ended."""
    lines = plan.trace.get("conflict") or [plan.reason]
    if plan.status == "infeasible":
        out.print("These constraints can't hold together:")
    for line in lines:
        out.print(f"  {escape(str(line))}", soft_wrap=True)


def print_objective(plan: Plan) -> None:
    """The objective with its bound and gap."""
    if plan.objective is None:
        return
    single = next(iter(plan.goal)) if len(plan.goal) == 1 else None
    key = METRIC_BY_NAME[single].key if single in METRIC_BY_NAME else None
    name = single.replace("_", " ") if single else "weighted sum"
    value = metric_value(key, plan.objective) if key else number(plan.objective)
    proof = ""
    if plan.bound is not None and plan.gap is not None:
        bound = metric_value(key, plan.bound) if key else number(plan.bound)
        proof = f" · bound {bound} · gap {100 * plan.gap:.2f} %"
    out.print(f"{name} [bold]{value}[/]{proof}")


def print_placement(problem: Problem, plan: Plan) -> None:
    """Operators with the nodes of their instances; for large plans, nodes with their numbers of instances."""
    operators = problem.instances.operators
    out.print()
    if len(operators) > MOST_ROWS:
        table = plain_table("node", "instances", right=(1,))
        hosted = Counter(plan.assignment.values()).most_common()
        for node, count in hosted[:MOST_ROWS]:
            table.add_row(escape(node), str(count))
        out.print(table)
        out.print(
            f"[dim]{len(plan.assignment)} instances on {len(hosted)} nodes; --json or --out has them all[/]"
        )
        return
    table = plain_table("operator", "runs on")
    several = len(problem.applications) > 1
    for item in operators:
        names = [problem.instances.names[number] for number in item.instances]
        nodes = Counter(plan.assignment[name] for name in names if name in plan.assignment)
        where = ", ".join(node if count == 1 else f"{node} x{count}" for node, count in nodes.items())
        if item.name in plan.reuse:
            where = f"(result of {plan.reuse[item.name]})"
        elif item.name in plan.skipped:
            where = "(not needed)"
        table.add_row(escape(item.name if several else item.operator.name), escape(where or "not placed"))
    out.print(table)


def print_metrics(plan: Plan) -> None:
    """Every metric with its unit."""
    out.print()
    table = plain_table("metric", "value", right=(1,))
    for key, value in plan.metrics.items():
        table.add_row(metric_name(key), metric_value(key, value))
    out.print(table)


def print_price(plan: Plan) -> None:
    """What it costs to decide in two stages, where the policy was asked for it."""
    price = plan.trace.get("price_of_two_stages")
    if price is None:
        return
    ratio = "-" if price["ratio"] is None else number(price["ratio"])
    two, joint = price["W"]["two_stages"], price["W"].get("joint")
    values = " against ".join("-" if value is None else number(value) for value in (two, joint))
    proof = "the least there is" if price["status"] == "optimal" else "the best found"
    out.print(f"\nprice of two stages [bold]{ratio}[/] · communication cost {values} at once, {proof}")
    if "no_ratio" in price:
        out.print(f"  {escape(price['no_ratio'])}", soft_wrap=True)
