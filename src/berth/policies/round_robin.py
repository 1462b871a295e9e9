"""Round robin (Storm's default scheduler): instances onto nodes in turn."""

from __future__ import annotations

import numpy as np

from berth.evaluation.limits import Room
from berth.model.arrays import IndexArray
from berth.policies.downloads import choose_downloads
from berth.policies.policy import About, Answer, NoParameters, Task


class RoundRobin:
    """The baseline: deals instances out like cards, skipping nodes that may not host them or are full."""

    about = About(
        name="round-robin",
        paper="Storm's default scheduler, the baseline of 000",
        optimises="nothing",
        holds="candidates, hosts, capacities, processors and all rules but 'together'",
    )
    parameters = NoParameters

    def solve(self, task: Task) -> Answer:
        """Deal the instances out."""
        graph, room = task.problem.instances, Room(task.setting)
        nodes = np.full(len(graph), -1, dtype=np.intp)
        turn = 0
        # Who has no choice comes first: others must not take the only room there is.
        choices = [len(graph.allowed_nodes[operator]) for operator in graph.operator_of.tolist()]
        for number in sorted(range(len(graph)), key=lambda number: choices[number] > 1):
            allowed = graph.allowed_nodes[graph.operator_of[number]]
            chosen = _next_with_room(allowed, turn, room, number)
            if chosen is None:
                reason = f"stuck at {graph.names[number]}: no node that may host it has room"
                return Answer("unknown", reason=reason)
            if len(allowed) > 1:
                turn = (chosen + 1) % len(task.problem.network.nodes)
            nodes[number] = chosen
            room.take([number], chosen)
        return Answer("feasible", nodes, downloads=choose_downloads(task.setting, nodes))


def _next_with_room(allowed: IndexArray, turn: int, room: Room, instance: int) -> int | None:
    """The next node in turn, counted over all nodes, that has room; looks at few nodes, then at more."""
    first, seen, count = int(np.searchsorted(allowed, turn)), 0, 64
    while seen < len(allowed):
        nodes = allowed[np.arange(first + seen, first + min(seen + count, len(allowed))) % len(allowed)]
        fits = room.fits([instance], nodes)
        if fits.any():
            return int(nodes[np.argmax(fits)])
        seen, count = seen + count, count * 8
    return None
