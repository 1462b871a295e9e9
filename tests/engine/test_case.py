"""A plan that is moved about in the engine: its value and what it breaks are the judge's after every move."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from berth.core import engine
from berth.engine import case_of
from berth.evaluation import Occupied, Setting, evaluate
from berth.evaluation.goal import Goal
from berth.evaluation.situation import assignment_of
from berth.exact.placement import Placement
from berth.files import problem_from
from berth.model import BadInput, Plan
from berth.model.randomness import generator_for
from tests.exact.instances import document
from tests.oracle.problems import CONTAINER_OBJECTIVES, OBJECTIVES, solvable_problems
from tests.policies.search.test_cycles import without_reads

QUIET = settings(deadline=None, max_examples=10, suppress_health_check=list(HealthCheck))
MOVED = [name for name in OBJECTIVES if name not in CONTAINER_OBJECTIVES and not name.startswith("moved")]


class Judged:
    """A plan in the engine beside the judge."""

    def __init__(self, setting: Setting, goal: Goal, nodes: np.ndarray) -> None:
        self.setting, self.goal = setting, goal
        self.placement = Placement(setting, prune=False)
        self.plan = engine.Plan(case_of(self.placement, goal))
        self.plan.place(nodes)

    def check(self, nodes: np.ndarray, value: float, broken: float) -> None:
        """Blocks on these nodes are worth so much to the judge, too, and break anything or nothing."""
        problem, setting = self.setting.problem, self.setting
        plan = Plan(assignment_of(problem, self.placement.nodes_of_instances(nodes)))
        judged = evaluate(problem, plan, setting.previous, setting.occupied)
        assert (broken <= 1e-9) == (not judged.violations), judged.violations
        objective = self.goal.value(judged.metrics)
        unavailable = judged.metrics.get("availability", 1.0) < 1e-11
        if objective is not None and not (unavailable and "availability" in self.goal.weights):
            assert math.isclose(self.goal.from_costs(value), objective, rel_tol=1e-6, abs_tol=1e-9)

    def check_now(self) -> None:
        """The plan of the moment."""
        self.check(self.plan.nodes, self.plan.value, self.plan.broken)


def occupied_of(setting: Setting, seed: int) -> Occupied:
    """Some of everything is gone."""
    generator, nodes = generator_for(seed), len(setting.problem.network.nodes)
    amounts = {
        name: setting.capacity(name) * generator.choice([0.0, 0.25, 1.0], nodes)
        for name in setting.graph.resources
    }
    return Occupied(amounts, generator.choice([0.0, 0.5], nodes), np.zeros(nodes))


@pytest.mark.parametrize("objective", MOVED)
def test_every_move_is_judged_right(objective: str) -> None:
    """Moves, swaps and several at once, beside what others occupy; then all of them undone."""

    @QUIET
    @given(st.data())
    def check(data: st.DataObject) -> None:
        raw = without_reads(data.draw(solvable_problems(objective, max_nodes=5, max_instances=8)))
        free = Setting(problem_from(raw))
        setting = Setting(free.problem, occupied=data.draw(st.sampled_from([None, occupied_of(free, 1)])))
        generator = generator_for(data.draw(st.integers(0, 9)))
        candidates = Placement(setting, prune=False).candidates
        assume(all(map(len, candidates)))
        start = np.array([generator.choice(nodes) for nodes in candidates])
        judged = Judged(setting, Goal({objective: 1.0}), start)
        plan, blocks = judged.plan, len(candidates)
        seen = []
        for _ in range(8):
            judged.check_now()
            seen.append((plan.nodes, plan.value, plan.broken))
            chosen = generator.choice(blocks, min(blocks, 3), replace=False).tolist()
            moves = [(block, int(generator.choice(candidates[block]))) for block in chosen]
            foreseen = plan.outcome_of(moves)
            plan.move_all(moves)
            assert foreseen == pytest.approx((plan.value, plan.broken), rel=1e-8, abs=1e-8)
        for nodes, value, broken in reversed(seen):
            plan.undo()
            assert np.array_equal(plan.nodes, nodes)
            assert (plan.value, plan.broken) == pytest.approx((value, broken), rel=1e-8, abs=1e-8)

    check()


@settings(QUIET, max_examples=20)
@given(st.data())
def test_what_a_block_would_do_on_each_of_its_candidates(data: st.DataObject) -> None:
    """All at once, without a trace in the plan."""
    raw = without_reads(data.draw(solvable_problems("response_time", max_nodes=5, max_instances=6)))
    setting = Setting(problem_from(raw))
    candidates = Placement(setting, prune=False).candidates
    assume(all(map(len, candidates)))
    goal = Goal({"response_time": 1.0, "nodes_used": 2.0, "loaded_response_time": 0.5}, "raw")
    judged = Judged(setting, goal, np.array([nodes[0] for nodes in candidates]))
    before = judged.plan.nodes
    for block in range(len(candidates)):
        outcomes = judged.plan.outcomes_on([block], candidates[block].astype(np.int64))
        for node, value, broken in zip(candidates[block], *outcomes, strict=True):
            moved = before.copy()
            moved[block] = node
            judged.check(moved, value, broken)
    assert np.array_equal(judged.plan.nodes, before)
    judged.check_now()


def test_two_blocks_swap_and_swap_back() -> None:
    """What a swap adds is what both moves add."""
    operators = [{"name": name, "demand": {"cpu": 1}} for name in "st"]
    nodes = [{"name": name, "capacity": {"cpu": 1}} for name in "uv"]
    streams = [{"from": "s", "to": "t", "bytes_per_s": 10}]
    raw = document(nodes, [[0, 5], [7, 0]], operators, streams)
    judged = Judged(Setting(problem_from(raw)), Goal({"response_time": 1.0}), np.array([0, 1]))
    assert judged.plan.response_time == 5
    judged.plan.swap(0, 1)
    assert judged.plan.nodes.tolist() == [1, 0]
    assert judged.plan.response_time == 7
    assert judged.plan.whole
    judged.plan.undo()
    assert judged.plan.response_time == 5
    with pytest.raises(IndexError, match="no move to undo"):
        judged.plan.undo()
    with pytest.raises(IndexError, match="no such block or node"):
        judged.plan.move(0, 2)


@pytest.mark.parametrize("nodes", [8, 1500])
def test_a_limit_on_places_of_several_nodes(nodes: int) -> None:
    """At most 3 instances on nodes of one colour; with few of them on many places, no loads are kept."""
    sizes = {"a": 1, "b": 2, "c": 2, "d": 1, "e": 1}
    operators = [{"name": name, "parallelism": size} for name, size in sizes.items()]
    machines = [{"name": f"n{number}", "labels": {"colour": str(number // 2)}} for number in range(nodes)]
    rules = [
        {"together": ["b"]},
        {"together": ["c"]},
        {"spread": ["a", "b", "c", "d"], "by": "colour", "most": 3},
    ]
    raw = document(machines, (1.0 - np.eye(nodes)).tolist(), operators, [], application={"rules": rules})
    placement = Placement(Setting(problem_from(raw)), prune=False)
    plan = engine.Plan(case_of(placement, Goal({"nodes_used": 1.0})))
    generator, held = generator_for(0), {True: 0, False: 0}
    needed = np.array([1.0, 2.0, 2.0, 1.0, 0.0])
    plan.place(np.zeros(5, np.int64))
    for _ in range(200):
        plan.move(int(generator.integers(5)), int(generator.integers(6)))
        load = np.bincount(plan.nodes // 2, needed)
        excess = (load - 3.0)[load > 3.0]
        # in units of what a block needs, and a bit for being broken at all
        assert plan.broken == pytest.approx((excess / 1.5 + 0.2).sum(), abs=1e-6)
        held[plan.whole] += 1
    assert min(held.values()) > 20


def test_an_objective_that_it_does_not_know() -> None:
    """It says so, rather than to leave it out."""
    raw = document([{"name": "u"}], [[0]], [{"name": "s"}], [])
    placement = Placement(Setting(problem_from(raw)), prune=False)
    with pytest.raises(BadInput, match=r"objective\.containers_used: search can't optimise it"):
        case_of(placement, Goal({"containers_used": 1.0}))
