"""`berth watch`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from berth.cli.exit_codes import INFEASIBLE, NOT_FOUND
from berth.cli.options import (
    AppFile,
    Configuration,
    Objectives,
    Seed,
    TimeLimit,
    settings_from,
    time_limit_from,
    with_objective,
)
from berth.cli.output import err, out
from berth.cli.running import (
    ClusterUrl,
    EmulateNetwork,
    Every,
    ExecutorMemory,
    Fresh,
    MasterPage,
    Once,
    Seconds,
    exit_code_of,
    run_options_from,
)

EPILOG = """Examples:

  berth watch app.py --problem problem.yaml

  berth watch app.py --problem problem.yaml --plan plan.json --every 20 --min-gain 0.2 --max-moves 2

  berth watch app.py --problem problem.yaml --freeze count --approve

  berth watch app.py --problem problem.yaml --dry-run --for 600

Runs the application, measures it, plans again with what was measured, and moves it when that is worth it.
A node that dies is left at once. DIR gets the history (history.jsonl, history.parquet, plans), timeline.svg
and timeline.png. Ctrl-C ends it; the same command goes on where it stopped.
"""


def watch(
    app: AppFile,
    problem: Annotated[
        Path, typer.Option(help="Problem file: the nodes and the network.", metavar="PROBLEM")
    ],
    plan: Annotated[
        Path | None,
        typer.Option(help="Plan file to begin with. Default: what the policy finds.", metavar="PLAN"),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="For checkpoint, telemetry and history. Default: NAME.run, by the application's name.",
            metavar="DIR",
        ),
    ] = None,
    policy: Annotated[
        str, typer.Option(help="The policy; 'berth policies' lists them.", metavar="NAME")
    ] = "auto",
    objective: Objectives = None,
    every: Annotated[float, typer.Option(help="Seconds from one look to the next.", metavar="S")] = 30.0,
    min_gain: Annotated[
        float, typer.Option(help="What a new plan must be better by; 0.1 is a tenth.", metavar="SHARE")
    ] = 0.1,
    cool_down: Annotated[
        float, typer.Option(help="Seconds without a move after a move, unless a node dies.", metavar="S")
    ] = 60.0,
    confirmations: Annotated[
        int, typer.Option(help="Looks in a row that must see the gain.", metavar="N")
    ] = 2,
    max_moves: Annotated[
        int | None,
        typer.Option(help="Instances that may move at once; more only from a dead node.", metavar="N"),
    ] = None,
    move_price: Annotated[
        float, typer.Option(help="Gain that each moved instance must bring on top.", metavar="SHARE")
    ] = 0.01,
    state_price: Annotated[
        float, typer.Option(help="Gain that each moved gigabyte of state must bring on top.", metavar="SHARE")
    ] = 0.1,
    freeze: Annotated[
        list[str] | None,
        typer.Option(help="An operator that stays where it is. Can be repeated.", metavar="OPERATOR"),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            help="How much worse than promised a plan may do before it is rolled back.", metavar="SHARE"
        ),
    ] = 0.1,
    distrust: Annotated[
        float,
        typer.Option(help="Seconds for which a plan that failed or was declined isn't tried.", metavar="S"),
    ] = 600.0,
    memory: Annotated[
        float | None,
        typer.Option(help="Seconds of telemetry that count. Default: those of two looks.", metavar="S"),
    ] = None,
    approve: Annotated[
        bool, typer.Option("--approve", help="Show the difference and ask first, here and on the page.")
    ] = False,
    approve_on_page: Annotated[
        bool,
        typer.Option("--approve-on-page", help="As --approve, but only the page of 'berth serve' is asked."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")] = False,
    time_limit: TimeLimit = 10.0,
    seed: Seed = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the policy. Can be repeated.", metavar="KEY=VALUE"),
    ] = None,
    seconds: Seconds = None,
    once: Once = False,
    fresh: Fresh = False,
    emulate_network: EmulateNetwork = None,
    batch_every: Every = 0.0,
    executor_memory: ExecutorMemory = "512m",
    master: ClusterUrl = None,
    master_ui: MasterPage = None,
    conf: Configuration = None,
) -> None:
    """Run an application, measure it, and move its operators when a better plan is worth it."""
    from berth.cli.run_view import print_report
    from berth.cli.watch_view import WatchDisplay, print_history
    from berth.files import load_plan
    from berth.runtime import NoFirstPlan, WatchOptions, load_application, load_watched
    from berth.runtime import watch as watch_application

    run_options = run_options_from(
        emulate_network, batch_every, executor_memory, conf, once=once, fresh=fresh, seconds=seconds
    )
    options = WatchOptions(
        every_s=every,
        min_gain=min_gain,
        cool_down_s=cool_down,
        confirmations=confirmations,
        max_moves=max_moves,
        move_price=move_price,
        state_price=state_price,
        frozen=frozenset(freeze or ()),
        tolerance=tolerance,
        distrust_s=distrust,
        memory_s=memory,
        approve=approve or approve_on_page,
        dry_run=dry_run,
        policy=policy,
        time_limit=time_limit_from(time_limit),
        seed=seed,
        parameters=settings_from(settings),
    )
    application = load_application(app)
    watched = load_watched(problem)
    watched = replace(watched, problem=with_objective(watched.problem, objective))
    try:
        with WatchDisplay(ask_here=not approve_on_page) as display:
            result = watch_application(
                application,
                watched,
                plan=None if plan is None else load_plan(plan),
                reason=f"the plan of {plan}",
                folder=folder,
                options=options,
                run_options=run_options,
                master_url=master,
                ui_url=master_ui,
                observer=display,
            )
    except NoFirstPlan as error:
        err.print(str(error), markup=False, soft_wrap=True)
        raise typer.Exit(INFEASIBLE if error.status == "infeasible" else NOT_FOUND) from None
    code = exit_code_of(result)
    print_report(result.tally)
    out.print()
    print_history(result.events)
    written = "report.html, report.json, history.parquet, timeline.svg and timeline.png"
    out.print(f"\n{written} are in {escape(str(result.folder))}", soft_wrap=True)
    raise typer.Exit(code)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(watch)
