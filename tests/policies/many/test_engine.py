"""The engine against the judge: after any operations the same loads and the same verdict."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berth.evaluation import Setting, Situation
from berth.evaluation.feasibility import CONSTRAINTS, containers, requirements, unplaced
from berth.evaluation.loads import card_loads, processor_loads, resource_loads
from berth.files import problem_from
from berth.model import Plan, Problem
from berth.policies.many.case import Case, case_of
from berth.policies.many.cells import CROSSED, UNPLACED
from berth.policies.many.engine import can_reuse, compute, holds, move, move_operator, reuse
from berth.policies.many.plan import parts_of
from berth.policies.many.state import REUSED, WANTED, State, keep, new_state, undo
from tests.oracle.problems import problems, sharing_problems

KNOWN = [item for item in CONSTRAINTS if item not in (unplaced, requirements, containers)]


def plan_now(problem: Problem, case: Case, state: State) -> Plan:
    """The state as a plan that the judge takes."""
    parts = parts_of(problem, case, state)
    names = problem.network.nodes
    placed = zip(problem.instances.names, parts.nodes.tolist(), strict=True)
    assignment = {name: names[node].name for name, node in placed if node >= 0}
    return Plan(assignment, reuse=parts.reuse, skipped=parts.skipped, downloads=parts.downloads)


def agree(problem: Problem, case: Case, state: State) -> None:
    """Loads, marks and verdict are the judge's."""
    situation = Situation(Setting(problem), plan_now(problem, case, state))
    cells, load = case.cells, state.load + state.error
    assert situation.reuse_mistakes == []
    near = {"rel": 1e-9, "abs": 1e-12}
    assert load[cells.busy : cells.card] == pytest.approx(processor_loads(situation), **near)
    assert load[cells.card : cells.send] == pytest.approx(card_loads(situation), **near)
    crossed = np.nan_to_num(np.concatenate([situation.flows.rate, situation.downloads.rate])).sum()
    assert load[cells.marks + CROSSED] == pytest.approx(crossed, **near)
    wanted = resource_loads(situation)
    for number, resource in enumerate(problem.instances.resources):
        start = cells.capacity + number * cells.nodes
        assert load[start : start + cells.nodes] == pytest.approx(wanted[resource], **near)
    links, loads = situation.link_loads
    found = dict(zip(links.tolist(), loads.tolist(), strict=True))
    for sender, receiver in np.argwhere(case.nodes.link >= 0).tolist():
        if problem.network.duplex == "half" and sender > receiver:
            continue
        amount = load[cells.link + case.nodes.link[sender, receiver]]
        assert amount == pytest.approx(found.get(sender * cells.nodes + receiver, 0.0), **near)
    assert state.hosted.tolist() == np.bincount(state.node[state.node >= 0], minlength=cells.nodes).tolist()
    assert state.figures[UNPLACED] == (situation.computed & (situation.node_of < 0)).sum()
    broken = [line for constraint in KNOWN for line in constraint(situation)]
    assert holds(state) == (not broken), broken


@st.composite
def any_problem(draw: st.DrawFn) -> Problem:
    """A problem without containers, mostly with operators that are equal."""
    source = sharing_problems() if draw(st.integers(0, 3)) else problems()
    document: dict[str, Any] = draw(source)
    for application in document["applications"]:
        application.pop("containers", None)
    document.pop("objective", None)
    document.pop("objective_bounds", None)
    return problem_from(document)


def step(draw: st.DrawFn, case: Case, state: State) -> None:
    """One operation that makes sense."""
    operator = draw(st.integers(0, len(case.operators.kind) - 1))
    first = case.operators.first_unit
    node = draw(st.integers(-1, case.cells.nodes - 1))
    partners = [k for k in range(len(case.operators.kind)) if can_reuse(case, state, operator, k)]
    if partners and draw(st.booleans()):
        reuse(case, state, operator, draw(st.sampled_from(partners)))
    elif state.status[operator] == REUSED:
        compute(case, state, operator)
    elif state.status[operator] == WANTED:
        if draw(st.booleans()):
            move_operator(case, state, operator, node)
        else:
            move(case, state, draw(st.integers(first[operator], first[operator + 1] - 1)), node)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_operations(data: st.DataObject) -> None:
    """Moves, reuse and its end, in any order: the judge finds what the engine says."""
    problem = data.draw(any_problem())
    case = case_of(Setting(problem))
    state = new_state(case)
    for operator in range(len(case.operators.kind)):
        move_operator(case, state, operator, data.draw(st.integers(-1, case.cells.nodes - 1)))
    agree(problem, case, state)
    for _ in range(data.draw(st.integers(1, 12))):
        step(data.draw, case, state)
        agree(problem, case, state)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_undo(data: st.DataObject) -> None:
    """What is undone leaves no trace in any cell; what is kept stays."""
    problem = data.draw(any_problem())
    case = case_of(Setting(problem))
    state = new_state(case)
    for _ in range(3):
        for _ in range(data.draw(st.integers(0, 4))):
            step(data.draw, case, state)
        keep(state)
        before = state.amounts.copy(), state.numbers.copy()
        for _ in range(data.draw(st.integers(1, 4))):
            step(data.draw, case, state)
        undo(state)
        assert (state.amounts == before[0]).all()
        assert (state.numbers == before[1]).all()
    agree(problem, case, state)
