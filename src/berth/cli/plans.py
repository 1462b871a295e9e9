"""`berth evaluate`, `berth diff` and `berth show`: commands about plans that are there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from berth.cli.exit_codes import BROKEN, KEPT
from berth.cli.options import (
    AsJson,
    PlanFiles,
    Previous,
    ProblemFile,
    argument,
    option,
    picture_format,
)
from berth.cli.output import out, print_json, print_violations, print_warnings, tell
from berth.cli.plan_files import read_plan
from berth.cli.plan_view import print_bottleneck, print_change, print_metrics
from berth.connectors import load_any
from berth.evaluation import Setting, Situation
from berth.evaluation.evaluate import change_between, judge_document, with_verdict
from berth.evaluation.limits import bottleneck_document
from berth.files import check_writable, load, write_bytes
from berth.model import Plan, Problem

EVALUATE_EXAMPLES = """Examples:

  berth evaluate problem.yaml plan.json

  berth evaluate problem.yaml plan.json --json

  berth evaluate problem.yaml words.heron.json words.nomad.json

The plan may be anybody's: only its 'assignment' is needed (and 'downloads', where nodes read objects
that they don't hold). Exit codes: 0 it breaks no constraint, 2 bad input, 5 it breaks constraints.
"""

DIFF_EXAMPLES = """Examples:

  berth diff yesterday.json today.json

  berth diff yesterday.json today.json --problem problem.yaml

  berth diff today.json deploy --problem problem.yaml
"""

SHOW_EXAMPLES = """Examples:

  berth show problem.yaml

  berth show problem.yaml plan.json

  berth show problem.yaml plan.json --out plan.svg
"""

Before = Annotated[Path, argument("The plan before.", "PLAN")]
After = Annotated[Path, argument("The plan after.", "PLAN")]


def evaluate(
    problem: ProblemFile, plan: PlanFiles, previous: Previous = None, as_json: AsJson = False
) -> None:
    """Compute every metric of a plan and list every constraint that it breaks."""
    loaded = load(problem)
    read = read_plan(loaded, plan)
    judged = read.plan
    before = None if previous is None else load_any(loaded, [previous]).plan
    result = read.verdict(loaded, before)
    situation = Situation(Setting(loaded, before), judged)
    if as_json:
        lines = {"violations": list(result.violations), "warnings": list(result.warnings)}
        print_json({"metrics": result.metrics, **lines, **bottleneck_document(situation)})
    else:
        print_metrics(replace(judged, metrics=result.metrics))
        print_violations(result.violations)
        print_warnings(result.warnings)
        print_bottleneck(situation)
        if not result.violations:
            out.print("\n[green]breaks no constraint[/]")
    raise typer.Exit(BROKEN if result.violations else KEPT)


def diff(
    before: Before,
    after: After,
    problem: Path | None = option(
        None, "Judge both plans by this problem; needed for files of other systems.", "PROBLEM"
    ),
    as_json: AsJson = False,
) -> None:
    """Show what moved between two plans, and every metric before and after."""
    judge = None if problem is None else load(problem)
    plans = [_recorded(file) if judge is None else _judged(judge, file) for file in (before, after)]
    change = change_between(*plans)
    if as_json:
        print_json({"judged_by": None if judge is None else judge_document(judge), **change.document()})
    else:
        out.print(f"{escape(_terms(judge, *plans))}\n", soft_wrap=True)
        print_change(change, comparable=judge is not None or not _of_two_problems(*plans))


def _judged(problem: Problem, file: Path) -> Plan:
    read = read_plan(problem, [file])
    return with_verdict(problem, read.plan, read.verdict(problem))


def _recorded(file: Path) -> Plan:
    return load_any(None, [file]).plan


def _of_two_problems(before: Plan, after: Plan) -> bool:
    """Whether the files say that the plans were made for different problems, or versions of one."""
    marks = before.problem_fingerprint, after.problem_fingerprint
    return "" not in marks and marks[0] != marks[1]


def _terms(judge: Problem | None, before: Plan, after: Plan) -> str:
    """What the figures of two plans are worth beside each other."""
    if judge is not None:
        return f"both judged by {judge.name} ({judge.fingerprint})"
    recorded = "figures as the files have them"
    advice = "--problem PROBLEM judges both alike"
    marks = before.problem_fingerprint, after.problem_fingerprint
    if "" in marks:
        return f"{recorded}, and not both say for which version of a problem; {advice}"
    if marks[0] == marks[1]:
        return f"{recorded}, both for {after.problem} ({marks[0]})"
    names = before.problem, after.problem
    of = f"two versions of {names[0]}" if names[0] == names[1] else f"two problems, {' and '.join(names)}"
    return f"{recorded}, for {of} ({' and '.join(marks)}): they can't be compared; {advice}"


def show(
    problem: ProblemFile,
    plan: Annotated[
        Path | None, argument("Plan file or folder; without it, only the problem.", "PLAN")
    ] = None,
    out_file: Path | None = option(None, "Draw a picture instead: FILE.png or FILE.svg.", "FILE", "--out"),
) -> None:
    """Draw an application and where it runs: in the terminal, or as PNG or SVG."""
    loaded = load(problem)
    placed = None if plan is None else read_plan(loaded, [plan]).plan
    if out_file is None:
        from berth.drawing.terminal import render

        out.print(render(loaded, placed))
        return
    file_format = picture_format("--out", out_file)
    check_writable(out_file)
    # matplotlib takes its time to load: only who wants a picture pays for it.
    from berth.drawing.picture import draw

    write_bytes(out_file, draw(loaded, placed, file_format))
    tell(f"picture written to {out_file}")
