"""The report: one page that needs nothing else, for people who know neither berth nor the papers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from berth.amounts import duration
from berth.experiments.experiment import Verdict
from berth.experiments.framework.outcome import Outcome, failures_told
from berth.experiments.framework.page_style import STYLE
from berth.experiments.framework.parts import Html, badge, badges, element, facts, picture, table
from berth.experiments.framework.provenance import Provenance

MOST_FAILURES = 20
TITLE = "Five papers on operator placement, run again"
ERRATA = (
    "An order counts only beyond chance, by more than two standard errors. Numbers such as E0.6 stand "
    "for places "
    "where a paper is wrong, unclear or silent: the first digit is the paper's, the words beside it say "
    "which."
)
INTRODUCTION = (
    "A stream-processing application is a graph of operators, and somebody has to decide on which machine "
    "each of them runs. Five papers propose ways to decide that. berth implements them all; here their "
    "experiments are run again, and each claim of the papers stands beside what came out."
)
VERDICTS = {
    Verdict.REPRODUCED: "our value agrees with the paper's within the tolerance that the reason names",
    Verdict.ORDERING_ONLY: "who is better, or where a curve leads, is as in the paper; the value is not",
    Verdict.NOT_REPRODUCED: "neither; the reason says what is known about the cause",
}


def report(outcomes: Sequence[Outcome], not_run: Sequence[str], provenance: Provenance) -> str:
    """The page.

    Args:
        outcomes: the experiments that are shown, in their order.
        not_run: names of those that have no results in this setting.
        provenance: where all this was made.
    """
    body = element(
        "main",
        _head(outcomes, provenance),
        _summary(outcomes, not_run, provenance),
        *(_section(outcome, provenance) for outcome in outcomes),
    )
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{TITLE}</title>",
            f"<style>{STYLE}</style></head>",
            f"<body>{body}</body>",
            "</html>",
            "",
        ]
    )


def _head(outcomes: Sequence[Outcome], provenance: Provenance) -> Html:
    setting = provenance.setting
    networks = (
        f"measured ones are there: {', '.join(provenance.networks)}; each caption says what was used"
        if provenance.networks
        else "synthetic: no measured ones were given (--data, or the variable BERTH_DATA)"
    )
    claims = sum(len(outcome.claims) for outcome in outcomes)
    counts = [
        f"{sum(outcome.count(verdict) for outcome in outcomes):,} {verdict.value}" for verdict in Verdict
    ]
    parts = [
        element("h1", TITLE),
        element("p", INTRODUCTION),
        element("p", element("strong", f"{claims:,} claims: {', '.join(counts)}.")),
    ]
    if setting.quick:
        note = (
            "This is a quick run: a small part of the papers' runs, to see that everything works. Means "
            "scatter more, and rare events may be missing. Without --quick all runs of the papers are done."
        )
        parts.append(element("p", note, class_="notice"))
    parts.append(
        facts(
            [
                ("Made", provenance.made),
                ("Command", element("code", provenance.command)),
                ("Seed", f"{setting.seed}: every random choice follows from it"),
                ("Networks", networks),
                ("Versions", ", ".join(f"{name} {number}" for name, number in provenance.versions.items())),
                ("Processors", provenance.processor),
                ("Work", duration(sum(outcome.seconds for outcome in outcomes)) + " of processor time"),
            ]
        )
    )
    verdicts = [(badge(verdict), text) for verdict, text in VERDICTS.items()]
    errata = element("p", ERRATA)
    return element("header", *parts, element("h3", "What the verdicts mean"), facts(verdicts), errata)


def _summary(outcomes: Sequence[Outcome], not_run: Sequence[str], provenance: Provenance) -> Html:
    rows = [
        (
            element("a", outcome.experiment.name, href=f"#{outcome.experiment.name}"),
            outcome.experiment.title,
            badges((verdict, outcome.count(verdict)) for verdict in Verdict),
            f"{outcome.runs:,}" + (f", {len(outcome.failed):,} failed" if outcome.failed else ""),
            duration(outcome.seconds),
        )
        for outcome in outcomes
    ]
    columns = ("experiment", "what it shows", "claims", "runs", "work")
    parts = [element("h2", "Summary"), table(columns, rows, numbers=(3, 4))]
    if not_run:
        parts += [
            element("p", f"Not run in this setting: {', '.join(not_run)}. They are added by:"),
            element("code", provenance.command_for(" ".join(not_run)), class_="command"),
        ]
    return element("section", *parts, id="summary")


def _section(outcome: Outcome, provenance: Provenance) -> Html:
    experiment = outcome.experiment
    parts = [
        element("h2", f"{experiment.name}: {experiment.title}"),
        element("p", f"Paper {experiment.paper}", class_="soft small"),
        element("p", outcome.about),
    ]
    if outcome.mistake is not None:
        parts.append(element("p", f"Not judged in full: {outcome.mistake}", class_="notice bad"))
    if not outcome.current:
        note = (
            "The rows were made by another state of the code than the one that judges them here; without "
            "--report-only they are made anew."
        )
        parts.append(element("p", note, class_="notice"))
    parts.append(_figure(outcome, provenance))
    if outcome.claims:
        parts += [element("h3", "The paper's claims, and ours"), _claims(outcome)]
    parts += [*_runs(outcome), element("p", element("a", "Summary", href="#summary"), class_="small")]
    return element("section", *parts, id=experiment.name, class_="experiment")


def _figure(outcome: Outcome, provenance: Provenance) -> Html:
    name = outcome.experiment.name
    command = element("code", provenance.command_for(name), class_="command")
    inside = [element("figcaption", outcome.caption), command] if outcome.figures else [command]
    if outcome.figures:
        inside.insert(0, picture(outcome.figures, f"{name}: {outcome.experiment.title}"))
    parts = [element("figure", *inside)]
    chosen = [
        element(
            "div",
            element("dt", item.parameter),
            element("dd", item.value),
            element("dd", f"tuned to: {item.tuned_to}", class_="soft small"),
        )
        for item in outcome.experiment.calibrations
    ]
    if chosen:
        heading = element("h3", "Values that the paper doesn't give")
        parts.append(element("aside", heading, element("dl", *chosen)))
    return element("div", *parts, class_="beside")


def _claims(outcome: Outcome) -> Html:
    rows = [
        (
            claim.text,
            claim.paper,
            claim.ours,
            badge(claim.verdict),
            element("span", claim.reason, class_="soft"),
        )
        for claim in outcome.claims
    ]
    return table(("claim", "paper", "ours", "verdict", "why"), rows)


def _runs(outcome: Outcome) -> list[Html]:
    line = f"{outcome.runs:,} runs, {duration(outcome.seconds)} of processor time"
    if not outcome.failed:
        return [element("p", f"{line}; none failed.", class_="soft small")]
    rows = [
        (entry["key"], entry["error"], f"{entry['seconds']:.1f} s")
        for entry in islice(outcome.failed, MOST_FAILURES)
    ]
    more = len(outcome.failed) - len(rows)
    heading = "Failed runs" + (f" (the first {MOST_FAILURES}; all are in the table failures)" if more else "")
    return [
        element("p", f"{line}.", class_="soft small"),
        element("p", f"{failures_told(outcome)}.", class_="notice bad"),
        element("details", element("summary", heading), table(("run", "error", "after"), rows, numbers=(2,))),
    ]
