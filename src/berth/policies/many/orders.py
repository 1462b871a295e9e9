"""The orders in which the heuristics look at operators, under an artificial root above all applications."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.model import Problem
from berth.model.randomness import generator_for

IntArray = NDArray[np.int64]


def breadth_first(problem: Problem) -> IntArray:
    """Level by level from the results, over all applications; an operator after all that consume it."""
    graph = problem.instances
    left = [len(consumers) for consumers in graph.consumers]
    found = _roots(problem)
    for operator in found:
        for child in graph.inputs[operator]:
            left[child] -= 1
            if left[child] == 0:
                found.append(child)
    return np.array(found, dtype=np.int64)


def depth_first(problem: Problem, *, children_first: bool) -> IntArray:
    """One branch after another, the first input first; an operator before or behind what feeds it."""
    graph = problem.instances
    found: list[int] = []
    seen: set[int] = set()
    for root in _roots(problem):
        waiting = [(root, False)]
        while waiting:
            operator, behind = waiting.pop()
            if behind:
                found.append(operator)
            elif operator not in seen:
                seen.add(operator)
                if children_first:
                    waiting.append((operator, True))
                else:
                    found.append(operator)
                waiting += [(child, False) for child in reversed(graph.inputs[operator])]
    return np.array(found, dtype=np.int64)


def at_random(problem: Problem, seed: int) -> IntArray:
    """Any order."""
    return generator_for(seed).permutation(len(problem.instances.operators)).astype(np.int64)


def _roots(problem: Problem) -> list[int]:
    """Operators whose results nobody consumes, in the order of the file."""
    return [number for number, consumers in enumerate(problem.instances.consumers) if not consumers]
