"""The six heuristics once more, from the paper's words, in plain Python: nothing of the engine is used.

For trees of operators with one instance, objects with one holder and networks with all links. Every attempt
sums up all loads from scratch.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from berth.model import Problem
from berth.model.randomness import generator_for
from berth.policies.sharing.heuristics import STRATEGIES

TOLERANCE = 1 + 1e-9
Placed = dict[int, int]
Taken = dict[int, int]
"""Takers and their providers."""


class Trees:
    """The problem as lists, by operator."""

    def __init__(self, problem: Problem) -> None:
        graph, network = problem.instances, problem.network
        self.names = [item.name for item in graph.operators]
        self.operators = [item.operator for item in graph.operators]
        self.count = len(self.names)
        self.children = [[int(child) for child in inputs] for inputs in graph.inputs]
        self.father = [int(consumers[0]) if len(consumers) else -1 for consumers in graph.consumers]
        self.roots = [k for k in range(self.count) if self.father[k] < 0]
        self.throughput = [
            float(problem.applications[item.application].throughput_per_s or 0) for item in graph.operators
        ]
        self.bandwidth = network.matrices["bandwidth_bytes_per_s"]
        self.card, self.speed = network.nic_bytes_per_s, network.speed
        self.size = {item.name: item.bytes for item in problem.objects}
        self.holder = {
            name: next(k for k, node in enumerate(network.nodes) if name in node.holds) for name in self.size
        }

    def below(self, operator: int) -> list[int]:
        """It and all that feeds it, each before its children."""
        return [operator, *(item for child in self.children[operator] for item in self.below(child))]

    def needed(self, taken: Taken) -> set[int]:
        """What is computed or taken for the roots."""
        found: set[int] = set()
        waiting = list(self.roots)
        while waiting:
            operator = waiting.pop()
            if operator not in found:
                found.add(operator)
                waiting += [taken[operator]] if operator in taken else self.children[operator]
        return found

    def loads(self, placed: Placed, taken: Taken) -> tuple[bool, np.ndarray, np.ndarray]:
        """Whether constraints (1) to (4) hold; busy shares and used cards by processor."""
        rate: dict[int, float] = defaultdict(float)
        reads: dict[tuple[int, str], float] = defaultdict(float)

        def want(operator: int, twins: list[int], throughput: float) -> None:
            while operator in taken:
                twins, operator = [*twins, operator], taken[operator]
            throughput = max(throughput, *(self.throughput[k] for k in (operator, *twins)))
            rate[operator] = max(rate[operator], throughput)
            for read in (item for k in (operator, *twins) for item in self.operators[k].reads):
                reads[operator, read.object] = max(reads[operator, read.object], read.per_s)
            for child in self.children[operator]:
                kind = self.operators[child].type
                same = [c for k in twins for c in self.children[k] if self.operators[c].type == kind]
                want(child, same, throughput)

        for root in self.roots:
            want(root, [], 0.0)
        work: dict[tuple[str | None, int], float] = defaultdict(float)
        flows: dict[tuple[str | None, int, int], float] = defaultdict(float)
        downloads: dict[tuple[str, int, int], float] = defaultdict(float)
        for operator, node in placed.items():
            item = self.operators[operator]
            seconds = rate[operator] * item.work_ms / 1000 / self.speed[node]
            work[item.type, node] = max(work[item.type, node], seconds)
            for read in item.reads:
                key = (read.object, self.holder[read.object], node)
                downloads[key] = max(downloads[key], reads[operator, read.object] * self.size[read.object])
            for child in self.children[operator]:
                provider = child
                while provider in taken:
                    provider = taken[provider]
                if provider in placed:
                    flow = (self.operators[child].type, placed[provider], node)
                    output = self.operators[child].output_bytes or 0.0
                    flows[flow] = max(flows[flow], rate[operator] * output)
        size = len(self.speed)
        busy, sent = np.zeros(size), np.zeros((size, size))
        share = np.zeros((size, size))
        for (_, node), seconds in work.items():
            busy[node] += seconds
        for crossing in (flows, downloads):
            for (_, source, node), amount in crossing.items():
                if source != node:
                    sent[source, node] += amount
                    share[source, node] += amount / self.bandwidth[source, node] if crossing is flows else 0
        card = sent.sum(axis=0) + sent.sum(axis=1)
        pairs = np.triu_indices(size, 1)
        fits = [
            busy <= TOLERANCE,
            share.sum(axis=0) <= TOLERANCE,
            share.sum(axis=1) <= TOLERANCE,
            card <= self.card * TOLERANCE,
            (sent + sent.T)[pairs] <= self.bandwidth[pairs] * TOLERANCE,
        ]
        return all(bool(fit.all()) for fit in fits), busy, card


class PlainHeuristic:
    """H1 to H6 on a problem, by number."""

    def __init__(self, problem: Problem, number: int, strategy: str, relatives: str) -> None:
        self.trees = Trees(problem)
        self.number = number
        self.strategy = STRATEGIES.index(strategy)
        self.blocking = self.strategy < 2
        self.alone = self.blocking and relatives == "chosen"
        self.placed: Placed = {}
        self.taken: Taken = {}
        self.chosen: dict[int, int] = {}

    def order(self, seed: int) -> list[int]:
        """As in section 5."""
        trees = self.trees
        if self.number <= 2:
            return [int(k) for k in generator_for(seed).permutation(trees.count)]
        levels, level = [], trees.roots
        while level:
            levels += level
            level = [child for operator in level for child in trees.children[operator]]

        def behind(operator: int) -> list[int]:
            return [*(k for child in trees.children[operator] for k in behind(child)), operator]

        return {
            3: levels,
            4: [k for root in trees.roots for k in trees.below(root)],
            5: levels[::-1],
            6: [k for root in trees.roots for k in behind(root)],
        }[self.number]

    def run(self, seed: int) -> bool:
        """Whether it gets through; then `placed` and `taken` are the plan."""
        for operator in self.order(seed):
            if operator in self.placed or operator in self.taken:
                continue
            if operator not in self.trees.needed(self.taken):
                continue
            refused = False
            if self.may_take(operator):
                if self.take(operator):
                    continue
                refused = self.number <= 4
            if (refused or not self.near(operator)) and not self.new(operator):
                return False
        return True

    def providers(self, operator: int) -> list[int]:
        """Equal operators that are computed, unless somebody takes its own result."""
        if operator in self.taken.values():
            return []
        kind, below = self.trees.operators[operator].type, self.trees.below(operator)
        return [k for k in sorted(self.placed) if self.trees.operators[k].type == kind and k not in below]

    def may_take(self, operator: int) -> bool:
        """Not H1; H2 with a mapped father; H6 with no mapped child."""
        father = self.trees.father[operator]
        if self.number == 1 or (self.number == 2 and father >= 0 and father not in self.placed):
            return False
        if self.number == 6 and any(child in self.placed for child in self.trees.children[operator]):
            return False
        return bool(self.providers(operator))

    def take(self, operator: int) -> bool:
        """The first provider with which all constraints hold; H6 for the highest that exists elsewhere."""
        father = self.trees.father[operator]
        while self.number == 6 and father >= 0 and self.providers(father):
            operator, father = father, self.trees.father[father]
        for provider in self.providers(operator):
            taken = self.taken | {operator: provider}
            needed = self.trees.needed(taken)
            taken = {k: of for k, of in taken.items() if k in needed}
            if self.accept({k: v for k, v in self.placed.items() if k in needed and k not in taken}, taken):
                return True
        return False

    def near(self, operator: int) -> bool:
        """Beside its father or a child."""
        relatives = [self.trees.father[operator]] if self.number <= 4 else []
        relatives += self.trees.children[operator] if self.number not in (3, 4) else []
        for relative in relatives:
            node = self.placed.get(relative, -1)
            if node < 0 or (self.alone and self.chosen[node] != relative):
                continue
            if self.put(operator, node):
                return True
        return False

    def new(self, operator: int) -> bool:
        """On the processor that the strategy chooses."""
        trees = self.trees
        _, busy, card = trees.loads(self.placed, self.taken)
        worth = (trees.speed, trees.card, trees.speed * (1 - busy), trees.card - card)[self.strategy]
        offered = [k for k in range(len(worth)) if not (self.blocking and k in self.chosen)]
        if not offered:
            return False
        node = max(offered, key=lambda k: (worth[k], -k))
        if self.put(operator, node):
            self.chosen.setdefault(node, operator)
            return True
        return False

    def put(self, operator: int, node: int) -> bool:
        """There, if all constraints hold; H5 then computes there what it can't get from others."""
        placed, taken = self.placed | {operator: node}, dict(self.taken)
        if self.accept(placed, taken):
            return True
        for child in self.trees.children[operator] if self.number == 5 and not self.alone else []:
            if child in taken:
                del taken[child]
                wanted = self.trees.needed(taken) - set(taken) - set(placed)
                placed |= {k: node for k in self.trees.below(child) if k in wanted}
                if self.accept(placed, taken):
                    return True
        return False

    def accept(self, placed: Placed, taken: Taken) -> bool:
        """Keep a change if all constraints hold."""
        if self.trees.loads(placed, taken)[0]:
            self.placed, self.taken = dict(placed), dict(taken)
            return True
        return False
