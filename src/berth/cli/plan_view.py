"""Plans as people read them: one, a sequence of requests, and what changed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.markup import escape

from berth.amounts import counted, in_unit, operators_in_short, percentage, quantity
from berth.cli.output import (
    folded,
    homes,
    metric_name,
    metric_value,
    out,
    plain_table,
    print_violations,
    print_warnings,
)
from berth.evaluation import METRIC_BY_KEY, METRIC_BY_NAME, Situation, metric_change
from berth.evaluation.evaluate import Change
from berth.evaluation.limits import Use, bottleneck, exceeded
from berth.model import Plan, Problem
from berth.policies.sequence import ARRIVES
from berth.policies.standing import Standing

MOST_ROWS = 40
MOST_LOSSES, MOST_MOVES = 8, 6
_COLOURS = {
    "optimal": "bold green",
    "feasible": "bold yellow",
    "infeasible": "bold red",
    "unknown": "bold red",
}
_FIGURES = {"communication_cost": "cost", "containers_used": "containers"}


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
        print_warnings(plan.warnings)
        return
    print_objective(plan)
    print_placement(problem, plan)
    print_failover(plan)
    print_metrics(plan)
    print_price(plan)
    print_violations(plan.violations)
    print_warnings(plan.warnings)


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
    first = {"goal": plan.first_goal, "objective": plan.objective, "bound": plan.bound, "gap": plan.gap}
    for number, level in enumerate(plan.levels or (first,)):
        _print_level("then " if number else "", level)
    for name, (before, after) in plan.trace.get("ties", {}).items():
        unit = METRIC_BY_NAME[name].unit
        words = f"{name.replace('_', ' ')} {in_unit(after, unit)} instead of {in_unit(before, unit)}"
        out.print(f"[dim]among equally good plans: {words}[/]")


def _print_level(order: str, level: Mapping[str, Any]) -> None:
    """One goal, with its bound and gap."""
    goal, value = level["goal"], level["objective"]
    single = next(iter(goal)) if len(goal) == 1 else None
    unit = METRIC_BY_NAME[single].unit if single in METRIC_BY_NAME else ""
    name = single.replace("_", " ") if single else "weighted sum"
    proof = ""
    if level["bound"] is not None and level["gap"] is not None:
        proof = f" · bound {in_unit(level['bound'], unit)} · gap {percentage(level['gap'])}"
    out.print(f"{order}{name} [bold]{'-' if value is None else in_unit(value, unit)}[/]{proof}")


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
        where = homes([plan.assignment[name] for name in names if name in plan.assignment])
        if item.name in plan.reuse:
            where = f"(result of {plan.reuse[item.name]})"
        elif item.name in plan.skipped:
            where = "(not needed)"
        table.add_row(escape(item.name if several else item.operator.name), escape(where or "not placed"))
    out.print(table)


def print_failover(plan: Plan) -> None:
    """What moves where after which loss, those that move the most first."""
    if plan.failover:
        out.print()
        print_moves(plan.failover)


def print_moves(failover: Mapping[str, Mapping[str, str]]) -> None:
    """A row for each loss."""
    table = plain_table("after the loss of", "moves")
    order = sorted(failover.items(), key=lambda item: -len(item[1]))
    for name, moves in order[:MOST_LOSSES]:
        table.add_row(escape(name), escape("; ".join(_moves_by_node(moves))))
    out.print(table)
    if len(order) > MOST_LOSSES:
        out.print(f"[dim]and {len(order) - MOST_LOSSES} more; --json or --out has them all[/]")


def _moves_by_node(moves: Mapping[str, str]) -> list[str]:
    """What goes where, in short: `tag/count×3, tag/rank to paris`."""
    goals: dict[str, list[str]] = {}
    for instance, node in moves.items():
        goals.setdefault(node, []).append(instance)
    told = [f"{operators_in_short(instances)} to {node}" for node, instances in goals.items()]
    more = len(told) - MOST_MOVES
    return [*told[:MOST_MOVES], *([f"and to {counted(more, 'more node')}"] if more > 0 else [])]


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
    ratio = "-" if price["ratio"] is None else quantity(price["ratio"])
    two, joint = price["W"]["two_stages"], price["W"].get("joint")
    values = " against ".join("-" if value is None else quantity(value) for value in (two, joint))
    proof = "the least there is" if price["status"] == "optimal" else "the best found"
    out.print(f"\nprice of two stages [bold]{ratio}[/] · communication cost {values} at once, {proof}")
    if "no_ratio" in price:
        out.print(f"  {escape(price['no_ratio'])}", soft_wrap=True)


def print_bottleneck(situation: Situation) -> None:
    """A line for the bottleneck, and one for each limit that is exceeded."""
    fullest = bottleneck(situation)
    if fullest is None:
        out.print("\nbottleneck: none, nothing that has a limit is in use")
    else:
        out.print(f"\nbottleneck: {escape(_use_line(fullest))}", soft_wrap=True)
    for line in folded([_use_line(use) for use in exceeded(situation) if use != fullest]):
        out.print(f"exceeded: {escape(line)}", soft_wrap=True)


def _use_line(use: Use) -> str:
    share = percentage(use.share) if math.isfinite(use.share) else "more than there is"
    over = f", {in_unit(-use.slack, use.unit)} too much" if use.exceeded else ""
    return f"{use.kind} {use.name}: {share} used{over}; {use.advice}"


def accepted(plan: Plan) -> str:
    """How many of the requests were accepted."""
    rows = [row["accepted"] for row in plan.trace.get("requests", ()) if row["event"] == ARRIVES]
    return f"{sum(rows)} of {len(rows)}"


def print_sequence(problem: Problem, plan: Plan) -> None:
    """The events, then what is there at the end."""
    colour = "bold red" if plan.violations else "bold green"
    out.print(
        f"[bold]{escape(plan.problem)}[/] · policy {escape(plan.policy)} · one after another · "
        f"[{colour}]{accepted(plan)} accepted[/] in {plan.seconds:.2f} s\n"
    )
    print_events(plan)
    there = Standing.of(problem, plan).part
    if plan.found:
        if plan.objective is not None:
            out.print()
        print_objective(plan)
        print_placement(there, plan)
        print_metrics(plan)
    elif not plan.violations:
        out.print("\nnothing is left on the nodes")
    print_violations(plan.violations)
    print_warnings(plan.warnings)


def print_events(plan: Plan) -> None:
    """A row for each event: what became of it, what it costs, and how full the nodes are then."""
    rows = plan.trace["requests"]
    figures = [key for key in _FIGURES if any(key in row.get("metrics", {}) for row in rows)]
    resources = list(rows[0]["in_use"]) if rows else []
    titles = ["", "application", "", "seconds", *(_FIGURES[key] for key in figures)]
    columns = [*titles, *(f"{name} used" for name in resources)]
    table = plain_table(*columns, right=(0, *range(3, len(columns))))
    for position, row in enumerate(rows[:MOST_ROWS]):
        metrics = row.get("metrics", {})
        table.add_row(
            str(position + 1),
            escape(row["application"]),
            _outcome(row),
            f"{row['seconds']:.2f}",
            *(metric_value(key, metrics.get(key)) for key in figures),
            *(percentage(row["in_use"][name]) for name in resources),
        )
    out.print(table)
    if len(rows) > MOST_ROWS:
        out.print(f"[dim]{len(rows) - MOST_ROWS} more; --json or --out has them all[/]")


def _outcome(row: dict[str, Any]) -> str:
    if row["event"] == ARRIVES:
        return "placed" if row["accepted"] else "[red]refused[/]"
    return "left" if row["accepted"] else "[red]not gone[/]"


def print_change(change: Change, comparable: bool = True) -> None:
    """Moves, then failovers and metrics; which are better is told where that can be compared."""
    if not (change.moved or change.added or change.removed):
        out.print("nothing moved; the failover differs" if change.failover else "nothing moved")
    else:
        table = plain_table("instance", "before", "after")
        for instance, (old, new) in change.moved.items():
            table.add_row(escape(instance), escape(old), f"[bold]{escape(new)}[/]")
        for instance, node in change.added.items():
            table.add_row(escape(instance), "-", f"[green]{escape(node)}[/]")
        for instance, node in change.removed.items():
            table.add_row(escape(instance), f"[red]{escape(node)}[/]", "-")
        out.print(table)
        counts = f"{len(change.moved)} moved, {len(change.added)} new, {len(change.removed)} gone"
        out.print(f"{counts}, {change.kept} where they were")
    _print_failover_change(change)
    if change.metrics:
        out.print()
        table = plain_table("metric", "before", "after", "change", "", right=(1, 2, 3))
        for key, values in change.metrics.items():
            cells = (metric_value(key, value) for value in values)
            verdict = _verdict(key, *values) if comparable else ""
            table.add_row(metric_name(key), *cells, metric_change(key, *values), verdict)
        out.print(table)
    for line in change.healed:
        out.print(f"[green]no longer:[/] {escape(line)}", soft_wrap=True)
    for line in change.broken:
        out.print(f"[red]now:[/] {escape(line)}", soft_wrap=True)


def _print_failover_change(change: Change) -> None:
    """What goes elsewhere after a loss: instances that do the same share a row."""
    if not change.failover:
        return
    out.print()
    table = plain_table("after the loss of", "instances", "before", "after")
    rows: dict[tuple[str, str | None, str | None], list[str]] = {}
    for loss, moves in change.failover.items():
        for instance, (old, new) in moves.items():
            rows.setdefault((loss, old, new), []).append(instance)
    for (loss, old, new), instances in list(rows.items())[:MOST_ROWS]:
        names = operators_in_short(instances)
        table.add_row(escape(loss), escape(names), escape(old or "-"), f"[bold]{escape(new or '-')}[/]")
    out.print(table)
    if len(rows) > MOST_ROWS:
        out.print(f"[dim]and {len(rows) - MOST_ROWS} more; --json has them all[/]")


def _verdict(key: str, before: float | None, after: float | None) -> str:
    """Whether a change is for the better."""
    changed = metric_change(key, before, after) and key in METRIC_BY_KEY
    if before is None or after is None or not changed:
        return ""
    better = (after > before) == METRIC_BY_KEY[key].maximise
    return "[green]better[/]" if better else "[red]worse[/]"
