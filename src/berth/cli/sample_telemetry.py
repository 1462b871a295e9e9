"""`berth sample-telemetry`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from berth.cli.arguments import AsJson, ProblemFile
from berth.cli.output import err, out, plain_table, print_json
from berth.cli.spark_options import Configuration, Master, session_for
from berth.cli.spark_progress import watching
from berth.files import load, load_plan

EPILOG = """Examples:

  berth sample-telemetry examples/tag-and-count.yaml --out telemetry

  berth sample-telemetry problem.yaml --out telemetry --records 10000000 --garbage 0.05 --format parquet

  berth sample-telemetry problem.yaml --out telemetry --start 2026-01-31T12:00Z --timestamps mixed --files 20

The folders are probes, heartbeats, operators and streams; _truth.json says how many records and how much
garbage of which kind they hold. The same seed, start and options give the same records on any number of
processors.
"""


def sample_telemetry(
    problem: ProblemFile,
    target: Annotated[
        Path, typer.Option("--out", help="The folder for the telemetry, new or empty.", metavar="DIR")
    ],
    records: Annotated[
        int | None,
        typer.Option(
            help="Records over all folders, without the garbage; all but heartbeats and reports are probes. "
            "Default: 100,000, or twice the heartbeats and reports if that is more.",
            metavar="N",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same records.", metavar="N")] = 0,
    start: Annotated[
        str | None,
        typer.Option(
            help="The time of the first record, ISO 8601. Default: so that the feed ends now.", metavar="TIME"
        ),
    ] = None,
    duration: Annotated[float, typer.Option(help="The feed's length in seconds.", metavar="S")] = 3600.0,
    noise: Annotated[
        float,
        typer.Option(
            help="Sigma of the log-normal noise on round trips; the other measures vary with it.",
            metavar="SIGMA",
        ),
    ] = 0.1,
    wild: Annotated[
        float,
        typer.Option(help="Share of the probes that are legal, and 5 to 50 times too slow.", metavar="SHARE"),
    ] = 0.01,
    drift: Annotated[
        float,
        typer.Option(
            help="Slow change of all delays from the first record to the last: 0.1 is 10 %; "
            "in the middle they are true.",
            metavar="SHARE",
        ),
    ] = 0.0,
    outages: Annotated[
        bool,
        typer.Option(
            help="Let nodes be silent or say that they are down, for as long as their availability says."
        ),
    ] = True,
    heartbeat_interval: Annotated[
        float | None,
        typer.Option(
            help="Seconds between a node's heartbeats. Default: 10, or more so that they take at most "
            "a quarter of --records.",
            metavar="S",
        ),
    ] = None,
    report_interval: Annotated[
        float | None,
        typer.Option(
            help="Seconds between the reports of an instance or a stream. Default: as for heartbeats.",
            metavar="S",
        ),
    ] = None,
    tuple_bytes: Annotated[
        float, typer.Option(help="The size of a tuple where the problem doesn't tell.", metavar="BYTES")
    ] = 1000.0,
    garbage: Annotated[
        float,
        typer.Option(
            help="Share of all lines that make no sense, of every kind in turn, on top of --records.",
            metavar="SHARE",
        ),
    ] = 0.01,
    form: Annotated[
        Literal["jsonl", "parquet"], typer.Option("--format", help="JSON lines or Parquet.")
    ] = "jsonl",
    timestamps: Annotated[
        Literal["epoch", "iso", "mixed"],
        typer.Option(help="Times as milliseconds since 1970, as ISO 8601, or some of both."),
    ] = "epoch",
    files: Annotated[
        int | None,
        typer.Option(
            help="Files in each folder, one slice of time each. Default: one for each half million records, "
            "up to 4 for fewer.",
            metavar="N",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            help="The plan that the instances run by. Default: in turn on the nodes that may host them.",
            metavar="PLAN",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the telemetry in DIR; other files in it stay.")
    ] = False,
    master: Master = None,
    configuration: Configuration = None,
    as_json: AsJson = False,
) -> None:
    """Make synthetic telemetry of a problem: noise, drift, outages and garbage, and the truth known."""
    loaded = load(problem)
    running = None if plan is None else load_plan(plan)
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
            progress=lambda folder: steps.step(f"writing {folder}"),
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
    err.print(f"telemetry written to {target}", markup=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="sample-telemetry", epilog=EPILOG)(sample_telemetry)
