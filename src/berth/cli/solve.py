"""`berth solve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

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
from berth.cli.exit_codes import KEPT
from berth.cli.output import err, print_json
from berth.cli.progress import showing
from berth.cli.sequential import Events, Sequential, way_to_solve
from berth.files import check_writable, load, load_plan, plan_document, save_plan
from berth.policies.solve import DEFAULT_TIME_LIMIT

EPILOG = """Examples:

  berth solve examples/tag-and-count.yaml

  berth solve problem.yaml --objective availability --out plan.json

  berth solve problem.yaml --previous plan.json --objective response_time=1 --objective moved_state=0.2

  berth solve problem.yaml --time-limit 10 --set gap=0.01 --json

  berth solve cluster.yaml --sequential --policy mips --events first,second,-first,third --out plan.json

Exit codes: 0 a plan that breaks no constraint, 2 bad input, 3 proved infeasible, 4 no plan found,
5 a plan that breaks constraints, or has no place for a request.
"""


def solve(
    problem: ProblemFile,
    policy: Annotated[
        str, typer.Option(help="The policy; 'berth policies' lists them.", metavar="NAME")
    ] = "auto",
    time_limit: TimeLimit = DEFAULT_TIME_LIMIT,
    seed: Seed = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the policy. Can be repeated.", metavar="KEY=VALUE"),
    ] = None,
    objective: Objectives = None,
    previous: Previous = None,
    sequential: Sequential = False,
    events: Events = None,
    leave: Annotated[
        list[str] | None,
        typer.Option(
            help="With --sequential and --previous: this application leaves first. Can be repeated.",
            metavar="NAME",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the plan file here.", metavar="FILE")] = None,
    as_json: AsJson = False,
) -> None:
    """Find a plan: on which node every operator runs, with a proof of how good it is."""
    loaded = with_objective(load(problem), objective)
    if out is not None:
        check_writable(out)
    before = None if previous is None else load_plan(previous)
    budget = Budget(time_limit_from(time_limit))
    solve_it, view, code = way_to_solve(sequential, events, leave)
    parameters: dict[str, Any] = dict(settings_from(settings))
    with showing(budget) as progress:
        plan = solve_it(
            loaded,
            policy,
            seed=seed,
            previous=before,
            budget=budget,
            progress=progress,
            **parameters,
        )
    written = plan.found or code(plan) == KEPT
    if out is not None and written:
        save_plan(plan, out)
    if as_json:
        print_json(plan_document(plan))
    else:
        view(loaded, plan)
    if out is not None:
        err.print(f"plan written to {out}" if written else f"no plan: nothing written to {out}", markup=False)
    raise typer.Exit(code(plan))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(solve)
