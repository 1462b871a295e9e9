"""The second half of `make demo`, on Spark: telemetry, the model measured from it, how good its plan is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.markup import escape

import berth
from berth.cli.options import session_for
from berth.cli.output import metric_value, out, plain_table
from berth.cli.progress import watching
from berth.model.application import stream_rates
from berth.pipeline.ingest import PROBLEM_FILE, IngestOptions, Summary, ingest
from berth.pipeline.sample import SampleOptions, plan_sample, write_telemetry

RECORDS, GARBAGE = 20_000, 0.05
TELEMETRY, MEASURED, PLAN = "telemetry", "measured", "measured.json"


def run(problem_file: Path, fastest: berth.Plan, folder: Path) -> None:
    """Measure a problem from telemetry that is sampled of it, and solve what was measured.

    Args:
        problem_file: the truth.
        fastest: the best plan for the truth.
        folder: gets the telemetry, the tables and the plan.
    """
    truth = berth.load(problem_file)
    _heading(f"On Spark: the same problem from {RECORDS:,} records of telemetry, and garbage on top")
    summary = measure(problem_file, truth, folder)
    print_summary(summary)
    measured = berth.load(folder / MEASURED / PROBLEM_FILE)
    print_deviations(truth, measured)
    plan = berth.solve(measured, "odp")
    berth.save_plan(plan, folder / PLAN)
    print_plans(truth, {"of the truth": fastest, "of what was measured": plan})
    _heading(f"Written to {folder}/")
    out.print(f"{TELEMETRY}/  {MEASURED}/  {PLAN}")


def measure(problem_file: Path, truth: berth.Problem, folder: Path) -> Summary:
    """Sample telemetry of the problem, and take it in again."""
    sample = plan_sample(truth, SampleOptions(records=RECORDS, garbage=GARBAGE))
    with session_for("local[*]", None, "berth demo") as session, watching(session) as steps:
        write_telemetry(
            session,
            sample,
            folder / TELEMETRY,
            overwrite=True,
            progress=lambda name: steps(f"making {name}"),
        )
        return ingest(session, folder / TELEMETRY, problem_file, folder / MEASURED, IngestOptions(), steps)


def print_summary(summary: Summary) -> None:
    """What came in, and what of it was put aside."""
    counts = summary.counts
    reasons = {reason for folder in counts.quarantined.values() for reason in folder}
    aside = sum(sum(folder.values()) for folder in counts.quarantined.values())
    out.print(
        f"{counts.total:,} records taken in; {aside:,} in quarantine, for {len(reasons)} reasons, such as"
    )
    table = plain_table("folder", "reason", "records", right=(2,))
    for folder in (name for name in counts.files if name in counts.quarantined):
        reason, number = max(counts.quarantined[folder].items(), key=lambda item: item[1])
        table.add_row(folder, escape(reason), f"{number:,}")
    out.print(table)


def print_deviations(truth: berth.Problem, measured: berth.Problem) -> None:
    """How far the measured model is from the truth, at most."""
    _heading("How far off, at most")
    table = plain_table("measured", "off by", right=(1,))
    for name, (true, found) in _pairs(truth, measured).items():
        table.add_row(name, f"{100 * np.max(np.abs(found / true - 1)):.2f} %")
    points = 100 * np.max(np.abs(measured.network.availability - truth.network.availability))
    table.add_row("availabilities of nodes", f"{points:.2f} points")
    out.print(table)


def print_plans(truth: berth.Problem, plans: dict[str, berth.Plan]) -> None:
    """Both plans judged by the truth."""
    _heading("The fastest plans, judged by the truth")
    table = plain_table("plan", "response time", "availability", right=(1, 2))
    for name, plan in plans.items():
        metrics = berth.evaluate(truth, plan).metrics
        table.add_row(
            name, *(metric_value(key, metrics[key]) for key in ("response_time_ms", "availability"))
        )
    out.print(table)


def _pairs(truth: berth.Problem, measured: berth.Problem) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    linked = truth.network.table.connected & ~np.eye(len(truth.network.nodes), dtype=bool)
    return {
        "delays of links": (truth.network.table.delay_ms[linked], measured.network.table.delay_ms[linked]),
        "speeds of nodes": (truth.network.speed, measured.network.speed),
        "rates of streams": (_rates(truth), _rates(measured)),
        "work of operators": (_work(truth), _work(measured)),
    }


def _rates(problem: berth.Problem) -> np.ndarray:
    return np.array([rate for item in problem.applications for rate in stream_rates(item)[0]], dtype=float)


def _work(problem: berth.Problem) -> np.ndarray:
    return np.array([operator.work_ms for item in problem.applications for operator in item.operators])


def _heading(text: str) -> None:
    out.print(f"\n[bold]{escape(text)}[/]")
