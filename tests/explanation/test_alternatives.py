"""The best other node of everything, against putting it on every node before the judge."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings

from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.explanation.alternatives import Alternatives, Explained, Judge, Obstacles
from berth.explanation.moves import Moves, Unit, units_of
from berth.files import plan_from, problem_from
from tests.evaluation.test_against_oracle import cases, some
from tests.oracle.problems import problems, sharing_problems

Entry = dict[str, Any]


def judge_of(document: Entry, plan: Entry, goal: Goal) -> Judge:
    return Judge(Setting(problem_from(document)), plan_from(plan), goal)


def reads_something(judge: Judge, unit: Unit) -> bool:
    graph = judge.situation.graph
    return any(graph.operators[graph.operator_of[number]].operator.reads for number in unit.members.tolist())


def check_obstacles(document: Entry, plan: Entry) -> None:
    """What is called an obstacle is one."""
    judge = judge_of(document, plan, Goal({"response_time": 1.0}))
    for unit in units_of(judge.situation):
        moves = Moves(judge.situation, unit)
        if not moves.clear or reads_something(judge, unit):
            continue
        verdicts = [judge.verdict(judge.moved(unit.members, node)) for node in moves.nodes.tolist()]
        for name, forbids in Obstacles(judge.situation).of(moves).items():
            for node in np.flatnonzero(forbids).tolist():
                note(f"{name}: {unit.members} on {node}: {verdicts[node].violations}")
                assert verdicts[node].violations


def check_best(document: Entry, plan: Entry, name: str) -> None:
    """What is told is the best of all that break nothing new, and its figures are the judge's."""
    goal = Goal({name: 1.0})
    judge = judge_of(document, plan, goal)
    alternatives = Alternatives(judge)
    for unit in units_of(judge.situation):
        told = alternatives.explain(unit)
        if told.fixed:
            continue
        every = [
            alternatives.judged(unit, node)
            for node in range(len(judge.situation.network.nodes))
            if node != unit.node
        ]
        open_ones = [move for move in every if not move.breaks]
        note(f"{told}\n{every}")
        assert (told.best is None) == (not open_ones)
        assert told.best is None or told.best in every
        assert told.searched
        known = [move.objective for move in open_ones if move.objective is not None]
        if told.best is not None and known and judge.before.objective is not None:
            assert told.best.objective is not None
            best = max(known) if goal.maximise else min(known)
            assert told.best.objective == pytest.approx(best, rel=1e-9, abs=1e-12)
        check_forbidden(told, every, goal)


def check_forbidden(told: Explained, every: list[Any], goal: Goal) -> None:
    """What is said to be better and forbidden is both, and the best of such is not left out."""
    for move in told.forbidden:
        assert move in every
        assert move.better
        assert move.breaks
    reached = [move.objective for move in every if move.better and move.breaks]
    allowed = told.best.objective if told.best is not None and told.best.better else None
    if reached and allowed is None and told.best is not None and told.best.change is not None:
        best = max(reached) if goal.maximise else min(reached)
        assert told.forbidden[0].objective == pytest.approx(best, rel=1e-9, abs=1e-12)


@given(cases(problems()))
@settings(some, max_examples=25)
def test_obstacles_are_the_judges(case: tuple[Entry, Entry, Entry | None]) -> None:
    """For all kinds of problems and plans, right or wrong."""
    check_obstacles(case[0], case[1])


@given(cases(sharing_problems()))
@settings(some, max_examples=25)
def test_obstacles_with_sharing(case: tuple[Entry, Entry, Entry | None]) -> None:
    """Where equal results cross once and equal computations count once."""
    check_obstacles(case[0], case[1])


@pytest.mark.parametrize("name", ["response_time", "availability", "bandwidth_sum", "nodes_used"])
@given(cases(problems()))
@settings(some, max_examples=12)
def test_the_best_node(name: str, case: tuple[Entry, Entry, Entry | None]) -> None:
    """Against the judge on every node."""
    check_best(case[0], case[1], name)


@pytest.mark.parametrize("name", ["processing_power", "bandwidth_max", "loaded_response_time"])
@given(cases(sharing_problems()))
@settings(some, max_examples=12)
def test_the_best_node_with_sharing(name: str, case: tuple[Entry, Entry, Entry | None]) -> None:
    """The same where things count once."""
    check_best(case[0], case[1], name)
