"""MIPS on odd problems: its plans hold by an evaluation that is not berth's, and cost what all maps allow."""

from itertools import product
from typing import Any

import pytest

from berth.files import plan_document, problem_from
from tests.oracle import reference
from tests.policies.two_stage.cases import case, solve

ONE = {"demand": {"cpu": 1}}
MANY = {"cpu": 4, "gpu": 2, "tape": 9, "slots": 3}


def demanding(**demand: float) -> dict[str, Any]:
    return {"demand": demand}


ODD = {
    "no demand at all": case({"x": {}, "y": {"parallelism": 3}}, {"xy": 5}),
    "demand of 0": case({"x": demanding(cpu=0), "y": demanding(cpu=0, gpu=0)}, {"xy": 5}),
    "streams without traffic": case({"x": 3, "y": 3, "z": 1}, {"xy": 0, "yz": 0}),
    "no streams": case({"x": {"parallelism": 4, "demand": {"cpu": 2}}}, {}),
    "one instance": case({"x": 1}, {}),
    "one server": case({"x": 2, "y": 2}, {"xy": 3}, (4, 2.0), (8.0,)),
    "more containers than instances": case({"x": 2, "y": 3}, {"xy": 3}, (50, 4.0)),
    "a hundred thousand containers": case({"x": 2, "y": 3}, {"xy": 3}, (100_000, 4.0)),
    "pinned apart": case(
        {"x": {**ONE, "pinned": "s0"}, "y": {**ONE, "pinned": "s1"}, "z": ONE}, {"xy": 50, "yz": 1, "xz": 2}
    ),
    "pinned instances side by side": case(
        {"x": {**ONE, "parallelism": 3, "pinned": "s2"}, "y": {**ONE, "candidates": ["s2", "s3"]}}, {"xy": 9}
    ),
    "four resources": case(
        {"x": demanding(cpu=1, gpu=1), "y": demanding(tape=9), "z": demanding(slots=2, tape=1)},
        {"xy": 4, "yz": 2},
        (3, MANY),
        [MANY] * 3,
    ),
    "sums of tenths": case({"x": 0.1, "y": 0.1, "z": 0.1}, {"xy": 1, "yz": 1}, (3, 0.3), (0.3,) * 3),
    "a server that takes none": case({"x": 2, "y": 3}, {"xy": 1}, (2, 4.0), (1.0, 4.0, 4.0)),
}
UNITS = (1e-6, 1.0, 1e12)


@pytest.mark.parametrize("mode", ["corrected", "paper"])
@pytest.mark.parametrize("name", ODD)
def test_odd_problems(name: str, mode: str) -> None:
    raw = ODD[name]
    for alpha in (0.0, 0.5, 1.0):
        plan = solve(problem_from(raw), "mips", samples=60, alpha=alpha, mode=mode)
        if mode == "paper" and plan.status == "unknown":
            assert "mode=paper never ends" in str(plan.reason)
            continue
        metrics, broken = reference.evaluate(raw, plan_document(plan))
        assert (plan.status, broken) == ("feasible", [])
        assert plan.trace["U"] == metrics["containers_used"]
        assert plan.trace["T"] == pytest.approx(metrics["container_traffic_bytes_per_s"])
        assert plan.trace["W"] == pytest.approx(metrics["communication_cost"])


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (case({"x": demanding(tape=1)}, {}), "first stage"),
        (case({"x": 1}, {}, (2, {"cpu": 1, "tape": 1})), "second stage"),
        (case({"x": 5}, {}), "first stage"),
        (case({"x": {**ONE, "pinned": "s0"}}, {}, (1, 2.0), (1.0, 4.0)), "stage"),
    ],
    ids=["no container has it", "no server has it", "too large", "pinned where no container fits"],
)
def test_what_can_t_be_is_said(raw: dict[str, Any], said: str) -> None:
    plan = solve(problem_from(raw), "mips", samples=20)
    assert (plan.status, dict(plan.assignment)) == ("unknown", {})
    assert said in str(plan.reason)


def crossing(unit: float) -> dict[str, Any]:
    """Three pairs that exchange much take a container each; with two containers, one pair is torn apart."""
    operators = {name: demanding(cpu=2) for name in "uvwxyz"}
    rates = {"ux": 9, "vy": 7, "wz": 5, "uv": 1, "vw": 0.5}
    streams = {ends: rate * unit for ends, rate in rates.items()}
    return case(operators, streams, (6, 6.0), (6.0,) * 6)


@pytest.mark.parametrize("unit", UNITS)
def test_the_unit_of_traffic_does_not_matter(unit: float) -> None:
    """Whatever traffic is counted in, every alpha has the optimum over all maps of T / all T and U / 6."""
    raw = crossing(unit)
    rates = {(item["from"], item["to"]): item["bytes_per_s"] for item in raw["applications"][0]["streams"]}
    sizes = {item["name"]: item["demand"]["cpu"] for item in raw["applications"][0]["operators"]}
    total = sum(rates.values())
    figures, chosen = set(), []
    for bins in product(range(4), repeat=6):
        where = dict(zip(sizes, bins, strict=True))
        if all(sum(sizes[name] for name in sizes if where[name] == place) <= 6 for place in bins):
            apart = sum(rate for (one, other), rate in rates.items() if where[one] != where[other])
            figures.add((apart / total, len(set(bins)) / 6))
    for alpha in (0.0, 0.2, 0.5, 0.8, 1.0):
        plan = solve(problem_from(raw), "mips", alpha=alpha, samples=200)
        found = alpha * plan.trace["T"] / total + (1 - alpha) * plan.trace["U"] / 6
        assert found == pytest.approx(min(alpha * share + (1 - alpha) * used for share, used in figures))
        assert plan.violations == ()
        if 0 < alpha < 1:
            assert plan.objective == pytest.approx(found)
        chosen.append((plan.trace["U"], plan.trace["T"] / unit))
    assert chosen == sorted(chosen, key=lambda pair: (pair[0], -pair[1]))
    assert [used for used, _ in chosen] == [2, 2, 3, 3, 3]


@pytest.mark.parametrize("second_stage", ["mips", "exact"])
@pytest.mark.parametrize("rate", [0, 5])
def test_a_stream_without_traffic_needs_a_link_too(second_stage: str, rate: float) -> None:
    """y sends nothing to z on s2, and s1 has no link to there: y is on s0."""
    operators = {"x": ONE, "y": ONE, "z": {**ONE, "pinned": "s2"}}
    raw = case(operators, {"xy": rate, "yz": 0}, (3, 1.0), (1.0,) * 3)
    raw["network"]["delay_ms"] = [[0, 1, 1], [1, 0, None], [1, None, 0]]
    plan = solve(problem_from(raw), "mips", samples=50, second_stage=second_stage)
    assert (plan.status, plan.violations) == ("feasible", ())
    assert plan.trace["W"] == rate
    assert plan.assignment["a/y"] == "s0"
