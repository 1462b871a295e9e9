"""The engine against the judge: after any operations the same loads and the same verdict."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berth.core import sharing as core
from berth.evaluation import Setting, Situation
from berth.evaluation.limits import NetworkCard
from berth.evaluation.violations import CONSTRAINTS, containers, requirements, unplaced
from berth.files import problem_from
from berth.model import Plan, Problem
from berth.policies.sharing.case import Case
from berth.policies.sharing.plan import plan_parts
from tests.oracle.additions import added_sharing_problems
from tests.oracle.problems import problems, sharing_problems

KNOWN = [item for item in CONSTRAINTS if item not in (unplaced, requirements, containers)]


def plan_now(problem: Problem, state: core.State) -> Plan:
    """The state as a plan that the judge takes."""
    parts = plan_parts(problem, state)
    names = problem.network.nodes
    placed = zip(problem.instances.names, parts.nodes.tolist(), strict=True)
    assignment = {name: names[node].name for name, node in placed if node >= 0}
    return Plan(assignment, reuse=parts.reuse, skipped=parts.skipped, downloads=parts.downloads)


def agree(problem: Problem, case: Case, state: core.State) -> None:
    """Loads, mistakes and verdict are the judge's."""
    situation = Situation(Setting(problem), plan_now(problem, state))
    loads, load, nodes = case.core.loads, state.loads, case.nodes
    assert situation.reuse_mistakes == []
    near = {"rel": 1e-9, "abs": 1e-12}

    for first, limit in zip(case.core.first_loads, case.place_limits, strict=True):
        found = load[first : first + len(limit.room)]
        assert found == pytest.approx(limit.used(situation), **near)
    cards = NetworkCard(situation.setting).used(situation)
    assert load[loads.card : loads.card + nodes] == pytest.approx(cards, **near)
    crossed = np.nan_to_num(np.concatenate([situation.flows.rate, situation.downloads.rate])).sum()
    assert load[loads.crossed] == pytest.approx(crossed, **near)
    links, amounts = situation.link_loads
    crossing = dict(zip(links.tolist(), amounts.tolist(), strict=True))
    for number, amount in enumerate(load[loads.link :].tolist()):
        sender, receiver = np.argwhere(case.link == number)[0].tolist()
        assert amount == pytest.approx(crossing.get(sender * nodes + receiver, 0.0), **near)
    node_of = state.node_of
    assert state.hosted.tolist() == np.bincount(node_of[node_of >= 0], minlength=nodes).tolist()
    assert state.unplaced == (situation.computed & (situation.node_of < 0)).sum()
    broken = [line for constraint in KNOWN for line in constraint(situation)]
    assert state.holds == (not broken), broken


@st.composite
def any_problem(draw: st.DrawFn) -> Problem:
    """A problem without containers, mostly with operators that are equal, and often with cores and sizes."""
    sources = sharing_problems(), added_sharing_problems(), added_sharing_problems(), problems()
    document: dict[str, Any] = draw(draw(st.sampled_from(sources)))
    for application in document["applications"]:
        application.pop("containers", None)
    document.pop("objective", None)
    document.pop("objective_bounds", None)
    return problem_from(document)


def step(draw: st.DrawFn, case: Case, state: core.State) -> None:
    """One operation that makes sense."""
    operator = draw(st.integers(0, case.operators - 1))
    node = draw(st.integers(-1, case.nodes - 1))
    partners = [other for other in range(case.operators) if state.can_reuse(operator, other)]
    if partners and draw(st.booleans()):
        state.reuse(operator, draw(st.sampled_from(partners)))
    elif state.status(operator) == core.Status.REUSED:
        state.compute(operator)
    elif state.status(operator) == core.Status.WANTED:
        if draw(st.booleans()):
            state.move_operator(operator, node)
        else:
            first, end = case.first_instance[operator : operator + 2].tolist()
            state.move(draw(st.integers(first, end - 1)), node)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_operations(data: st.DataObject) -> None:
    """Moves, reuse and its end, in any order: the judge finds what the engine says."""
    problem = data.draw(any_problem())
    case = Case(Setting(problem))
    state = core.State(case.core)
    for operator in range(case.operators):
        state.move_operator(operator, data.draw(st.integers(-1, case.nodes - 1)))
    agree(problem, case, state)
    for _ in range(data.draw(st.integers(1, 12))):
        step(data.draw, case, state)
        agree(problem, case, state)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_undo(data: st.DataObject) -> None:
    """What is undone leaves no trace in any value; what is kept stays; a snapshot can be gone back to."""
    problem = data.draw(any_problem())
    case = Case(Setting(problem))
    state = core.State(case.core)
    empty = state.snapshot()
    for _ in range(3):
        for _ in range(data.draw(st.integers(0, 4))):
            step(data.draw, case, state)
        state.keep()
        before = state.snapshot()
        for _ in range(data.draw(st.integers(1, 4))):
            step(data.draw, case, state)
        state.undo()
        assert state.snapshot() == before
    agree(problem, case, state)
    state.resume(empty)
    assert state.snapshot() == empty
    assert state.unplaced == len(problem.instances)


def test_arrays_outlive_nothing() -> None:
    """Arrays of a state are its present values, can't be written to, and keep it alive."""
    state = core.State(Case(Setting(problem_from(SMALL))).core)
    node_of = state.node_of
    state.move(0, 1)
    assert node_of.tolist() == [1]
    with pytest.raises(ValueError, match="read-only"):
        node_of[0] = 0
    del state
    assert node_of.tolist() == [1]


def test_loads_by_tuples_and_cores() -> None:
    """With max_utilisation tuples count without a throughput; what is lifted may be too much for a core."""
    document = {
        "format": "berth/v1",
        "name": "two",
        "network": {
            "max_utilisation": 0.5,
            "nodes": [{"name": "a", "cores": 4, "speed": 2, "holds": ["o"]}],
        },
        "objects": [{"name": "o", "bytes": 1}],
        "applications": [
            _reader("slow", tuple_bytes=100, bytes_per_s=4000),
            {**_reader("fast", tuple_bytes=100, bytes_per_s=4000), "throughput_per_s": 60},
        ],
    }
    problem = problem_from(document)
    case = Case(Setting(problem))
    state = core.State(case.core)
    for operator in range(case.operators):
        state.move_operator(operator, 0)
    assert case.fixed_load.tolist() == [0.8, 0.0, 0.0, 0.0]
    # 60 results a second of 20 ms: more than half a core of speed 2, and equal computations count once
    assert state.loads[case.core.loads.overworked] == 1
    assert state.loads[case.core.first_loads[0]] == pytest.approx(1.2)
    agree(problem, case, state)
    state.reuse(2, 0)
    assert state.loads[case.core.loads.overworked] == 1
    agree(problem, case, state)
    state.compute(2)
    assert state.loads[case.core.loads.overworked] == 0
    assert state.loads[case.core.first_loads[0]] == pytest.approx(0.8)
    agree(problem, case, state)


def _reader(name: str, **stream: float) -> dict[str, Any]:
    reads = [{"object": "o", "per_s": 1}]
    operators = [{"name": "read", "type": "read", "work_ms": 20, "reads": reads}, {"name": "use"}]
    return {"name": name, "operators": operators, "streams": [{"from": "read", "to": "use", **stream}]}


SMALL: dict[str, Any] = {
    "format": "berth/v1",
    "name": "one",
    "network": {"nodes": [{"name": "a"}, {"name": "b"}], "links": [{"from": "a", "to": "b", "delay_ms": 1}]},
    "applications": [{"name": "app", "operators": [{"name": "o"}]}],
}
