"""The scheduler of paper 000: slots, two steps, moves."""

from pathlib import Path

import berth

TAG_AND_COUNT = Path(__file__).parents[2] / "examples" / "tag-and-count.yaml"


def test_first_run_is_for_availability() -> None:
    """Rates unknown: the most available nodes, whichever of them; another seed, another plan."""
    problem = berth.load(TAG_AND_COUNT)
    plans = [berth.solve(problem, "s-odp", first_run=True, seed=seed) for seed in range(3)]
    assert all(plan.metrics["availability"] == 1.0 for plan in plans)
    assert all(dict(plan.goal) == {"availability": 1.0} for plan in plans)
    assert len({tuple(plan.assignment.values()) for plan in plans}) > 1


def test_second_run_tells_what_moves() -> None:
    """The second run places for the objective and counts the executors that change their node."""
    problem = berth.load(TAG_AND_COUNT)
    first = berth.solve(problem, "s-odp", first_run=True)
    second = berth.solve(problem, "s-odp", previous=first)
    moved = [name for name, node in second.assignment.items() if first.assignment[name] != node]
    assert second.trace["moves"] == moved
    assert second.trace["reassignments"] == 1
    assert second.metrics["moved_instances"] == len(moved)
    assert second.objective == berth.solve(problem).objective


def test_slots_hold_no_more_than_they_may() -> None:
    """Executors fill a node's slots one after another, four to a slot and two slots to a node."""
    plan = berth.solve(berth.load(TAG_AND_COUNT), "s-odp")
    slots = list(plan.trace["slots"].values())
    assert max(slots.count(slot) for slot in slots) <= 4
    assert {slot.split("/")[1] for slot in slots} <= {"0", "1"}
    assert all(plan.assignment[name] == slot.split("/")[0] for name, slot in plan.trace["slots"].items())


def test_fewer_slots_spread_executors() -> None:
    """The capacity is slots times executors, not what the problem file says."""
    plan = berth.solve(berth.load(TAG_AND_COUNT), "s-odp", worker_slots=1, executors_per_slot=2)
    counts = [list(plan.assignment.values()).count(node) for node in set(plan.assignment.values())]
    assert max(counts) <= 2
