"""`berth run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from berth.cli.options import AppFiles, AsJson, Configuration
from berth.cli.output import out, print_json
from berth.cli.running import (
    ClusterUrl,
    EmulateNetwork,
    Every,
    ExecutorMemory,
    Fresh,
    MasterPage,
    Once,
    RunDisplay,
    Seconds,
    exit_code_of,
    run_options_from,
)

EPILOG = """Examples:

  berth describe app.py --network machines.yaml --out problem.yaml

  berth solve problem.yaml --out plan.json

  berth run app.py --problem problem.yaml --plan plan.json

  berth run app.py --problem problem.yaml --plan plan.json --once --emulate-network 1

  berth run one.py two.py --problem problem.yaml --plan plan.json

Every operator runs on its planned node, or the run ends with an error (exit code 6). Ctrl-C ends a stream;
the same command goes on where it stopped.
"""


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
    once: Once = False,
    seconds: Seconds = None,
    fresh: Fresh = False,
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
    from berth.cli.run_view import print_report
    from berth.files import load, load_plan
    from berth.runtime import load_application
    from berth.runtime import run as run_applications

    options = run_options_from(
        emulate_network, batch_every, executor_memory, conf, once=once, fresh=fresh, seconds=seconds
    )
    loaded, chosen = load(problem), load_plan(plan)
    applications = [load_application(app) for app in apps]
    with RunDisplay() as display:
        result = run_applications(
            applications,
            loaded,
            chosen,
            folder=folder,
            options=options,
            master_url=master,
            ui_url=master_ui,
            observer=display,
        )
    if as_json:
        print_json(result.document)
    else:
        print_report(result.tally)
        written = "checkpoint, telemetry and report.json"
        out.print(f"\n{written} are in {escape(str(result.folder))}", soft_wrap=True)
    if code := exit_code_of(result):
        raise typer.Exit(code)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(run)
