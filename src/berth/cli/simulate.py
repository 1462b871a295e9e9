"""`berth simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape

from berth.cli.exit_codes import BROKEN, KEPT
from berth.cli.options import AsJson, PlanFiles, ProblemFile, settings_from
from berth.cli.output import err, out, print_json, print_violations
from berth.connectors import load_any
from berth.evaluation import Setting, Situation
from berth.evaluation import evaluate as evaluate_plan
from berth.files import check_writable, load, write_bytes
from berth.model import BadInput
from berth.model.parameters import parameters_from

EPILOG = """Examples:

  berth simulate problem.yaml plan.json

  berth simulate problem.yaml plan.json --duration 600 --warm-up 60 --picture run.png

  berth simulate problem.yaml plan.json --events events.yaml --set pause_s=2 --out run

Exit codes: 0 a plan that breaks no constraint and keeps up, 2 bad input, 5 it breaks constraints (where
something is not placed, nothing is simulated), or something has more to do than it can.
"""
_FORMATS: dict[str, Literal["png", "svg"]] = {".png": "png", ".svg": "svg"}
_NAMES = {"duration_s": "--duration", "warm_up_s": "--warm-up", "seed": "--seed"}
"""Options that are no `--set`."""

Duration = Annotated[float, typer.Option(help="How many seconds are simulated.", metavar="S")]
WarmUp = Annotated[
    float, typer.Option(help="What happens in the first so many seconds is not in the totals.", metavar="S")
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same simulation.", metavar="N")]
Arrivals = Annotated[Literal["poisson", "regular"], typer.Option(help="How tuples come in from outside.")]
ServiceTimes = Annotated[
    Literal["exponential", "fixed"], typer.Option(help="How long the work on a tuple takes.")
]
EventsFile = Annotated[
    Path | None,
    typer.Option("--events", help="Rate changes, failures and migrations, YAML or JSON.", metavar="FILE"),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="A further option, such as tuple_bytes=100. Can be repeated.", metavar="KEY=VALUE"
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option("--out", help="A folder for the time series and averages as CSV.", metavar="DIR"),
]
Picture = Annotated[
    Path | None, typer.Option(help="Draw the time lines: FILE.png or FILE.svg.", metavar="FILE")
]


def simulate(
    problem: ProblemFile,
    plan: PlanFiles,
    duration: Duration = 60.0,
    warm_up: WarmUp = 0.0,
    seed: Seed = 0,
    arrivals: Arrivals = "poisson",
    service: ServiceTimes = "exponential",
    events: EventsFile = None,
    settings: Settings = None,
    folder: Folder = None,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Let a plan run, tuple by tuple: latency, queues and traffic over time, with failures and migrations."""
    loaded = load(problem)
    placed = load_any(loaded, plan).plan
    given = {
        "duration_s": duration,
        "warm_up_s": warm_up,
        "seed": seed,
        "arrivals": arrivals,
        "service": service,
        **settings_from(settings),
    }
    _check_targets(folder, picture)
    violations = evaluate_plan(loaded, placed).violations
    situation = Situation(Setting(loaded), placed)
    if not (situation.complete and situation.linked):
        _refuse(violations, as_json)
    # the loops take their time to load: who made a mistake need not wait
    from berth.cli.simulate_events import load_events
    from berth.cli.simulate_view import document_of, print_simulation, write_tables
    from berth.simulate import Options
    from berth.simulate import simulate as run

    options = _options(Options, given)
    happening = None if events is None else load_events(events, loaded, placed)
    simulation = run(loaded, placed, options, happening)
    if folder is not None:
        write_tables(simulation, loaded, folder)
        err.print(f"tables written to {folder}", markup=False, soft_wrap=True)
    if picture is not None:
        from berth.drawing.simulation_picture import draw_simulation

        write_bytes(picture, draw_simulation(loaded, simulation, _FORMATS[picture.suffix.lower()]))
        err.print(f"picture written to {picture}", markup=False, soft_wrap=True)
    if as_json:
        print_json(document_of(simulation, loaded, violations))
    else:
        print_simulation(loaded, simulation)
        print_violations(violations)
        for line in simulation.unstable:
            out.print(f"[red]x[/] {escape(line)}", soft_wrap=True)
    raise typer.Exit(BROKEN if violations or simulation.unstable else KEPT)


def _options(kind: type, given: dict[str, Any]) -> Any:
    try:
        return parameters_from(kind, given, "berth simulate")
    except BadInput as error:
        lines = list(error.mistakes)
        for name, option in _NAMES.items():
            lines = [line.replace(f"--set {name}:", f"{option}:", 1) for line in lines]
        raise BadInput(lines) from None


def _check_targets(folder: Path | None, picture: Path | None) -> None:
    """Fail before anything is simulated."""
    if picture is not None:
        if picture.suffix.lower() not in _FORMATS:
            raise BadInput([f"--picture {picture}: expected a name that ends in .png or .svg"])
        check_writable(picture)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput([f"--out {folder}: no folder: {(error.strerror or str(error)).lower()}"]) from None
        check_writable(folder / "series.csv")


def _refuse(violations: tuple[str, ...], as_json: bool) -> None:
    """A plan that can't run."""
    if as_json:
        print_json({"violations": list(violations)})
    else:
        out.print(
            "nothing is simulated: the plan leaves open what runs where, or needs links that are not there"
        )
        print_violations(violations)
    raise typer.Exit(BROKEN)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(simulate)
