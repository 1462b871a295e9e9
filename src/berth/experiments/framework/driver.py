"""Runs that start an application on Spark themselves: one after the other, beside the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from berth.experiments.framework.runner import Terms, answer, failed
from berth.experiments.framework.stored import Stored
from berth.experiments.framework.tasks import Missing
from berth.pipeline.many.isolation import SolverProcess

LONGEST_SECONDS = 3600.0
"""An application that runs for real takes minutes."""


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
    patient = replace(terms, hard_limit=LONGEST_SECONDS)
    with SolverProcess(answer, failed, "the run") as process:
        for item in missing:
            for run in item.runs:
                step(f"{item.name} {run.key}")
                for row in process.answers([{"variants": item.task([run])}], patient):
                    stored.add_run(row)
