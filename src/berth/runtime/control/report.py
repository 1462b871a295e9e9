"""The report of a watch: its timeline, and a page with every plan as a picture, what happened and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from berth.amounts import counted, percentage
from berth.drawing.charts import time_text
from berth.drawing.picture import draw
from berth.drawing.timeline_picture import Lane, Loss, Move, Stay, Timeline, draw_timeline
from berth.files import load_plan, write_bytes, write_text
from berth.model import Problem
from berth.runtime.control.history import PLANS_FOLDER, Event, last_watch, read_history
from berth.runtime.control.offers import Yardstick

MOST_PLANS = 12
"""The last ones that are drawn on the page."""
_TEMPLATE = Path(__file__).with_name("report.html")
MOST_INSTANCES = 40
"""With more of them, a lane is an operator."""

Placed = tuple[float, float, Mapping[str, str]]
"""From when to when an assignment held."""


def draw_timelines(folder: Path, problem: Problem, application: str) -> None:
    """Write `timeline.svg` and `timeline.png` of the last watch of a folder."""
    timeline = timeline_of(read_history(folder), problem, application)
    for form in ("svg", "png"):
        write_bytes(folder / f"timeline.{form}", draw_timeline(timeline, form))


def write_page(folder: Path, problem: Problem, events: Sequence[Event], report: Mapping[str, Any]) -> None:
    """Write `report.html`, pictures and all in one file.

    Args:
        folder: of the watch, with its plans and its timeline.
        problem: as it is known now; plans are judged and drawn under it.
        events: of this watch.
        report: what `report.json` says.
    """
    environment = jinja2.Environment(autoescape=True)
    environment.filters["clock"] = lambda seconds: f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S}"
    template = environment.from_string(_TEMPLATE.read_text())
    page = template.render(
        report=report,
        timeline=_inside_a_page((folder / "timeline.svg").read_bytes()),
        events=[event for event in events if event.event not in ("looked", "kept", "waited")],
        plans=list(_plan_pictures(folder, problem, events)),
    )
    write_text(folder / "report.html", page + "\n")


def _plan_pictures(folder: Path, problem: Problem, events: Sequence[Event]) -> Iterator[tuple[int, Markup]]:
    """Each of the last plans that ran: its number, and its picture."""
    ran = ("started", "migrated", "rolled back")
    numbers = dict.fromkeys(event.plan for event in events if event.event in ran and event.plan is not None)
    for number in list(numbers)[-MOST_PLANS:]:
        plan = load_plan(folder / PLANS_FOLDER / f"{number:04}.json")
        yield number, _inside_a_page(draw(problem, plan, "svg"))


def _inside_a_page(picture: bytes) -> Markup:
    """An SVG without the head of a file of its own."""
    text = picture.decode()
    return Markup(text[text.index("<svg") :])


def timeline_of(events: Sequence[Event], problem: Problem, application: str) -> Timeline:
    """The timeline of the last watch in a record; empty if there was none."""
    ours = last_watch(events)
    begin = ours[0].time if ours else 0.0
    length = ours[-1].time - begin if ours else 0.0
    yardstick = Yardstick.of(problem)
    moves = [event for event in ours if event.event in ("migrated", "rolled back")]
    return Timeline(
        title=application if application == problem.name else f"{problem.name}: {application}",
        line=" · ".join(_headline(ours, moves, yardstick)),
        length=length,
        nodes=tuple(node.name for node in problem.network.nodes),
        lanes=_lanes(_placed(ours, moves, begin), application),
        moves=tuple(_move(event, begin) for event in moves),
        losses=tuple(_losses(ours, begin)),
        value_name=yardstick.name,
        value_key=yardstick.key,
        achieved=_points(ours, begin, "value_achieved"),
        promised=_points(moves, begin, "value_promised"),
        rates=_points(ours, begin, "source_bytes_per_s"),
    )


def _headline(events: Sequence[Event], moves: Sequence[Event], yardstick: Yardstick) -> list[str]:
    if not events:
        return ["nothing has happened yet"]
    began = datetime.fromtimestamp(events[0].time, UTC)
    phrases = [
        f"{began:%Y-%m-%d %H:%M:%S} UTC",
        f"{time_text(round(events[-1].time - events[0].time))} watched",
        counted(len(moves), "migration"),
    ]
    if moves:
        phrases[-1] += f" with {sum(event.pause_s or 0.0 for event in moves):.1f} s of pauses"
    lost = sum(event.event == "node lost" for event in events)
    if lost:
        phrases.append(f"{counted(lost, 'node')} lost")
    values = [event.value_achieved for event in events if event.value_achieved is not None]
    if values:
        phrases.append(
            f"{yardstick.name} {yardstick.text(values[0])} at first, {yardstick.text(values[-1])} at last"
        )
    return phrases


def _placed(events: Sequence[Event], moves: Sequence[Event], begin: float) -> list[Placed]:
    """The assignments one after another, with the pauses between them left out."""
    if not events:
        return []
    placed: list[Placed] = []
    since, assignment = 0.0, events[0].assignment
    for event in moves:
        now = event.time - begin
        placed.append((since, max(since, now - (event.pause_s or 0.0)), assignment))
        since, assignment = now, event.assignment
    placed.append((since, events[-1].time - begin, assignment))
    return placed


def _lanes(placed: Sequence[Placed], application: str) -> tuple[Lane, ...]:
    names = list(dict.fromkeys(name for _, _, assignment in placed for name in assignment))
    ours = [name for name in names if name.partition("/")[0] == application]
    groups: dict[str, list[str]] = {}
    for name in ours:
        short = name.partition("/")[2]
        groups.setdefault(short if len(ours) <= MOST_INSTANCES else short.partition("#")[0], []).append(name)
    return tuple(Lane(group, _stays(placed, members)) for group, members in groups.items())


def _stays(placed: Sequence[Placed], members: Sequence[str]) -> tuple[Stay, ...]:
    """Where some instances were; what doesn't move stays through a pause."""
    stays: list[Stay] = []
    for begin, end, assignment in placed:
        nodes = tuple(assignment[name] for name in members if name in assignment)
        if stays and stays[-1].nodes == nodes:
            stays[-1] = Stay(stays[-1].begin, end, nodes)
        elif nodes:
            stays.append(Stay(begin, end, nodes))
    return tuple(stays)


def _move(event: Event, begin: float) -> Move:
    back = event.event == "rolled back"
    parts = ["back"] if back else []
    if event.gain is not None:
        parts.append(f"{'+' if event.gain >= 0 else ''}{percentage(event.gain)}")
    if event.pause_s is not None:
        parts.append(f"{event.pause_s:.1f} s")
    return Move(event.time - begin, event.pause_s or 0.0, " · ".join(parts), back)


def _losses(events: Sequence[Event], begin: float) -> list[Loss]:
    losses: list[Loss] = []
    for event in events:
        if event.event == "node lost" and event.node is not None:
            losses.append(Loss(event.node, event.time - begin))
        elif event.event == "node back":
            losses = [
                Loss(loss.node, loss.time, event.time - begin)
                if loss.node == event.node and loss.back is None
                else loss
                for loss in losses
            ]
    return losses


def _points(events: Sequence[Event], begin: float, field: str) -> tuple[tuple[float, float], ...]:
    found = [(event.time - begin, getattr(event, field)) for event in events]
    return tuple((time, value) for time, value in found if value is not None)
