"""What there is to see of each application, whatever it is drawn with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from berth.amounts import counted
from berth.evaluation import Setting, Situation
from berth.evaluation.critical import critical_path
from berth.model import Plan, Problem
from berth.model.instances import PlacedOperator


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
