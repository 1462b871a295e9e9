"""`berth evaluate`."""

from __future__ import annotations

from dataclasses import replace

import typer

from berth.cli.arguments import AsJson, PlanFile, Previous, ProblemFile
from berth.cli.exit_codes import BROKEN, KEPT
from berth.cli.output import out, print_json, print_violations
from berth.cli.plan_view import print_metrics
from berth.evaluation import evaluate as evaluate_plan
from berth.files import load, load_plan

EPILOG = """Examples:

  berth evaluate problem.yaml plan.json

  berth evaluate problem.yaml plan.json --json

The plan may be anybody's: only its 'assignment' is needed (and 'downloads', where nodes read objects
that they don't hold). Exit codes: 0 it breaks no constraint, 2 bad input, 5 it breaks constraints.
"""


def evaluate(
    problem: ProblemFile, plan: PlanFile, previous: Previous = None, as_json: AsJson = False
) -> None:
    """Compute every metric of a plan and list every constraint that it breaks."""
    loaded, judged = load(problem), load_plan(plan)
    result = evaluate_plan(loaded, judged, None if previous is None else load_plan(previous))
    if as_json:
        print_json({"metrics": result.metrics, "violations": list(result.violations)})
    else:
        print_metrics(replace(judged, metrics=result.metrics))
        print_violations(result.violations)
        if not result.violations:
            out.print("\n[green]breaks no constraint[/]")
    raise typer.Exit(BROKEN if result.violations else KEPT)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(evaluate)
