"""What `berth reproduce` says: the list of experiments, what is kept, and the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from berth.amounts import duration
from berth.cli.output import err, out, plain_table, print_json

if TYPE_CHECKING:
    from berth.experiments.experiment import Setting
    from berth.experiments.framework.missing import State
    from berth.experiments.framework.outcome import Outcome
    from berth.experiments.registry import Chosen


def print_experiments(chosen: Sequence[Chosen], setting: Setting, as_json: bool) -> None:
    """The table of experiments."""
    rows = [
        {
            "experiment": item.name,
            "paper": item.experiment.paper,
            "title": item.experiment.title,
            "quick_runs": sum(1 for _ in item.experiment.runs(replace(setting, quick=True))),
            "full_runs": sum(1 for _ in item.experiment.runs(replace(setting, quick=False))),
        }
        for item in chosen
    ]
    if as_json:
        print_json(rows)
        return
    table = plain_table("experiment", "quick", "full runs", "title", "paper", right=(1, 2))
    for number in (0, 1, 2, 4):
        table.columns[number].no_wrap = True
    for row in rows:
        table.add_row(
            escape(str(row["experiment"])),
            f"{row['quick_runs']:,}",
            f"{row['full_runs']:,}",
            escape(str(row["title"])),
            escape(_where(str(row["paper"]))),
        )
    out.print(table)


def _where(paper: str) -> str:
    """The paper's number and the place in it: '003, figure 2'."""
    _, comma, place = paper.rpartition(", ")
    return f"{paper.split()[0].rstrip(',')}, {place}" if comma else paper


def tell_kept(states: Sequence[State]) -> None:
    """What is there already, and what is there of other settings, or made by other code."""
    runs = sum(len(state.runs) for state in states)
    kept = sum(len(state.succeeded) for state in states)
    if kept:
        _tell(f"{kept:,} of {runs:,} runs are there already")
    aside: Counter[str] = Counter()
    for state in states:
        for other, count in state.aside.items():
            text = other.described()
            if other.same_question(state.identity):
                text += ", made by other code"
            elif text == state.identity.described():
                text += " that were others"
            aside[text] += count
    for described, count in sorted(aside.items()):
        _tell(f"{count:,} runs are put aside, not mixed in: {described}")


def print_outcomes(outcomes: Sequence[Outcome]) -> None:
    """The verdicts, counted, for each experiment."""
    from berth.experiments.experiment import Verdict
    from berth.experiments.framework.report import SIGNS

    if not outcomes:
        return
    verdicts = list(Verdict)
    columns = ("experiment", *(SIGNS[verdict] for verdict in verdicts), "runs", "failed", "work", "title")
    table = plain_table(*columns, right=tuple(range(1, 7)))
    for column in table.columns[:-1]:  # titles alone give way on a narrow terminal
        column.no_wrap = True
    for outcome in outcomes:
        table.add_row(
            escape(outcome.experiment.name),
            *(str(outcome.count(verdict)) for verdict in verdicts),
            f"{outcome.runs:,}",
            f"{len(outcome.failed):,}",
            duration(outcome.seconds),
            escape(outcome.experiment.title),
        )
    out.print(table)
    out.print(", ".join(f"{SIGNS[verdict]} {verdict.value}" for verdict in verdicts), style="dim")


def tell_results(outcomes: Sequence[Outcome], not_run: Sequence[str], folder: Path) -> None:
    """Where the report is, and what went wrong."""
    from berth.experiments.framework.outcome import failures_told

    for outcome in outcomes:
        if outcome.failed:
            _tell(f"{outcome.experiment.name}: {failures_told(outcome)}")
        if outcome.mistake is not None:
            _tell(f"{outcome.experiment.name}: not judged in full: {outcome.mistake}")
    if not_run:
        _tell(f"{', '.join(not_run)}: not all runs are there; without --report-only they are done")
    _tell(f"report: {folder / 'report.html'}")


def _tell(line: str) -> None:
    err.print(line, markup=False, soft_wrap=True)
