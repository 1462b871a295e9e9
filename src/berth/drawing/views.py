"""What there is to see of a problem and a plan, whatever it is drawn with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from berth.amounts import counted
from berth.evaluation import METRIC_BY_KEY, METRIC_BY_NAME, Setting, Situation, metric_text
from berth.evaluation.evaluate import evaluation_of, with_verdict
from berth.evaluation.metrics import words_of
from berth.evaluation.situation import critical_path
from berth.model import Network, Plan, Problem
from berth.model.instances import PlacedOperator
from berth.model.pair_fields import Known

MOST_NAMED = 40
"""With more nodes than this only those in use are named."""
MOST_CABLES = 250
DENSEST = 0.6
"""Cables are drawn where no more than this share of all pairs have one."""
ALWAYS = ("response_time_ms", "availability")
"""Metrics that are told of every plan; what its policy minimised comes after them."""


@dataclass(frozen=True)
class OperatorView:
    """An operator, where its instances are, and what else must be said of it."""

    name: str
    parallelism: int
    hosts: tuple[tuple[int, int], ...]
    """Node numbers, each with the number of instances there; without a plan the node it is pinned to."""
    note: str
    """What is not in `hosts`: instances without a node, or where it may run; empty where nothing is."""
    critical: bool

    @property
    def title(self) -> str:
        """The name, with the number of instances where there are several."""
        return self.name if self.parallelism == 1 else f"{self.name}×{self.parallelism}"

    def host_lines(
        self, node_names: Sequence[str], most: int, fit: Callable[[str], str]
    ) -> list[tuple[str, int | None]]:
        """The names of its nodes, made to fit, each with the node's number; more than `most` are counted."""
        lines: list[tuple[str, int | None]] = []
        for node, count in self.hosts[:most]:
            name = fit(node_names[node])
            lines.append((name if count == self.parallelism else f"{name} ×{count}", node))
        if len(self.hosts) > most:
            lines.append((f"and {counted(len(self.hosts) - most, 'more node')}", None))
        return lines


@dataclass(frozen=True)
class StreamView:
    """A stream between two operators, by their places in the application."""

    sender: int
    receiver: int
    bytes_per_s: float
    """NaN: unknown."""
    critical: bool


@dataclass(frozen=True)
class ApplicationView:
    """An application's graph, with its slowest path where that is known."""

    name: str
    operators: tuple[OperatorView, ...]
    streams: tuple[StreamView, ...]
    slowest_path: tuple[int, ...]
    """Instance numbers; empty without a complete plan."""

    @property
    def edges(self) -> list[tuple[int, int]]:
        """The streams as pairs of places."""
        return [(stream.sender, stream.receiver) for stream in self.streams]


def situation_of(problem: Problem, plan: Plan | None) -> Situation | None:
    """The plan in its setting; None without a plan."""
    return None if plan is None else Situation(Setting(problem), plan)


def application_views(problem: Problem, situation: Situation | None) -> list[ApplicationView]:
    """All applications of a problem."""
    graph = problem.instances
    members: list[list[int]] = [[] for _ in problem.applications]
    for number, item in enumerate(graph.operators):
        members[item.application].append(number)
    streams: list[list[int]] = [[] for _ in problem.applications]
    for number, (sender, _) in enumerate(graph.stream_ends.tolist()):
        streams[graph.operators[sender].application].append(number)
    return [
        _application_view(problem, situation, number, members[number], streams[number])
        for number in range(len(problem.applications))
    ]


def _application_view(
    problem: Problem, situation: Situation | None, number: int, members: list[int], streams: list[int]
) -> ApplicationView:
    graph = problem.instances
    path = [] if situation is None else critical_path(situation, number)
    on_path = [int(graph.operator_of[instance]) for instance in path]
    steps = set(pairwise(on_path))
    provider = list(range(len(graph.operators))) if situation is None else situation.provider.tolist()
    operators = []
    for member in members:
        hosts, note = _where(problem, situation, graph.operators[member])
        item = graph.operators[member].operator
        critical = provider[member] in on_path
        operators.append(OperatorView(item.name, item.parallelism, hosts, note, critical))
    first = members[0]
    views = []
    for stream in streams:
        sender, receiver = graph.stream_ends[stream].tolist()
        critical = (provider[sender], provider[receiver]) in steps
        rate = float(graph.stream_rate[stream])
        views.append(StreamView(sender - first, receiver - first, rate, critical))
    name = problem.applications[number].name
    return ApplicationView(name, tuple(operators), tuple(views), tuple(path))


def _where(
    problem: Problem, situation: Situation | None, item: PlacedOperator
) -> tuple[tuple[tuple[int, int], ...], str]:
    """An operator's nodes and the note beside them."""
    if situation is None:
        return _may_run(problem, item)
    if item.name in situation.plan.reuse:
        return (), f"= {situation.plan.reuse[item.name]}"
    if item.name in situation.plan.skipped:
        return (), "skipped"
    nodes = situation.node_of[item.first : item.first + item.operator.parallelism].tolist()
    placed = Counter(node for node in nodes if node >= 0)
    missing = len(nodes) - placed.total()
    note = "" if not missing else "not placed" if missing == len(nodes) else f"{missing} not placed"
    return tuple(sorted(placed.items(), key=lambda entry: (-entry[1], entry[0]))), note


def _may_run(problem: Problem, item: PlacedOperator) -> tuple[tuple[tuple[int, int], ...], str]:
    """Where an operator that has no node yet may go."""
    allowed = problem.instances.allowed_nodes[problem.instances.operator_index[item.name]].tolist()
    if len(allowed) == 1:
        return ((allowed[0], item.operator.parallelism),), ""
    if len(allowed) == len(problem.network.nodes):
        return (), "any node"
    return (), f"{counted(len(allowed), 'node')} possible"


def instance_groups(problem: Problem, instances: Sequence[int], application: int | None = None) -> list[str]:
    """Instances in short: those of one operator together.

    All instances of an operator: `tag×2`; some: `tag#1`. The application's name is left out where there
    is no other one, or where it is the one that is given.
    """
    graph = problem.instances
    members: dict[int, list[int]] = {}
    for instance in instances:
        members.setdefault(int(graph.operator_of[instance]), []).append(instance)
    groups = []
    for operator, numbers in members.items():
        item = graph.operators[operator]
        clear = len(problem.applications) == 1 or item.application == application
        name = item.operator.name if clear else item.name
        if item.operator.parallelism == 1:
            groups.append(name)
        elif len(numbers) == item.operator.parallelism:
            groups.append(f"{name}×{len(numbers)}")
        else:
            groups.append(name + ",".join(f"#{number - item.first}" for number in numbers))
    return groups


def instances_by_node(situation: Situation | None) -> dict[int, list[int]]:
    """The instances that run on every node in use."""
    runs: dict[int, list[int]] = {}
    if situation is not None:
        for number in situation.running.tolist():
            runs.setdefault(int(situation.node_of[number]), []).append(number)
    return runs


def coloured_nodes(problem: Problem, situation: Situation | None, views: list[ApplicationView]) -> set[int]:
    """The nodes in use; without a plan all that host, or of many those that an operator is bound to."""
    if situation is not None:
        return set(situation.used_nodes.tolist())
    if len(problem.network.nodes) <= MOST_NAMED:
        return set(problem.network.hosting.tolist())
    return {node for view in views for operator in view.operators for node, _ in operator.hosts}


def critical_links(situation: Situation) -> set[tuple[int, int]]:
    """The (physical) links that the slowest path of all goes over."""
    nodes = situation.node_of[critical_path(situation)]
    _, links = situation.network.table.physical_hops(nodes[:-1], nodes[1:])
    size = len(situation.network.nodes)
    return {divmod(link, size) for link in links.tolist()}


def cables(network: Network) -> list[tuple[int, int]]:
    """The pairs of nodes with a (physical) link, unless there are too many to see anything."""
    table = network.table
    if isinstance(table.connected, Known):  # of thousands of nodes
        return []
    linked = table.connected.copy()
    if table.next_hop is not None:
        linked &= table.next_hop == np.arange(len(network.nodes))
    here, there = np.nonzero(np.triu(linked | linked.T, k=1))
    pairs = len(network.nodes) * (len(network.nodes) - 1) / 2
    if len(here) > min(MOST_CABLES, DENSEST * pairs):
        return []
    return list(zip(here.tolist(), there.tolist(), strict=True))


def headline(problem: Problem, situation: Situation | None) -> list[str]:
    """Short phrases: the policy and status, the metrics that count, what is missing or broken."""
    if situation is None:
        return _sizes(problem)
    plan = with_verdict(problem, situation.plan, evaluation_of(situation))
    phrases = [f"policy {plan.policy}, {plan.status}"] if plan.policy else []
    if plan.is_of_another_version(problem.fingerprint):
        phrases.append("made for another version of the problem")
    keys = dict.fromkeys(
        [*ALWAYS, *(METRIC_BY_NAME[name].key for name in plan.first_goal if name in METRIC_BY_NAME)]
    )
    for key in keys:
        if key in plan.metrics:
            words = words_of(METRIC_BY_KEY[key])
            phrases.append(f"{words} {metric_text(key, plan.metrics[key])}")
    missing = int(situation.computed.sum()) - len(situation.running)
    if missing:
        phrases.append(f"{missing} of {counted(int(situation.computed.sum()), 'instance')} not placed")
    if plan.violations:
        phrases.append(f"breaks {counted(len(plan.violations), 'constraint')}")
    if plan.warnings:
        phrases.append(counted(len(plan.warnings), "warning"))
    return phrases


def _sizes(problem: Problem) -> list[str]:
    return [
        counted(len(problem.applications), "application"),
        counted(len(problem.instances), "instance"),
        counted(len(problem.network.nodes), "node"),
    ]
