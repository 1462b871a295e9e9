"""Nomad's best fit: the score, its ties, its few looks."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies

from berth.files import problem_from
from berth.model.randomness import generator_for
from berth.policies.two_stage.filling import best_fit, fit_score
from berth.policies.two_stage.stages import StageTwo, Stuck, TwoStageParameters
from tests.policies.two_stage.cases import case, no_limit, solve, stage_two

some = settings(
    max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def test_nomad_s_score() -> None:
    """Full is 1, empty 0, and 20 - 10^cpu - 10^memory between them."""
    capacity = np.array([[8.0, 4.0]] * 4)
    left = np.array([[0.0, 0.0], [8.0, 4.0], [4.0, 2.0], [8.0, 0.0]])
    half = (20 - 2 * 10**0.5) / 18
    assert fit_score(left, capacity) == pytest.approx([1.0, 0.0, half, 0.5])


def test_other_numbers_of_resources() -> None:
    """From 0 to 1 for one resource and for three; what a server has none of is full; nothing at all is 0."""
    one = fit_score(np.array([[0.0], [5.0], [10.0]]), np.full((3, 1), 10.0))
    assert one == pytest.approx([1.0, (10 - 10**0.5) / 9, 0.0])
    three = fit_score(np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]]), np.array([[1.0, 2.0, 0.0]] * 2))
    assert three == pytest.approx([1.0, 1 / 3])
    assert fit_score(np.zeros((2, 0)), np.zeros((2, 0))).tolist() == [0, 0]


def servers_of(raw: dict[str, Any], **parameters: Any) -> list[str]:
    """The servers of x, y, ... each in a container of its own."""
    plan = solve(problem_from(raw), "ffd", **parameters)
    assert not plan.violations
    return list(plan.assignment.values())


def test_the_fullest_server_that_has_room() -> None:
    """Shares count: 2 of 4 leaves less free than 2 of 3 of a larger one; then the next in order."""
    assert servers_of(case({"x": 2, "y": 2, "z": 2}, {}, (3, 2), (8, 4, 3))) == ["s2", "s1", "s1"]


def test_only_what_a_container_takes_counts() -> None:
    """Free processors without a use for them make no server worse."""
    servers = ({"cpu": 4, "gpu": 9}, {"cpu": 3, "gpu": 0}, {"cpu": 2.5, "gpu": 9})
    for size in ({"cpu": 2}, {"cpu": 2, "gpu": 0}):
        assert servers_of(case({"x": {"demand": {"cpu": 1, "gpu": 0}}}, {}, (1, size), servers)) == ["s2"]


def test_ties_go_to_the_first() -> None:
    """Equal servers: the first, and then it is the fullest."""
    assert servers_of(case({"x": 2, "y": 2, "z": 2}, {}, (3, 2), (4, 4, 4))) == ["s0", "s0", "s1"]


def test_traffic_is_of_no_interest() -> None:
    """x and z exchange all there is, and are apart."""
    raw = case({"x": 2, "y": 2, "z": 2}, {"xz": 99}, (3, 2), (4, 4, 4))
    assert servers_of(raw) == ["s0", "s0", "s1"]


def test_room_of_who_has_no_choice_is_kept() -> None:
    """The second container has only the first server, which would be the first one's best fit."""
    pinned = {"x": 2, "y": {"demand": {"cpu": 2}, "pinned": "s0"}}
    assert servers_of(case(pinned, {}, (2, 2), (2, 4))) == ["s1", "s0"]


def test_no_server_may_host_it() -> None:
    """A packing made elsewhere: the container is named, and why."""
    pinned = {name: {"demand": {"cpu": 1}, "pinned": server} for name, server in (("x", "s0"), ("y", "s1"))}
    stage = stage_two(case(pinned, {}, (1, 2)), [0, 0])
    found = best_fit(stage, generator_for(0), TwoStageParameters(), no_limit())
    assert found == Stuck("stuck at container a/c0: no server may host all instances in it")


def test_stage_two_numbers_what_is_used() -> None:
    """Empty containers are gone, traffic is by direction and nothing within a container."""
    raw = case({"x": 1, "y": 1, "z": 1}, {"xy": 3, "yz": 4, "xz": 5}, (8, 2))
    stage = stage_two(raw, [5, 5, 2])
    assert stage.names == ("a/c2", "a/c5")
    assert stage.traffic.tolist() == [[0, 0], [9, 0]]
    assert stage.size.tolist() == [[2], [2]]
    assert stage.cost.tolist() == (1 - np.eye(4)).tolist()


def test_nomad_looks_at_a_few() -> None:
    """Of 16 servers at four with room, other ones with another seed; of two at both."""
    raw = case({"x": 1}, {}, (1, 1), range(2, 18))
    assert servers_of(raw) == ["s0"]
    chosen = {servers_of(raw, limit="nomad", seed=seed)[0] for seed in range(40)}
    # the best of four out of 16 is never among the last three
    assert 4 < len(chosen) <= 13
    assert not chosen & {"s13", "s14", "s15"}
    assert servers_of(raw, limit="nomad", seed=7) == servers_of(raw, limit="nomad", seed=7)
    two = case({"x": 1}, {}, (1, 1), (3, 2))
    assert {servers_of(two, limit="nomad", seed=seed)[0] for seed in range(9)} == {"s1"}
    # only those with room count: there are two, and both are looked at
    full = case({"x": 9}, {}, (1, 9), [*[1] * 20, 12, 10])
    assert {servers_of(full, limit="nomad", seed=seed)[0] for seed in range(9)} == {"s21"}


def plainly(stage: StageTwo) -> list[int] | None:
    """The same for cpu alone, written down step by step."""
    free = [float(each) for each in stage.room[:, 0]]
    servers = []
    for size in stage.size[:, 0]:
        fitting = [s for s, left in enumerate(free) if size <= left]
        if not fitting:
            return None
        chosen = max(fitting, key=lambda s: (round(-((free[s] - size) / stage.capacity[s, 0]), 7), -s))
        servers.append(chosen)
        free[chosen] -= size
    return servers


@given(
    strategies.lists(strategies.integers(1, 12), min_size=1, max_size=6),
    strategies.integers(1, 8),
    strategies.integers(1, 4),
)
@some
def test_against_a_plain_fit(servers: list[int], count: int, size: int) -> None:
    """With one resource the best score is the least free share."""
    raw = case({"x": {"parallelism": count, "demand": {"cpu": 1}}}, {}, (count, size), servers)
    stage = stage_two(raw, list(range(count)))
    found = best_fit(stage, generator_for(0), TwoStageParameters(), no_limit())
    assert plainly(stage) == (None if isinstance(found, Stuck) else found.bins.tolist())
