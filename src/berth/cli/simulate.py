"""`berth simulate`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import typer
from rich.markup import escape

from berth.amounts import operators_in_short, percentage, quantity
from berth.cli.exit_codes import BROKEN, KEPT
from berth.cli.options import (
    AsJson,
    PlanFiles,
    ProblemFile,
    folder_for,
    option,
    picture_format,
    settings_from,
)
from berth.cli.output import (
    folded,
    metric_value,
    out,
    plain_table,
    print_json,
    print_violations,
    print_warnings,
    tell,
)
from berth.cli.plan_files import read_plan
from berth.evaluation import Setting, Situation
from berth.evaluation import evaluate as evaluate_plan
from berth.files import check_writable, load, write_bytes, write_text
from berth.model import BadInput, Problem
from berth.model.errors import did_you_mean, one_of
from berth.model.parameters import parameters_from

if TYPE_CHECKING:
    from berth.simulate import NodeLoss, Simulation

SIMULATE_EXAMPLES = """Examples:

  berth simulate problem.yaml plan.json

  berth simulate problem.yaml plan.json --duration 600 --warm-up 60 --picture run.png

  berth simulate problem.yaml plan.json --events events.yaml --set pause_s=2 --out run

  berth simulate problem.yaml plan.json --lose rome@30 --set detect_s=3

Exit codes: 0 a plan that breaks no constraint and keeps up, 2 bad input, 5 it breaks constraints (where
something is not placed, nothing is simulated), or something has more to do than it can.
"""
MOST_ROWS = 40
MOST_KNOWN = 20
"""So many names are listed where one is unknown."""
_NAMES = {"duration_s": "--duration", "warm_up_s": "--warm-up", "seed": "--seed"}
"""Options that are no `--set`."""


def simulate(
    problem: ProblemFile,
    plan: PlanFiles,
    duration: float = option(60.0, "How many seconds are simulated.", "S"),
    warm_up: float = option(0.0, "What happens in the first so many seconds is not in the totals.", "S"),
    seed: int = option(0, "The same seed gives the same simulation.", "N"),
    arrivals: Literal["poisson", "regular"] = option("poisson", "How tuples come in from outside."),
    service: Literal["exponential", "fixed"] = option("exponential", "How long the work on a tuple takes."),
    events: Path | None = option(
        None, "Rate changes, failures and migrations, YAML or JSON.", "EVENTS", "--events"
    ),
    lose: list[str] | None = option(
        None,
        "Lose a node (or a zone, as 'survive' has it) at a time, for good; the plan's failover follows. "
        "Can be repeated.",
        "NAME@S",
    ),
    settings: list[str] | None = option(
        None, "A further option, such as tuple_bytes=100. Can be repeated.", "KEY=VALUE", "--set"
    ),
    folder: Path | None = option(None, "A folder for the time series and averages as CSV.", "DIR", "--out"),
    picture: Path | None = option(None, "Draw the time lines: FILE.png or FILE.svg.", "FILE"),
    as_json: AsJson = False,
) -> None:
    """Let a plan run, tuple by tuple: latency, queues and traffic over time, with failures and migrations."""
    loaded = load(problem)
    placed = read_plan(loaded, plan).plan
    given = {
        "duration_s": duration,
        "warm_up_s": warm_up,
        "seed": seed,
        "arrivals": arrivals,
        "service": service,
        **settings_from(settings),
    }
    _check_targets(folder, picture)
    judged = evaluate_plan(loaded, placed)
    violations = judged.violations
    situation = Situation(Setting(loaded), placed)
    if not (situation.complete and situation.linked):
        _refuse(violations, as_json)
    # the loops take their time to load: who made a mistake need not wait
    from berth.files.events_file import load_events
    from berth.simulate import Events, Options, simulation_document, simulation_tables
    from berth.simulate import simulate as run

    options = _options(Options, given)
    happening = Events() if events is None else load_events(events, loaded, placed)
    lost = {loss.name for loss in happening.losses}
    given_losses = tuple(_losses(loaded, lose or [], duration, lost))
    happening = replace(happening, losses=(*happening.losses, *given_losses))
    if not as_json:
        print_warnings(judged.warnings)
    simulation = run(loaded, placed, options, happening)
    if folder is not None:
        for name, text in simulation_tables(simulation, loaded).items():
            write_text(folder / name, text)
        tell(f"tables written to {folder}")
    if picture is not None:
        from berth.drawing.simulation_picture import draw_simulation

        write_bytes(picture, draw_simulation(loaded, simulation, picture_format("--picture", picture)))
        tell(f"picture written to {picture}")
    if as_json:
        print_json(simulation_document(simulation, loaded, violations, judged.warnings))
    else:
        _print_simulation(loaded, simulation)
        _print_assumed(simulation)
        print_violations(violations)
        _print_unstable(simulation, judged.warnings)
    raise typer.Exit(BROKEN if violations or simulation.unstable else KEPT)


def _losses(problem: Problem, given: Sequence[str], duration: float, lost: set[str]) -> Iterator[NodeLoss]:
    """What `--lose` says, checked: names may have an @ in them; what is lost stays lost."""
    from berth.simulate import NodeLoss

    known = [loss.name for loss in problem.losses]
    for text in given:
        name, at, seconds = text.rpartition("@")
        try:
            time = float(seconds)
        except ValueError:
            time = math.nan
        if not at or not 0 <= time < math.inf:
            raise BadInput(f"--lose {text}: expected NAME@SECONDS, such as rome@30")
        if not known:
            raise BadInput(f"--lose {text}: the problem has nothing to survive; give it survive: node")
        if name not in known:
            named = one_of if len(known) <= MOST_KNOWN else did_you_mean
            raise BadInput(f"--lose {text}: no loss {named(name, known)}")
        if name in lost:
            raise BadInput(f"--lose {text}: {name} is lost already, and for good")
        if time >= duration:
            raise BadInput(f"--lose {text}: the simulation ends after {duration:g} s; see --duration")
        lost.add(name)
        yield NodeLoss(name, time)


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
        picture_format("--picture", picture)
        check_writable(picture)
    if folder is not None:
        folder_for("--out", folder, "series.csv")


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


def _print_simulation(problem: Problem, simulation: Simulation) -> None:
    """The summary: what was measured beside what the judge expects, then every instance."""
    from berth.simulate.results import link_names

    totals, expected = simulation.totals, simulation.expected
    seconds, events = f"{totals.seconds:,g}", f"{totals.events:,} events"
    out.print(f"[bold]{escape(problem.name)}[/] · {seconds} s · {totals.emitted:,} tuples in · {events}\n")
    path = f" ({' -> '.join(totals.worst_path)})" if totals.worst_path else ""
    rows = [
        ("latency, mean", _time(totals.latency_mean_ms), ""),
        ("latency, median", _time(totals.latency_p50_ms), ""),
        ("latency, 95 %", _time(totals.latency_p95_ms), ""),
        ("latency, 99 %", _time(totals.latency_p99_ms), ""),
        (f"worst path{path}", _time(totals.worst_path_ms), "response_time_ms"),
        ("traffic", metric_value("traffic_bytes_per_s", totals.traffic_bytes_per_s), "traffic_bytes_per_s"),
        (
            "network usage",
            metric_value("network_usage_bytes", totals.network_usage_bytes),
            "network_usage_bytes",
        ),
        ("elastic energy", "", "elastic_energy"),
        ("results per second", quantity(totals.results_per_s), ""),
        (
            "busiest node",
            _busiest(simulation.node_busy / problem.network.cores, list(problem.network.index)),
            "",
        ),
        ("busiest link", _busiest(simulation.link_utilisation, link_names(simulation)), ""),
        ("lost tuples", f"{totals.lost:,}", ""),
        ("inside at the end", f"{totals.inside:,}", ""),
        ("instances moved", f"{totals.moves:,}", ""),
    ]
    table = plain_table("", "measured", "expected", right=(1, 2))
    for name, measured, key in rows:
        table.add_row(escape(name), escape(measured), metric_value(key, expected.get(key)) if key else "")
    out.print(table)
    _print_phases(simulation)
    _print_instances(simulation)


def _print_phases(simulation: Simulation) -> None:
    """Latency before, during and after losses."""
    if not simulation.phases:
        return
    out.print()
    columns = ("phase", "from", "to", "latency", "95 %", "results/s", "lost tuples")
    table = plain_table(*columns, right=(1, 2, 3, 4, 5, 6))
    for phase in simulation.phases:
        times = f"{phase.from_s:.4g} s", f"{phase.to_s:.4g} s"
        latencies = _time(phase.latency_mean_ms), _time(phase.latency_p95_ms)
        table.add_row(
            escape(phase.name), *times, *latencies, quantity(phase.results_per_s), f"{phase.lost:,}"
        )
    out.print(table)


def _print_instances(simulation: Simulation) -> None:
    out.print()
    table = plain_table("instance", "node", "arriving/s", "busy", "present", "time there", right=(2, 3, 4, 5))
    busiest = sorted(simulation.instances, key=lambda item: -item.utilisation)[:MOST_ROWS]
    shown = simulation.instances if len(simulation.instances) <= MOST_ROWS else busiest
    for item in shown:
        figures = quantity(item.arriving_per_s), percentage(item.utilisation), quantity(item.present)
        table.add_row(escape(item.name), escape(item.node), *figures, _time(item.time_ms))
    out.print(table)
    if len(shown) < len(simulation.instances):
        out.print(f"[dim]the busiest of {len(simulation.instances):,}; --json or --out has them all[/]")


def _print_assumed(simulation: Simulation) -> None:
    """The sizes of tuples that nobody gave: rates, and with them all queues, depend on them."""
    lines = simulation.assumed
    if lines:
        out.print("\n[bold yellow]sizes of tuples that the problem doesn't have[/]")
        for line in lines[:MOST_ROWS]:
            out.print(f"  [yellow]![/] {escape(line)}", soft_wrap=True)
        if len(lines) > MOST_ROWS:
            out.print(f"  [dim]and {len(lines) - MOST_ROWS:,} more; --json has them all[/]")


def _print_unstable(simulation: Simulation, warnings: Sequence[str]) -> None:
    """What keeps no pace; of what the judge has warned of already, only that."""
    warned = {_subject(line) for line in warnings}
    known = [_subject(line) for line in simulation.unstable if _subject(line) in warned]
    if known:
        names = operators_in_short(known)
        out.print(f"[red]x[/] {escape(names)}: queues grow as long as it runs", soft_wrap=True)
    for line in folded([line for line in simulation.unstable if _subject(line) not in warned]):
        out.print(f"[red]x[/] {escape(line)}", soft_wrap=True)


def _subject(line: str) -> str:
    """The node or instance that a line is about."""
    return line.partition(": ")[0].removeprefix("instance ")


def _time(value: float) -> str:
    return "-" if math.isnan(value) else metric_value("response_time_ms", value)


def _busiest(table: np.ndarray[Any, Any], names: Sequence[str]) -> str:
    """The highest mean over time, and whose it is."""
    means = table.mean(axis=0) if table.size else np.zeros(0)
    if not means.any():
        return "-"
    place = int(means.argmax())
    return f"{percentage(float(means[place]))} ({names[place]})"
