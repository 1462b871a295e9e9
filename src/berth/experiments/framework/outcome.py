"""What came out of an experiment: its claims beside the paper's, and its figure."""

from __future__ import annotations

import inspect
import multiprocessing
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO

import pandas as pd
from matplotlib import style
from matplotlib.figure import Figure

from berth.drawing.palette import COLOURS
from berth.experiments.experiment import Claim, Experiment, Setting, Verdict
from berth.experiments.framework.journal import Entry
from berth.experiments.framework.missing import State
from berth.experiments.registry import Chosen, loaded
from berth.processes import begin_forked
from berth.spark.machine import processors

WIDTH, HEIGHT = 9.0, 4.8
"""Inches."""
DOTS_PER_INCH = 144.0
FORMS = ("svg", "png")

STYLE = {
    # nothing random in files, and letters as outlines: every machine shows the same
    "svg.hashsalt": "berth",
    "svg.fonttype": "path",
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Matplotlib as it comes, whatever the user's own settings are, in colours that all people tell apart."""
    from cycler import cycler

    colours = {"axes.prop_cycle": cycler(color=COLOURS[:6])}
    with style.context(["default", STYLE | colours]):
        yield


def blank_figure() -> Figure:
    """A figure to draw on."""
    return Figure(figsize=(WIDTH, HEIGHT), layout="constrained")


def figure_file(figure: Figure, form: str) -> bytes:
    """A figure as `svg` or `png`; the same drawing gives the same bytes."""
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    content = BytesIO()
    figure.savefig(content, format=form, dpi=DOTS_PER_INCH, metadata=metadata)
    return content.getvalue()


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
        return Judged(claims, mistake=_error_line(error))


def about(chosen: Chosen) -> str:
    """What an experiment is about, for people who have not read its paper: its module's docstring says it.

    Where that has several paragraphs, the first one is a title.
    """
    text = inspect.getdoc(sys.modules[chosen.module]) or chosen.experiment.title
    return " ".join((text.partition("\n\n")[2] or text).split())


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


def failures_line(outcome: Outcome) -> str:
    """How many runs failed and why, in a sentence: '17 of 1,000 runs failed: ...'."""
    reasons = dict.fromkeys(entry["error"].splitlines()[0] for entry in outcome.failed)
    shown = "; ".join(list(reasons)[:3]) + ("; ..." if len(reasons) > 3 else "")
    return f"{len(outcome.failed):,} of {outcome.runs:,} runs failed: {shown}"


def _with_failures(claim: Claim, outcome: Outcome) -> Claim:
    if not outcome.failed:
        return claim
    note = f"{len(outcome.failed):,} of {outcome.runs:,} runs failed and are not in the value."
    return replace(claim, reason=f"{claim.reason.rstrip('.')}. {note}")


def _error_line(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    line = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"{line} ({place.filename.rpartition('/')[2]}, line {place.lineno})"


def all_judged(
    modules: Sequence[str], setting: Setting, tables: Sequence[pd.DataFrame], most: int | None = None
) -> Iterator[Judged]:
    """Each table judged and drawn, in their order.

    Args:
        modules: the experiments' modules.
        setting: the setting of all of them.
        tables: their tables.
        most: how many processes work at once; None: as many as there are processors.
    """
    workers = min(most or processors(), len(tables))
    settings = [setting] * len(tables)
    if workers <= 1:
        yield from map(judged, modules, settings, tables)
        return
    with (
        warnings.catch_warnings(),
        ProcessPoolExecutor(
            workers, multiprocessing.get_context("fork"), initializer=begin_forked, initargs=(os.getpid(),)
        ) as pool,
    ):
        # the threads that this process has hold no lock that drawing needs
        warnings.simplefilter("ignore", DeprecationWarning)
        yield from pool.map(judged, modules, settings, tables)
