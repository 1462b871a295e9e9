"""How far apart items are, level by level: bounds on what they cost each other that linear relaxations see.

For each of a few distances and every pair of items a literal says that their places are farther apart. What
the pair costs is at least the sum over the levels; around an item there is room for so many others at most,
and where a level cuts the places into clusters, being in the same one is transitive.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

MOST_LEVELS = 6
MOST_IN_TRIANGLES = 16
"""Items beyond which no three of them are looked at."""


@dataclass(eq=False)
class Nearness:
    """Literals for pairs of items that are farther apart than each of some distances."""

    cp: cp_model.CpModel
    choices: list[dict[int, Any]]
    """For each item its variable by place."""
    distance: FloatArray
    """[places, places], at least 0; infinite: no way."""
    slots: IndexArray
    """[places] how many items there is room for."""

    def __post_init__(self) -> None:
        self._near = np.minimum(self.distance, self.distance.T)
        distinct = np.unique(np.append(self._near[np.isfinite(self._near)], 0.0))
        last = len(distinct) - 1
        picked = np.linspace(0, last, min(last, MOST_LEVELS), endpoint=False).astype(np.intp)
        # Whoever is beyond a level is at least as far as the next distance there is.
        self._steps: list[float] = np.diff(distinct[picked + 1], prepend=0.0).tolist()
        symmetric = bool((self.distance == self.distance.T).all())
        self.exact = symmetric and len(picked) == last
        """Whether the levels are all that there is to say about distances."""
        self._far = [self._at_level(level) for level in distinct[picked].tolist()]

    def cost_terms(self, one: int, other: int, rate: float) -> list[tuple[Any, float]]:
        """What a pair costs at least, level by level."""
        return [(far[one, other], rate * step) for far, step in zip(self._far, self._steps, strict=True)]

    def _at_level(self, level: float) -> dict[tuple[int, int], Any]:
        ball = self._near <= level
        count = len(self.choices)
        far = {pair: self.cp.new_bool_var("") for pair in combinations(range(count), 2)}
        for one, other in permutations(range(count), 2):
            apart = far[min(one, other), max(one, other)]
            for balls, places in _by_ball(ball, self.choices[one]):
                reached = [v for place, v in self.choices[other].items() if balls[place]]
                here = [self.choices[one][place] for place in places]
                self.cp.add(cp_model.LinearExpr.sum([*reached, apart]) >= cp_model.LinearExpr.sum(here))
        self._add_room(ball, far)
        transitive = bool(((ball.astype(np.intp) @ ball > 0) == ball).all())
        if transitive and count <= MOST_IN_TRIANGLES:
            for one, two, three in combinations(range(count), 3):
                sides = far[one, two], far[one, three], far[two, three]
                for longest in range(3):
                    others = [side for k, side in enumerate(sides) if k != longest]
                    self.cp.add(sides[longest] <= cp_model.LinearExpr.sum(others))
        return far

    def _add_room(self, ball: BoolArray, far: dict[tuple[int, int], Any]) -> None:
        """Around every item there are no more others than there is room for."""
        count = len(self.choices)
        others = np.minimum(ball @ self.slots - 1, count - 1)
        for item, choice in enumerate(self.choices):
            apart = [literal for pair, literal in far.items() if item in pair]
            room = [int(max(others[place], 0)) for place in choice]
            if min(room) < count - 1:
                within = cp_model.LinearExpr.weighted_sum([*choice.values()], room)
                self.cp.add(cp_model.LinearExpr.sum(apart) + within >= count - 1)


def _by_ball(ball: BoolArray, choice: dict[int, Any]) -> list[tuple[BoolArray, list[int]]]:
    """An item's places by what is near them: those with the same surroundings are one."""
    found: dict[bytes, tuple[BoolArray, list[int]]] = {}
    for place in choice:
        found.setdefault(ball[place].tobytes(), (ball[place], []))[1].append(place)
    return list(found.values())
