"""T-Heron: by traffic, where it adds least."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies

from berth.files import problem_from
from berth.model import BadInput
from berth.policies.two_stage.filling import Filling
from berth.policies.two_stage.heuristics import THeronParameters, by_traffic, least_traffic
from berth.policies.two_stage.stages import StageOne, Stuck
from tests.policies.two_stage.cases import case, no_limit, packed, solve, stage_one, tiny_cases

some = settings(
    max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def test_who_exchanges_most_comes_first() -> None:
    """y and z fill a container before x, which comes first in the file, is looked at."""
    plan = solve(problem_from(case({"x": 1, "y": 1, "z": 1}, {"xy": 1, "yz": 10}, (2, 2))), "t-heron")
    assert packed(plan) == ["y z", "x"]
    assert plan.objective == plan.trace["T"] == 1
    assert dict(plan.goal) == {"container_traffic": 1.0}
    assert (plan.status, plan.bound) == ("feasible", None)


def test_where_it_adds_least() -> None:
    """u and v, w and x are apart as they fill containers; y joins those it exchanges more with."""
    streams = {"uv": 100, "wx": 90, "uy": 1, "wy": 2}
    sizes = {"u": 2, "v": 2, "w": 2, "x": 2, "y": 1}
    assert packed(solve(problem_from(case(sizes, streams, (3, 5), (9, 9))), "t-heron")) == [
        "u v",
        "w x y",
    ]


def test_ties_go_to_a_container_in_use() -> None:
    """What exchanges nothing with those before it joins the first that has room."""
    plan = solve(
        problem_from(case({"w": 2, "x": 2, "y": 1, "z": 1}, {"wx": 9, "yz": 3}, (4, 5), (20,))), "t-heron"
    )
    assert packed(plan) == ["w x y", "z"]
    assert plan.trace["U"] == 2


def test_parallel_instances_share_a_stream() -> None:
    """A shuffled stream is split over the pairs; sums that differ by rounding only are ties."""
    operators = {"x": {"parallelism": 3, "demand": {"cpu": 1}}, "y": {"parallelism": 3, "demand": {"cpu": 1}}}
    raw = case(operators, {"xy": 0.3}, (2, 4))
    assert by_traffic(stage_one(raw)) == [0, 1, 2, 3, 4, 5]
    plan = solve(problem_from(raw), "t-heron")
    assert packed(plan) == ["x#0 x#1 x#2 y#0", "y#1 y#2"]
    assert plan.trace["T"] == pytest.approx(0.2)


def test_stuck_says_where() -> None:
    """Which instance, in which stage."""
    plan = solve(problem_from(case({"x": 2, "y": 2}, {"xy": 1}, (1, 3))), "t-heron")
    assert plan.status == "unknown"
    assert plan.reason == (
        "first stage, t-heron: stuck at a/y: none of the 1 containers has room left; "
        "more or larger ones may help"
    )


def test_unknown_rates_are_a_mistake() -> None:
    """Traffic can't be minimised where nobody knows it."""
    raw = case({"x": 1, "y": 1}, {"xy": 5})
    del raw["applications"][0]["streams"][0]["bytes_per_s"]
    with pytest.raises(BadInput, match=r"--policy t-heron: applications\[0\].streams\[0\] .* has no rate"):
        solve(problem_from(raw), "t-heron")


def test_ties_may_go_to_an_empty_container() -> None:
    """Instances of one operator exchange nothing: spread out, each finds room for those it sends to."""
    pair = {"parallelism": 2, "demand": {"cpu": 1}}
    problem = problem_from(case({"x": pair, "y": pair}, {"xy": 8}, (4, 2), (8,)))
    together, apart = (solve(problem, "t-heron", ties=ties) for ties in ("used", "empty"))
    assert packed(together) == ["x#0 x#1", "y#0 y#1"]
    assert packed(apart) == ["x#0 y#0", "x#1 y#1"]
    assert (together.trace["T"], apart.trace["T"]) == (8, 4)


def plainly(stage: StageOne, ties: str) -> list[int] | None:
    """The same, written down step by step with a matrix of all traffic."""
    count = len(stage.names)
    traffic = np.zeros((count, count))
    for here in range(count):
        for end in range(stage.start[here], stage.start[here + 1]):
            traffic[here, stage.neighbour[end]] += stage.rate[end]
    filling = Filling(stage)
    for number in sorted(range(count), key=lambda k: -round(traffic[k].sum(), 6)):
        fitting = [c for c, fits in enumerate(filling.fits(number)) if fits]
        if not fitting:
            return None

        def added(container: int, number: int = number) -> tuple[float, bool, int]:
            apart = (filling.bins >= 0) & (filling.bins != container)
            in_use = bool((filling.bins == container).any())
            return round(traffic[number][apart].sum(), 6), in_use == (ties == "empty"), container

        filling.put(number, min(fitting, key=added))
    return [int(each) for each in filling.bins]


@given(tiny_cases(), strategies.sampled_from(["used", "empty"]))
@some
def test_against_a_plain_packing(raw: dict[str, Any], ties: Any) -> None:
    """The same containers as with plain sums over all pairs."""
    stage = stage_one(raw)
    found = least_traffic(stage, np.random.default_rng(0), THeronParameters(ties=ties), no_limit())
    assert plainly(stage, ties) == (None if isinstance(found, Stuck) else found.bins.tolist())
