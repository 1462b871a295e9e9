"""A policy of your own in one file: everything in as few nodes as a first fit finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

import berth
from berth.policies import About, Answer, Task


@dataclass(frozen=True)
class FirstFitParameters:
    """What users may set: `--set nodes=largest`, or `nodes="largest"` in Python."""

    nodes: Literal["listed", "largest"] = field(
        default="listed", metadata={"help": "the order in which nodes are tried"}
    )


class FirstFit:
    """Puts every instance on the first node that may host it and has room."""

    about = About(
        name="first-fit",
        paper="none",
        optimises="nothing; tends to use few nodes",
        holds="candidates, hosts, 'where' rules and capacities",
    )
    parameters = FirstFitParameters

    def solve(self, task: Task) -> Answer:
        """Fill one node after another."""
        graph, network = task.problem.instances, task.problem.network
        room = {name: network.capacity(name) for name in graph.resources}
        order = np.arange(len(network.nodes))
        if task.parameters.nodes == "largest":
            order = np.argsort(-sum(room.values(), np.zeros(len(order))), kind="stable")
        chosen = np.full(len(graph), -1, dtype=np.intp)
        for number, name in enumerate(graph.names):
            allowed = set(graph.allowed_nodes[graph.operator_of[number]].tolist())
            needed = {resource: graph.demand(resource)[number] for resource in room}
            fits = (k for k in order if k in allowed and all(needed[r] <= room[r][k] for r in room))
            node = next(fits, None)
            if node is None:
                return Answer("unknown", reason=f"stuck at {name}: no node that may host it has room")
            chosen[number] = node
            for resource, amount in needed.items():
                room[resource][node] -= amount
        return Answer("feasible", chosen)


if __name__ == "__main__":
    problem = berth.load(Path(__file__).with_name("tag-and-count.yaml"))
    plan = berth.solve(problem, FirstFit(), nodes="largest")
    print(plan.policy, plan.status, plan.metrics["nodes_used"], plan.violations)
