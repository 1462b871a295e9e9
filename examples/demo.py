"""Tag-and-Count on eight nodes: solve it three ways, compare, check, draw; measure it and run it on Spark.

`make demo` runs this. `--no-spark` leaves out what needs Java: demo_telemetry.py and demo_run.py.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

from rich.markup import escape

import berth
from berth.cli.compare import print_comparison, row_of
from berth.cli.output import out, plain_table
from berth.cli.plan_view import print_objective
from berth.drawing.picture import draw
from berth.drawing.terminal import render

PROBLEM = Path(__file__).resolve().parent / "tag-and-count.yaml"
FOLDER = Path("demo-output")
FASTEST, STEADIEST, DEALT = "fastest", "most-available", "round-robin"


def main() -> None:
    """Run the demo; its files go into a folder of the current directory."""
    parser = argparse.ArgumentParser(description="Solve, compare, check, draw and measure an example.")
    parser.add_argument("--no-spark", action="store_true", help="leave out what needs Java")
    chosen = parser.parse_args()
    problem = berth.load(PROBLEM)
    out.print(f"Problem: {_sizes(problem)} ({escape(PROBLEM.name)})", soft_wrap=True)
    plans = solve(problem)
    print_placements(problem, plans)
    _heading("Side by side; * marks the best")
    print_comparison(problem, [row_of(problem, name, plan) for name, plan in plans.items()])
    check(problem, plans)
    _heading("The fastest plan")
    out.print(render(problem, plans[FASTEST]))
    write(problem, plans)
    if not chosen.no_spark:
        # everything runs for moments only: a compiler that is quick itself is quicker than good code
        os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
        measure(plans[FASTEST])
        run()
    print_next_steps()


def solve(problem: berth.Problem) -> dict[str, berth.Plan]:
    """Three plans: the best response time, the best availability, and Storm's default."""
    available = replace(problem, objective={"availability": 1.0})
    plans = {
        FASTEST: berth.solve(problem, "odp"),
        STEADIEST: berth.solve(available, "odp"),
        DEALT: berth.solve(problem, "round-robin"),
    }
    for name, plan in plans.items():
        _heading(f"{name}: policy {plan.policy}, {plan.status} in {plan.seconds:.2f} s")
        print_objective(plan)
    return plans


def print_placements(problem: berth.Problem, plans: dict[str, berth.Plan]) -> None:
    """A row for each operator, a column for each plan."""
    _heading("Where the operators run")
    table = plain_table("operator", *plans)
    for item in problem.instances.operators:
        names = [problem.instances.names[number] for number in item.instances]
        table.add_row(escape(item.operator.name), *(escape(_nodes(plan, names)) for plan in plans.values()))
    out.print(table)


def check(problem: berth.Problem, plans: dict[str, berth.Plan]) -> None:
    """Judge every plan again, as `berth evaluate` would; end the demo where one breaks a constraint."""
    _heading("Evaluated again, by themselves")
    for name, plan in plans.items():
        evaluation = berth.evaluate(problem, plan)
        if evaluation.violations or evaluation.metrics != plan.metrics:
            sys.exit(f"{name}: {'; '.join(evaluation.violations) or 'other metrics than the plan says'}")
        out.print(f"{name}: the same {len(evaluation.metrics)} metrics, nothing is broken")


def write(problem: berth.Problem, plans: dict[str, berth.Plan]) -> None:
    """Put a plan file and two pictures of each plan into the folder."""
    FOLDER.mkdir(exist_ok=True)
    for name, plan in plans.items():
        berth.save_plan(plan, FOLDER / f"{name}.json")
        (FOLDER / f"{name}.png").write_bytes(draw(problem, plan, "png"))
        (FOLDER / f"{name}.svg").write_bytes(draw(problem, plan, "svg"))
    _heading(f"Written to {FOLDER}/")
    for name in plans:
        out.print(f"{name}.json  {name}.png  {name}.svg")


def measure(fastest: berth.Plan) -> None:
    """Sample telemetry, take it in and solve what it says; end the demo where Spark can't start."""
    # imported here: the first half doesn't wait for Spark
    from demo_telemetry import run

    try:
        run(PROBLEM, fastest, FOLDER)
    except berth.BadInput as error:
        sys.exit("\n".join([*error.mistakes, "without Spark: demo.py --no-spark"]))


def run() -> None:
    """Run one application by its plan, and watch another one."""
    from demo_run import run_tag_and_count, watch_edge_pipeline

    run_tag_and_count(FOLDER / f"{FASTEST}.json", FOLDER)
    watch_edge_pipeline(FOLDER)


def print_next_steps() -> None:
    """What to type next."""
    command, problem = (_shown(path) for path in (Path(sys.executable).with_name("berth"), PROBLEM))
    _heading("Now type")
    for line in (
        f"solve {problem} --objective response_time=1 --objective availability=1",
        f"diff {FOLDER}/{FASTEST}.json {FOLDER}/{STEADIEST}.json",
        f"show {problem} {FOLDER}/{STEADIEST}.json",
    ):
        out.print(f"{command} {line}", markup=False, soft_wrap=True)


def _heading(text: str) -> None:
    out.print(f"\n[bold]{escape(text)}[/]")


def _sizes(problem: berth.Problem) -> str:
    graph = problem.instances
    return f"{len(graph.operators)} operators, {len(graph)} instances, {len(problem.network.nodes)} nodes"


def _nodes(plan: berth.Plan, instances: list[str]) -> str:
    """The nodes of some instances: `rome, frankfurt x2`."""
    counts = Counter(plan.assignment[name] for name in instances)
    return ", ".join(node if count == 1 else f"{node} x{count}" for node, count in counts.items())


def _shown(path: Path) -> str:
    """A path as one would type it: from the current directory, where it lies below that."""
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


if __name__ == "__main__":
    main()
