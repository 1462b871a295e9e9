"""`berth explain`."""

from __future__ import annotations

import math
from pathlib import Path

import typer
from rich.console import RenderableType
from rich.markup import escape
from rich.text import Text

from berth.amounts import counted, distance, in_unit, milliseconds, percentage, shortened, signed
from berth.cli.exit_codes import BROKEN, KEPT
from berth.cli.options import (
    AsJson,
    PlanFiles,
    ProblemFile,
    option,
    picture_format,
    time_limit_from,
)
from berth.cli.output import (
    metric_name,
    metric_value,
    out,
    plain_table,
    print_json,
    print_violations,
    print_warnings,
    tell,
)
from berth.cli.plan_files import read_plan
from berth.cli.plan_view import print_moves
from berth.drawing.terminal import bar
from berth.drawing.views import instance_groups
from berth.evaluation import METRIC_BY_NAME
from berth.evaluation.goal import Goal
from berth.evaluation.limits import OneCore, Processor, exceeds
from berth.explanation import DEFAULT_TIME_LIMIT, Depth, Explanation, document
from berth.explanation import explain as explain_plan
from berth.explanation.alternatives import Alternative, Explained
from berth.explanation.binding import Room
from berth.explanation.survival import LossExplained, Survival
from berth.explanation.what_if import Outcome, WhatIf
from berth.files import check_writable, load, write_bytes
from berth.model import BadInput

EXPLAIN_EXAMPLES = """Examples:

  berth explain problem.yaml plan.json

  berth explain problem.yaml plan.json --operator tag --what-if none

  berth explain problem.yaml plan.json --what-if full --time-limit 60 --out why.png

Exit codes: 0 the plan breaks no constraint, 2 bad input, 5 it breaks constraints.
"""

MOST_ROWS = 40
MOST_LIMITS, MOST_HINTS = 8, 3
MOST_STEPS = 16
MOST_LOSSES = 8
MOST_NAMES = 6


DEPTHS: dict[str, Depth] = {"none": "none", "quick": "quick", "full": "full"}


def explain(
    problem: ProblemFile,
    plan: PlanFiles,
    operator: list[str] | None = option(
        None, "Explain only this operator or instance. Can be repeated.", "NAME", "--operator"
    ),
    what_if: str = option(
        "quick", "How many changes of the network are tried: none, quick or full.", "DEPTH"
    ),
    time_limit: float = option(DEFAULT_TIME_LIMIT, "Seconds for trying changes, in all.", "S"),
    out_file: Path | None = option(None, "Draw a picture as well: FILE.png or FILE.svg.", "FILE", "--out"),
    as_json: AsJson = False,
) -> None:
    """Say why the operators are where they are, what binds, and what would help."""
    if what_if not in DEPTHS:
        raise BadInput(f"--what-if {what_if}: expected none, quick or full")
    if out_file is not None:
        picture_format("--out", out_file)
        check_writable(out_file)
    seconds = time_limit_from(time_limit)
    loaded = load(problem)
    placed = read_plan(loaded, plan).plan
    found = explain_plan(
        loaded, placed, operators=operator or [], what_if=DEPTHS[what_if], time_limit=seconds
    )
    if as_json:
        print_json(document(found))
    else:
        print_explanation(found)
    if out_file is not None:
        _draw(found, out_file)
    raise typer.Exit(BROKEN if found.violations else KEPT)


def _draw(found: Explanation, file: Path) -> None:
    # matplotlib takes its time to load: only who wants a picture pays for it.
    from berth.drawing.explanation_picture import draw_explanation

    write_bytes(file, draw_explanation(found, picture_format("--out", file)))
    tell(f"picture written to {file}")


def print_explanation(explanation: Explanation) -> None:
    """What is broken and how to mend it, then why, what binds, what it survives, and what would help."""
    _print_headline(explanation)
    print_violations(explanation.violations)
    print_warnings(explanation.warnings)
    for part in (_mending, _operators, _limits, _path, _survival, _sharing, _growth, _what_if):
        part(explanation)


def _title(text: str) -> None:
    out.print(f"\n[bold]{text}[/]")


def _print_headline(explanation: Explanation) -> None:
    plan = explanation.situation.plan
    policy = f" · policy {escape(plan.policy)}" if plan.policy else ""
    objective = (
        "can't be computed"
        if explanation.objective is None
        else _value(explanation.goal, explanation.objective)
    )
    out.print(
        f"[bold]{escape(explanation.situation.problem.name)}[/]{policy} · {_goal_name(explanation.goal)} "
        f"[bold]{objective}[/]"
    )


def _goal_name(goal: Goal | None) -> str:
    if goal is None:
        return "objective"
    return metric_name(METRIC_BY_NAME[goal.single].key) if goal.single else "weighted sum"


def _value(goal: Goal | None, value: float) -> str:
    """How an objective is written."""
    return in_unit(value, "" if goal is None else goal.unit)


def _distance(goal: Goal | None, step: float) -> str:
    return distance(step, "" if goal is None else goal.unit)


def _signed(goal: Goal | None, change: float | None) -> str:
    if change is None:
        return "?"
    if change == 0:
        return "the same"
    return signed(change, "" if goal is None else goal.unit)


def _operators(explanation: Explanation) -> None:
    _title("Why they are where they are")
    table = plain_table("operator", "on", "best other node", "change", right=(3,))
    rows = explanation.rows
    reasons = []
    for numbers, item in rows[:MOST_ROWS]:
        names = escape(", ".join(instance_groups(explanation.situation.problem, numbers)))
        table.add_row(names, escape(item.node or "nowhere"), *_best_cells(explanation, item))
        reasons += [f"{names}: {escape(line)}" for line in _reasons(explanation.goal, item)]
    out.print(table)
    if reasons:
        out.print("What stands in the way of better nodes, or of any")
    for line in reasons:
        out.print(f"  {line}", soft_wrap=True)
    if len(rows) > MOST_ROWS:
        out.print(f"[dim]and {counted(len(rows) - MOST_ROWS, 'more row')}; --json has them all[/]")
    if len(explanation.operators) < explanation.units:
        left = explanation.units - len(explanation.operators)
        out.print(f"[dim]{left} of {explanation.units} not explained; --operator NAME asks for one[/]")


def _best_cells(explanation: Explanation, item: Explained) -> tuple[str, RenderableType]:
    if item.fixed:
        return "[dim]may run nowhere else[/]", ""
    if item.best is None:
        return "none" if item.searched else "none found", ""
    style = "green" if item.best.better or item.best.mends else ""
    mends = f", mends {len(item.best.mends)}" if item.best.mends else ""
    text = _signed(explanation.goal, item.best.change)
    if explanation.objective is None and item.best.objective is not None:
        text = f"then {_value(explanation.goal, item.best.objective)}"
    return escape(item.best.node), Text(text + mends, style)


def _reasons(goal: Goal | None, item: Explained) -> list[str]:
    """What forbids the best of the better nodes, or else all others."""
    if item.forbidden:
        return [_would(goal, item.forbidden[0])]
    if item.best is not None or item.fixed:
        return []
    counts = ", ".join(f"{name} ({counted(count, 'node')})" for name, count in item.obstacles.items())
    return [
        *([counts] if counts else []),
        *(f"{other.node}: {other.breaks[0]}" for other in item.refused[:1]),
    ]


def _would(goal: Goal | None, other: Alternative) -> str:
    more = f" (and {len(other.breaks) - 1} more)" if len(other.breaks) > 1 else ""
    verb = "add" if goal is not None and goal.maximise else "save"
    gain = _distance(goal, abs(other.change or 0.0))
    return f"{other.node} would {verb} {gain}, but {other.breaks[0]}{more}"


def _limits(explanation: Explanation) -> None:
    _title("What binds")
    if not explanation.limits:
        out.print("nothing that has a limit is in use")
        return
    table = plain_table("limit", "", "used", "of", "left", right=(2, 3, 4))
    rows = explanation.bounds
    for row in rows[:MOST_LIMITS]:
        use = row.use
        style = "red" if use.exceeded else "yellow" if use.share > 0.999 else ""
        share = percentage(use.share) if math.isfinite(use.share) else "all"
        table.add_row(
            escape(row.title),
            Text(f"{bar(use.share)} {share}", style),
            in_unit(use.needed, use.unit),
            in_unit(use.limit, use.unit),
            Text(in_unit(use.slack, use.unit), style),
        )
    out.print(table)
    if len(rows) > MOST_LIMITS:
        out.print(f"[dim]and {counted(len(rows) - MOST_LIMITS, 'more limit')}[/]")
    most = explanation.situation.network.max_utilisation
    if most is not None and most < 1.0 and any(isinstance(row.use.of, Processor | OneCore) for row in rows):
        allowed = f"{percentage(most)} of processors and cores may be used (max_utilisation)"
        out.print(f"[dim]{allowed}; these are shares of that[/]", soft_wrap=True)
    for row in [row for row in rows if row.use.exceeded][:MOST_HINTS]:
        out.print(f"{escape(row.title)}: {escape(row.use.advice)}", soft_wrap=True)


def _path(explanation: Explanation) -> None:
    path = explanation.path
    if not path.steps:
        return
    _title(f"Slowest path: {milliseconds(path.total_ms)}")
    shares = percentage(path.share(path.work_ms)), percentage(path.share(path.delay_ms))
    out.print(
        f"work {milliseconds(path.work_ms)} ({shares[0]}), delay {milliseconds(path.delay_ms)} ({shares[1]})"
    )
    table = plain_table("instance", "on", "work", "delay to the next", right=(2, 3))
    for step in path.steps[:MOST_STEPS]:
        delay = milliseconds(step.delay_ms) if step.delay_ms else ""
        table.add_row(escape(step.instance), escape(step.node), milliseconds(step.work_ms), delay)
    out.print(table)
    if len(path.steps) > MOST_STEPS:
        out.print(f"[dim]and {counted(len(path.steps) - MOST_STEPS, 'more step')}[/]")


def _survival(explanation: Explanation) -> None:
    found = explanation.survival
    if found is None:
        return
    _title("What it survives")
    if explanation.situation.broken:
        out.print("[dim]not judged: the plan itself breaks something[/]")
        return
    _print_losses(found)
    broken = sum(bool(loss.violations) for loss in found.losses)
    survived = f"survived: {found.count - broken} of {found.count}"
    most, tight = found.most_moved, found.tightest
    notes = [survived]
    if most is not None and most.moved:
        notes.append(f"most moves when {most.name} is lost: {counted(len(most.moved), 'instance')}")
    if tight is not None and tight.fullest is not None:
        notes.append(f"least room is left when {tight.name} is lost: {_fullest(tight)}")
    out.print(escape("; ".join(notes)), soft_wrap=True)
    if found.without is not None:
        out.print(escape(_cost_of_survival(found)), soft_wrap=True)
    _print_better_failover(found)


def _print_better_failover(found: Survival) -> None:
    """What would survive with everything where it is."""
    if found.failover is not None:
        what = "more" if found.helpless else "every loss"
        out.print(f"\n[green]With this failover the same placement survives {what}[/]")
        print_moves(found.failover)
        out.print("[dim]--json has it as survival.failover, to be put into the plan file[/]")
    if found.helpless:
        names = escape(shortened(list(found.helpless), MOST_NAMES))
        line = f"no failover was found for the loss of {names}: other places are needed, or more room"
        out.print(f"[red]{line}[/]", soft_wrap=True)


def _print_losses(found: Survival) -> None:
    breaks = any(loss.violations for loss in found.losses[:MOST_LOSSES])
    columns = ["loss of", "moves", "lost", "response time", "fullest then", *["breaks"] * breaks]
    table = plain_table(*columns, right=(1, 2, 3))
    for loss in found.losses[:MOST_LOSSES]:
        time = "unknown" if loss.response_time_ms is None else milliseconds(loss.response_time_ms)
        counts = str(len(loss.moved)), str(len(loss.lost) or "")
        first, others = "".join(loss.violations[:1]), len(loss.violations) - 1
        first += f" (and {others} more)" if others > 0 else ""
        broken = [Text(first, "red")] * breaks
        table.add_row(escape(loss.name), *counts, time, escape(_fullest(loss)), *broken)
    if found.losses:
        out.print(table)
    if len(found.losses) > MOST_LOSSES:
        more = len(found.losses) - MOST_LOSSES
        out.print(f"[dim]and {more} more that leave it faster; --json has them all[/]")


def _fullest(loss: LossExplained) -> str:
    use = loss.fullest
    if use is None:
        return ""
    share = percentage(use.share) if math.isfinite(use.share) else "all"
    return f"{use.kind} {use.name} {share}"


def _cost_of_survival(found: Survival) -> str:
    """What it costs to survive, against the best plan that need not."""
    assert found.without is not None
    name = _goal_name(found.goal)
    if found.helpless:
        return "what survival costs can't be said: this plan doesn't survive"
    if found.without.objective is None or found.objective is None or found.cost is None:
        return f"without losses to survive: {found.without.reason or 'nothing can be said'}"
    best = ", ".join(_outcome_cells(found.goal, found.without))
    survival = "survival" if found.failover is None else "with the failover below, survival"
    if found.cost == 0:
        return f"{survival} costs nothing: {name} {best} without it as well"
    verb = "costs" if found.cost > 0 else "has not cost"
    return f"{survival} {verb} {_distance(found.goal, abs(found.cost))}: {name} {best} without it"


def _sharing(explanation: Explanation) -> None:
    sharing = explanation.sharing
    if sharing is None:
        return
    _title("What is shared")
    for use in sharing.reused[:MOST_ROWS]:
        gain = "" if use.busy is None else f", which keeps {in_unit(use.busy, 'processors')} free"
        where = f" on {', '.join(use.nodes)}" if use.nodes else ""
        out.print(escape(f"{use.taker} takes the result of {use.provider}{where}{gain}"), soft_wrap=True)
    for once in sharing.once[:MOST_ROWS]:
        names = shortened(list(once.instances), MOST_NAMES)
        out.print(escape(f"{names} are equal and count once on {once.node}"), soft_wrap=True)
    if sharing.skipped:
        names = shortened(list(sharing.skipped), MOST_NAMES)
        out.print(escape(f"not needed any more: {names}"), soft_wrap=True)
    table = plain_table("computed for itself at these places", "shared", "alone", "saved", right=(1, 2, 3))
    for key, saved in sharing.saved.items():
        alone = sharing.alone.metrics[key]
        table.add_row(
            metric_name(key), *(metric_value(key, value) for value in (alone - saved, alone, saved))
        )
    out.print(table)
    if sharing.alone.violations:
        broken = counted(len(sharing.alone.violations), "constraint")
        out.print(escape(f"alone, it would break {broken}: {sharing.alone.violations[0]}"), soft_wrap=True)


def _growth(explanation: Explanation) -> None:
    if not explanation.growth:
        return
    _title("What limits the next application")
    table = plain_table("application", "more copies", "what one more exceeds", "each adds", right=(1, 3))
    for item in explanation.growth[:MOST_ROWS]:
        rooms = (
            [("", item.shared)]
            if item.alone is None
            else [(" (sharing)", item.shared), (" (alone)", item.alone)]
        )
        for note, room in rooms:
            table.add_row(escape(room.application + note), *_room_cells(room))
    out.print(table)


def _room_cells(room: Room) -> tuple[str, str, str]:
    if room.limit is None or room.copies is None:
        return "any number", "nothing that has a limit", ""
    use = room.limit
    return str(room.copies), escape(f"{use.kind} {use.name}"), escape(in_unit(room.added, use.unit))


def _mending(explanation: Explanation) -> None:
    mending, survival = explanation.mending, explanation.survival
    if mending is None:
        if survival is not None and survival.failover is not None and not survival.helpless:
            out.print("\n[green]Nothing has to move[/]: all it lacks is a failover; see 'What it survives'")
        return
    _title("What to move to mend it")
    for move in mending.moves:
        more = f" (+{len(move.instances) - 1})" if len(move.instances) > 1 else ""
        source = f" from {move.source}" if move.source else ""
        mended = (
            f", which mends {counted(len(move.mends), 'violation')}" if move.mends else ", which eases it"
        )
        out.print(escape(f"{move.instances[0]}{more}{source} to {move.target}{mended}"), soft_wrap=True)
    if not mending.left:
        out.print("[green]then nothing is broken[/]")
        return
    what = "then this is left" if mending.moves else "no single move leaves less broken"
    out.print(f"[red]{what}[/]; what would help is below, or solve it again")
    for line in mending.left if mending.moves else ():
        out.print(f"  [red]x[/] {escape(line)}", soft_wrap=True)


def _what_if(explanation: Explanation) -> None:
    found = explanation.what_if
    if found is None:
        return
    _title(f"What would help (solved again by {found.policy})")
    outcomes = [found.unchanged, *(item.outcome for item in found.changes)]
    busy = any(outcome.utilisation for outcome in outcomes)
    columns = [
        "change",
        _goal_name(explanation.goal),
        "",
        "gain",
        *(["busiest"] if busy else []),
    ]
    table = plain_table(*columns, right=(1, 3, 4))
    order = sorted(found.changes, key=lambda item: -math.inf if item.gain is None else -item.gain)
    rows = [
        ("nothing", found.unchanged, Text("")),
        *((i.words, i.outcome, _gain(explanation, i)) for i in order),
    ]
    for words, outcome, gain in rows:
        utilisation = [_utilisation(outcome)] if busy else []
        table.add_row(escape(words), *_outcome_cells(explanation.goal, outcome), gain, *utilisation)
    out.print(table)
    if busy and (explanation.situation.network.max_utilisation or 1.0) < 1.0:
        out.print("[dim]busiest: the share of a whole node or core, whatever of it may be used[/]")


def _utilisation(outcome: Outcome) -> Text:
    """How busy the busiest node or instance is."""
    if outcome.utilisation is None:
        return Text("")
    return Text(percentage(outcome.utilisation), "red" if exceeds(outcome.utilisation, 1.0) else "")


def _outcome_cells(goal: Goal | None, outcome: Outcome) -> tuple[str, str]:
    if outcome.objective is None:
        reason = "no plan exists" if outcome.proved else outcome.reason or "nothing found"
        return "-", escape(reason)
    return _value(goal, outcome.objective), "best, proved" if outcome.proved else "found"


def _gain(explanation: Explanation, item: WhatIf) -> Text:
    if item.gain is None:
        return Text("a plan" if item.outcome.objective is not None else "")
    if item.gain == 0:
        return Text("none")
    return Text(_distance(explanation.goal, item.gain), "green" if item.gain > 0 else "")
