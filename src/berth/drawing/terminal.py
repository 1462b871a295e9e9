"""A problem and a plan in the terminal: what a person grasps at a glance."""

from __future__ import annotations

from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from berth.amounts import counted, milliseconds
from berth.drawing.graph_text import GraphText
from berth.drawing.headline import headline
from berth.drawing.styles import ALARM, PLAIN, STRONG, WEAK, node_text, printable
from berth.drawing.tables import layer_table, link_table, node_table
from berth.drawing.views import ApplicationView, application_views, instance_groups, situation_of
from berth.evaluation import Situation
from berth.evaluation.feasibility import exceeds
from berth.model import Plan, Problem

LARGEST_GRAPH = 32
"""Operators of an application that is drawn; a larger one is told layer by layer."""
MOST_APPLICATIONS = 12
MOST_STATIONS = 12


def render(problem: Problem, plan: Plan | None = None) -> Group:
    """Draw the applications and, with a plan, tell what runs on every node and what crosses the links.

    The result prints on any Rich console, from 80 columns on.

    Raises:
        BadInput: the plan names what the problem doesn't have.
    """
    situation = situation_of(problem, plan)
    views = application_views(problem, situation)
    parts: list[RenderableType] = [_title(problem, situation)]
    for number, view in enumerate(views[:MOST_APPLICATIONS]):
        parts += [Text(), _application_title(view), *_graph(problem, view)]
        if situation is not None and view.slowest_path:
            parts += [Text(), *_slowest_path(situation, number, view)]
    if len(views) > MOST_APPLICATIONS:
        parts.append(Text(f"and {counted(len(views) - MOST_APPLICATIONS, 'more application')}", style=WEAK))
    if situation is not None:
        links = link_table(situation)
        parts += [Text(), node_table(situation)]
        parts += [] if links is None else [Text(), links]
    return Group(*parts)


def _title(problem: Problem, situation: Situation | None) -> Text:
    text = Text(printable(problem.name), style=STRONG)
    for phrase in headline(problem, situation):
        text.append(f" · {printable(phrase)}", PLAIN)
    return text


def _application_title(view: ApplicationView) -> Text:
    instances = sum(operator.parallelism for operator in view.operators)
    counts = f"{counted(len(view.operators), 'operator')}, {counted(instances, 'instance')}"
    return Text.assemble((printable(view.name), STRONG), f"  {counts}")


def _graph(problem: Problem, view: ApplicationView) -> list[RenderableType]:
    if len(view.operators) > LARGEST_GRAPH:
        return [layer_table(view, problem.network)]
    return [GraphText(view, [node.name for node in problem.network.nodes])]


def _slowest_path(situation: Situation, application: int, view: ApplicationView) -> list[Text]:
    """How long the slowest path takes, with what, and through which nodes."""
    finish = situation.finish_ms
    assert finish is not None
    path = list(view.slowest_path)
    total = float(finish[path[-1]])
    work = float((situation.graph.work_ms[path] / situation.network.speed[situation.node_of[path]]).sum())
    text = Text("slowest path", style=STRONG)
    where = " (heavy line)" if 1 < len(view.operators) <= LARGEST_GRAPH else ""
    parts = f"{milliseconds(work)} of work + {milliseconds(total - work)} on the way"
    text.append(f"{where}: {milliseconds(total)} = {parts}", PLAIN)
    most = situation.problem.applications[application].max_response_time_ms
    if most is not None:
        text.append(f"; at most {milliseconds(most)} asked", ALARM if exceeds(total, most) else PLAIN)
    return [text, Text(" ").join(_stations(situation, application, path))]


def _stations(situation: Situation, application: int, path: list[int]) -> list[Text]:
    """The nodes along a path with the instances there and the delays between them."""
    delays = situation.network.table.delay_ms
    stations: list[Text] = []
    previous = -1
    for node, group in groupby(path, key=lambda instance: int(situation.node_of[instance])):
        names = instance_groups(situation.problem, list(group), application)
        station = node_text(node, situation.network.nodes[node].name)
        station.append(f" {printable(', '.join(names))}", PLAIN)
        if previous >= 0:
            delay = milliseconds(float(delays[previous, node])).replace(" ", "")
            station = Text(f"━{delay}━▶ ").append_text(station)
        stations.append(station)
        previous = node
    if len(stations) <= MOST_STATIONS:
        return stations
    left_out = len(stations) - MOST_STATIONS
    half = MOST_STATIONS // 2
    return [*stations[:half], Text(f"… {counted(left_out, 'more step')} …"), *stations[-half:]]
