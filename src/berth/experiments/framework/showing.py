"""From the journal to what people see: tables, figures, claims, failures, the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from berth.experiments.experiment import Setting
from berth.experiments.framework.journal import CLAIMS, FAILURES, Stored
from berth.experiments.framework.missing import state_of
from berth.experiments.framework.outcome import FORMS, Outcome, all_judged, outcome_of
from berth.experiments.framework.report import Provenance, report
from berth.experiments.registry import Chosen
from berth.files import write_bytes, write_text

REPORT = "report.html"


@dataclass(frozen=True)
class Shown:
    """The experiments that have results, and the names of those that have none or not all."""

    outcomes: Sequence[Outcome]
    not_run: Sequence[str]


def show(
    stored: Stored,
    experiments: Sequence[Chosen],
    setting: Setting,
    provenance: Provenance,
    *,
    any_code: bool = False,
    step: Callable[[str], None] = lambda text: None,
) -> Shown:
    """Judge and draw every experiment whose runs are all there in this setting, and write the report.

    Args:
        stored: the folder.
        experiments: all that there are.
        setting: the setting that is shown; what is shown of others leaves, their runs stay.
        provenance: for the report.
        any_code: rows that other code made are shown, too, where there are no others.
        step: is told what is being done.
    """
    journal = stored.journal()
    states = [state_of(chosen, setting, journal, any_code) for chosen in experiments]
    finished = [state for state in states if state.finished]
    not_run = [state.name for state in states if not state.finished]
    for name in not_run:
        stored.remove(name)
    tables = []
    for state in finished:
        keys = [run.key for run in state.runs]
        table = journal.table(state.name, state.identity, keys, state.chosen.experiment.schema)
        stored.write_table(table, state.name, "results")
        tables.append(table.to_pandas())
    outcomes = []
    modules = [state.chosen.module for state in finished]
    for state, found in zip(finished, all_judged(modules, setting, tables), strict=True):
        step(f"judging and drawing: {state.name} is done")
        outcomes.append(outcome_of(state, found))
        for form in FORMS:
            file = stored.folder / state.name / f"figure.{form}"
            if form in found.figures:
                write_bytes(file, found.figures[form])
            else:
                file.unlink(missing_ok=True)
    stored.write_rows([row for outcome in outcomes for row in claim_rows(outcome)], CLAIMS, "claims")
    stored.write_rows(
        [
            {name: entry[name] for name in FAILURES.fieldNames()}
            for outcome in outcomes
            for entry in outcome.failed
        ],
        FAILURES,
        "failures",
    )
    write_text(stored.folder / REPORT, report(outcomes, not_run, provenance))
    return Shown(outcomes, not_run)


def claim_rows(outcome: Outcome) -> list[dict[str, str]]:
    """The claims of an experiment, in the columns of `CLAIMS`."""
    return [
        {
            "experiment": outcome.experiment.name,
            "claim": claim.text,
            "paper": claim.paper,
            "ours": claim.ours,
            "verdict": claim.verdict.value,
            "reason": claim.reason,
        }
        for claim in outcome.claims
    ]
