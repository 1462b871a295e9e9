"""Processors, losses, `forward` and warnings: the judge against the oracle, on random problems and plans."""

from typing import Any

import pytest
from hypothesis import Phase, given, settings, strategies

from berth.evaluation import evaluate
from berth.files import plan_from, problem_from
from tests.evaluation.test_against_oracle import some
from tests.oracle import reference
from tests.oracle.additions import added_problems, added_sharing_problems, plans_with_failovers
from tests.oracle.problems import plans
from tests.oracle.situation import Model
from tests.oracle.test_additions import broken_scenarios

Entry = dict[str, Any]
added = settings(some, phases=[Phase.explicit, Phase.generate])  # shrinking these takes minutes


def assert_agreement(problem: Entry, plan: Entry) -> None:
    """Same metrics to 1e-9, the same losses broken, the same instances without a node, as many overloads."""
    found = evaluate(problem_from(problem), plan_from(plan))
    metrics, broken = reference.evaluate(problem, plan)
    lines = list(found.violations)
    assert found.metrics == pytest.approx(metrics, rel=1e-9, abs=0.0)
    assert bool(lines) == bool(broken), (lines, broken)
    assert broken_scenarios(lines) == broken_scenarios(broken), (lines, broken)
    assert homeless(lines) == homeless(broken)
    if Model(problem).situation(plan).complete:
        overloads = [line for line in found.warnings if "processors needed" in line]
        assert len(overloads) == len(reference.processor_warnings(problem, plan)), overloads


def homeless(lines: list[str]) -> list[str]:
    """The lines that say which instance has no node after which loss."""
    return sorted(line for line in lines if line.endswith("has no node"))


@added
@given(strategies.data())
def test_processors(data: strategies.DataObject) -> None:
    """Cores, tuples, `forward` and `max_utilisation`, in any problem."""
    problem = data.draw(added_problems(survive=False))
    assert_agreement(problem, data.draw(plans(problem, wrong=data.draw(strategies.booleans()))))


@added
@given(strategies.data())
def test_shared_processors(data: strategies.DataObject) -> None:
    """The same where equal computations count once, and plans reuse and skip them."""
    problem = data.draw(added_sharing_problems())
    assert_agreement(problem, data.draw(plans(problem, wrong=data.draw(strategies.booleans()))))


@added
@given(strategies.data())
def test_losses(data: strategies.DataObject) -> None:
    """Plans with failovers, right and wrong, by node and by label."""
    problem = data.draw(added_problems(survive=True))
    assert_agreement(problem, data.draw(plans_with_failovers(problem)))


@added
@given(strategies.data())
def test_losses_where_results_are_shared(data: strategies.DataObject) -> None:
    """The same where equal computations count once."""
    problem = data.draw(added_sharing_problems(survive=True))
    assert_agreement(problem, data.draw(plans_with_failovers(problem)))


def test_every_node_has_its_own_load_where_computations_could_be_equal() -> None:
    """Two operators of one type could share a result; the loads of all others stay on their nodes.

    Of first/a (200 ms, once a second) on the slow node and second/a (400 ms) on the fast one, each loads its
    own: 0.2 / 0.5 and 0.4 / 1.
    """

    def application(name: str, work_ms: float) -> Entry:
        operators = [{"name": "a", "work_ms": work_ms}, {"name": "b", "type": "join"}]
        return {
            "name": name,
            "throughput_per_s": 1,
            "operators": operators,
            "streams": [{"from": "a", "to": "b"}],
        }

    network = {
        "nodes": [{"name": "fast"}, {"name": "slow", "speed": 0.5}],
        "links": [{"from": "fast", "to": "slow", "delay_ms": 1}],
    }
    applications = [application("first", 200), application("second", 400)]
    problem = {"format": "berth/v1", "name": "loads", "network": network, "applications": applications}
    assignment = {"first/a": "slow", "first/b": "fast", "second/a": "fast", "second/b": "slow"}
    found = evaluate(problem_from(problem), plan_from({"assignment": assignment}))
    assert found.metrics["utilisation_max_ratio"] == pytest.approx(0.4)
    assert_agreement(problem, {"assignment": assignment})
