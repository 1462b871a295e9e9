"""The search of paper 001 as one would write it first: plain Python, one object for each node of the tree."""

from __future__ import annotations

import math
import random

import numpy as np

from berth.policies.two_stage.packing import Packing

Action = tuple[int, int]


class Node:
    """A partial map."""

    def __init__(self, parent: Node | None, action: Action | None) -> None:
        self.parent, self.action = parent, action
        self.visits, self.cost = 0, 0.0
        self.children: list[Node] = []
        self.untried: list[Action] | None = None


def _bound(node: Node, spread: float) -> float:
    return node.cost / node.visits - spread / math.sqrt(node.visits)


class PlainSearch:
    """The first stage, corrected, without symmetry and prior."""

    def __init__(self, packing: Packing, seed: int, samples: int) -> None:
        self.demand, self.room = packing.demand.tolist(), packing.room.tolist()
        self.both = (packing.traffic + packing.traffic.T).tolist()
        self.packing, self.samples = packing, samples
        self.random = random.Random(seed)
        self.roll_outs = 0
        self.best = math.inf

    def run(self) -> float:
        """Decide for all items; the cost of the best map seen."""
        root, fixed = Node(None, None), {}
        for _ in self.demand:
            done = 0
            while done < self.samples:
                done += self._sample(root, dict(fixed))
            root = min(root.children, key=lambda child: (child.cost / child.visits, -child.visits))
            root.parent = None
            assert root.action is not None
            fixed[root.action[0]] = root.action[1]
        return self.best

    def _sample(self, node: Node, bins: dict[int, int]) -> bool:
        while len(bins) < len(self.demand):
            actions = self._actions(bins)
            if not actions:
                break
            if node.untried is None:
                node.untried = self._preferred(actions, bins)
            if node.untried:
                action = node.untried.pop(self.random.randrange(len(node.untried)))
                child = Node(node, action)
                node.children.append(child)
                node = child
                bins[action[0]] = action[1]
                break
            spread = 2.0 * math.sqrt(math.log(node.visits))
            node = min(
                node.children, key=lambda child: child.cost / child.visits - spread / child.visits**0.5
            )
            assert node.action is not None
            bins[node.action[0]] = node.action[1]
        while len(bins) < len(self.demand):
            actions = self._actions(bins)
            if not actions:
                break
            item, place = self.random.choice(self._preferred(actions, bins))
            bins[item] = place
        self.roll_outs += 1
        whole = len(bins) == len(self.demand)
        cost = self.packing.cost(np.array([bins[item] for item in sorted(bins)])) if whole else math.inf
        self.best = min(self.best, cost)
        above: Node | None = node
        while above is not None:
            above.visits += 1
            above.cost += cost / self.packing.bound if whole else 1.0
            above = above.parent
        return whole

    def _actions(self, bins: dict[int, int]) -> list[Action]:
        left = [list(row) for row in self.room]
        for item, place in bins.items():
            for resource, amount in enumerate(self.demand[item]):
                left[place][resource] -= amount
        return [
            (item, place)
            for item, need in enumerate(self.demand)
            if item not in bins
            for place, free in enumerate(left)
            if all(amount <= there for amount, there in zip(need, free, strict=True))
        ]

    def _preferred(self, actions: list[Action], bins: dict[int, int]) -> list[Action]:
        liked = [
            (item, place)
            for item, place in actions
            if any(where == place and self.both[item][other] > 0 for other, where in bins.items())
        ]
        return liked or actions
