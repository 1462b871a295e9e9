"""Runs that start an application on Spark themselves: one after the other, beside the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from berth.experiments.framework.runner import Terms, answer, failed
from berth.experiments.framework.stored import Stored
from berth.experiments.framework.tasks import Missing
from berth.pipeline.many.isolation import SolverProcess


def do_in_driver(
    stored: Stored, terms: Terms, missing: Iterable[Missing], step: Callable[[str], None]
) -> None:
    """Do runs in a process of their own; each is in the journal when it is done.

    Args:
        stored: where they go.
        terms: what holds for all.
        missing: the runs.
        step: is told what is being done.
    """
    with SolverProcess(answer, failed, "the run") as process:
        for item in missing:
            for run in item.runs:
                step(f"{item.name} {run.key}")
                for row in process.answers([{"variants": item.task([run])}], terms):
                    stored.add_run(row)
