"""Worst paths by levels against plain recursion."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from berth.model.instances import PathSchedule


@strategies.composite
def graphs(draw: strategies.DrawFn) -> tuple[int, list[tuple[int, int]], list[float], list[float]]:
    """Random graphs without cycles, some pairs twice, with a time for every instance and pair."""
    size = draw(strategies.integers(1, 12))
    order = draw(strategies.permutations(range(size)))
    ends = strategies.tuples(strategies.integers(0, size - 1), strategies.integers(0, size - 1))
    drawn = (
        draw(strategies.lists(ends.filter(lambda pair: pair[0] != pair[1]), max_size=30)) if size > 1 else []
    )
    pairs = [(order[min(pair)], order[max(pair)]) for pair in drawn]
    times = strategies.sampled_from([0.0, 1.0, 2.5, 10.0, 0.1])
    own = draw(strategies.lists(times, min_size=size, max_size=size))
    between = draw(strategies.lists(times, min_size=len(pairs), max_size=len(pairs)))
    return size, pairs, own, between


@settings(max_examples=150, derandomize=True, deadline=None, database=None)
@given(graphs())
def test_against_recursion(graph: tuple[int, list[tuple[int, int]], list[float], list[float]]) -> None:
    """An instance is done its own time after the last of its inputs has arrived."""
    size, pairs, own, between = graph

    @cache
    def done(instance: int) -> float:
        arrivals = [
            done(sender) + time
            for (sender, receiver), time in zip(pairs, between, strict=True)
            if receiver == instance
        ]
        return own[instance] + max(arrivals, default=0.0)

    sender, receiver = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    schedule = PathSchedule(size, sender, receiver)
    found = schedule.finish(np.array(own), np.array(between, dtype=np.float64))
    assert found.tolist() == pytest.approx([done(instance) for instance in range(size)])
    assert schedule.has_input.tolist() == [any(end == k for _, end in pairs) for k in range(size)]
    assert schedule.has_output.tolist() == [any(start == k for start, _ in pairs) for k in range(size)]


def test_a_long_chain() -> None:
    """Depth is no problem."""
    size = 5000
    chain = np.arange(size)
    schedule = PathSchedule(size, chain[:-1], chain[1:])
    assert schedule.finish(np.ones(size), np.full(size - 1, 2.0))[-1] == 3 * size - 2
