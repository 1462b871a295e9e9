"""`--sequential` of `solve` and `compare`: requests that come one after another."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer
from rich.markup import escape

from berth.cli.exit_codes import KEPT, exit_code
from berth.cli.output import metric_value, number, out, plain_table, print_violations
from berth.cli.plan_view import MOST_ROWS, print_metrics, print_objective, print_placement, print_plan
from berth.model import BadInput, Plan, Problem
from berth.policies import solve
from berth.policies.arrivals import ARRIVES
from berth.policies.sequence import solve_in_turn
from berth.policies.standing import Standing

Sequential = Annotated[
    bool,
    typer.Option(
        "--sequential", help="The applications arrive one after another: what is placed stays where it is."
    ),
]
Events = Annotated[
    str | None,
    typer.Option(
        help="With --sequential: who arrives, in this order; -NAME leaves. Default: all, as in the file.",
        metavar="NAME,-NAME,...",
    ),
]
_FIGURES = {"communication_cost": "cost", "containers_used": "containers"}

Way = tuple[Callable[..., Plan], Callable[[Problem, Plan], None], Callable[[Plan], int]]


def way_to_solve(sequential: bool, events: str | None, leave: list[str] | None) -> Way:
    """How to solve, to show the plan and to find the exit code: all at once, or one after another."""
    if sequential:
        given = None if events is None else [item.strip() for item in events.split(",")] if events else []
        turn: Callable[..., Plan] = partial(solve_in_turn, events=given, leave=tuple(leave or ()))
        return turn, print_sequence, sequence_exit_code
    options: dict[str, Any] = {"--events": events, "--leave": leave or None}
    mistakes = [f"{name}: only with --sequential" for name, value in options.items() if value is not None]
    if mistakes:
        raise BadInput(mistakes)
    return solve, print_plan, exit_code


def sequence_exit_code(plan: Plan) -> int:
    """As of any plan; but that all have left, as they were told, is no failure."""
    return KEPT if plan.status == "feasible" else exit_code(plan)


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
            *(f"{number(round(100 * row['in_use'][name], 1))} %" for name in resources),
        )
    out.print(table)
    if len(rows) > MOST_ROWS:
        out.print(f"[dim]{len(rows) - MOST_ROWS} more; --json or --out has them all[/]")


def _outcome(row: dict[str, Any]) -> str:
    if row["event"] == ARRIVES:
        return "placed" if row["accepted"] else "[red]refused[/]"
    return "left" if row["accepted"] else "[red]not gone[/]"
