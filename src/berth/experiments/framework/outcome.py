"""What came out of an experiment: its claims beside the paper's, and its figure."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from berth.experiments.experiment import Claim, Experiment, Setting, Verdict
from berth.experiments.framework.about import about
from berth.experiments.framework.journal import Entry
from berth.experiments.framework.state import State
from berth.experiments.framework.style import FORMS, blank_figure, figure_file, figure_style
from berth.experiments.registry import loaded


@dataclass(frozen=True)
class Outcome:
    """An experiment with what is shown of it.

    Attributes:
        experiment: the experiment.
        about: what it is about, in a few sentences.
        runs: how many runs there are.
        failed: the runs that failed.
        seconds: the processor time of all runs.
        current: whether its rows were made by the code that judges them.
        claims: the paper's claims and what became of them.
        caption: of the figure.
        figures: the figure's files by their ending, svg and png.
        mistake: what kept it from being judged or drawn; None: nothing.
    """

    experiment: Experiment
    about: str
    runs: int
    failed: Sequence[Entry]
    seconds: float
    current: bool
    claims: Sequence[Claim] = ()
    caption: str = ""
    figures: dict[str, bytes] = field(default_factory=dict)
    mistake: str | None = None

    def count(self, verdict: Verdict) -> int:
        """How many claims ended so."""
        return sum(claim.verdict is verdict for claim in self.claims)

    @property
    def whole(self) -> bool:
        """Whether all runs succeeded, and were judged and drawn."""
        return not self.failed and self.mistake is None


@dataclass(frozen=True)
class Judged:
    """A table judged and drawn: the parts of an `Outcome` that it gives."""

    claims: Sequence[Claim] = ()
    caption: str = ""
    figures: dict[str, bytes] = field(default_factory=dict)
    mistake: str | None = None


def judged(module: str, setting: Setting, table: pd.DataFrame) -> Judged:
    """Judge and draw the table of a module's experiment; what goes wrong in that is said in `mistake`."""
    if table.empty:
        return Judged(mistake="no run succeeded: there is nothing to judge or to draw")
    experiment, claims = loaded(module), []
    try:
        claims = list(experiment.claims(table.copy(), setting))
        with figure_style():
            figure = blank_figure()
            caption = experiment.draw(table.copy(), figure, setting)
            return Judged(claims, caption, {form: figure_file(figure, form) for form in FORMS})
    except Exception as error:  # a mistake in one experiment must not hide the others
        return Judged(claims, mistake=_told(error))


def outcome_of(state: State, found: Judged) -> Outcome:
    """What is shown of an experiment."""
    outcome = Outcome(
        state.chosen.experiment,
        about(state.chosen),
        len(state.runs),
        list(state.failed),
        state.seconds,
        state.current,
        caption=found.caption,
        figures=found.figures,
        mistake=found.mistake,
    )
    return replace(outcome, claims=[_with_failures(claim, outcome) for claim in found.claims])


def failures_told(outcome: Outcome) -> str:
    """How many runs failed and why, in a sentence: '17 of 1,000 runs failed: ...'."""
    reasons = dict.fromkeys(entry["error"].splitlines()[0] for entry in outcome.failed)
    shown = "; ".join(list(reasons)[:3]) + ("; ..." if len(reasons) > 3 else "")
    return f"{len(outcome.failed):,} of {outcome.runs:,} runs failed: {shown}"


def _with_failures(claim: Claim, outcome: Outcome) -> Claim:
    if not outcome.failed:
        return claim
    note = f"{len(outcome.failed):,} of {outcome.runs:,} runs failed and are not in the value."
    return replace(claim, reason=f"{claim.reason.rstrip('.')}. {note}")


def _told(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    line = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"{line} ({place.filename.rpartition('/')[2]}, line {place.lineno})"
