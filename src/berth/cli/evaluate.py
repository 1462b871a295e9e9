"""`berth evaluate`."""

from __future__ import annotations

from dataclasses import replace

import typer

from berth.cli.arguments import AsJson, PlanFiles, Previous, ProblemFile
from berth.cli.bottleneck_view import print_bottleneck
from berth.cli.exit_codes import BROKEN, KEPT
from berth.cli.output import out, print_json, print_violations
from berth.cli.plan_view import print_metrics
from berth.connectors import evaluate_packing, load_any
from berth.evaluation import Setting, Situation
from berth.evaluation import evaluate as evaluate_plan
from berth.evaluation.limits import bottleneck_document
from berth.files import load

EPILOG = """Examples:

  berth evaluate problem.yaml plan.json

  berth evaluate problem.yaml plan.json --json

  berth evaluate problem.yaml words.heron.json words.nomad.json

The plan may be anybody's: only its 'assignment' is needed (and 'downloads', where nodes read objects
that they don't hold). Exit codes: 0 it breaks no constraint, 2 bad input, 5 it breaks constraints.
"""


def evaluate(
    problem: ProblemFile, plan: PlanFiles, previous: Previous = None, as_json: AsJson = False
) -> None:
    """Compute every metric of a plan and list every constraint that it breaks."""
    loaded = load(problem)
    read = load_any(loaded, plan)
    judged = read.plan
    before = None if previous is None else load_any(loaded, [previous]).plan
    result = evaluate_plan(loaded, judged, before) if read.has_servers else evaluate_packing(loaded, judged)
    situation = Situation(Setting(loaded, before), judged)
    if as_json:
        document = {"metrics": result.metrics, "violations": list(result.violations)}
        print_json({**document, **bottleneck_document(situation)})
    else:
        print_metrics(replace(judged, metrics=result.metrics))
        print_violations(result.violations)
        print_bottleneck(situation)
        if not result.violations:
            out.print("\n[green]breaks no constraint[/]")
    raise typer.Exit(BROKEN if result.violations else KEPT)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(evaluate)
