"""`berth diff`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from berth.cli.arguments import AsJson
from berth.cli.output import metric_name, metric_value, number, out, plain_table, print_json
from berth.connectors import load_any
from berth.evaluation import evaluate
from berth.evaluation.change import Change, change_between
from berth.files import load
from berth.model import Plan, Problem

EPILOG = """Examples:

  berth diff yesterday.json today.json

  berth diff today.json deploy --problem problem.yaml
"""

Before = Annotated[Path, typer.Argument(help="The plan before.", metavar="PLAN")]
After = Annotated[Path, typer.Argument(help="The plan after.", metavar="PLAN")]


ItsProblem = Annotated[
    Path | None,
    typer.Option(
        help="What the plans are for: needed for files of other systems; judges plans without metrics.",
        metavar="PROBLEM",
    ),
]


def diff(before: Before, after: After, problem: ItsProblem = None, as_json: AsJson = False) -> None:
    """Show what moved between two plans, and every metric before and after."""
    known = None if problem is None else load(problem)
    change = change_between(_plan(known, before), _plan(known, after))
    if as_json:
        print_json(change.document())
    else:
        print_change(change)


def _plan(problem: Problem | None, file: Path) -> Plan:
    """A plan; one without metrics is judged, if there is a problem to judge it by."""
    plan = load_any(problem, [file]).plan
    if problem is None or plan.metrics:
        return plan
    result = evaluate(problem, plan)
    return replace(plan, metrics=result.metrics, violations=result.violations)


def print_change(change: Change) -> None:
    """Moves first, then metrics."""
    if not (change.moved or change.added or change.removed):
        out.print("nothing moved")
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
    if change.metrics:
        out.print()
        table = plain_table("metric", "before", "after", "change", right=(1, 2, 3))
        for key, (first, last) in change.metrics.items():
            cells = metric_value(key, first), metric_value(key, last)
            table.add_row(metric_name(key), *cells, _step(first, last))
        out.print(table)
    for line in change.healed:
        out.print(f"[green]no longer:[/] {escape(line)}", soft_wrap=True)
    for line in change.broken:
        out.print(f"[red]now:[/] {escape(line)}", soft_wrap=True)


def _step(before: float | None, after: float | None) -> str:
    if before is None or after is None or before == after:
        return ""
    return f"{'+' if after > before else '-'}{number(abs(after - before))}"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(diff)
