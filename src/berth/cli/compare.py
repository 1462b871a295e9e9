"""`berth compare`: plans of policies and from files side by side, all judged by the problem that is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from berth.amounts import quantity
from berth.budget import Budget
from berth.cli import completion
from berth.cli.exit_codes import BROKEN, INFEASIBLE, KEPT, NOT_FOUND, exit_code
from berth.cli.options import (
    AsJson,
    Objectives,
    PoliciesSettings,
    Previous,
    ProblemFile,
    Seed,
    TimeLimit,
    option,
    settings_from,
    time_limit_from,
    with_objective,
)
from berth.cli.output import folded, metric_name, metric_value, out, plain_table, print_json
from berth.cli.plan_files import read_plan
from berth.cli.plan_view import accepted
from berth.cli.progress import solving
from berth.cli.solve import Events, Sequential, solved, solver_for
from berth.connectors import Loaded
from berth.evaluation import METRIC_BY_NAME, METRICS, Setting
from berth.evaluation.evaluate import judge_document, with_verdict
from berth.evaluation.goal import Goal, common_goal
from berth.evaluation.metrics import words_of
from berth.files import load, load_plan, plan_document
from berth.model import BadInput, Plan, Problem
from berth.policies import policy_names
from berth.policies.solve import DEFAULT_TIME_LIMIT, check_objective, on_one_scale
from berth.policies.variants import variants_for

COMPARE_EXAMPLES = """Examples:

  berth compare problem.yaml --policy odp --policy round-robin

  berth compare problem.yaml --plan today.json --plan by-hand.json --policy odp

  berth compare problem.yaml --json

  berth compare cluster.yaml --sequential --policy mips --policy ffd --set alpha=1

Each policy has the whole time limit. One that can't take the problem is listed with the reason. Exit codes:
0 if any plan breaks no constraint, else the best of the plans' own.
"""
MOST_LINES = 3
"""What a plan breaks or is warned of is told in at most so many lines: a comparison is no list of them."""
NARROWEST = 60
"""What the table of metrics takes at least, in characters."""


@dataclass(frozen=True)
class Row:
    """A plan in the comparison."""

    name: str
    plan: Plan
    value: float | None = None
    """Of the problem's objective, whatever the plan's own goal is."""
    file: str | None = None
    applies: bool = True
    """Whether the policy could take the problem, or the file's plan be judged by it."""

    @property
    def keeps_all(self) -> bool:
        """Whether there is a plan that breaks nothing."""
        return self.plan.found and not self.plan.violations


def compare(
    problem: ProblemFile,
    policy: list[str] | None = option(
        None,
        "A policy to compare; can be repeated. None, and no --plan: all of them.",
        "NAME",
        autocompletion=completion.policies,
    ),
    plan: list[Path] | None = option(None, "A plan file to compare; can be repeated.", "PLAN"),
    time_limit: TimeLimit = DEFAULT_TIME_LIMIT,
    seed: Seed = 0,
    settings: PoliciesSettings = None,
    objective: Objectives = None,
    previous: Previous = None,
    sequential: Sequential = False,
    events: Events = None,
    as_json: AsJson = False,
) -> None:
    """Put plans side by side, all judged by one problem: those of policies, and plan files."""
    loaded = with_objective(load(problem), objective)
    if plan and sequential:
        raise BadInput(
            "--plan: not with --sequential, where the plans are of the requests that were accepted"
        )
    before = None if previous is None else load_plan(previous)
    check_objective(Setting(loaded, before))
    files = {str(file): read_plan(loaded, [file], fits=False) for file in plan or ()}
    choices = {key: [value] for key, value in settings_from(settings).items()}
    variants = variants_for(policy or ([] if files else policy_names()), choices, [seed])
    limit = time_limit_from(time_limit)
    make = solver_for(sequential, events, None)
    if not sequential:
        budget = Budget(limit)
        with solving(budget):
            loaded = on_one_scale(Setting(loaded, before), budget, seed)
    solver = partial(make, loaded, seed=seed, previous=before)
    rows = [
        _solved(loaded, partial(solver, each.policy), limit, each.policy, each.parameters)
        for each in variants
    ]
    rows += [_read(loaded, name, file, before) for name, file in files.items()]
    if as_json:
        print_json([_document(loaded, row) for row in rows])
    else:
        print_comparison(loaded, rows)
    codes = [exit_code(row.plan) for row in rows]
    raise typer.Exit(next(code for code in (KEPT, BROKEN, INFEASIBLE, NOT_FOUND) if code in codes))


def _solved(
    problem: Problem,
    solver: Callable[..., Plan],
    limit: float | None,
    policy: str,
    parameters: Mapping[str, Any],
) -> Row:
    """The plan of a policy, or why it has none."""
    try:
        plan = solved(solver, Budget(limit), parameters)
    except BadInput as error:
        return _without_plan(problem, policy, error, Plan(policy=policy))
    return row_of(problem, policy, plan)


def row_of(problem: Problem, name: str, plan: Plan) -> Row:
    """A plan that was judged by the problem."""
    return Row(name, plan, _value(problem, plan))


def _read(problem: Problem, name: str, read: Loaded, previous: Plan | None) -> Row:
    """The plan of a file, or why it can't be judged."""
    try:
        plan = with_verdict(problem, read.plan, read.verdict(problem, previous))
    except BadInput as error:
        return _without_plan(problem, name, error, read.plan, name)
    return Row(name, plan, _value(problem, plan), name)


def _without_plan(problem: Problem, name: str, error: BadInput, plan: Plan, file: str | None = None) -> Row:
    """What is left of a plan that there can't be under this problem."""
    left = Plan(
        problem=plan.problem or problem.name,
        problem_fingerprint=plan.problem_fingerprint or problem.fingerprint,
        policy=plan.policy,
        seed=plan.seed,
        goal=plan.goal or problem.objective,
        status="unknown",
        reason="; ".join(error.mistakes),
    )
    return Row(name, left, file=file, applies=False)


def _value(problem: Problem, plan: Plan) -> float | None:
    """What a plan is worth by the problem's objective; None where that is not known."""
    goal = common_goal(problem)
    return None if goal is None else goal.value(plan.metrics)


def _document(problem: Problem, row: Row) -> dict[str, Any]:
    """A plan file, and what it is worth here."""
    more = {
        "file": row.file,
        "applies": row.applies,
        "problem_objective": row.value,
        "judged_by": judge_document(problem),
    }
    return plan_document(row.plan) | more


def print_comparison(problem: Problem, rows: Sequence[Row]) -> None:
    """A row for each plan, then one for each metric; the best of the plans that break nothing has a star."""
    goal = _goal_text(problem.objectives)
    judge = f"{problem.name} ({problem.fingerprint})"
    out.print(f"all judged by {escape(judge)} · objective: {escape(goal)}\n", soft_wrap=True)
    _print_plans(problem, rows)
    for row in rows:
        lines = list(row.plan.violations)
        if not row.plan.found and row.plan.reason:
            lines = lines or [row.plan.reason]
        _print_lines(row.name, lines, "red")
    for warnings, names in _warnings(rows).items():
        _print_lines(", ".join(names), warnings, "yellow")
    judged = [row for row in rows if row.plan.metrics]
    for block in _blocks(judged):
        out.print()
        _print_metrics(block, judged)


def _print_lines(name: str, lines: Sequence[str], colour: str) -> None:
    """The first of what is said of a plan, and how much more there is."""
    told = folded(lines)
    more = len(told) - MOST_LINES
    for line in [*told[:MOST_LINES], *([f"and {more} more; --json has them all"] if more > 0 else [])]:
        out.print(f"[{colour}]{escape(name)}[/]: {escape(line)}", soft_wrap=True)


def _warnings(rows: Sequence[Row]) -> dict[tuple[str, ...], list[str]]:
    """What plans are warned of, with their names: those of the problem are the same for all of them."""
    found: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        if row.plan.found and row.plan.warnings:
            found.setdefault(tuple(row.plan.warnings), []).append(row.name)
    return found


def _print_plans(problem: Problem, rows: Sequence[Row]) -> None:
    in_turn = any("acceptance_ratio" in row.plan.trace for row in rows)
    warned = any(row.plan.found and row.plan.warnings for row in rows)
    more = [*["warnings"] * warned, *["accepted"] * in_turn]
    table = plain_table(
        "plan", "goal", "status", "objective", "time", "breaks", *more, right=tuple(range(3, 6 + len(more)))
    )
    best = _best([row.value for row in rows if row.keeps_all], Goal(problem.objective).maximise)
    key = _key(problem.objective)
    for row in rows:
        plan = row.plan
        other = " [yellow](another version)[/]" if plan.is_of_another_version(problem.fingerprint) else ""
        value = "-" if row.value is None else metric_value(key, row.value) if key else quantity(row.value)
        table.add_row(
            escape(row.name) + other,
            escape(_goal_text(plan.goals)) if row.applies else "-",
            plan.status if row.applies else "[red]does not apply[/]",
            _starred(value, row.keeps_all and _is(row.value, best)),
            "-" if row.file or not row.applies else f"{plan.seconds:.2f} s",
            str(len(plan.violations)) if plan.found else "-",
            *[_count(plan)] * warned,
            *[accepted(plan)] * in_turn,
        )
    out.print(table)


def _count(plan: Plan) -> str:
    """How many warnings there are."""
    if not plan.found:
        return "-"
    return f"[yellow]{len(plan.warnings)}[/]" if plan.warnings else "0"


def _blocks(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """So many plans side by side as the terminal has room for."""
    room = max(out.width, NARROWEST)
    block: list[Row] = []
    used = max((len(words_of(metric)) for metric in METRICS), default=0)
    left = room - used
    for row in rows:
        cells = [len(metric_value(key, value)) for key, value in row.plan.metrics.items()]
        width = max(len(row.name), *(size + 2 for size in cells)) + 2
        if block and width > left:
            yield block
            block, left = [], room - used
        block.append(row)
        left -= width
    if block:
        yield block


def _print_metrics(block: Sequence[Row], rows: Sequence[Row]) -> None:
    table = plain_table("", *(row.name for row in block), right=tuple(range(1, len(block) + 1)))
    for metric in METRICS:
        known = [
            row.plan.metrics[metric.key] for row in rows if row.keeps_all and metric.key in row.plan.metrics
        ]
        best = _best(known, metric.maximise) if len(set(known)) > 1 else None
        values = [row.plan.metrics.get(metric.key) for row in block]
        cells = [
            _starred(metric_value(metric.key, value), row.keeps_all and _is(value, best))
            for row, value in zip(block, values, strict=True)
        ]
        if any(metric.key in row.plan.metrics for row in rows):
            table.add_row(metric_name(metric.key), *cells)
    out.print(table)


def _best(values: Sequence[float | None], maximise: bool) -> float | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return max(known) if maximise else min(known)


def _is(value: float | None, best: float | None) -> bool:
    return value is not None and best is not None and abs(value - best) <= 1e-9 * abs(best)


def _starred(text: str, best: bool) -> str:
    return f"[bold green]{text} *[/]" if best else f"{text}  "


def _goal_text(goals: Sequence[Mapping[str, float]]) -> str:
    """Goals in words: each a metric, or a sum of them with their weights."""
    return ", then ".join(map(_level_text, goals)) or "-"


def _level_text(goal: Mapping[str, float]) -> str:
    words = {name.replace("_", " "): quantity(weight) for name, weight in goal.items()}
    return " + ".join(words if len(words) == 1 else (f"{weight} {name}" for name, weight in words.items()))


def _key(goal: Mapping[str, float]) -> str | None:
    """The metric that a goal is; None where it is a sum."""
    name = next(iter(goal)) if len(goal) == 1 else None
    return METRIC_BY_NAME[name].key if name in METRIC_BY_NAME else None
