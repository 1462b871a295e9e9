"""`berth ingest`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from berth.cli.arguments import AsJson
from berth.cli.output import out as console
from berth.cli.output import plain_table, print_json
from berth.cli.spark_options import Configuration, Master, session_for
from berth.cli.spark_progress import watching
from berth.model import BadInput

if TYPE_CHECKING:
    from berth.pipeline.ingest import Summary

EPILOG = """Examples:

  berth ingest telemetry --problem problem.yaml --out measured

  berth solve measured/problem.json

  berth ingest telemetry --problem problem.yaml --out measured --window 300 --weight 0.5

  berth ingest telemetry --problem problem.yaml --out measured --follow

TELEMETRY has the folders probes, heartbeats, operators and streams, with JSON lines or Parquet. What can't be
read or makes no sense is in the table quarantine, with the reason.
"""

MOST_SHOWN = 10


def ingest(
    telemetry: Annotated[
        Path, typer.Argument(help="The folder with the folders of telemetry.", metavar="TELEMETRY")
    ],
    problem: Annotated[
        Path, typer.Option(help="The problem that the telemetry is about, YAML or JSON.", metavar="PROBLEM")
    ],
    out: Annotated[Path, typer.Option(help="Where the tables and problem.json go.", metavar="DIR")],
    window: Annotated[
        float | None,
        typer.Option(
            help="An estimate for every window of so many seconds, and a moving average.", metavar="S"
        ),
    ] = None,
    weight: Annotated[
        float, typer.Option(help="Of a new window in the moving average; above 0, at most 1.", metavar="W")
    ] = 0.3,
    reference_mips: Annotated[
        float | None,
        typer.Option(
            help="What a node of speed 1 has. Default: the median over the nodes of mips / speed.",
            metavar="MIPS",
        ),
    ] = None,
    clock_skew: Annotated[
        float, typer.Option(help="Seconds that a record may be ahead of this machine's clock.", metavar="S")
    ] = 10.0,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes in, until Ctrl-C.")] = False,
    watermark: Annotated[
        float,
        typer.Option(
            help="With --follow: seconds that a record may be older than the newest one.", metavar="S"
        ),
    ] = 3600.0,
    every: Annotated[
        float,
        typer.Option(help="With --follow: seconds from one look for new files to the next.", metavar="S"),
    ] = 5.0,
    once: Annotated[
        bool, typer.Option("--once", help="With --follow: take in what is new, then stop.")
    ] = False,
    as_json: AsJson = False,
    master: Master = None,
    conf: Configuration = None,
) -> None:
    """Turn raw telemetry into tables of what was measured, and into the problem that is true."""
    from berth.pipeline.ingest import IngestOptions
    from berth.pipeline.ingest import follow as follow_telemetry
    from berth.pipeline.ingest import ingest as ingest_telemetry

    if once and not follow:
        raise BadInput(["--once: only with --follow; without it, everything is taken in once anyway"])
    options = IngestOptions(window, weight, reference_mips, clock_skew, watermark, every)
    with session_for(master, conf, "berth ingest") as session, watching(session) as steps:
        if follow:
            summary = follow_telemetry(session, telemetry, problem, out, options, once=once, report=steps)
        else:
            summary = ingest_telemetry(session, telemetry, problem, out, options, steps)
    if as_json:
        print_json(summary.document())
    else:
        print_summary(summary, out)


def print_summary(summary: Summary, folder: Path) -> None:
    """What came in, what was put aside and why, what was never measured."""
    counts = summary.counts
    table = plain_table("folder", "files", "records", "quarantined", right=(1, 2, 3))
    for name in counts.files:
        aside = sum(counts.quarantined.get(name, {}).values())
        table.add_row(name, f"{counts.files[name]:,}", f"{counts.records.get(name, 0):,}", f"{aside:,}")
    console.print(table)
    _print_reasons(summary)
    _print_unmeasured(summary)
    if summary.changes.added_links:
        console.print(f"\n{summary.changes.added_links:,} links are new: the problem had none there")
    if summary.changes.unlinked:
        console.print(
            f"\n{summary.changes.unlinked:,} measured pairs are no physical links: left as they are"
        )
    if summary.ignored:
        console.print(f"\nnot telemetry, not read: {escape(', '.join(summary.ignored))}", soft_wrap=True)
    console.print(f"\ntables and problem.json written to {escape(str(folder))}", soft_wrap=True)


def _print_reasons(summary: Summary) -> None:
    rows = [
        (folder, reason, number)
        for folder, reasons in summary.counts.quarantined.items()
        for reason, number in sorted(reasons.items(), key=lambda item: -item[1])
    ]
    if not rows:
        console.print("\nnothing in quarantine")
        return
    console.print("\n[bold]in quarantine[/]")
    table = plain_table("folder", "reason", "records", right=(2,))
    for folder, reason, number in rows:
        table.add_row(folder, escape(reason), f"{number:,}")
    console.print(table)


def _print_unmeasured(summary: Summary) -> None:
    if not summary.changes.unmeasured:
        return
    console.print("\n[bold]never measured: the problem's value stays[/]")
    for kind, names in summary.changes.unmeasured.items():
        shown = ", ".join(names[:MOST_SHOWN])
        more = f" and {len(names) - MOST_SHOWN:,} more (see report.json)" if len(names) > MOST_SHOWN else ""
        console.print(f"  {kind}: {escape(shown)}{more}", soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(ingest)
