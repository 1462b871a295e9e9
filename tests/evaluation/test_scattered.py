"""Plans are judged alike whether the network's table has matrices or computes what it is asked for."""

from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings, strategies

from berth.evaluation import evaluate
from berth.files import plan_from, problem_from
from berth.model.pair_fields import PairField
from tests.oracle.problems import Dice, plans, problems, sharing_problems


@strategies.composite
def direct(draw: strategies.DrawFn, problem: dict[str, Any]) -> dict[str, Any]:
    """Without routes and matrices; what has no coordinates then has links only."""
    dice, network = Dice(draw), problem["network"]
    network["routing"] = "direct"
    for name in ("delay_ms", "availability", "bandwidth_bytes_per_s", "cost", "price_per_gb"):
        network.pop(name, None)
    for link in network.get("links", ()):
        link.setdefault("delay_ms", 5.0)
    for node in network["nodes"]:
        node.pop("coordinates", None)
        node.pop("height_ms", None)
        if not dice.whether(4):
            node["coordinates"] = [float(dice.count(-20, 20)) for _ in range(2)]
            node["height_ms"] = dice.count(0, 3)
    if dice.whether(3):
        network["duplex"] = "half"
    if dice.whether(4):
        network["one_port"] = True
    return problem


@settings(
    max_examples=120,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(strategies.data())
def test_all_metrics_and_violations_are_the_same(data: strategies.DataObject) -> None:
    document = data.draw(direct(data.draw(problems() | sharing_problems())))
    plan = plan_from(data.draw(plans(document)))
    with_matrices = problem_from(document)
    with patch("berth.model.network.MOST_IN_MATRICES", 0):
        without = problem_from(document)
    assert isinstance(without.network.table.delay_ms, PairField)
    assert not isinstance(with_matrices.network.table.delay_ms, PairField)
    assert evaluate(without, plan) == evaluate(with_matrices, plan)
