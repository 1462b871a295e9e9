from __future__ import annotations

from dataclasses import replace

import pytest

from berth.model import BadInput
from berth.runtime.control.offers import Yardstick

from .situations import at, chain, hub, with_objective, work_on


def test_a_single_metric_is_compared_with_itself() -> None:
    """Half the response time is a gain of a half; twice it is a loss of a half."""
    problem = hub({"rome": 10.0, "paris": 5.0})
    yardstick = Yardstick.of(problem)
    slow, fast = (yardstick.judge(problem, at(node)) for node in ("rome", "paris"))
    assert (slow.value, fast.value) == (10.0, 5.0)
    assert yardstick.gain(slow, fast) == pytest.approx(0.5)
    assert yardstick.gain(fast, slow) == pytest.approx(-0.5)
    assert yardstick.text(10.0) == "10 ms"


def test_more_availability_is_a_gain() -> None:
    """What is maximised has its sign turned."""
    problem = with_objective(hub({"rome": 1.0, "paris": 1.0}), availability=1.0)
    nodes = tuple(
        replace(node, availability=share)
        for node, share in zip(problem.network.nodes, (0.5, 1.0), strict=True)
    )
    problem = replace(problem, network=replace(problem.network, nodes=nodes))
    yardstick = Yardstick.of(problem)
    poor, good = (yardstick.judge(problem, at(node)) for node in ("rome", "paris"))
    assert yardstick.gain(poor, good) == pytest.approx(0.5)
    assert yardstick.text(poor.value) == "50 %"


def test_a_normalised_sum_is_the_mean_of_relative_changes() -> None:
    """Bounds only scale the value; the gain needs none."""
    problem = with_objective(hub({"rome": 10.0, "paris": 5.0}), response_time=3.0, nodes_used=1.0)
    yardstick = Yardstick.of(problem)
    slow, fast = (yardstick.judge(problem, at(node)) for node in ("rome", "paris"))
    assert slow.value is None
    assert yardstick.gain(slow, fast) == pytest.approx(0.75 * 0.5)
    scaled = yardstick.learnt({"response_time": (0.0, 20.0), "nodes_used": (1.0, 3.0)})
    assert scaled.judge(problem, at("rome")).value == pytest.approx(1.5)
    # the scale of the first look stays
    assert scaled.learnt({"response_time": (0.0, 1.0), "nodes_used": (1.0, 3.0)}) is scaled


def test_a_raw_sum_is_compared_with_its_size() -> None:
    """The value itself may be near 0."""
    problem = replace(
        with_objective(hub({"rome": 10.0, "paris": 5.0}), response_time=1.0, availability=10.0),
        objective_scale="raw",
    )
    yardstick = Yardstick.of(problem)
    slow, fast = (yardstick.judge(problem, at(node)) for node in ("rome", "paris"))
    assert slow.value == pytest.approx(0.0)
    assert yardstick.gain(slow, fast) == pytest.approx(5.0 / 20.0)


def test_moving_is_no_merit() -> None:
    """The price of moving is left out of what a plan is worth; alone it makes no objective."""
    problem = chain()
    both = Yardstick.of(with_objective(problem, response_time=1.0, moved_instances=5.0))
    assert both.name == "response time"
    with pytest.raises(BadInput, match="only the price of moving"):
        Yardstick.of(with_objective(problem, moved_state=1.0))


def test_what_can_be_computed_is_better_than_what_cannot() -> None:
    """A plan over a missing link has no response time."""
    problem = chain({("rome", "oslo"): 5.0})
    yardstick = Yardstick.of(problem)
    broken, whole = (yardstick.judge(problem, work_on(node)) for node in ("paris", "oslo"))
    assert broken.value is None
    assert (yardstick.gain(broken, whole), yardstick.gain(whole, broken)) == (1.0, -1.0)
    assert yardstick.gain(broken, broken) == 0.0
