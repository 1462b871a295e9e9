"""A problem made ready for exact solving: what is placed as one, where each may go, what each choice costs.

Instances that a `together` rule binds are one block. Blocks, not instances, are placed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting
from berth.evaluation.limits import Capacity, OneCore, PlaceLimit, Processor, one_core, place_limits
from berth.exact.packing import packings_of
from berth.model import Plan, Problem
from berth.model.randomness import generator_for

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

LOOSE = 2e-9
"""By how much more than its limit a place bears: beyond the judge's tolerance, so that no plan is lost."""
LARGEST_GRID = 50_000_000
"""The largest matrix over two blocks' candidates: 400 MB each."""


@dataclass(frozen=True)
class Sampling:
    """Consider only a random part of every operator's candidates (000, section 7.3)."""

    fraction: float = 1.0
    seed: int = 0


class Placement:
    """Blocks of instances and their candidate nodes."""

    def __init__(
        self,
        setting: Setting,
        sampling: Sampling | None = None,
        prune: bool = True,
        staying: IndexArray | None = None,
    ) -> None:
        """Make a problem ready.

        Args:
            setting: what is placed, and where.
            sampling: which part of the candidates counts.
            prune: leave out candidates that couldn't bear a block alone.
            staying: the node of each instance that stays there; -1: it may go anywhere.
        """
        self.setting = setting
        self.graph = setting.graph
        self.network = setting.problem.network
        self.packings = packings_of(setting)
        """The containers of the applications that have some."""
        self.blocks, self.block_of = _blocks(setting)
        """The instances of each block, and the block of each instance."""
        self.staying = staying
        """The node of each instance that stays there, -1 for others; None: all may go anywhere."""
        self.candidates = self._candidates(prune)
        """The node numbers where each block may go, ascending."""
        if sampling is not None and sampling.fraction < 1.0:
            self._sample(sampling)

    def _candidates(self, prune: bool) -> list[IndexArray]:
        """Nodes allowed to all of a block's instances; with `prune`, those that could bear it alone."""
        allowed = []
        cache: dict[tuple[int, ...], IndexArray] = {}
        for block in self.blocks:
            operators = tuple(sorted({int(self.graph.operator_of[number]) for number in block}))
            if operators not in cache:
                sets = [self.graph.allowed_nodes[operator] for operator in operators]
                common = sets[0]
                for other in sets[1:]:
                    common = np.intersect1d(common, other)
                cache[operators] = common
            allowed.append(self._where_it_stays(block, cache[operators]))
        return [self._bearable(k, nodes) for k, nodes in enumerate(allowed)] if prune else allowed

    def _where_it_stays(self, block: list[int], nodes: IndexArray) -> IndexArray:
        """Those of some nodes where a block's instances are, as far as they stay."""
        if self.staying is None:
            return nodes
        for node in np.unique(self.staying[block]).tolist():
            nodes = nodes if node < 0 else nodes[nodes == node]
        return nodes

    def _bearable(self, block: int, nodes: IndexArray) -> IndexArray:
        core = self._one_core
        fits = np.ones(len(nodes), dtype=bool) if core is None else core.fits(self.blocks[block], nodes)
        for limit in self.limits:
            there = limit.room_at(nodes)
            fits &= ~(limit.needed[block] > there * (1 + 1e-9) + 1e-12)
        fits &= self._has_room(block, nodes)
        return nodes if fits.all() else nodes[fits]

    def _has_room(self, block: int, nodes: IndexArray) -> NDArray[np.bool_]:
        """Whether nodes have room for a container, where the block's instances need one."""
        fits = np.ones(len(nodes), dtype=bool)
        for packing in self.packings:
            if self.blocks[block][0] in packing.instances:
                for resource, size in zip(packing.resources, packing.size.tolist(), strict=True):
                    fits &= ~(size > self.setting.capacity(resource)[nodes] * (1 + 1e-9) + 1e-12)
        return fits

    @cached_property
    def _one_core(self) -> OneCore | None:
        return one_core(self.setting)

    @cached_property
    def packed_blocks(self) -> IndexArray:
        """The blocks whose instances go into containers."""
        parts = [self.block_of[packing.instances] for packing in self.packings]
        return np.unique(np.concatenate([self.block_of[:0], *parts]))

    def _sample(self, sampling: Sampling) -> None:
        generator = generator_for(sampling.seed)
        for number, nodes in enumerate(self.candidates):
            size = max(1, int(np.ceil(sampling.fraction * len(nodes))))
            if size < len(nodes):
                self.candidates[number] = np.sort(generator.choice(nodes, size, replace=False))

    def keep(self, fits: list[NDArray[np.bool_]]) -> None:
        """Narrow the candidates down to those that fit; blocks with the same ones go on sharing them."""
        narrowed: dict[tuple[bytes, bytes], IndexArray] = {}
        for number, (nodes, fit) in enumerate(zip(self.candidates, fits, strict=True)):
            key = nodes.tobytes(), fit.tobytes()
            self.candidates[number] = narrowed.setdefault(key, nodes[fit])
        self.__dict__.pop("size", None)

    @cached_property
    def limits(self) -> list[BlockLimit]:
        """Every limit of a place that some block needs anything of."""
        limits = [limit for limit in place_limits(self.setting) if limit.matters]
        count = len(self.blocks)
        return [
            BlockLimit(limit, np.bincount(self.block_of, limit.needed, count).astype(np.float64))
            for limit in limits
        ]

    def limit_arrays(self, nodes: IndexArray) -> tuple[FloatArray, FloatArray, IndexArray]:
        """Of all limits that can bind: what blocks need, what fits, and whose limit counts.

        [limit, block], [limit, place] and [limit, place], where places are some nodes. Amounts are on a scale
        where the largest limit is 1, the tolerance included. Of several nodes that are one place together the
        first one's limit counts for all.
        """
        rows = []
        for item in self.limits:
            there, all_needed = item.room_at(nodes), float(item.needed.sum())
            if all_needed <= there.min(initial=np.inf):
                continue
            _, first, place = np.unique(item.of.place_of[nodes], return_index=True, return_inverse=True)
            # A little more than everything is as good as no limit, and keeps the numbers small.
            most = np.minimum(there, 1.01 * all_needed)
            scale = float(most.max(initial=0.0)) or 1.0
            rows.append((item.needed / scale, most * (1 + LOOSE) / scale, first[place]))
        shape = len(rows), len(nodes)
        return (
            np.array([row[0] for row in rows]).reshape(len(rows), len(self.blocks)),
            np.array([row[1] for row in rows]).reshape(shape),
            np.array([row[2] for row in rows], dtype=np.intp).reshape(shape),
        )

    @property
    def block_demand(self) -> dict[str, FloatArray]:
        """What each block needs of each resource."""
        return {item.of.resource: item.needed for item in self.limits if isinstance(item.of, Capacity)}

    @property
    def block_busy(self) -> FloatArray:
        """The share of the reference processor that keeps each block going."""
        busy = [item.needed for item in self.limits if isinstance(item.of, Processor)]
        return busy[0] if busy else np.zeros(len(self.blocks))

    @cached_property
    def edges(self) -> list[Edge]:
        """Blocks that exchange anything, every two of them once, with the pairs between them."""
        graph = self.graph
        sender, receiver = self.block_of[graph.pair_sender], self.block_of[graph.pair_receiver]
        low, high = np.minimum(sender, receiver), np.maximum(sender, receiver)
        order = np.lexsort((high, low))
        order = order[low[order] != high[order]]
        keys = low[order] * len(self.blocks) + high[order]
        edges = []
        for positions in np.split(order, np.flatnonzero(np.diff(keys)) + 1):
            if len(positions):
                first, second = int(low[positions[0]]), int(high[positions[0]])
                forward = positions[sender[positions] == first]
                backward = positions[sender[positions] == second]
                edges.append(Edge(first, second, forward, backward))
        return edges

    @cached_property
    def rate(self) -> FloatArray:
        """Bytes per second of every pair; unknown rates as 0 (metrics that need them are not asked for)."""
        return np.nan_to_num(self.graph.pair_rate)

    def grid(self, first: int, second: int) -> tuple[IndexArray, IndexArray]:
        """All combinations of two blocks' candidates, as two matrices of node numbers."""
        shape = len(self.candidates[first]), len(self.candidates[second])
        return (
            np.broadcast_to(self.candidates[first][:, None], shape),
            np.broadcast_to(self.candidates[second][None, :], shape),
        )

    def linked(self, edge: Edge) -> NDArray[np.bool_]:
        """Whether the nodes of two blocks can exchange what they have to."""
        connected = self.network.table.connected
        here, there = self.grid(edge.first, edge.second)
        fits = np.ones(here.shape, dtype=bool)
        if len(edge.forward):
            fits &= connected[here, there]
        if len(edge.backward):
            fits &= connected[there, here]
        return fits

    @cached_property
    def size(self) -> int:
        """The number of entries that a model of all pairs of candidates needs."""
        packed = sum(packing.useful * self._choices(packing.instances) for packing in self.packings)
        return sum(map(len, self.candidates)) + sum(map(self.combinations, self.edges)) + packed

    def _choices(self, instances: IndexArray) -> int:
        return sum(len(self.candidates[block]) for block in self.block_of[instances].tolist())

    def combinations(self, edge: Edge) -> int:
        """How many pairs of candidates two blocks have."""
        return len(self.candidates[edge.first]) * len(self.candidates[edge.second])

    @property
    def gridable(self) -> bool:
        """Whether a matrix over the candidates of any two blocks that communicate fits into memory."""
        return max(map(self.combinations, self.edges), default=0) <= LARGEST_GRID

    def nodes_of_instances(self, node_of_block: IndexArray) -> IndexArray:
        """Node numbers of all instances from those of all blocks."""
        return node_of_block[self.block_of]

    def solution_of(self, plan: Plan) -> IndexArray | None:
        """A plan as the nodes of blocks and what follows; None where it is not all in there."""
        graph, index = self.graph, self.network.index
        packed = [graph.names[k] for packing in self.packings for k in packing.instances.tolist()]
        names = [graph.names[numbers[0]] for numbers in self.blocks]
        if not (set(names) <= plan.assignment.keys() and set(packed) <= plan.containers.keys()):
            return None
        nodes = [index[plan.assignment[name]] for name in names]
        containers = [int(plan.containers[name].rpartition("/c")[2]) for name in packed]
        return np.array(nodes + containers, dtype=np.intp)

    def containers_of_instances(self, solution: IndexArray) -> dict[str, str]:
        """The container of every instance that needs one: what comes behind the nodes of the blocks."""
        owners = [(packing.application, k) for packing in self.packings for k in packing.instances.tolist()]
        chosen = solution[len(self.blocks) :].tolist()
        return {
            self.graph.names[instance]: f"{application}/c{number}"
            for (application, instance), number in zip(owners, chosen, strict=True)
        }


@dataclass(frozen=True, eq=False)
class BlockLimit:
    """A limit of places, with what each block needs of it."""

    of: PlaceLimit
    needed: FloatArray

    def room_at(self, nodes: IndexArray) -> FloatArray:
        """What the places of some nodes have room for."""
        return self.of.room[self.of.place_of[nodes]]

    @property
    def single(self) -> bool:
        """Whether every node is a place of its own."""
        return len(self.of.room) == len(self.of.place_of)


@dataclass(frozen=True, eq=False)
class Edge:
    """Two blocks that communicate: positions in the graph's pairs, by direction."""

    first: int
    second: int
    forward: IndexArray
    backward: IndexArray

    def directions(self) -> Iterator[tuple[IndexArray, bool]]:
        """The pairs by direction, with whether the first block sends them."""
        if len(self.forward):
            yield self.forward, True
        if len(self.backward):
            yield self.backward, False


def _blocks(setting: Setting) -> tuple[list[list[int]], IndexArray]:
    """The instances of each block, by their first ones, and the block of each instance."""
    block_of = setting.problem.block_of
    blocks: list[list[int]] = [[] for _ in range(int(block_of.max(initial=-1)) + 1)]
    for number, block in enumerate(block_of.tolist()):
        blocks[block].append(number)
    return blocks, block_of


def unmodelled(problem: Problem, packs: bool = False) -> str | None:
    """What an exact method leaves out of a problem, as a reason why its optimum proves nothing; else None.

    Args:
        problem: what is solved.
        packs: whether the method fills containers; the general model does.
    """
    if not packs and any(application.containers is not None for application in problem.applications):
        return "containers are not packed"
    if any(item.operator.reads for item in problem.instances.operators):
        return "object downloads are not planned"
    if problem.sharing_keys.matters:
        return "equal operators are not shared"
    return None


def most_utilised(placement: Placement) -> float:
    """No plan has a higher utilisation of a node, or of a core by one instance."""
    loads, network = placement.graph.load, placement.network
    nodes = np.unique(np.concatenate(placement.candidates))
    together = float((loads.sum() / network.processors[nodes]).max(initial=0.0))
    return max(together, float((loads.max(initial=0.0) / network.speed[nodes]).max(initial=0.0)))


def modelled(setting: Setting) -> Setting:
    """The setting without what the exact model leaves out; plans for it are then judged in the real one."""
    problem = setting.problem
    if unmodelled(problem, packs=True) is None:
        return setting
    applications = tuple(
        replace(
            application,
            operators=tuple(replace(operator, reads=()) for operator in application.operators),
        )
        for application in problem.applications
    )
    held = replace(problem, applications=applications, sharing=False)
    return replace(setting, problem=held)
