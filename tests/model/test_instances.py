"""Instances, the pairs of them that communicate, and where they may run."""

import numpy as np
import pytest

from berth.model import Application, InstanceGraph, Network, Node, Operator, Stream, Where

NODES = Network(
    (
        Node("a", labels={"zone": "x", "tier": "edge"}),
        Node("b", labels={"zone": "y"}),
        Node("c", hosts=False, labels={"zone": "x"}),
        Node("d", labels={"zone": "x"}),
    )
)


def graph(*applications: Application) -> InstanceGraph:
    """The instances of some applications on four nodes."""
    return InstanceGraph(applications, NODES)


def pairs(grouping: str, senders: int, receivers: int) -> list[tuple[int, int, float]]:
    """Who sends to whom, and how much of a stream of 12 bytes a second."""
    operators = (Operator("s", parallelism=senders), Operator("r", parallelism=receivers))
    found = graph(Application("app", operators, (Stream("s", "r", 12.0, grouping),)))  # type: ignore[arg-type]
    return list(
        zip(found.pair_sender.tolist(), found.pair_receiver.tolist(), found.pair_rate.tolist(), strict=True)
    )


def test_names() -> None:
    """Instances are numbered where there are several, over all applications in the file's order."""
    found = graph(
        Application("first", (Operator("one"), Operator("two", parallelism=2))),
        Application("second", (Operator("one"),)),
    )
    assert found.names == ["first/one", "first/two#0", "first/two#1", "second/one"]
    assert found.operator_of.tolist() == [0, 1, 1, 2]
    assert found.application_of.tolist() == [0, 0, 0, 1]
    assert [list(item.instances) for item in found.operators] == [[0], [1, 2], [3]]
    assert found.index["first/two#1"] == 2
    assert len(found) == 4


def test_shuffle() -> None:
    """A shuffled stream is split evenly over all pairs."""
    assert pairs("shuffle", 2, 3) == [(s, 2 + r, 2) for s in range(2) for r in range(3)]


def test_all() -> None:
    """Every receiver gets everything: each sender sends its share to each."""
    assert pairs("all", 2, 3) == [(s, 2 + r, 6) for s in range(2) for r in range(3)]


def test_global() -> None:
    """Everything goes to the first receiver."""
    assert pairs("global", 2, 3) == [(0, 2, 6), (1, 2, 6)]


def test_no_streams() -> None:
    """An application of one operator has an instance and no pairs."""
    found = graph(Application("app", (Operator("o"),)))
    assert len(found.pair_sender) == len(found.pair_rate) == len(found.stream_rate) == 0
    assert found.stream_ends.shape == (0, 2)


def test_neighbours() -> None:
    """Inputs and consumers are operator numbers, over all applications."""
    chain = (Operator("x"), Operator("y"))
    streams = (Stream("x", "y"),)
    found = graph(Application("first", chain, streams), Application("second", chain, streams))
    assert found.inputs == [[], [0], [], [2]]
    assert found.consumers == [[1], [], [3], []]
    assert found.operator_order == [0, 1, 2, 3]


def test_values_of_instances() -> None:
    """Work, demand and the share of the throughput fall to each instance."""
    operators = (
        Operator("o", work_ms=3, parallelism=2, demand={"cpu": 0.5}),
        Operator("p", demand={"gpu": 1}),
    )
    found = graph(Application("app", operators, throughput_per_s=4), Application("other", (Operator("q"),)))
    assert found.work_ms.tolist() == [3, 3, 0, 0]
    assert found.resources == ["cpu", "gpu"]
    assert found.demand("cpu").tolist() == [0.5, 0.5, 0, 0]
    np.testing.assert_array_equal(found.throughput_share, [2, 2, 4, np.nan])


def test_allowed_nodes() -> None:
    """Candidates that host, within the labels that `where` rules ask for."""
    operators = (
        Operator("free"),
        Operator("chosen", candidates=("c", "b", "a")),
        Operator("south", candidates=("a", "b")),
        Operator("edge"),
        Operator("nowhere"),
    )
    rules = (
        Where({"zone": "x"}, ("south", "edge", "nowhere")),
        Where({"tier": "edge"}, ("edge",)),
        Where({"zone": "y"}, ("nowhere",)),
    )
    found = graph(Application("app", operators, rules=rules))
    assert [nodes.tolist() for nodes in found.candidate_nodes] == [
        [0, 1, 3],
        [0, 1],
        [0, 1],
        [0, 1, 3],
        [0, 1, 3],
    ]
    assert [nodes.tolist() for nodes in found.allowed_nodes] == [[0, 1, 3], [0, 1], [0], [0], []]


@pytest.mark.parametrize("operators", [("free",), ("none",), ("free", "chosen", "none", "free2")])
def test_may_run_on(operators: tuple[str, ...]) -> None:
    """Whether an instance may run somewhere is the same question as whether the node is allowed."""
    candidates = {"chosen": ("b", "d"), "none": ("c",)}
    built = tuple(Operator(name, candidates=candidates.get(name), parallelism=2) for name in operators)
    found = graph(Application("app", built))
    instances, nodes = (part.ravel() for part in np.meshgrid(np.arange(len(found)), np.arange(4)))
    expected = [
        node in found.allowed_nodes[found.operator_of[instance]]
        for instance, node in zip(instances, nodes, strict=True)
    ]
    assert found.may_run_on(instances, nodes).tolist() == expected
