"""What the workers of a problem's nodes offer."""

from __future__ import annotations

import pytest

from berth.model import BadInput
from berth.runtime.cluster.nodes import ClusterNode
from berth.runtime.cluster.starting import check_memory, cluster_nodes
from tests.runtime.cluster.small import small_problem


def test_nodes_that_host() -> None:
    """By capacity, with what an executor needs at least; a node that only holds data gets no worker."""
    assert cluster_nodes(small_problem()) == (ClusterNode("rome", 2, 953), ClusterNode("paris.eu", 1, 512))


def test_names_that_clash() -> None:
    """Two nodes with one resource could not be told apart."""
    nodes = [{"name": "a.b"}, {"name": "a_x2e_b"}]
    with pytest.raises(BadInput) as error:
        cluster_nodes(small_problem(nodes=nodes, links=[]))
    assert error.value.mistakes == (
        "nodes a.b and a_x2e_b: both would offer the resource node_a_x2e_b; rename one of them",
    )


def test_capacities_that_are_no_tasks() -> None:
    """A capacity in other units than cores, or beyond what Spark counts to, is said and not tried."""
    nodes = [{"name": "a", "capacity": {"cpu": 4e6}}, {"name": "b", "capacity": {"memory": 1e18}}]
    with pytest.raises(BadInput) as error:
        cluster_nodes(small_problem(nodes=nodes, links=[]))
    assert [line.partition(":")[0] for line in error.value.mistakes] == ["node a", "node b"]


def test_memory_for_an_executor_each() -> None:
    """A machine that can't hold them is told how much is needed."""
    check_memory(2, 1684)
    with pytest.raises(BadInput, match=r"2 nodes .* need about 1,684 MB of memory.* has 1,683 MB"):
        check_memory(2, 1683)
