"""A policy of your own in one file: everything in as few nodes as a first fit finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

import berth
from berth.evaluation.limits import Room
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
        holds="candidates, hosts, capacities, processors and all rules but 'together'",
    )
    parameters = FirstFitParameters

    def solve(self, task: Task) -> Answer:
        """Fill one node after another."""
        graph, room = task.problem.instances, Room(task.setting)
        order = np.arange(len(task.problem.network.nodes))
        if task.parameters.nodes == "largest":
            size = sum((task.setting.capacity(name) for name in graph.resources), np.zeros(len(order)))
            order = np.argsort(-size, kind="stable")
        chosen = np.full(len(graph), -1, dtype=np.intp)
        for number, name in enumerate(graph.names):
            allowed = order[np.isin(order, graph.allowed_nodes[graph.operator_of[number]])]
            fitting = allowed[room.fits([number], allowed)]
            if len(fitting) == 0:
                return Answer("unknown", reason=f"stuck at {name}: no node that may host it has room")
            chosen[number] = fitting[0]
            room.take([number], int(fitting[0]))
        return Answer("feasible", chosen)


if __name__ == "__main__":
    problem = berth.load(Path(__file__).with_name("tag-and-count.yaml"))
    plan = berth.solve(problem, FirstFit(), nodes="largest")
    print(plan.policy, plan.status, plan.metrics["nodes_used"], plan.violations)
