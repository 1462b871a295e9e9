"""A plan in the engine's hands, against the judge."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note, settings

from berth.engine import HeldPlan
from berth.evaluation import METRIC_BY_NAME, Setting, Situation
from berth.evaluation.goal import Goal
from berth.files import plan_from, problem_from
from tests.evaluation.test_against_oracle import cases, some
from tests.oracle.problems import problems
from tests.policies.search.test_cycles import without_reads

Entry = dict[str, Any]
NOT_MOVED = (
    "containers_used",
    "container_traffic",
    "failover_response_time",
)
"""What doesn't depend on nodes."""


@pytest.mark.parametrize("name", [name for name in METRIC_BY_NAME if name not in NOT_MOVED])
@given(cases(problems()))
@settings(some, max_examples=12)
def test_values_are_the_judges(name: str, case: tuple[Entry, Entry, Entry | None]) -> None:
    """What an instance changes on any node, allowed or not, for all kinds of plans, right or wrong."""
    metric = METRIC_BY_NAME[name]
    setting = Setting(problem_from(without_reads(case[0])), None if case[2] is None else plan_from(case[2]))
    raw = {**case[1], "goal": {name: 1.0}, "downloads": []}
    plan = plan_from(raw)
    situation = Situation(setting, plan)
    assume(situation.complete and not setting.problem.sharing_keys.possible)
    with np.errstate(all="ignore"):
        assume(metric.value(situation) is not None)
    held, nodes = HeldPlan(situation, Goal({name: 1.0})), setting.problem.network.nodes
    for number, instance in enumerate(setting.graph.names):
        found = held.values_on(np.array([number]), np.arange(len(nodes)))
        truth = []
        for node in nodes:
            places = {**plan.assignment, instance: node.name}
            after = Situation(setting, plan_from({**raw, "assignment": places}))
            with np.errstate(all="ignore"):
                truth.append(metric.value(after) if after.linked else None)
        known = [k for k, value in enumerate(truth) if value is not None and np.isfinite(value)]
        values = np.array([truth[k] for k in known], dtype=float)
        with np.errstate(divide="ignore"):
            values = -np.log(values) if metric.maximise else values
        sure = np.isfinite(values)
        note(f"{instance}: {found[known]} instead of {values}")
        differences = (found[known] - values)[sure]
        # what the engine leaves out is the same wherever the instance is
        most = np.abs(values[sure]).max(initial=1.0)
        assert np.allclose(differences, differences[:1], rtol=0.0, atol=1e-9 * most)
