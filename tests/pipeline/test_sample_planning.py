"""What synthetic telemetry is refused for before anything is made."""

import pytest

from berth.model import Application, BadInput, Network, Node, Operator, Problem
from berth.pipeline.sample.options import SampleOptions
from berth.pipeline.sample.planning import plan_sample


def test_probes_between_very_many_nodes_are_refused() -> None:
    """Every two of them have a link by their coordinates: nobody could store the probes."""
    nodes = tuple(Node(f"n{number}", coordinates=(float(number),)) for number in range(5_000))
    problem = Problem("large", Network(nodes), (Application("app", (Operator("only"),)),))
    with pytest.raises(BadInput) as found:
        plan_sample(problem, SampleOptions())
    assert found.value.mistakes == (
        "network.nodes: 5,000 are too many: probes go over all links between them",
    )
