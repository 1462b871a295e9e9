"""A problem and a plan in the terminal: what a person grasps at a glance."""

from __future__ import annotations

import math
from collections import Counter
from itertools import groupby

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from berth.amounts import byte_rate, counted, milliseconds, percentage, shortened
from berth.drawing.graph_text import GraphText
from berth.drawing.layout import layer_of_each
from berth.drawing.palette import ALARM, PLAIN, STRONG, WEAK, fitted, node_text, printable
from berth.drawing.usage import LinkUse, NodeUse, link_uses, node_uses
from berth.drawing.views import (
    ApplicationView,
    OperatorView,
    application_views,
    headline,
    instance_groups,
    instances_by_node,
    situation_of,
)
from berth.evaluation import Situation
from berth.evaluation.limits import exceeds
from berth.model import Network, Plan, Problem

MOST_NODES = 30
MOST_LINKS = 10
MOST_LAYERS = 24
MOST_NAMES = 8
NARROWEST = 8
WIDEST_LABEL = 12
BAR = 8
"""Cells of a full bar."""
LARGEST_GRAPH = 32
"""Operators of an application that is drawn; a larger one is told layer by layer."""
MOST_APPLICATIONS = 12
MOST_STATIONS = 12


def node_table(situation: Situation) -> RenderableType:
    """What runs on every node in use, and how much of it that takes."""
    network = situation.network
    kept = f", without the {percentage(network.headroom)} kept free" if network.headroom else ""
    most = network.max_utilisation
    allowed = "" if most is None or most == 1.0 else f"; processors may be busy for {percentage(most)}"
    title = Text.assemble(("Nodes", STRONG), f" (use of what is there{kept}{allowed})")
    table = _table("node", "runs")
    table.add_column(no_wrap=True)
    table.add_column("use", no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True)
    uses, running = node_uses(situation), instances_by_node(situation)
    used = situation.used_nodes.tolist()
    for node in used[:MOST_NODES]:
        runs = instance_groups(situation.problem, running[node])
        name = node_text(node, network.nodes[node].name)
        table.add_row(name, Text(printable(", ".join(runs))), *_use_cells(uses, node))
    return Group(title, table, *_rest(situation, len(used)))


def _rest(situation: Situation, used: int) -> list[Text]:
    """What the table leaves out: instances without a node, and nodes without an instance."""
    graph, network = situation.graph, situation.network
    lines = _and_more(used - MOST_NODES, "more node")
    missing = [
        graph.names[number]
        for number in range(len(graph))
        if situation.computed[number] and situation.node_of[number] < 0
    ]
    if missing:
        lines.append(Text(f"not placed: {printable(shortened(missing, MOST_NAMES))}", style=ALARM))
    hosting = set(network.hosting.tolist()) - set(situation.used_nodes.tolist())
    if hosting:
        names = [network.nodes[node].name for node in sorted(hosting)]
        lines.append(Text(f"unused: {printable(shortened(names, MOST_NAMES))}", style=WEAK))
    return lines


def _use_cells(uses: list[NodeUse], node: int) -> tuple[Text, Text, Text, Text]:
    """Labels, bars, shares and amounts of all that a node gives, one line each."""
    labels, bars, shares, amounts = Text(), Text(), Text(), Text()
    for use in uses:
        needed, there = float(use.needed[node]), float(use.there[node])
        if needed == 0.0 or math.isinf(there):
            continue
        share = needed / there if there > 0.0 else math.inf
        over = exceeds(needed, float(use.allowed[node]))
        style = ALARM if over else PLAIN
        labels.append(f"{fitted(use.label, WIDEST_LABEL)}\n")
        bars.append(f"{bar(share)}\n", style)
        shares.append(f"{_share_text(share)}\n", style)
        amounts.append(f"{_amount(use, needed, there, over)}\n", style)
    for text in (labels, bars, shares, amounts):
        text.right_crop(1)
    return labels, bars, shares, amounts


def _amount(use: NodeUse, needed: float, there: float, over: bool) -> str:
    words = [] if use.shown is None else [use.shown(needed), "of", use.shown(there)]
    return " ".join([*words, "OVER"] if over else words)


def bar(share: float) -> str:
    """A share as a row of blocks: something shows of all that is not nothing."""
    filled = min(BAR, max(round(share * BAR) if math.isfinite(share) else BAR, 1 if share > 0.0 else 0))
    return "█" * filled + "░" * (BAR - filled)


def _share_text(share: float) -> str:
    return percentage(share) if math.isfinite(share) else "∞"


def link_table(situation: Situation) -> RenderableType | None:
    """The links that most of their bandwidth, or else most bytes, go over; None if all is on one node."""
    uses = link_uses(situation)
    if not uses:
        return None
    table = _table("from", "to")
    for name in ("traffic", "delay"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("share of bandwidth", no_wrap=True)
    for use in uses[:MOST_LINKS]:
        table.add_row(*_link_cells(situation.network, use))
    title = Text("Busiest links", style=STRONG)
    return Group(title, table, *_and_more(len(uses) - MOST_LINKS, "more link"))


def _link_cells(network: Network, use: LinkUse) -> tuple[Text, ...]:
    sender, receiver = (node_text(node, network.nodes[node].name) for node in (use.sender, use.receiver))
    traffic = byte_rate(use.bytes_per_s)
    if not use.complete:
        traffic = f"over {traffic}" if use.bytes_per_s else "unknown"
    if use.both_ways:
        receiver.append(" and back", WEAK)
    if math.isnan(use.delay_ms):
        return sender, receiver, Text(traffic), Text("no link", style=ALARM), Text()
    return sender, receiver, Text(traffic), Text(milliseconds(use.delay_ms)), _bandwidth_text(use)


def _bandwidth_text(use: LinkUse) -> Text:
    if math.isinf(use.bandwidth):
        return Text("no limit", style=WEAK)
    if not use.complete:
        return Text(f"unknown, of {byte_rate(use.bandwidth)}")
    text = f"{bar(use.share)} {_share_text(use.share)} of {byte_rate(use.bandwidth)}"
    if exceeds(use.share, 1.0):
        return Text(f"{text} OVER", style=ALARM)
    return Text(text)


def layer_table(view: ApplicationView, network: Network) -> RenderableType:
    """A graph that is too large to draw, layer by layer."""
    table = _table("layer", "operators", "on")
    layers = layer_of_each(len(view.operators), view.edges)
    count = max(layers) + 1
    for layer in range(min(count, MOST_LAYERS)):
        members = [view.operators[number] for number, its in enumerate(layers) if its == layer]
        names = [operator.title for operator in members]
        text = Text(f"{len(members)}: {printable(shortened(names, MOST_NAMES))}")
        table.add_row(str(layer + 1), text, _hosts_text(members, network))
    return Group(table, *_and_more(count - MOST_LAYERS, "more layer"))


def _and_more(count: int, noun: str) -> list[Text]:
    return [Text(f"and {counted(count, noun)}", style=WEAK)] if count > 0 else []


def _hosts_text(members: list[OperatorView], network: Network) -> Text:
    """The nodes of some operators, each with the number of instances there."""
    hosts: Counter[int] = Counter()
    for operator in members:
        hosts.update(dict(operator.hosts))
    parts = []
    for node, count in hosts.most_common(MOST_NAMES):
        parts.append(node_text(node, network.nodes[node].name).append(f" {count}", PLAIN))
    if len(hosts) > MOST_NAMES:
        parts.append(Text(f"and {counted(len(hosts) - MOST_NAMES, 'more node')}"))
    return Text(", ").join(parts)


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        table.add_column(name, overflow="fold", min_width=NARROWEST)
    return table


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
    parts += _and_more(len(views) - MOST_APPLICATIONS, "more application")
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
