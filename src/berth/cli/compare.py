"""`berth compare`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from berth.budget import Budget
from berth.cli.arguments import (
    AsJson,
    Objectives,
    Previous,
    ProblemFile,
    Seed,
    TimeLimit,
    settings_from,
    time_limit_from,
    with_objective,
)
from berth.cli.exit_codes import BROKEN, INFEASIBLE, KEPT, NOT_FOUND
from berth.cli.output import metric_name, metric_value, number, out, plain_table, print_json
from berth.cli.progress import showing
from berth.cli.sequential import Events, Sequential, accepted, way_to_solve
from berth.evaluation import METRICS
from berth.files import load, load_plan, plan_document
from berth.model import Plan
from berth.policies import policy_names
from berth.policies.solve import DEFAULT_TIME_LIMIT
from berth.policies.variants import variants_for

EPILOG = """Examples:

  berth compare problem.yaml --policy odp --policy round-robin

  berth compare problem.yaml --json

  berth compare cluster.yaml --sequential --policy mips --policy ffd --set alpha=1

Each policy has the whole time limit. Exit codes: 0 if any plan breaks no constraint, else the best of
the policies' own.
"""


def compare(
    problem: ProblemFile,
    policy: Annotated[
        list[str] | None,
        typer.Option(help="A policy to compare; can be repeated. None: all of them.", metavar="NAME"),
    ] = None,
    time_limit: TimeLimit = DEFAULT_TIME_LIMIT,
    seed: Seed = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A parameter, for the policies that have it. Can be repeated.", metavar="KEY=VALUE"
        ),
    ] = None,
    objective: Objectives = None,
    previous: Previous = None,
    sequential: Sequential = False,
    events: Events = None,
    as_json: AsJson = False,
) -> None:
    """Solve a problem by several policies and put their plans side by side."""
    loaded = with_objective(load(problem), objective)
    before = None if previous is None else load_plan(previous)
    choices = {key: [value] for key, value in settings_from(settings).items()}
    variants = variants_for(policy or policy_names(), choices, [seed])
    plans = []
    solve_it, _, code_of = way_to_solve(sequential, events, None)
    for variant in variants:
        budget = Budget(time_limit_from(time_limit))
        with showing(budget) as progress:
            plans.append(
                solve_it(
                    loaded,
                    variant.policy,
                    seed=seed,
                    previous=before,
                    budget=budget,
                    progress=progress,
                    **variant.parameters,
                )
            )
    if as_json:
        print_json([plan_document(plan) for plan in plans])
    else:
        print_comparison([variant.policy for variant in variants], plans)
    codes = [code_of(plan) for plan in plans]
    raise typer.Exit(next(code for code in (KEPT, BROKEN, INFEASIBLE, NOT_FOUND) if code in codes))


def print_comparison(names: list[str], plans: list[Plan]) -> None:
    """A column for each plan, a row for each metric, the best of a row marked."""
    table = plain_table("", *names, right=tuple(range(1, len(names) + 1)))
    table.add_row("status", *[plan.status for plan in plans])
    table.add_row("objective", *["-" if plan.objective is None else number(plan.objective) for plan in plans])
    table.add_row("seconds", *[f"{plan.seconds:.2f}" for plan in plans])
    table.add_row(
        "breaks", *[str(len(plan.violations)) if plan.found else "-" for plan in plans], end_section=True
    )
    if any("acceptance_ratio" in plan.trace for plan in plans):
        table.add_row("accepted", *map(accepted, plans), end_section=True)
    for metric in METRICS:
        values = [plan.metrics.get(metric.key) for plan in plans]
        known = [value for value in values if value is not None]
        if not known:
            continue
        best = max(known) if metric.maximise else min(known)
        cells = [
            f"[bold green]{metric_value(metric.key, value)} *[/]"
            if value is not None and abs(value - best) <= 1e-9 * abs(best) and len(set(known)) > 1
            else f"{metric_value(metric.key, value)}  "
            for value in values
        ]
        table.add_row(metric_name(metric.key), *cells)
    out.print(table)
    for name, plan in zip(names, plans, strict=True):
        for line in plan.violations or ([plan.reason] if plan.reason and not plan.found else []):
            out.print(f"[red]{escape(name)}[/]: {escape(str(line))}", soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(compare)
