"""`berth run`."""

from __future__ import annotations

import json
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from berth.cli.exit_codes import FAILED, MISPLACED
from berth.cli.options import AppFiles, AsJson, Configuration, leaving_on_signals, spark_settings_from
from berth.cli.output import err, out, print_json
from berth.cli.progress import waiting
from berth.cli.running import (
    ClusterUrl,
    EmulateNetwork,
    Every,
    ExecutorMemory,
    MasterPage,
    check_numbers,
    cluster_access,
    stopping_on_signals,
)

if TYPE_CHECKING:
    from berth.runtime.run import Run

EPILOG = """Examples:

  berth describe app.py --network machines.yaml --out problem.yaml

  berth solve problem.yaml --out plan.json

  berth run app.py --problem problem.yaml --plan plan.json

  berth run app.py --problem problem.yaml --plan plan.json --once --emulate-network 1

  berth run one.py two.py --problem problem.yaml --plan plan.json

Every operator runs on its planned node, or the run ends with an error (exit code 6). Ctrl-C ends a stream;
the same command goes on where it stopped.
"""

GRACE_SECONDS = 60.0
POLL_SECONDS = 1.0


def run(
    apps: AppFiles,
    problem: Annotated[
        Path, typer.Option(help="Problem file: the nodes and the network.", metavar="PROBLEM")
    ],
    plan: Annotated[Path, typer.Option(help="Plan file: where every operator runs.", metavar="PLAN")],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="For checkpoint, telemetry and report.json. Default: NAME.run, by the application's name.",
            metavar="DIR",
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Take in what is there now, then end.")] = False,
    seconds: Annotated[
        float | None, typer.Option("--for", help="End after so many seconds.", metavar="S")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew: drop checkpoint and telemetry of earlier runs.")
    ] = False,
    emulate_network: EmulateNetwork = None,
    batch_every: Every = 0.0,
    executor_memory: ExecutorMemory = "512m",
    master: ClusterUrl = None,
    master_ui: MasterPage = None,
    conf: Configuration = None,
    as_json: AsJson = False,
) -> None:
    """Run applications on Spark with every operator on its planned node.

    Several run as one: results that the plan lets them share (reuse) are computed once.
    """
    from berth.cli.run_view import RunView, print_report
    from berth.files import load, load_plan
    from berth.files.document import write_text
    from berth.runtime.failures import Misplaced
    from berth.runtime.live import Live
    from berth.runtime.loading import load_application
    from berth.runtime.placement import placement_of
    from berth.runtime.profiles import ExecutorSize
    from berth.runtime.run import Run, RunOptions
    from berth.runtime.run_report import RunTally
    from berth.runtime.united import together

    check_numbers(emulate_network, batch_every, seconds)
    settings = spark_settings_from(conf)
    loaded, chosen = load(problem), load_plan(plan)
    application = together([load_application(app) for app in apps], chosen, loaded)
    placement = placement_of(application, loaded, chosen)
    place = folder if folder is not None else Path(f"{application.name}.run")
    options = RunOptions(
        emulate=emulate_network,
        every_s=batch_every,
        once=once,
        executor=ExecutorSize(executor_memory),
        settings=settings,
        fresh=fresh,
    )
    tally = RunTally(application, placement, time.time() * 1000)
    with ExitStack() as until_the_end:
        catch = until_the_end.enter_context(leaving_on_signals())
        catch(signal.SIGINT)
        with waiting("starting") as steps:
            access = until_the_end.enter_context(cluster_access(loaded, master, master_ui, steps))
            running = until_the_end.enter_context(
                Run(application, loaded, chosen, access, place, options, Live(tally, place).add, steps)
            )
        with stopping_on_signals(running.stop), RunView(tally, application.name).shown():
            word, failure = _until_over(running, seconds)
    tally.end(time.time() * 1000)
    document = tally.document() | {"ended_because": word}
    write_text(place / "report.json", json.dumps(document, indent=2, allow_nan=False) + "\n")
    if as_json:
        print_json(document)
    else:
        print_report(tally)
        out.print(f"\ncheckpoint, telemetry and report.json are in {escape(str(place))}", soft_wrap=True)
    if failure is not None:
        err.print(escape(str(failure)), soft_wrap=True)
        raise typer.Exit(MISPLACED if isinstance(failure, Misplaced) else FAILED)


def _until_over(running: Run, seconds: float | None) -> tuple[str, Exception | None]:
    """How it ended, and why if it failed. A node that is lost may come back for a while."""
    from berth.runtime.failures import RunFailed

    deadline = None if seconds is None else time.monotonic() + seconds
    lost_at: float | None = None
    while True:
        word = running.wait(POLL_SECONDS)
        if word in ("finished", "stopped"):
            return word, None
        if word == "failed":
            return word, running.error
        lost = running.dead_nodes().intersection(running.placement.used)
        if not lost:
            lost_at = None
        elif lost_at is None:
            lost_at = time.monotonic()
            names = ", ".join(sorted(lost))
            err.print(f"node {names} is gone: waiting {GRACE_SECONDS:.0f} s for it to come back")
        elif time.monotonic() - lost_at > GRACE_SECONDS:
            names = ", ".join(sorted(lost))
            return "node lost", RunFailed(
                f"node {names} is gone. Nothing is lost: run again when it is back, or with a plan without "
                "it; 'berth watch' does that by itself"
            )
        if deadline is not None and time.monotonic() >= deadline:
            return "stopped", None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(run)
