"""`berth front`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from berth.amounts import shortened
from berth.cli import completion
from berth.cli.exit_codes import INFEASIBLE, KEPT, NOT_FOUND
from berth.cli.options import (
    AsJson,
    Policy,
    PolicySettings,
    Previous,
    ProblemFile,
    Seed,
    budget_for,
    folder_for,
    option,
    settings_from,
    time_limit_from,
)
from berth.cli.output import folded, metric_value, out, plain_table, print_json, tell
from berth.cli.progress import solving
from berth.evaluation import METRIC_BY_NAME
from berth.files import load, load_plan
from berth.files.front_folder import FRONT, front_document, save_front
from berth.model import BadInput
from berth.model.front import Front
from berth.policies.front import DEFAULT_POINTS
from berth.policies.front import front as find_front
from berth.policies.solve import DEFAULT_TIME_LIMIT

FRONT_EXAMPLES = """Examples:

  berth front problem.yaml --objective response_time --objective cost_per_hour

  berth front problem.yaml --objective response_time --objective availability --points 20 --out front

  berth front problem.yaml --objective moved_instances --objective traffic --previous plan.json --json

Exit codes: 0 there are points, 2 bad input, 3 proved infeasible, 4 no plan found.
"""

MOST_WARNINGS, MOST_NUMBERS = 6, 8


def front(
    problem: ProblemFile,
    objective: list[str] = option(
        ...,
        "A metric; twice: the front goes from the best of the first to the best of the second.",
        "NAME",
        autocompletion=completion.metrics,
    ),
    points: int = option(DEFAULT_POINTS, "How many plans, at most.", "N"),
    policy: Policy = "auto",
    time_limit: float = option(
        DEFAULT_TIME_LIMIT, "Seconds after which the points so far are taken; inf: none.", "S"
    ),
    seed: Seed = 0,
    settings: PolicySettings = None,
    previous: Previous = None,
    folder: Path | None = option(
        None, "A folder for the plans, all of it as front.json, and pictures.", "DIR", "--out"
    ),
    as_json: AsJson = False,
) -> None:
    """Find the plans between the best for one metric and the best for another."""
    first, second = _two(objective)
    loaded = load(problem)
    if folder is not None:
        folder_for("--out", folder, FRONT)
    before = None if previous is None else load_plan(previous)
    budget = budget_for(time_limit_from(time_limit))
    parameters: dict[str, Any] = {**settings_from(settings)}
    with solving(budget) as progress:
        found = find_front(
            loaded,
            first,
            second,
            points,
            policy,
            seed=seed,
            previous=before,
            progress=progress,
            budget=budget,
            **parameters,
        )
    if folder is not None and found.points:
        save_front(found, folder, _pictures(found))
    if as_json:
        print_json(front_document(found))
    else:
        print_front(found)
    if folder is not None:
        tell(f"front written to {folder}" if found.points else f"no plan: nothing written to {folder}")
    raise typer.Exit(KEPT if found.points else INFEASIBLE if found.status == "infeasible" else NOT_FOUND)


def _pictures(front: Front) -> dict[str, bytes]:
    from berth.drawing.front_picture import draw_front  # matplotlib takes a second to load

    return {"front.svg": draw_front(front, "svg"), "front.png": draw_front(front, "png")}


def _two(names: list[str]) -> tuple[str, str]:
    if len(names) != 2:
        raise BadInput(f"--objective: a front lies between two metrics, {len(names)} given")
    for name in names:
        if "=" in name:
            raise BadInput(f"--objective {name}: a metric's name alone; on a front nothing is weighed")
    return names[0], names[1]


def print_front(front: Front) -> None:
    """A row for each point, the knee marked."""
    first, second = front.objectives
    names = first.replace("_", " "), second.replace("_", " ")
    out.print(f"[bold]{escape(front.problem)}[/] · {names[0]} and {names[1]} · {front.seconds:.2f} s")
    if not front.points:
        status = "infeasible" if front.status == "infeasible" else "no plan found"
        out.print(f"[bold red]{status}[/]: {escape(front.reason or '')}", soft_wrap=True)
        return
    out.print(escape(front.line), soft_wrap=True)
    if front.reason:
        out.print(f"ended early: {escape(front.reason)}", soft_wrap=True)
    out.print()
    warned = any(point.plan.warnings for point in front.points)
    columns = ["", *names, *["warnings"] * warned, "", ""]
    table = plain_table(*columns, right=(0, 1, 2, 3) if warned else (0, 1, 2))
    for number, point in enumerate(front.points, start=1):
        values = (
            metric_value(METRIC_BY_NAME[name].key, value)
            for name, value in zip(front.objectives, point.values, strict=True)
        )
        proof = "[green]proved[/]" if point.proved else "[yellow]found[/]"
        count = len(point.plan.warnings)
        told = [f"[yellow]{count}[/]" if count else "0"] * warned
        table.add_row(str(number), *values, *told, proof, "[bold]knee[/]" if point.knee else "")
    out.print(table)
    _print_warnings(front)


def _print_warnings(front: Front) -> None:
    """What plans of the front are warned of, with the numbers of their points."""
    found: dict[str, list[int]] = {}
    for number, point in enumerate(front.points, start=1):
        for line in folded(point.plan.warnings):
            found.setdefault(line, []).append(number)
    if not found:
        return
    out.print("\n[bold yellow]warnings[/]")
    for line, numbers in list(found.items())[:MOST_WARNINGS]:
        if len(numbers) == len(front.points):
            points = "every point"
        else:
            some = shortened([str(number) for number in numbers], MOST_NUMBERS)
            points = f"point{'' if len(numbers) == 1 else 's'} {some}"
        out.print(f"  [yellow]![/] {points}: {escape(line)}", soft_wrap=True)
    if len(found) > MOST_WARNINGS:
        out.print(f"  [dim]and {len(found) - MOST_WARNINGS} more; --json or --out has them all[/]")
