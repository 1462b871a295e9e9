"""From the journal to what people see: tables, figures, claims, failures, the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from berth.experiments.experiment import Setting
from berth.experiments.framework.choice import Chosen
from berth.experiments.framework.outcome import Outcome, outcome_of
from berth.experiments.framework.provenance import Provenance
from berth.experiments.framework.report import report
from berth.experiments.framework.schema import CLAIMS, FAILURES
from berth.experiments.framework.state import state_of
from berth.experiments.framework.stored import Stored
from berth.experiments.framework.style import FORMS
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
    outcomes, not_run = [], []
    for chosen in experiments:
        state = state_of(chosen, setting, journal, any_code)
        if not state.finished:
            not_run.append(chosen.name)
            stored.remove(chosen.name)
            continue
        step(f"judging and drawing {chosen.name}")
        keys = [run.key for run in state.runs]
        table = journal.table(chosen.name, state.identity, keys, chosen.experiment.schema)
        stored.write_table(table, chosen.name, "results")
        outcome = outcome_of(state, setting, table.to_pandas())
        for form in FORMS:
            file = stored.folder / chosen.name / f"figure.{form}"
            if form in outcome.figures:
                write_bytes(file, outcome.figures[form])
            else:
                file.unlink(missing_ok=True)
        outcomes.append(outcome)
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
