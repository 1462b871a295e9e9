"""What binds: how full everything is that has a limit, and where the time goes on the slowest path."""

from __future__ import annotations

from dataclasses import dataclass

from berth.evaluation import Situation
from berth.evaluation.critical import critical_path
from berth.evaluation.limits import Use, uses


@dataclass(frozen=True)
class Step:
    """An instance on the slowest path."""

    instance: str
    node: str
    work_ms: float
    delay_ms: float
    """Of the link to the next one; 0 at the end."""


@dataclass(frozen=True)
class SlowestPath:
    """The critical path, with what it is made of."""

    steps: tuple[Step, ...]

    @property
    def work_ms(self) -> float:
        """Time spent computing."""
        return sum(step.work_ms for step in self.steps)

    @property
    def delay_ms(self) -> float:
        """Time spent on links."""
        return sum(step.delay_ms for step in self.steps)

    @property
    def total_ms(self) -> float:
        """The response time."""
        return self.work_ms + self.delay_ms

    def share(self, part: float) -> float:
        """A part of the whole; 0 where the path takes no time."""
        return part / self.total_ms if self.total_ms > 0 else 0.0


def binding(situation: Situation) -> list[Use]:
    """Every limit that is used, requirements included, the fullest first; rules only where they are full."""
    found = uses(situation)
    full = {use.name: use for use in found if not use.of.grows and use.share >= 1.0}
    return sorted([*(use for use in found if use.of.grows), *full.values()], key=lambda use: -use.share)


def slowest_path(situation: Situation) -> SlowestPath:
    """The path of the latest result; without steps where the response time can't be computed."""
    graph, network, nodes = situation.graph, situation.network, situation.node_of
    path = critical_path(situation)
    steps = []
    for position, number in enumerate(path):
        node = int(nodes[number])
        work = float(graph.work_ms[number] / network.speed[node])
        last = position == len(path) - 1
        delay = 0.0 if last else float(network.table.delay_ms[node, nodes[path[position + 1]]])
        steps.append(Step(graph.names[number], network.nodes[node].name, work, delay))
    return SlowestPath(tuple(steps))
