"""R-Heron: breadth first, to the nearest container."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies

from berth.files import problem_from
from berth.policies.two_stage.filling import Filling
from berth.policies.two_stage.heuristics import breadth_first, nearest
from berth.policies.two_stage.stages import StageOne, Stuck, TwoStageParameters
from tests.policies.two_stage.cases import case, no_limit, packed, solve, stage_one, tiny_cases

some = settings(
    max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def order(raw: dict[str, Any]) -> list[str]:
    """The instances in the order in which they are placed."""
    stage = stage_one(raw)
    return [stage.names[number].removeprefix("a/") for number in breadth_first(stage)]


def test_breadth_first_from_the_sources() -> None:
    """The sources, then whom they send to, in the order of the file; sinks come last (erratum E1.12)."""
    names = dict.fromkeys("zyxwvu", 1)
    assert order(case(names, {"uv": 1, "vw": 1, "wx": 1, "ux": 1, "yz": 1})) == ["y", "u", "z", "x", "v", "w"]
    two = {"b": {"parallelism": 2}, "a": {"parallelism": 2}}
    assert order(case(two, {"ab": 1})) == ["a#0", "a#1", "b#0", "b#1"]
    assert order(case({"x": 1, "y": 1}, {})) == ["x", "y"]


def test_the_instance_fills_what_is_free() -> None:
    """Nothing flows: 3 fits exactly beside 5, though the container with 4 comes first."""
    plan = solve(problem_from(case({"w": 4, "x": 5, "y": 3}, {}, (3, 8), (24,))), "r-heron")
    assert packed(plan) == ["w", "x y"]


@pytest.mark.parametrize(("rate", "found"), [(1, ["w z", "x", "y"]), (500, ["w", "x z", "y"])])
def test_traffic_against_distance(rate: float, found: list[str]) -> None:
    """z is nearer to w by what is free (0.1 against 0.3); with x it exchanges little, or half of all."""
    sizes = {"w": 6, "x": 4.5, "y": 10, "z": 3}
    streams = {"xz": rate, "yz": 500}
    plan = solve(problem_from(case(sizes, streams, (3, 10), (30,))), "r-heron")
    # w and x don't fit together, y fills a container, z comes last
    assert packed(plan) == found


def test_what_a_container_exchanges_already_counts() -> None:
    """The score is of the whole container after the step, not of the step alone."""
    stage = stage_one(case({"u": 2, "v": 4, "w": 1}, {"uv": 10, "uw": 0}, (3, 5), (9, 9)))
    found = nearest(stage, np.random.default_rng(0), TwoStageParameters(), no_limit())
    # u and v don't fit together: their containers exchange all there is (1), which is more than w's distance
    # from an empty one (0.8), though w would just fill the one with v (0)
    assert not isinstance(found, Stuck)
    assert found.bins.tolist() == [0, 1, 2]


def test_stuck_says_where() -> None:
    """Which instance, in which stage."""
    plan = solve(problem_from(case({"x": 2, "y": 2}, {"xy": 1}, (1, 3))), "r-heron")
    assert plan.status == "unknown"
    assert plan.reason is not None
    assert plan.reason.startswith("first stage, r-heron: stuck at a/y: none of the 1 containers has room")
    assert dict(plan.goal) == {"container_traffic": 1.0}


def plainly(stage: StageOne) -> list[int] | None:
    """The same, written down step by step with a matrix of all traffic."""
    count = len(stage.names)
    traffic = np.zeros((count, count))
    for here in range(count):
        for end in range(stage.start[here], stage.start[here + 1]):
            traffic[here, stage.neighbour[end]] += stage.rate[end]
    total = traffic.sum() / 2 or 1.0
    filling = Filling(stage)
    for number in breadth_first(stage):
        fitting = [c for c, fits in enumerate(filling.fits(number)) if fits]
        if not fitting:
            return None

        def distance(container: int, number: int = number) -> tuple[float, bool, int]:
            inside = filling.bins == container
            used = stage.demand[inside].sum(axis=0)
            free = (stage.capacity[container] - used) / stage.capacity[container]
            with_it = inside.copy()
            with_it[number] = True
            others = (filling.bins >= 0) & ~inside
            crossing = traffic[np.ix_(with_it, others)].sum() / total
            apart = float(np.sqrt(((stage.demand[number] / stage.capacity[container] - free) ** 2).sum()))
            return round(crossing + apart, 7), not inside.any(), container

        filling.put(number, min(fitting, key=distance))
    return [int(each) for each in filling.bins]


@given(tiny_cases())
@some
def test_against_a_plain_packing(raw: dict[str, Any]) -> None:
    """The same containers as with plain sums over all pairs."""
    stage = stage_one(raw)
    found = nearest(stage, np.random.default_rng(0), TwoStageParameters(), no_limit())
    assert plainly(stage) == (None if isinstance(found, Stuck) else found.bins.tolist())


@given(tiny_cases(), strategies.sampled_from([1e-6, 8.0, 2.0**30]))
@some
def test_units_don_t_matter(raw: dict[str, Any], factor: float) -> None:
    """Bytes or megabytes, cores or thousandths of them: the same containers (erratum E1.12)."""
    before = solve(problem_from(raw), "r-heron").containers
    application = raw["applications"][0]
    for stream in application["streams"]:
        stream["bytes_per_s"] *= factor
    owners = [item["demand"] for item in application["operators"]]
    for amounts in [
        *owners,
        application["containers"]["capacity"],
        *(node["capacity"] for node in raw["network"]["nodes"]),
    ]:
        amounts["cpu"] *= factor
    assert solve(problem_from(raw), "r-heron").containers == before
