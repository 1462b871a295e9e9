"""From the journal to what people see: tables, figures, claims, failures, and the report of them all.

The report is one page that needs nothing else, for people who know neither berth nor the papers.
"""

from __future__ import annotations

import platform
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import berth
from berth.amounts import duration
from berth.experiments.experiment import Setting, Verdict
from berth.experiments.framework.journal import CLAIMS, FAILURES, Stored
from berth.experiments.framework.missing import state_of
from berth.experiments.framework.outcome import FORMS, Outcome, all_judged, outcome_of
from berth.experiments.registry import Chosen
from berth.files import write_bytes, write_text
from berth.spark.machine import processors

NETWORKS = {
    "planetlab_490": "PlanetLab",
    "skyplane_69": "cloud regions",
    "fit_iot_283": "an IoT test-bed",
    "topology_zoo": "Internet providers",
}
"""The folders of measured networks, and what they are."""
LIBRARIES = {"Spark": "pyspark", "OR-tools": "ortools", "numpy": "numpy", "scipy": "scipy"}

REPORT = "report.html"
TITLE = "Five papers on operator placement, run again"
SIGNS = {Verdict.REPRODUCED: "✓", Verdict.ORDERING_ONLY: "≈", Verdict.NOT_REPRODUCED: "✗"}
VERDICTS = {
    Verdict.REPRODUCED: "our value agrees with the paper's within the tolerance that the reason names",
    Verdict.ORDERING_ONLY: "who is better, or where a curve leads, is as in the paper; the value is not",
    Verdict.NOT_REPRODUCED: "neither; the reason says what is known about the cause",
}
MOST_FAILURES = 20
LARGEST_SVG = 600_000
"""Bytes; above, the picture made of dots is in the page, which stays quick on a phone."""


@dataclass(frozen=True)
class Provenance:
    """What a reader needs to judge and to repeat the results.

    Attributes:
        made: when.
        command: the command that made them; `command_for` is that of a single experiment.
        options: the options that each experiment was run with.
        setting: the setting.
        versions: what it ran on, by name.
        processor: the processors' kind and number.
        networks: the measured networks that are there; none: all are synthetic.
    """

    made: str
    command: str
    options: str
    setting: Setting
    versions: dict[str, str]
    processor: str
    networks: tuple[str, ...]

    def command_for(self, experiment: str) -> str:
        """The command that makes one experiment's figure."""
        return " ".join(["berth reproduce", experiment, self.options]).rstrip()


def provenance_of(setting: Setting, command: str, options: str) -> Provenance:
    """The provenance of what is made here and now."""
    versions = {"berth": berth.__version__, "Python": platform.python_version()}
    versions |= {name: version(package) for name, package in LIBRARIES.items()}
    return Provenance(
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        command,
        options,
        setting,
        versions,
        f"{processors()} x {_processor()}",
        measured_networks(setting.data),
    )


def measured_networks(data: Path | None) -> tuple[str, ...]:
    """The measured networks that are there."""
    if data is None:
        return ()
    return tuple(f"{name} ({folder})" for folder, name in NETWORKS.items() if (data / folder).is_dir())


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def report(outcomes: Sequence[Outcome], not_run: Sequence[str], provenance: Provenance) -> str:
    """The page.

    Args:
        outcomes: the experiments that are shown, in their order.
        not_run: names of those that have no results in this setting.
        provenance: where all this was made.
    """
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "duration": duration,
        "picture_source": lambda outcome: picture_source(outcome.figures),
    }
    return templates.get_template(REPORT).render(
        title=TITLE,
        outcomes=outcomes,
        not_run=not_run,
        provenance=provenance,
        setting=provenance.setting,
        verdicts=VERDICTS,
        counts={verdict: sum(outcome.count(verdict) for outcome in outcomes) for verdict in Verdict},
        signs=SIGNS,
        most_failures=MOST_FAILURES,
    )


def picture_source(figures: dict[str, bytes]) -> str:
    """A figure's file as an address that needs no other file."""
    form = "svg" if len(figures["svg"]) <= LARGEST_SVG else "png"
    kind = {"svg": "image/svg+xml", "png": "image/png"}[form]
    return f"data:{kind};base64,{b64encode(figures[form]).decode()}"


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
    places = [state.chosen.place for state in finished]
    for state, found in zip(finished, all_judged(places, setting, tables), strict=True):
        step(f"judging and drawing: {state.name} is done")
        outcomes.append(outcome_of(state, found))
        for form in FORMS:
            file = stored.folder / state.name / f"figure.{form}"
            if form in found.figures:
                write_bytes(file, found.figures[form])
            else:
                file.unlink(missing_ok=True)
    stored.write_rows([row for outcome in outcomes for row in claim_rows(outcome)], CLAIMS, "claims")
    failed = [entry for state in finished for entry in state.failed]
    names = FAILURES.fieldNames()
    stored.write_rows([{name: entry[name] for name in names} for entry in failed], FAILURES, "failures")
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
