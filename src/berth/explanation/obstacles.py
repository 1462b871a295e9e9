"""What is sure to forbid a move, for many moves at once; the judge has the last word on all others."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Situation
from berth.evaluation.limits import TOLERANCE, Capacity, NetworkCard, PlaceLimit, place_limits
from berth.evaluation.situation import group_maximum
from berth.explanation.moves import Moves

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Obstacles:
    """The limits of the nodes, and what a plan has taken of them."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation

    @cached_property
    def _limits(self) -> list[tuple[PlaceLimit, FloatArray]]:
        """Every limit of a place, with what is used of it."""
        situation = self._situation
        return [(limit, limit.used(situation)) for limit in place_limits(situation.setting)]

    @cached_property
    def _cards(self) -> FloatArray:
        return NetworkCard(self._situation.setting).used(self._situation)

    def of(self, moves: Moves) -> dict[str, BoolArray]:
        """By the name of what is in the way, the moves that it forbids."""
        found = {"not allowed there": self._misplaced(moves), "no link": moves.unlinked}
        if moves.unit.node >= 0 or (self._situation.node_of[moves.unit.members] < 0).all():
            found |= self._full(moves)
        away = moves.nodes != moves.unit.node
        return {name: forbids & away for name, forbids in found.items() if (forbids & away).any()}

    def _misplaced(self, moves: Moves) -> BoolArray:
        graph, members, size = self._situation.graph, moves.unit.members, len(moves.nodes)
        allowed = graph.may_run_on(np.repeat(members, size), np.tile(moves.nodes, len(members)))
        return np.asarray(~allowed.reshape(len(members), size).all(axis=0))

    def _full(self, moves: Moves) -> dict[str, BoolArray]:
        """Limits of the place that the unit would come to."""
        situation, nodes, home = self._situation, moves.nodes, moves.unit.node
        new = ~self._has_equal(moves)
        found: dict[str, BoolArray] = {}
        for limit, used in self._limits:
            if not limit.grows and (used > limit.room).any():
                continue  # broken as it is: only the judge knows whether a move makes it worse
            places, added = limit.place_of[nodes], self._added(moves, limit)
            elsewhere = places != limit.place_of[home] if home >= 0 else np.ones(len(nodes), dtype=bool)
            over = elsewhere & _over(used[places], added, limit.room[places])
            counts = new if limit.grows else np.ones(len(nodes), dtype=bool)
            found[limit.label] = found.get(limit.label, np.zeros(len(nodes), dtype=bool)) | (counts & over)
        if situation.network.cards_bound and situation.rates_known:
            found["network card"] = self._card(moves)
        return found

    def _added(self, moves: Moves, limit: PlaceLimit) -> float:
        """What the unit would take, its containers as a whole."""
        unit = moves.unit
        if not limit.grows:
            return float(limit.needed[unit.members].sum())
        needed = limit.needed_in(self._situation)[unit.members]
        whole = 0.0
        if isinstance(limit, Capacity):
            needed[[number in unit.packed for number in unit.members.tolist()]] = 0.0
            whole = sum(size.capacity.get(limit.resource, 0.0) for size in unit.containers)
        return self._once(moves, needed) + whole

    def _once(self, moves: Moves, amounts: FloatArray) -> float:
        """The members' amounts added up, equal computations once."""
        keys = self._situation.problem.sharing_keys
        if not keys.possible:
            return float(amounts.sum())
        group = np.unique(keys.computation_keys(moves.unit.members), return_inverse=True)[1]
        return float(group_maximum(amounts, group).sum())

    def _has_equal(self, moves: Moves) -> BoolArray:
        """The nodes on which something is computed already that the unit computes, too."""
        keys = self._situation.problem.sharing_keys
        if not keys.possible:
            return np.zeros(len(moves.nodes), dtype=bool)
        mine = keys.computation_keys(moves.unit.members)
        equal = moves.others[np.isin(keys.computation_keys(moves.others), mine)]
        return np.isin(moves.nodes, self._situation.node_of[equal])

    def _card(self, moves: Moves) -> BoolArray:
        """Cards that can't take what the unit exchanges on its new node."""
        card, nodes = self._situation.network.nic_bytes_per_s[moves.nodes], moves.nodes
        stay, change = moves.staying, moves.changing
        size = len(self._situation.network.nodes)
        kept = np.bincount(stay.sender, stay.rate, size) + np.bincount(stay.receiver, stay.rate, size)
        at_home = (change.sender == nodes[change.move]) | (change.receiver == nodes[change.move])
        load = kept[nodes] + moves.per_move(change, np.where(at_home, change.rate, 0.0))
        more = load > self._cards[nodes] * (1.0 + TOLERANCE)
        return np.asarray(more & (load > card * (1.0 + TOLERANCE)))


def _over(load: FloatArray, added: FloatArray | float, there: FloatArray) -> BoolArray:
    return np.asarray(
        (np.asarray(added) > 0) & (load + added > there + TOLERANCE * np.maximum(load + added, there))
    )
