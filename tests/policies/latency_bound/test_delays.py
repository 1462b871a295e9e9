"""Paper 002's delay model in the policy: the judge's figures, path by path, and what moves would change."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from berth.evaluation import Setting, Situation, evaluate
from berth.evaluation.situation import assignment_of
from berth.files import problem_from
from berth.model import Plan, Problem
from berth.policies.latency_bound.candidates import Loads
from berth.policies.latency_bound.delays import DelayModel
from berth.policies.latency_bound.policy import judged_latencies
from tests.exact.instances import document
from tests.oracle.problems import problems

some = settings(
    max_examples=40, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def queues(problem: Problem, nodes: np.ndarray) -> np.ndarray:
    return problem.network.run_queue + np.bincount(nodes, minlength=len(problem.network.nodes))


def test_card_1_6_by_hand() -> None:
    """T at the sender by its card, P by the queue with ends counted but free, nothing within a host."""
    nodes = [
        {"name": "n0", "speed": 2.0, "run_queue": 3, "nic_bytes_per_s": 1000},
        {"name": "n1", "nic_bytes_per_s": 500},
        {"name": "n2"},
    ]
    operators = [
        {"name": "s", "pinned": "n0", "work_ms": 7, "output_bytes": 10, "emits_bytes_per_s": 10},
        {"name": "x", "pinned": "n0", "work_ms": 4, "output_bytes": 20},
        {"name": "y", "pinned": "n1", "work_ms": 5, "output_bytes": 30},
        {"name": "t", "pinned": "n2", "work_ms": 9},
    ]
    streams = [{"from": here, "to": there} for here, there in pairwise("sxyt")]
    delays: list[list[float | None]] = [[0, 11, 50], [11, 0, 13], [50, 13, 0]]
    problem = problem_from(document(nodes, delays, operators, streams))
    placed = np.array([0, 0, 1, 2])
    # x beside s: 4 / 2 x (3 + 2). T of x: 20 / 1000 s. y: 5 x 1. T of y: 30 / 500 s. s and t are free.
    wanted = 0 + 4 / 2 * 5 + 20 + 11 + 5 + 60 + 13
    path = DelayModel(problem).longest(0, placed, queues(problem, placed))
    assert path.latency_ms == pytest.approx(wanted)
    assert path.instances.tolist() == [0, 1, 2, 3]
    plan = Plan(assignment_of(problem, placed))
    assert evaluate(problem, plan).metrics["loaded_response_time_ms"] == pytest.approx(wanted)
    plain = DelayModel(problem).longest(0, placed, queues(problem, placed), loaded=False)
    assert plain.latency_ms == pytest.approx(7 / 2 + 4 / 2 + 11 + 5 + 13 + 9)


def test_an_idle_host_gives_no_more_than_itself() -> None:
    """m / max(1, q): a queue below one doesn't make a host faster."""
    nodes = [{"name": "n0", "run_queue": 0}]
    operators = [
        {"name": name, "work_ms": 5, "output_bytes": 1, "emits_bytes_per_s": 1} for name in ("s", "x", "t")
    ]
    streams = [{"from": "s", "to": "x"}, {"from": "x", "to": "t"}]
    problem = problem_from(document(nodes, [[0]], operators, streams))
    model, placed = DelayModel(problem), np.zeros(3, dtype=np.intp)
    assert model.longest(0, placed, np.array([0.0])).latency_ms == 5
    assert model.longest(0, placed, np.array([3.0])).latency_ms == 15


def test_the_first_of_equally_long_paths() -> None:
    """Ties go to the smallest numbers, from the source on."""
    operators: list[dict[str, Any]] = [{"name": name, "work_ms": 1} for name in ("s", "b", "a", "t")]
    streams = [{"from": "s", "to": "a"}, {"from": "s", "to": "b"}, {"from": "b", "to": "t"}]
    streams.append({"from": "a", "to": "t"})
    problem = problem_from(document([{"name": "n0"}], [[0]], operators, streams))
    path = DelayModel(problem).longest(0, np.zeros(4, dtype=np.intp), np.array([4.0]))
    assert [problem.instances.names[k] for k in path.instances] == ["a/s", "a/b", "a/t"]


def placed_somewhere(data: st.DataObject, problem: Problem) -> np.ndarray:
    size = st.integers(0, len(problem.network.nodes) - 1)
    count = len(problem.instances)
    return np.array(data.draw(st.lists(size, min_size=count, max_size=count)), dtype=np.intp)


@given(problems(), st.data())
@some
def test_as_the_judge_finds_it(raw: dict[str, Any], data: st.DataObject) -> None:
    """The longest path of every application takes what the judge says, by both models."""
    problem = problem_from(raw)
    nodes = placed_somewhere(data, problem)
    setting, model, queue = Setting(problem), DelayModel(problem), queues(problem, nodes)
    situation = Situation(setting, Plan(assignment_of(problem, nodes)))
    judged = judged_latencies(setting, nodes)
    for number in range(len(problem.applications)):
        if judged is not None and np.isfinite(judged[number]):
            assert model.longest(number, nodes, queue).latency_ms == pytest.approx(judged[number])
        if situation.finish_ms is not None:
            own = problem.instances.application_of == number
            plain = model.longest(number, nodes, queue, loaded=False)
            assert plain.latency_ms == pytest.approx(situation.finish_ms[own].max())


@given(problems(), st.data(), st.booleans())
@some
def test_moves_change_what_they_say(raw: dict[str, Any], data: st.DataObject, loaded: bool) -> None:
    """What a path would take elsewhere is what it takes once the move is made, with both queues changed."""
    problem = problem_from(raw)
    nodes = placed_somewhere(data, problem)
    model, queue = DelayModel(problem), queues(problem, nodes)
    path = model.longest(0, nodes, queue, loaded)
    assume(np.isfinite(path.latency_ms))
    position = data.draw(st.integers(0, len(path.instances) - 1))
    moved = np.arange(len(path.instances)) == position
    everywhere = np.arange(len(problem.network.nodes))
    found = model.elsewhere(path, moved, 1, nodes, queue, everywhere)
    assert found[nodes[path.instances[position]]] == pytest.approx(path.latency_ms)
    for host in everywhere.tolist():
        after = nodes.copy()
        after[path.instances[position]] = host
        stay = np.zeros(len(path.instances), dtype=bool)
        stay[position] = True
        again = model.elsewhere(path, stay, 1, after, queues(problem, after), np.array([host]))
        assert again[0] == found[host] or again[0] == pytest.approx(found[host])


def test_present_loads_are_known_at_once() -> None:
    loads = Loads(np.array([0.0, 2.0, 0.0]))
    loads.host(np.array([0, 0, 2]))
    loads.move(0, 1, 1)
    assert loads.known.tolist() == loads.present.tolist() == [1, 3, 1]
    assert loads.answers(np.array([1, 0])).tolist() == [3, 1]


def test_stale_loads_are_heard_of_late() -> None:
    """The i-th answer is floor(stale x i) placements of others old; one's own are known."""
    loads = Loads(np.zeros(4), stale=1.0)
    loads.host(np.array([0, 1, 2]))
    loads.end(np.array([-1, -1, -1]), np.array([0, 1, 2]))  # an application came: to 0, to 1, to 2
    loads.host(np.array([2]))
    loads.begin()
    assert loads.known.tolist() == [1, 1, 2, 0]
    # The first answer misses one placement (that on 2), the third all three.
    assert loads.answers(np.array([2, 1, 0])).tolist() == [1, 0, 0]
    assert loads.answers(np.array([1, 2, 0])).tolist() == [1, 1, 0]
    loads.learn(np.array([2]), np.array([1.0]))
    loads.move(2, 3, 1)
    assert loads.known.tolist() == [1, 1, 0, 1]
    assert loads.present.tolist() == [1, 1, 1, 1]
    loads.end(np.array([-1]), np.array([3]))
    loads.begin()
    assert loads.known.tolist() == loads.present.tolist()
    assert loads.answers(np.array([3])).tolist() == [0]


def test_a_move_of_others_is_heard_of_late_at_both_ends() -> None:
    loads = Loads(np.zeros(3), stale=0.5)
    loads.host(np.array([0]))
    loads.move(0, 1, 1)
    loads.end(np.array([0]), np.array([1]))
    loads.begin()
    assert loads.answers(np.array([2, 0, 1])).tolist() == [0, 1, 0]
    assert loads.answers(np.array([0, 1, 2])).tolist() == [0, 0, 0]
