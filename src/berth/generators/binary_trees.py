"""Random binary trees whose leaves are data objects, and which have subtrees in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of operators: every one has two inputs, which are operators or objects.

    They are numbered level by level, so the first k are the top of the tree, for every k.
    """

    children: list[list[int]]
    objects: list[frozenset[int]]
    functions: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Subtree:
    function: int
    inputs: tuple[_Subtree | int, _Subtree | int]
    """A number is an object."""


class Nursery:
    """Draws trees; with the chance `alike` a subtree is one of those of its size that were drawn before."""

    def __init__(self, rng: np.random.Generator, objects: int, functions: int, alike: float) -> None:
        self._rng = rng
        self._objects = objects
        self._functions = functions
        self._alike = alike
        self._drawn: dict[int, list[_Subtree]] = {}

    def grown(self, operators: int) -> Tree:
        """A tree of so many operators.

        Those below an operator fall to its two inputs by any split, all equally likely: as if trees grew
        from the root, the next operator at any open input.
        """
        children: list[list[int]] = []
        objects: list[frozenset[int]] = []
        functions: list[int] = []
        found = [(self._subtree(operators), -1)]
        for number, (subtree, parent) in enumerate(found):
            if parent >= 0:
                children[parent].append(number)
            below = [item for item in subtree.inputs if isinstance(item, _Subtree)]
            found += [(item, number) for item in below]
            objects.append(frozenset(item for item in subtree.inputs if not isinstance(item, _Subtree)))
            functions.append(subtree.function)
            children.append([])
        return Tree(children, objects, np.array(functions, dtype=np.int64))

    def _subtree(self, operators: int) -> _Subtree:
        drawn = self._drawn.setdefault(operators, [])
        if drawn and self._rng.random() < self._alike:
            return drawn[int(self._rng.integers(len(drawn)))]
        first = int(self._rng.integers(operators))
        inputs = self._input(first), self._input(operators - 1 - first)
        drawn.append(_Subtree(int(self._rng.integers(self._functions)), inputs))
        return drawn[-1]

    def _input(self, operators: int) -> _Subtree | int:
        return self._subtree(operators) if operators else int(self._rng.integers(self._objects))
