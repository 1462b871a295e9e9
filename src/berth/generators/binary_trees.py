"""Random binary trees whose leaves are data objects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of operators: every one has two inputs, which are operators or objects.

    Operators are numbered as they were added: a child after its parent, so the first k are the top of the
    tree, for every k.
    """

    children: list[list[int]]
    objects: list[frozenset[int]]
    functions: NDArray[np.int64]


def grown(rng: np.random.Generator, operators: int, objects: int, functions: int) -> Tree:
    """A tree that grows from its root: the next operator takes any open input, objects take what is left."""
    children: list[list[int]] = [[] for _ in range(operators)]
    open_inputs = [0, 0]
    for node in range(1, operators):
        place = int(rng.integers(len(open_inputs)))
        children[open_inputs[place]].append(node)
        open_inputs[place] = node
        open_inputs.append(node)
    read: list[set[int]] = [set() for _ in range(operators)]
    for node, item in zip(open_inputs, rng.integers(objects, size=len(open_inputs)).tolist(), strict=True):
        read[node].add(item)
    return Tree(children, [frozenset(items) for items in read], rng.integers(functions, size=operators))
