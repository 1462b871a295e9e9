"""`berth solve-many`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from berth.amounts import duration, in_unit, milliseconds
from berth.cli import completion
from berth.cli.options import (
    AsJson,
    Configuration,
    Master,
    Objectives,
    PoliciesSettings,
    TimeLimit,
    argument,
    flag,
    objective_from,
    option,
    session_for,
    settings_from,
    time_limit_from,
)
from berth.cli.output import out, plain_table, print_json, tell
from berth.cli.progress import SolvedCount, showing, waiting, watching
from berth.model import BadInput
from berth.policies.solve import DEFAULT_TIME_LIMIT

if TYPE_CHECKING:
    from berth.pipeline.many import Job, Variant

SOLVE_MANY_EXAMPLES = """Examples:

  berth solve-many problems/ --policy odp --policy round-robin --seeds 0:10 --out results

  berth solve-many 'problems/*.yaml' --objective availability --time-limit 10 --out results

  berth solve-many problems.parquet --policy odp --sweep gap=0,0.01,0.05 --master 'local[8]' --out results

  berth solve-many graphs.json --together --policy mopa --in-turn --out shared

The same command again solves only what is missing. Exit codes: 0 all is solved (how many rows are errors is
said on standard error), 1 Spark failed, 2 bad input, 130 interrupted; what was finished is kept.
"""


def solve_many(
    problems: Annotated[
        list[str],
        argument(
            "Problem files, folders, globs, or tables (Parquet, JSON lines) with a column problem.",
            "PROBLEMS...",
        ),
    ],
    folder: Path = option(..., "The folder whose table plans gets the results.", "DIR", "--out"),
    policy: list[str] | None = option(
        None,
        "A policy; can be repeated. 'berth policies' lists them.",
        "NAME",
        autocompletion=completion.policies,
    ),
    seeds: str = option("0", "Seeds: 3, 0,5,7 or 0:10 (that is 0 to 9).", "SEEDS"),
    settings: PoliciesSettings = None,
    sweep: list[str] | None = option(
        None, "A parameter with each of several values in turn. Can be repeated.", "KEY=V1,V2,..."
    ),
    objective: Objectives = None,
    time_limit: TimeLimit = DEFAULT_TIME_LIMIT,
    together: bool = flag(
        "--together",
        "All applications share the nodes of one network: they propose at once, nodes accept up to "
        "their room, the rest try again.",
    ),
    network: Path | None = option(None, "With --together: the problem whose nodes are shared.", "PROBLEM"),
    in_turn: bool = flag("--in-turn", "With --together: also one after the other, and compare."),
    retry_errors: bool = flag("--retry-errors", "Solve again what ended with an error before."),
    master: Master = None,
    configuration: Configuration = None,
    as_json: AsJson = False,
) -> None:
    """Solve many problems side by side: times policies, parameters and seeds, on Spark."""
    choices = _choices(settings, sweep)
    weights = objective_from(objective)
    limit = time_limit_from(time_limit)
    # imported here: commands without Spark don't wait for it
    from berth.pipeline.many import Job, Terms, find_problems, locked, seeds_from, variants_for

    if together:
        variants = variants_for(policy or ["mopa"], choices, seeds_from(seeds))
        _place_together(problems, variants, folder, network, limit, in_turn, master, configuration, as_json)
        return
    if network is not None or in_turn:
        raise BadInput("--network and --in-turn go with --together")
    variants = variants_for(policy or ["auto"], choices, seeds_from(seeds))
    job = Job(find_problems(problems), variants, Terms(limit, weights), folder, retry_errors)
    with locked(folder):
        summary = _solved(job, master, configuration)
    if as_json:
        print_json(summary)
    else:
        _print_summary(summary)
    _print_end(summary, folder)


def _choices(settings: list[str] | None, sweep: list[str] | None) -> dict[str, list[str]]:
    """Every parameter with its values."""
    choices = {key: [value] for key, value in settings_from(settings).items()}
    for item in sweep or []:
        key, equals, values = item.partition("=")
        key = key.replace("-", "_")
        if not equals or not key or not all(values.split(",")):
            raise BadInput(f"--sweep {item}: expected key=value,value,...")
        if key in choices:
            raise BadInput(f"--sweep {item}: {key} is given twice")
        choices[key] = values.split(",")
    return choices


def _solved(job: Job, master: str | None, configuration: list[str] | None) -> dict[str, Any]:
    from berth.pipeline.many import SETTINGS, prepare, summary_of

    began = time.monotonic()
    with session_for(master, configuration, "berth solve-many", SETTINGS) as session:
        with watching(session, "reading problems"):
            run = prepare(session, job)
        try:
            with showing(SolvedCount(run.tally, run.missing)):
                run.solve()
        except KeyboardInterrupt:
            solved = f"{run.tally.solved:,} of {run.missing:,} solved and kept"
            tell(f"{solved}; the same command goes on from there")
            raise
        with watching(session, "summing up"):
            policies = summary_of(run.stored.read())
    return {
        "problems": run.problems,
        "solved": run.tally.solved,
        "errors": run.tally.errors,
        "kept": run.kept,
        "replaced": run.dropped,
        "seconds": round(time.monotonic() - began, 3),
        "policies": policies,
    }


def _print_summary(summary: dict[str, Any]) -> None:
    statuses = ("optimal", "feasible", "infeasible", "unknown", "errors")
    table = plain_table("policy", "plans", *statuses, "median time", right=tuple(range(1, 8)))
    for row in summary["policies"]:
        median = row["median_seconds"]
        table.add_row(
            row["policy"],
            f"{row['plans']:,}",
            *[f"{row[status]:,}" for status in statuses],
            "-" if median is None else milliseconds(1000 * median),
        )
    out.print(table)


def _print_end(summary: dict[str, Any], folder: Path) -> None:
    line = f"{summary['solved']:,} solved in {duration(summary['seconds'])}"
    if summary["kept"]:
        line += f", {summary['kept']:,} were there already"
    tell(f"{line}; plans in {folder / 'plans'}")
    errors = sum(row["errors"] for row in summary["policies"])
    if errors:
        tell(
            f"{errors:,} of the rows {'is an error' if errors == 1 else 'are errors'}: "
            "see the column error; --retry-errors tries them again"
        )


def _place_together(
    problems: Sequence[str],
    variants: Sequence[Variant],
    folder: Path,
    network: Path | None,
    time_limit: float | None,
    in_turn: bool,
    master: str | None,
    configuration: list[str] | None,
    as_json: bool,
) -> None:
    """Place the applications of all problems on nodes that they share."""
    from berth.pipeline.many import SETTINGS, find_problems, locked
    from berth.pipeline.together import Method, Together, check_methods, run_together, shared_network

    began = time.monotonic()
    methods = [Method(each.policy, each.seed, each.parameters, time_limit) for each in variants]
    check_methods(methods)
    inputs = find_problems(problems)
    with locked(folder), waiting("reading the network") as report:
        job = Together(inputs, shared_network(inputs, network), methods, folder, in_turn)
        report("starting Spark")
        with session_for(master, configuration, "berth solve-many --together", SETTINGS) as session:
            report("reading graphs")
            summaries = run_together(session, job, report)
    seconds = time.monotonic() - began
    if as_json:
        print_json({"ways": summaries, "seconds": round(seconds, 3)})
    else:
        _print_together(summaries, in_turn)
    tell(f"done in {duration(seconds)}; plans in {folder / 'plans'}")


def _print_together(summaries: Sequence[dict[str, Any]], in_turn: bool) -> None:
    more = ("in turn", "ratio") if in_turn else ()
    names = ("policy", "seed", "graphs", "placed", "rounds", "network usage", *more)
    table = plain_table(*names, right=tuple(range(1, len(names))))
    for each in summaries:
        row = [each["policy"], *(f"{each[key]:,}" for key in ("seed", "graphs", "placed", "rounds"))]
        row.append(in_unit(each["network_usage_bytes"], "bytes"))
        if in_turn:
            ratio = each["network_usage_against_in_turn"]
            row += [
                in_unit(each["network_usage_bytes_in_turn"], "bytes"),
                "-" if ratio is None else f"{ratio:.4f}",
            ]
        table.add_row(*row)
    out.print(table)
