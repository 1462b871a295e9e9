"""The clusters and requests of paper 001."""

from __future__ import annotations

from collections import Counter, deque

import numpy as np
import pytest
from numpy.typing import NDArray

import berth
from berth.generators.clusters import fat_tree_switches, hops_between, jellyfish_switches
from berth.model import BadInput, Problem


def walked(linked: NDArray[np.bool_], start: int) -> list[int]:
    """Hops from one switch to all, by walking."""
    hops = [-1] * len(linked)
    hops[start] = 0
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for there in np.flatnonzero(linked[here]).tolist():
            if hops[there] < 0:
                hops[there] = hops[here] + 1
                waiting.append(there)
    return hops


def test_fat_tree_of_four_ports() -> None:
    """20 switches of 4 ports each (E1.14), 16 servers, and 2, 4 or 6 hops between them."""
    linked = fat_tree_switches(4)
    assert len(linked) == 20
    servers = np.r_[np.full(8, 2), np.zeros(12)]
    assert (linked.sum(axis=0) + servers).tolist() == [4] * 20
    cost = berth.generate("fat-tree").network.matrices["cost"]
    assert Counter(cost.ravel().tolist()) == {0: 16, 2: 16, 4: 16 * 2, 6: 16 * 12}
    number = np.arange(16)
    assert (cost[number[:, None] // 2 == number // 2] <= 2).all()
    assert (cost[number[:, None] // 4 != number // 4] == 6).all()


@pytest.mark.parametrize("ports", [2, 6, 8])
def test_fat_trees_of_other_sizes(ports: int) -> None:
    """k^3/4 servers; all ports of all switches are taken."""
    linked = fat_tree_switches(ports)
    edge = ports**2 // 2
    assert len(linked) == 5 * ports**2 // 4
    assert (linked.sum(axis=0)[edge:] == ports).all()
    assert (linked.sum(axis=0)[:edge] == ports // 2).all()
    network = berth.generate("fat-tree", ports=ports).network
    assert len(network.nodes) == ports**3 // 4
    assert set(network.matrices["cost"].ravel().tolist()) <= {0, 2, 4, 6}


@pytest.mark.parametrize(("switches", "degree"), [(24, 3), (10, 4), (7, 6), (6, 2), (2, 1), (1, 0), (40, 5)])
@pytest.mark.parametrize("seed", range(5))
def test_jellyfish_is_regular_and_connected(switches: int, degree: int, seed: int) -> None:
    """Every switch has the same number of links, to others, both ways, and a way to all."""
    linked = jellyfish_switches(switches, degree, np.random.default_rng(seed))
    assert linked is not None
    assert not linked.diagonal().any()
    assert np.array_equal(linked, linked.T)
    assert linked.sum(axis=0).tolist() == [degree] * switches
    assert min(walked(linked, 0)) == 0


def test_jellyfish_with_an_odd_number_of_ports() -> None:
    """One port stays free, no more."""
    for seed in range(20):
        linked = jellyfish_switches(9, 3, np.random.default_rng(seed))
        assert linked is not None
        assert sorted(linked.sum(axis=0).tolist()) == [2] + [3] * 8


def test_hops_are_those_of_a_walk() -> None:
    """By matrices as by hand, with islands."""
    rng = np.random.default_rng(0)
    for size in (1, 5, 12):
        half = np.triu(rng.random((size, size)) < 0.15, 1)
        linked = half | half.T
        assert hops_between(linked).tolist() == [walked(linked, start) for start in range(size)]


def test_jellyfish_hops() -> None:
    """Two more than between the switches; 2 below the same one."""
    problem = berth.generate("jellyfish", switches=4, ports=6, servers=10, seed=3)
    cost = problem.network.matrices["cost"]
    number = np.arange(10)
    assert np.array_equal(cost == 2, (number[:, None] % 4 == number % 4) & (number[:, None] != number))
    assert cost.max() <= 5
    assert np.array_equal(problem.network.matrices["delay_ms"], np.round(cost * 0.1, 9))


@pytest.fixture(scope="module", params=["fat-tree", "jellyfish"])
def problem(request: pytest.FixtureRequest) -> Problem:
    """Many requests, to see the whole of a distribution."""
    return berth.generate(request.param, seed=1, requests=200)


def test_servers_are_those_of_the_paper(problem: Problem) -> None:
    """16 servers of 16 to 64 cores with 16, 24 or 32 GB (E1.15)."""
    assert len(problem.network.nodes) == 16
    for node in problem.network.nodes:
        assert 16 <= node.capacity["cpu"] <= 64
        assert node.capacity["memory"] in (16e9, 24e9, 32e9)


def test_requests_are_those_of_the_paper(problem: Problem) -> None:
    """Depth 3 to 5, 3 to 6 components, parallelism 2 to 6, 2 to 6 cores, 4 to 8 GB: all of it occurs."""
    seen: dict[str, set[float]] = {name: set() for name in ("depth", "count", "parallelism", "cpu", "memory")}
    for application in problem.applications:
        level = {operator.name: 1 for operator in application.operators}
        for stream in application.streams:  # in the order of receivers, which are in layers
            level[stream.receiver] = max(level[stream.receiver], level[stream.sender] + 1)
            assert stream.bytes_per_s is not None
            assert stream.bytes_per_s > 0
        seen["depth"].add(max(level.values()))
        seen["count"].add(len(application.operators))
        for operator in application.operators:
            seen["parallelism"].add(operator.parallelism)
            seen["cpu"].add(operator.demand["cpu"])
            seen["memory"].add(operator.demand["memory"] / 1e9)
        containers = application.containers
        assert containers is not None
        assert containers.capacity == {"cpu": 16, "memory": 16e9}
        assert containers.count == sum(operator.parallelism for operator in application.operators)
    assert seen == {
        "depth": {3, 4, 5},
        "count": {3, 4, 5, 6},
        "parallelism": {2, 3, 4, 5, 6},
        "cpu": {2, 3, 4, 5, 6},
        "memory": {4, 5, 6, 7, 8},
    }


def test_traffic_is_log_normal(problem: Problem) -> None:
    """Mean 3 and deviation 1 of the logarithm."""
    logs = np.log([stream.bytes_per_s for a in problem.applications for stream in a.streams])
    assert abs(logs.mean() - 3) < 0.15
    assert abs(logs.std() - 1) < 0.15


def test_a_request_is_placed() -> None:
    """First-fit finds room for one request."""
    plan = berth.solve(berth.generate("fat-tree", seed=4), "ffd")
    assert plan.status == "feasible", plan.reason


@pytest.mark.parametrize(
    ("kind", "given", "line"),
    [
        ("fat-tree", {"ports": 5}, "--set ports: 5 is odd"),
        ("fat-tree", {"ports": 22}, "--set ports: 22 is above 20"),
        ("fat-tree", {"most_cores": 20}, "--set most_cores: 20 is above container_cores (16)"),
        ("fat-tree", {"least_depth": 4}, "--set least_depth: 4 is above least_components (3)"),
        ("jellyfish", {"ports": 1}, "--set ports: 1 are too few: a switch has up to 1 server(s)"),
        (
            "jellyfish",
            {"switches": 1, "ports": 15},
            "--set ports: 15 are too few: a switch has up to 16 server(s)",
        ),
        ("jellyfish", {"ports": 40}, "--set ports: 40 are too many: a switch has 23 others to be linked to"),
        ("jellyfish", {"ports": 2}, "--set ports: 2 are too few to connect all switches"),
    ],
)
def test_nonsense_is_refused(kind: str, given: dict[str, int], line: str) -> None:
    """One line that names the parameter and its value."""
    with pytest.raises(BadInput) as error:
        berth.generate(kind, **given)  # type: ignore[arg-type]
    assert error.value.mistakes == (line,) or list(error.value.mistakes) == [line]
