"""`berth reproduce`."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from berth.amounts import duration
from berth.cli.exit_codes import FAILED, INTERRUPTED
from berth.cli.options import (
    AsJson,
    Configuration,
    Master,
    argument,
    flag,
    option,
    session_for,
)
from berth.cli.output import out, plain_table, print_json, tell
from berth.cli.progress import ExperimentBoard, showing, waiting
from berth.model import BadInput

if TYPE_CHECKING:
    from berth.experiments.experiment import Setting
    from berth.experiments.framework.job import Terms
    from berth.experiments.framework.journal import Stored
    from berth.experiments.framework.missing import State
    from berth.experiments.framework.outcome import Outcome
    from berth.experiments.framework.report import Shown
    from berth.experiments.registry import Chosen

OUT = Path("reproduction")
REPRODUCE_EXAMPLES = """Examples:

  berth reproduce --list

  berth reproduce --quick

  berth reproduce X3.1 X3.2 --seed 7 --data measured --out results

  berth reproduce mopa --report-only --out results

The same command again does only what is missing, and tries again what failed. Exit codes: 0 all runs
succeeded, whatever the verdicts; 1 some failed or are not there, or Spark failed; 2 bad input; 130
interrupted: what was finished is kept.
"""


def reproduce(
    experiments: Annotated[
        list[str] | None,
        argument(
            "X3.1, a paper by number (003) or system (mopa), or league. Default: all of the papers.",
            "EXPERIMENT",
            show_default=False,
        ),
    ] = None,
    quick: bool = flag("--quick", "A small part of the runs: minutes for all experiments."),
    folder: Path = option(OUT, "The folder for tables, figures and report.html.", "DIR", "--out"),
    seed: int = option(0, "Every random choice follows from it.", "N"),
    data: Path | None = option(
        None,
        "The folder with measured networks; without it synthetic ones are used.",
        "DIR",
        envvar="BERTH_DATA",
    ),
    show_list: bool = flag("--list", "List the experiments and their numbers of runs, and stop."),
    on_spark: bool = flag(
        "--on-spark",
        "Also run what can be run for real: X0.1 on a cluster of eight named workers, some minutes.",
    ),
    report_only: bool = flag("--report-only", "Judge, draw and report the runs that are there; do none."),
    master: Master = None,
    configuration: Configuration = None,
    as_json: AsJson = False,
) -> None:
    """Run the papers' experiments again, and put each of their claims beside what comes out."""
    # imported here: commands without Spark don't wait for it
    from berth.experiments.experiment import Setting
    from berth.experiments.framework.journal import Stored
    from berth.experiments.registry import chosen_from, everything

    chosen = everything() if show_list and not experiments else chosen_from(experiments or [])
    setting = Setting(quick, _checked_seed(seed), _data_folder(data), on_spark)
    if show_list:
        _print_experiments(chosen, setting, as_json)
        return
    stored = Stored(folder)
    if report_only and not stored.journal().experiments:
        raise BadInput(f"--report-only: no runs are in {folder}; without it they are done")
    with stored.locked():
        if not report_only:
            _run(stored, chosen, setting, master, configuration)
        shown = _show(stored, setting, report_only, _options(setting, data, folder))
    names = {item.name for item in chosen}
    ours = [outcome for outcome in shown.outcomes if outcome.experiment.name in names]
    if as_json:
        print_json(_document(ours, setting))
    else:
        _print_outcomes(ours)
    not_run = sorted(names & set(shown.not_run))
    _tell_results(ours, not_run, folder)
    if not_run or not all(outcome.whole for outcome in ours):
        raise typer.Exit(FAILED)


def _checked_seed(seed: int) -> int:
    if not 0 <= seed < 2**63:
        raise BadInput(f"--seed {seed}: expected a whole number from 0 to {2**63 - 1}")
    return seed


def _data_folder(data: Path | None) -> Path | None:
    if data is None or not str(data):
        return None
    if not data.is_dir():
        raise BadInput(f"--data {data}: no such folder")
    return data.resolve()


def _run(
    stored: Stored,
    chosen: list[Chosen],
    setting: Setting,
    master: str | None,
    configuration: list[str] | None,
) -> None:
    """Do the runs that are missing; no Spark where there are none."""
    from berth.experiments.framework.job import Terms, do_in_driver
    from berth.experiments.framework.journal import data_mark
    from berth.experiments.framework.missing import state_of

    journal = stored.journal()
    states = [state_of(item, setting, journal) for item in chosen]
    _tell_kept(states)
    terms = Terms(setting, data_mark(setting.data))
    try:
        if any(state.missing().runs for state in states):
            _run_on_spark(stored, states, terms, master, configuration)
        driven = [state.missing(in_driver=True) for state in states]
        if any(item.runs for item in driven):
            with waiting("running beside the driver") as steps:
                do_in_driver(stored, terms, driven, steps)
    except KeyboardInterrupt:
        journal = stored.journal()
        kept = sum(len(journal.succeeded(state.name, state.identity)) for state in states)
        runs = sum(len(state.runs) for state in states)
        tell(f"interrupted: {kept:,} of {runs:,} runs are kept; the same command goes on from there")
        raise SystemExit(INTERRUPTED) from None


def _run_on_spark(
    stored: Stored, states: list[State], terms: Terms, master: str | None, configuration: list[str] | None
) -> None:
    from berth.experiments.framework.job import Job, Tally
    from berth.pipeline.many import SETTINGS

    with session_for(master, configuration, "berth reproduce", SETTINGS) as session:
        missing = [state.missing() for state in states]
        tally = Tally(session, [state.name for state in states])
        with showing(ExperimentBoard(tally, states, session.sparkContext.defaultParallelism)):
            Job(session, stored, terms, missing, tally).do()


def _show(stored: Stored, setting: Setting, report_only: bool, options: str) -> Shown:
    from berth.experiments.framework.report import provenance_of, show
    from berth.experiments.registry import everything

    command = shlex.join(["berth", *sys.argv[1:]])
    provenance = provenance_of(setting, command, options)
    with waiting("judging and drawing") as steps:
        return show(stored, everything(), setting, provenance, any_code=report_only, step=steps)


def _options(setting: Setting, data: Path | None, folder: Path) -> str:
    """The options that give the same results again, as a user types them."""
    options = ["--quick"] if setting.quick else []
    options += ["--on-spark"] if setting.on_spark else []
    options += ["--seed", str(setting.seed)] if setting.seed else []
    options += ["--data", str(data)] if setting.data is not None else []
    return shlex.join([*options, *([] if folder == OUT else ["--out", str(folder)])])


def _document(outcomes: list[Any], setting: Setting) -> dict[str, Any]:
    from berth.experiments.framework.report import claim_rows

    return {
        "setting": asdict(setting) | {"data": None if setting.data is None else str(setting.data)},
        "experiments": [
            {
                "experiment": outcome.experiment.name,
                "paper": outcome.experiment.paper,
                "title": outcome.experiment.title,
                "runs": len(outcome.state.runs),
                "failed": len(outcome.state.failed),
                "processor_seconds": round(outcome.state.seconds, 3),
                "mistake": outcome.mistake,
                "claims": claim_rows(outcome),
            }
            for outcome in outcomes
        ],
    }


def _print_experiments(chosen: Sequence[Chosen], setting: Setting, as_json: bool) -> None:
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


def _tell_kept(states: Sequence[State]) -> None:
    """What is there already, and what is there of other settings, or made by other code."""
    runs = sum(len(state.runs) for state in states)
    kept = sum(len(state.succeeded) for state in states)
    if kept:
        tell(f"{kept:,} of {runs:,} runs are there already")
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
        tell(f"{count:,} runs are put aside, not mixed in: {described}")


def _print_outcomes(outcomes: Sequence[Outcome]) -> None:
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
            f"{len(outcome.state.runs):,}",
            f"{len(outcome.state.failed):,}",
            duration(outcome.state.seconds),
            escape(outcome.experiment.title),
        )
    out.print(table)
    out.print(", ".join(f"{SIGNS[verdict]} {verdict.value}" for verdict in verdicts), style="dim")


def _tell_results(outcomes: Sequence[Outcome], not_run: Sequence[str], folder: Path) -> None:
    """Where the report is, and what went wrong."""
    for outcome in outcomes:
        if outcome.state.failed:
            tell(f"{outcome.experiment.name}: {outcome.failures_line}")
        if outcome.mistake is not None:
            tell(f"{outcome.experiment.name}: not judged in full: {outcome.mistake}")
    if not_run:
        tell(f"{', '.join(not_run)}: not all runs are there; without --report-only they are done")
    tell(f"report: {folder / 'report.html'}")
