"""`berth ingest` and `berth sample-telemetry`: telemetry in, and made up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from rich.markup import escape

from berth.cli.options import (
    AsJson,
    Configuration,
    Master,
    ProblemFile,
    argument,
    flag,
    option,
    session_for,
)
from berth.cli.output import out, plain_table, print_json, tell
from berth.cli.plan_files import read_plan
from berth.cli.progress import watching
from berth.files import load
from berth.model import BadInput

if TYPE_CHECKING:
    from berth.pipeline.ingest import Summary

INGEST_EXAMPLES = """Examples:

  berth ingest telemetry --problem problem.yaml --out measured

  berth solve measured/problem.json

  berth ingest telemetry --problem problem.yaml --out measured --window 300 --weight 0.5

  berth ingest telemetry --problem problem.yaml --out measured --follow

TELEMETRY has some of the folders probes, heartbeats, operators, streams, energy, with JSON lines or Parquet.
What can't be read or makes no sense is in the table quarantine, with the reason.
"""

SAMPLE_TELEMETRY_EXAMPLES = """Examples:

  berth sample-telemetry examples/tag-and-count.yaml --out telemetry

  berth sample-telemetry problem.yaml --out telemetry --records 10000000 --garbage 0.05 --format parquet

  berth sample-telemetry problem.yaml --out telemetry --start 2026-01-31T12:00Z --timestamps mixed --files 20

The folders are probes, heartbeats, operators and streams, and energy where nodes emit carbon; _truth.json
says how many records and how much garbage of which kind they hold. The same seed, start and options give the
same records on any number of processors.
"""


MOST_SHOWN = 10


def ingest(
    telemetry: Annotated[Path, argument("The folder with the folders of telemetry.", "TELEMETRY")],
    problem: Path = option(..., "The problem that the telemetry is about, YAML or JSON.", "PROBLEM"),
    folder: Path = option(..., "Where the tables and problem.json go.", "DIR", "--out"),
    window: float | None = option(
        None, "An estimate for every window of so many seconds, and a moving average.", "S"
    ),
    weight: float = option(0.3, "Weight of a new window in the moving average; above 0, at most 1.", "W"),
    reference_mips: float | None = option(
        None, "What a node of speed 1 has. Default: the median over the nodes of mips / speed.", "MIPS"
    ),
    carbon_intensity: float | None = option(
        None,
        "Grams of CO2 for a kilowatt-hour: the nodes' carbon_g_per_hour follows their energy.",
        "G_PER_KWH",
    ),
    names: Path | None = option(
        None, "What the telemetry calls nodes, operators and instances, YAML or JSON.", "FILE"
    ),
    clock_skew: float = option(10.0, "Seconds that a record may be ahead of this machine's clock.", "S"),
    follow: bool = flag("--follow", "Go on with what comes in, until Ctrl-C."),
    watermark: float = option(
        3600.0, "With --follow: seconds that a record may be older than the newest one.", "S"
    ),
    every: float = option(5.0, "With --follow: seconds from one look for new files to the next.", "S"),
    once: bool = flag("--once", "With --follow: take in what is new, then stop."),
    as_json: AsJson = False,
    master: Master = None,
    conf: Configuration = None,
) -> None:
    """Turn raw telemetry into tables and into a problem updated with the measured values."""
    from berth.pipeline.ingest import IngestOptions
    from berth.pipeline.ingest import follow as follow_telemetry
    from berth.pipeline.ingest import ingest as ingest_telemetry

    if once and not follow:
        raise BadInput("--once: only with --follow; without it, everything is taken in once anyway")
    options = IngestOptions(window, weight, reference_mips, carbon_intensity, clock_skew, watermark, every)
    # files of another kind are told before Spark has started
    load(problem)
    with session_for(master, conf, "berth ingest") as session, watching(session) as steps:
        if follow:
            summary = follow_telemetry(
                session, telemetry, problem, folder, options, once=once, report=steps, names=names
            )
        else:
            summary = ingest_telemetry(session, telemetry, problem, folder, options, steps, names)
    if as_json:
        print_json(summary.document())
    else:
        _print_summary(summary, folder)


def _print_summary(summary: Summary, folder: Path) -> None:
    """What came in, what was put aside and why, what was never measured."""
    counts = summary.counts
    table = plain_table("folder", "files", "records", "quarantined", right=(1, 2, 3))
    for name in counts.files:
        aside = sum(counts.quarantined.get(name, {}).values())
        table.add_row(name, f"{counts.files[name]:,}", f"{counts.records.get(name, 0):,}", f"{aside:,}")
    out.print(table)
    _print_reasons(summary)
    _print_unmeasured(summary)
    if summary.changes.added_links:
        out.print(f"\n{summary.changes.added_links:,} links are new: the problem had none there")
    if summary.changes.unlinked:
        out.print(f"\n{summary.changes.unlinked:,} measured pairs are no physical links: left as they are")
    if summary.ignored:
        out.print(f"\nnot telemetry, not read: {escape(', '.join(summary.ignored))}", soft_wrap=True)
    out.print(f"\ntables and problem.json written to {escape(str(folder))}", soft_wrap=True)


def _print_reasons(summary: Summary) -> None:
    rows = [
        (folder, reason, number)
        for folder, reasons in summary.counts.quarantined.items()
        for reason, number in sorted(reasons.items(), key=lambda item: -item[1])
    ]
    if not rows:
        out.print("\nnothing in quarantine")
        return
    out.print("\n[bold]in quarantine[/]")
    table = plain_table("folder", "reason", "records", right=(2,))
    for folder, reason, number in rows:
        table.add_row(folder, escape(reason), f"{number:,}")
    out.print(table)


def _print_unmeasured(summary: Summary) -> None:
    if not summary.changes.unmeasured:
        return
    out.print("\n[bold]never measured: the problem's value stays[/]")
    for kind, names in summary.changes.unmeasured.items():
        shown = ", ".join(names[:MOST_SHOWN])
        more = f" and {len(names) - MOST_SHOWN:,} more (see report.json)" if len(names) > MOST_SHOWN else ""
        out.print(f"  {kind}: {escape(shown)}{more}", soft_wrap=True)


def sample_telemetry(
    problem: ProblemFile,
    target: Path = option(..., "The folder for the telemetry, new or empty.", "DIR", "--out"),
    records: int | None = option(
        None,
        "Records over all folders, without the garbage; all but heartbeats and reports are probes. "
        "Default: 100,000, or twice the heartbeats and reports if that is more.",
        "N",
    ),
    seed: int = option(0, "The same seed gives the same records.", "N"),
    start: str | None = option(
        None, "The time of the first record, ISO 8601. Default: so that the feed ends now.", "TIME"
    ),
    duration: float = option(3600.0, "The feed's length in seconds.", "S"),
    noise: float = option(
        0.1, "Sigma of the log-normal noise on round trips; the other measures vary with it.", "SIGMA"
    ),
    wild: float = option(0.01, "Share of the probes that are legal, and 5 to 50 times too slow.", "SHARE"),
    drift: float = option(
        0.0,
        "Slow change of all delays from the first record to the last: 0.1 is 10 %; "
        "in the middle they are true.",
        "SHARE",
    ),
    outages: bool = option(
        True, "Let nodes be silent or say that they are down, for as long as their availability says."
    ),
    heartbeat_interval: float | None = option(
        None,
        "Seconds between a node's heartbeats. Default: 10, or more so that they take at most "
        "a quarter of --records.",
        "S",
    ),
    report_interval: float | None = option(
        None,
        "Seconds between the reports of an instance, a stream or a node's energy. Default: as for "
        "heartbeats.",
        "S",
    ),
    tuple_bytes: float = option(1000.0, "The size of a tuple where the problem doesn't tell.", "BYTES"),
    carbon_intensity: float = option(
        400.0,
        "Grams of CO2 for a kilowatt-hour: nodes with carbon_g_per_hour draw power accordingly.",
        "G_PER_KWH",
    ),
    garbage: float = option(
        0.01, "Share of all lines that make no sense, of every kind in turn, on top of --records.", "SHARE"
    ),
    form: Literal["jsonl", "parquet"] = option("jsonl", "JSON lines or Parquet.", name="--format"),
    timestamps: Literal["epoch", "iso", "mixed"] = option(
        "epoch", "Times as milliseconds since 1970, as ISO 8601, or some of both."
    ),
    files: int | None = option(
        None,
        "Files in each folder, one slice of time each. Default: one for each half million records, "
        "up to 4 for fewer.",
        "N",
    ),
    plan: Path | None = option(
        None, "The plan that the instances run by. Default: in turn on the nodes that may host them.", "PLAN"
    ),
    overwrite: bool = flag("--overwrite", "Replace the telemetry in DIR; other files in it stay."),
    master: Master = None,
    configuration: Configuration = None,
    as_json: AsJson = False,
) -> None:
    """Make synthetic telemetry of a problem: noise, drift, outages and garbage, and the truth known."""
    loaded = load(problem)
    running = None if plan is None else read_plan(loaded, [plan]).plan
    # imported here: commands without Spark don't wait for it
    from berth.pipeline.sample import SampleOptions, check_target, plan_sample, write_telemetry

    options = SampleOptions(
        records=records,
        seed=seed,
        start=start,
        duration=duration,
        noise=noise,
        wild=wild,
        drift=drift,
        outages=outages,
        heartbeat_interval=heartbeat_interval,
        report_interval=report_interval,
        tuple_bytes=tuple_bytes,
        carbon_intensity=carbon_intensity,
        garbage=garbage,
        format=form,
        timestamps=timestamps,
        files=files,
    )
    sample = plan_sample(loaded, options, running)
    check_target(target, overwrite)
    with (
        session_for(master, configuration, "berth sample-telemetry") as session,
        watching(session, "planning") as steps,
    ):
        truth = write_telemetry(
            session,
            sample,
            target,
            overwrite=overwrite,
            progress=lambda folder: steps(f"writing {folder}"),
        )
    if as_json:
        print_json(truth)
    else:
        _print_truth(truth, target)


def _print_truth(truth: dict[str, Any], target: Path) -> None:
    table = plain_table("folder", "files", "records", "garbage", right=(1, 2, 3))
    for name, folder in truth["folders"].items():
        table.add_row(name, *[f"{folder[key]:,}" for key in ("files", "records", "garbage")])
    out.print(table)
    for note in truth["notes"]:
        out.print(note, markup=False, soft_wrap=True)
    tell(f"telemetry written to {target}")
