"""Policies over time: coordinates, turns, and what the simulator is told."""

from __future__ import annotations

import numpy as np
import pytest

from berth.evaluation import evaluate
from berth.experiments.experiment import Setting
from berth.experiments.odp.best_fit import there_and_back
from berth.experiments.odp.rounds import LiveCoordinates, Step, changes, first_step, in_turns, two_steps
from berth.experiments.odp.setups import always_up, short_cut
from berth.experiments.odp.timeline import windows
from berth.model import Plan, Problem
from berth.model.randomness import generator_for

STEPS = ("parse", "tag", "filter", "count", "rank")


@pytest.fixture(scope="module")
def problem() -> Problem:
    return always_up(Setting(seed=5), 0)


@pytest.fixture(scope="module")
def first(problem: Problem) -> Plan:
    return first_step(problem, 0)


def positions(problem: Problem, seed: int, time_s: float) -> np.ndarray:
    network = LiveCoordinates(problem.network, generator_for(seed)).at(time_s)
    return np.array([node.coordinates for node in network.nodes])


def test_coordinates_come_near_the_delays_and_never_rest(problem: Problem) -> None:
    def error(places: np.ndarray) -> float:
        distance = np.linalg.norm(places[:, None] - places[None], axis=2)
        return float(np.abs(distance - problem.network.table.delay_ms)[np.triu_indices(8, 1)].mean())

    assert error(positions(problem, 1, 600.0)) < 0.5 * error(positions(problem, 1, 0.0))
    assert not np.allclose(positions(problem, 1, 600.0), positions(problem, 1, 610.0))
    assert np.array_equal(positions(problem, 1, 600.0), positions(problem, 1, 600.0))
    assert not np.allclose(positions(problem, 1, 600.0), positions(problem, 2, 600.0))


def test_one_operator_moves_at_a_time_in_turn(problem: Problem, first: Plan) -> None:
    """A policy that wants all on one node gets as many as fit there, an operator every 40 s."""
    source = first.assignment["tag-and-count/source"]
    told: list[Plan] = []

    def place(seen: Problem, current: Plan) -> Plan:
        assert all(node.coordinates is not None for node in seen.network.nodes)
        told.append(current)
        pinned = "tag-and-count/consumer"
        return Plan(
            {name: current.assignment[name] if name == pinned else source for name in current.assignment}
        )

    apart = dict(first.assignment)
    ends = (source, apart["tag-and-count/consumer"])
    other, third, *_ = (node.name for node in problem.network.nodes if node.name not in ends)
    for step in STEPS:
        apart |= {f"tag-and-count/{step}#0": other, f"tag-and-count/{step}#1": third}
    start = Plan(apart)
    steps = in_turns(problem, start, LiveCoordinates(problem.network, generator_for(0)), place, 400.0)
    assert [step.time_s for step in steps] == [0.0, 100.0, 140.0, 180.0]
    for number, step in enumerate(steps):
        assert sum(node == source for node in step.plan.assignment.values()) == 1 + 2 * number
    # the source and six others are there: for two more there is no room, so what is in force stays
    assert not evaluate(problem, steps[-1].plan).violations
    assert len(told) == 8


def test_no_plan_no_move(problem: Problem, first: Plan) -> None:
    live = LiveCoordinates(problem.network, generator_for(0))
    assert in_turns(problem, first, live, lambda *_: Plan(status="unknown"), 300.0) == [Step(0.0, first)]


def test_the_second_step_is_the_least_there_is(problem: Problem, first: Plan) -> None:
    _, second = two_steps(problem, first, "traffic")
    # one link from the source's node to the consumer's, for all tuples
    assert second.time_s == 100.0
    assert evaluate(problem, second.plan).metrics["traffic_bytes_per_s"] == pytest.approx(1000.0)


def test_windows_tell_what_is_in_force(problem: Problem, first: Plan) -> None:
    steps = two_steps(problem, first, "traffic")
    before, after = (evaluate(problem, step.plan).metrics["traffic_bytes_per_s"] for step in steps)
    rows = list(windows(problem, [*steps, Step(150.0, steps[1].plan)], "traffic_bytes_per_s", 200.0, 3))
    assert [row["time_s"] for row in rows] == [20.0 * number for number in range(1, 11)]
    assert [row["goal"] for row in rows] == [before] * 5 + [after] * 5
    # the third step changes nothing: it is no reassignment
    assert [row["reassignments"] for row in rows] == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert [row["reassigned_at_s"] for row in rows if row["reassigned_at_s"] is not None] == [100.0]
    assert rows[-1]["traffic_bytes_per_s"] == pytest.approx(1000.0, rel=0.05)
    assert len(changes(steps)) == 1


def test_short_cuts_lead_through_a_node_that_fails() -> None:
    found, tries = short_cut(Setting(seed=2), 0)
    again, _ = short_cut(Setting(seed=2), 0)
    other, _ = short_cut(Setting(seed=3), 0)
    delay, up = np.asarray(found.network.table.delay_ms), found.network.availability == 1.0
    ends = [operator.candidates for operator in found.applications[0].operators if operator.candidates]
    source, consumer = (found.network.index[names[0]] for names in ends)
    assert up[source]
    assert up[consumer]
    assert (delay[source] + delay[:, consumer])[~up].min() < delay[source, consumer]
    assert tries >= 1
    assert np.array_equal(again.network.table.delay_ms, delay)
    assert not np.array_equal(other.network.table.delay_ms, delay)


def test_there_and_back(problem: Problem, first: Plan) -> None:
    source, consumer = first.assignment["tag-and-count/source"], first.assignment["tag-and-count/consumer"]

    def with_steps(*nodes: str) -> Plan:
        placed = {
            f"tag-and-count/{step}#{k}": node for step, node in zip(STEPS, nodes, strict=True) for k in (0, 1)
        }
        return Plan({**first.assignment, **placed})

    assert not there_and_back(problem, with_steps(source, source, source, consumer, consumer))
    assert there_and_back(problem, with_steps(source, consumer, source, consumer, consumer))
