"""What came out of an experiment: its claims beside the paper's, and its figure."""

from __future__ import annotations

import multiprocessing
import os
import traceback
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from io import BytesIO

import pandas as pd
from cycler import cycler
from matplotlib import style
from matplotlib.figure import Figure

from berth.drawing.palette import COLOURS
from berth.experiments.experiment import Claim, Experiment, Setting, Verdict
from berth.experiments.framework.missing import State
from berth.experiments.registry import loaded
from berth.processes import begin_forked
from berth.spark.machine import processors

WIDTH, HEIGHT = 9.0, 4.8
"""Inches."""
DOTS_PER_INCH = 144.0
FORMS = ("svg", "png")

STYLE = {
    # colours that all people tell apart
    "axes.prop_cycle": cycler(color=COLOURS[:6]),
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


def figure_file(figure: Figure, form: str) -> bytes:
    """A figure as `svg` or `png`; the same drawing gives the same bytes."""
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    content = BytesIO()
    figure.savefig(content, format=form, dpi=DOTS_PER_INCH, metadata=metadata)
    return content.getvalue()


@dataclass(frozen=True)
class Judged:
    """A table judged and drawn.

    Attributes:
        claims: the paper's claims and what became of them.
        caption: of the figure.
        figures: the figure's files by their ending, svg and png.
        mistake: what kept it from being judged or drawn; None: nothing.
    """

    claims: Sequence[Claim] = ()
    caption: str = ""
    figures: dict[str, bytes] = field(default_factory=dict)
    mistake: str | None = None


@dataclass(frozen=True)
class Outcome(Judged):
    """An experiment with what is shown of it: its runs are in its `state`."""

    state: State = field(kw_only=True)

    @property
    def experiment(self) -> Experiment:
        """The experiment itself."""
        return self.state.chosen.experiment

    def count(self, verdict: Verdict) -> int:
        """How many claims ended so."""
        return sum(claim.verdict is verdict for claim in self.claims)

    @property
    def whole(self) -> bool:
        """Whether all runs succeeded, and were judged and drawn."""
        return not self.state.failed and self.mistake is None

    @property
    def failures_line(self) -> str:
        """How many runs failed and why, in a sentence: '17 of 1,000 runs failed: ...'."""
        reasons = dict.fromkeys(entry["error"].splitlines()[0] for entry in self.state.failed)
        shown = "; ".join(list(reasons)[:3]) + ("; ..." if len(reasons) > 3 else "")
        return f"{self.state.failed_share}: {shown}"


def judged(place: str, setting: Setting, table: pd.DataFrame) -> Judged:
    """Judge and draw the table of an experiment; what goes wrong in that is said in `mistake`."""
    if table.empty:
        return Judged(mistake="no run succeeded: there is nothing to judge or to draw")
    experiment, claims = loaded(place), []
    try:
        claims = list(experiment.claims(table.copy(), setting))
        # matplotlib as it comes, whatever the user's own settings are
        with style.context(["default", STYLE]):
            figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
            caption = experiment.draw(table.copy(), figure, setting)
            return Judged(claims, caption, {form: figure_file(figure, form) for form in FORMS})
    except Exception as error:  # a mistake in one experiment must not hide the others
        place_of_it = traceback.extract_tb(error.__traceback__)[-1]
        line = f"{type(error).__name__}: {error}".rstrip(": ")
        file = place_of_it.filename.rpartition("/")[2]
        return Judged(claims, mistake=f"{line} ({file}, line {place_of_it.lineno})")


def outcome_of(state: State, found: Judged) -> Outcome:
    """What is shown of an experiment; if some runs failed, each claim says so."""
    claims = found.claims
    if state.failed:
        note = f"{state.failed_share} and are not in the value."
        claims = [replace(claim, reason=f"{claim.reason.rstrip('.')}. {note}") for claim in claims]
    return Outcome(claims, found.caption, found.figures, found.mistake, state=state)


def all_judged(
    places: Sequence[str], setting: Setting, tables: Sequence[pd.DataFrame], most: int | None = None
) -> Iterator[Judged]:
    """Each table judged and drawn, in their order.

    Args:
        places: the experiments' places.
        setting: the setting of all of them.
        tables: their tables.
        most: how many processes work at once; None: as many as there are processors.
    """
    workers = min(most or processors(), len(tables))
    settings = [setting] * len(tables)
    if workers <= 1:
        yield from map(judged, places, settings, tables)
        return
    with (
        warnings.catch_warnings(),
        ProcessPoolExecutor(
            workers, multiprocessing.get_context("fork"), initializer=begin_forked, initargs=(os.getpid(),)
        ) as pool,
    ):
        # the threads that this process has hold no lock that drawing needs
        warnings.simplefilter("ignore", DeprecationWarning)
        yield from pool.map(judged, places, settings, tables)
