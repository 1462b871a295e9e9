"""proc-nb, proc-power, bw-sum and bw-max, and odp where operators are equal."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import berth
from berth.evaluation import Occupied
from berth.files import problem_from
from berth.model import BadInput, Problem
from tests.exact.sharing.test_minimise_shared import twins

FOLDER = os.environ.get("BERTH_CONFORMANCE")
METRICS = {
    "proc-nb": "nodes_used",
    "proc-power": "enrolled_speed",
    "bw-sum": "bandwidth_sum_bytes_per_s",
    "bw-max": "bandwidth_max_ratio",
}
Entry = dict[str, Any]


@pytest.mark.skipif(FOLDER is None, reason="BERTH_CONFORMANCE names no folder of conformance cases")
@pytest.mark.parametrize("policy", METRICS)
def test_conformance(policy: str) -> None:
    """Every case's optimum, by proof."""
    assert FOLDER is not None
    for case in json.loads((Path(FOLDER) / "sharing-solve.json").read_text()):
        plan, least = berth.solve(problem_from(case["problem"]), policy), case["optimum"][METRICS[policy]]
        if least is None:
            assert plan.status == "infeasible", case["problem"]["name"]
            continue
        assert plan.status == "optimal", case["problem"]["name"]
        assert plan.objective == pytest.approx(least, rel=1e-9)
        assert plan.metrics[METRICS[policy]] == plan.objective
        assert plan.gap is not None
        assert plan.gap <= 1e-6


@pytest.mark.skipif(FOLDER is None, reason="BERTH_CONFORMANCE names no folder of conformance cases")
def test_conformance_by_odp() -> None:
    """odp proves the same for an objective that is a sum."""
    assert FOLDER is not None
    for case in json.loads((Path(FOLDER) / "sharing-solve.json").read_text())[:4]:
        plan = berth.solve(problem_from(case["problem"]), "odp")
        assert plan.status == "optimal"
        assert plan.objective == pytest.approx(case["optimum"]["enrolled_speed"], rel=1e-9)


def test_odp_on_other_goals() -> None:
    """A raw sum is proved, a normalised one is not: its bounds are those of plans without reuse."""
    raw = {**twins(), "objective": {"nodes_used": 1.0, "traffic": 0.1}}
    proved = berth.solve(problem_from({**raw, "objective_scale": "raw"}), "odp")
    assert (proved.status, proved.objective) == ("optimal", 1.0)
    assert berth.solve(problem_from(raw), "odp").bound is None


def problem(speeds: tuple[float, float] = (1.0, 1.0), **changes: Any) -> Problem:
    """Two equal applications on two nodes with network cards."""
    document = twins()
    for node, speed, card in zip(document["network"]["nodes"], speeds, (100, 1000), strict=True):
        node |= {"speed": speed, "nic_bytes_per_s": card}
    return problem_from(document | changes)


def test_prices() -> None:
    """By speed alone the slow node is the cheapest; with cards that cost, the one with the small card."""
    fast_first = problem((3.0, 1.0))
    by_speed = berth.solve(fast_first, "proc-power")
    assert set(by_speed.assignment.values()) == {"paris"}
    assert by_speed.goal == {"enrolled_speed": 1.0}
    both = berth.solve(fast_first, "proc-power", alpha=2.0, beta=0.1)
    assert set(both.assignment.values()) == {"rome"}
    assert both.status == "optimal"
    assert both.objective == pytest.approx(2 * 3 + 0.1 * 100)
    assert both.goal == {"enrolled_speed": 2.0, "enrolled_card": 0.1}
    cards = berth.solve(fast_first, "proc-power", alpha=0.0, beta=0.1)
    assert cards.objective == 100.0


@pytest.mark.parametrize("policy", METRICS)
def test_beside_others(policy: str) -> None:
    """Where others have taken most of a processor, the other one is used; with nothing left, none."""
    others = Occupied({}, busy=np.array([0.95, 0.5]), operators=np.zeros(2))
    plan = berth.solve(problem(), policy, occupied=others)
    assert plan.status == "optimal"
    assert set(plan.assignment.values()) == {"paris"}
    full = berth.solve(problem(), policy, occupied=replace(others, busy=np.ones(2)))
    assert full.status == "infeasible"


def test_eq7() -> None:
    """The printed objective is work that is done: with sharing, that of one application."""
    plan = berth.solve(problem(), "proc-power", variant="eq7")
    assert plan.objective == plan.metrics["processing_power"] == pytest.approx(0.2)
    assert berth.solve(problem(sharing=False), "proc-power", variant="eq7").objective == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"alpha": -1}, "alpha: -1.0 is not a number from 0 on"),
        ({"beta": float("nan")}, "beta: nan"),
        ({"alpha": 0}, "alpha: 0 beside beta=0"),
        ({"variant": "eq8"}, "variant"),
        ({"variant": "eq7", "beta": 1}, "variant: eq7 has no prices"),
        ({"gap": 1}, "gap"),
        ({"reuse": "perhaps"}, "reuse"),
    ],
)
def test_bad_parameters(parameters: Entry, line: str) -> None:
    """They are bad input, by name and value."""
    with pytest.raises(BadInput, match=line):
        berth.solve(problem(), "proc-power", **parameters)


def test_what_a_goal_needs() -> None:
    """Unknown rates and cards without a limit are bad input for policies that need them."""
    document = twins()
    with pytest.raises(BadInput, match="--policy proc-power: node 'rome' has no nic_bytes_per_s"):
        berth.solve(problem_from(document), "proc-power", beta=1.0)
    application = {"name": "a", "operators": [{"name": "s"}, {"name": "t"}]}
    application["streams"] = [{"from": "s", "to": "t"}]
    with pytest.raises(BadInput, match=r"--policy bw-sum: .* has no rate"):
        berth.solve(problem_from({**document, "applications": [application]}), "bw-sum")


def test_infeasible() -> None:
    """What clashes is said; without reuse more clashes."""
    document = twins(demand={"cpu": 1})
    for node in document["network"]["nodes"]:
        node["capacity"] = {"cpu": 0.5}
    plan = berth.solve(problem_from(document), "bw-max")
    assert plan.status == "infeasible"
    assert plan.reason is not None
    assert "at most cpu 0.5" in plan.reason
    assert plan.trace["conflict"]


def test_containers_are_not_packed() -> None:
    """The answer is no proof then, and says why."""
    document = twins()
    document["applications"][0]["containers"] = {"count": 1, "capacity": {}}
    plan = berth.solve(problem_from(document), "proc-nb")
    assert plan.status == "unknown"
    assert plan.bound is None
    assert plan.trace["no_proof"] == "containers are not packed"
    assert plan.violations


def test_the_same_seed_gives_the_same_plan() -> None:
    """Twice the same."""
    one, other = (berth.solve(problem(), "bw-sum", seed=5) for _ in range(2))
    assert (one.assignment, one.reuse, one.downloads) == (other.assignment, other.reuse, other.downloads)
