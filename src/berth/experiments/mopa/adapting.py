"""X3.2 and X3.3 share their runs: graphs converge, rates change, both algorithms adapt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import berth
from berth.experiments.draws import named_generator
from berth.experiments.experiment import Calibration, Row, Run, Setting
from berth.experiments.mopa.graphs import drawn_network, operator_graph, redrawn
from berth.experiments.networks import papers_network
from berth.model import Plan

SOURCES, SELECTIVITIES = "sources", "sources and selectivities"
CHANGES = (SOURCES, SELECTIVITIES)
"""What is drawn anew: what the paper's words say, and what its number of migrations suggests (E3.10)."""

CALIBRATIONS = (
    Calibration("draws of nodes", "40 times 226 of 490 nodes, 50 graphs each", "nothing"),
    Calibration("SBON's step", "0.1 x force / highest sum of rates", "64 to 365 messages"),
    Calibration("SBON at rest", "force / highest sum of rates below 0.5 ms", "64 to 365 messages"),
    Calibration("MOPA at rest", "steps shorter than 0.5 ms are not made", "nothing"),
    Calibration(
        "messages",
        "one for each unpinned neighbour outside the cluster of an operator that moved",
        "0 to 28 messages",
    ),
)


def adapting_runs(setting: Setting) -> Iterable[Run]:
    """A run is a draw of nodes with some graphs."""
    network = papers_network(setting.data)
    for draw in range(8 if setting.quick else 40):
        yield Run(
            f"{network}/{draw}", {"network": network, "draw": draw, "graphs": 25 if setting.quick else 50}
        )


def adapted(
    run: Run, setting: Setting, ways: dict[str, tuple[str, dict[str, Any]]]
) -> Iterator[tuple[int, str, str, Plan]]:
    """Of every graph, change of rates and way to place: the plan after the change."""
    rng = named_generator(setting.seed, run.key)
    network = drawn_network(setting.data, run.parameters["network"], rng)
    for graph in range(run.parameters["graphs"]):
        problem = operator_graph(network, 12, rng)
        changed = {change: redrawn(problem, rng, change == SELECTIVITIES) for change in CHANGES}
        for name, (policy, parameters) in ways.items():
            before = berth.solve(problem, policy, **parameters)
            for change, problem_after in changed.items():
                yield graph, change, name, berth.solve(problem_after, policy, previous=before, **parameters)


def counted(
    run: Run, setting: Setting, ways: dict[str, tuple[str, dict[str, Any]]], count: str
) -> Iterator[Row]:
    """What the trace of each of these plans counts, as rows."""
    for graph, change, way, plan in adapted(run, setting, ways):
        yield {
            "network": run.parameters["network"],
            "draw": run.parameters["draw"],
            "graph": graph,
            "change": change,
            "policy": way,
            count: plan.trace.get(count),
            "failed": not plan.assignment,
        }
