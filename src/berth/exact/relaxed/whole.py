"""A placement as a mixed-integer program: the relaxation with every constraint; shares are 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.evaluation.metrics import AVAILABILITY
from berth.exact.costs import Costs, add_metric, costs_of
from berth.exact.placement import Placement, unmodelled
from berth.exact.relaxed.paths import Arrivals
from berth.exact.relaxed.peaks import PEAKS, crossings, flows
from berth.exact.relaxed.program import Arrays
from berth.exact.relaxed.relaxation import Relaxation
from berth.model import BadInput

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

LARGEST = 2_000_000
"""Combinations of candidates beyond which nobody would solve it."""


@dataclass(frozen=True, eq=False)
class WholeProgram:
    """Minimise cost x + constant, where columns with a name are 0 or 1."""

    arrays: Arrays
    names: dict[int, str]
    """By column, `application/operator#k@node`."""
    constant: float


def whole_program(setting: Setting, goal: Goal) -> WholeProgram:
    """The program whose solutions are the plans that keep every constraint.

    Raises:
        BadInput: it has something that is not linear.
    """
    placement = Placement(setting)
    costs = _costs(placement, goal)
    relaxation = Relaxation(placement, costs, every_edge=True)
    _Limits(relaxation, placement).add()
    names = {}
    for block, nodes in enumerate(placement.candidates):
        instance = placement.graph.names[placement.blocks[block][0]]
        for column, node in zip(relaxation.shares_of(block).tolist(), nodes.tolist(), strict=True):
            names[column] = f"{instance}@{placement.network.nodes[node].name}"
    return WholeProgram(relaxation.program.arrays(), names, goal.constant)


def _costs(placement: Placement, goal: Goal) -> Costs:
    problem = placement.setting.problem
    reason = unmodelled(problem)
    if reason is None and problem.losses:
        reason = "plans after losses are not in it"
    if reason is not None:
        raise BadInput(f"a linear program can't hold this problem: {reason}")
    if placement.size > LARGEST:
        raise BadInput(
            f"a linear program of {placement.size:,} combinations of nodes is too large (at most {LARGEST:,})"
        )
    costs = costs_of(goal, placement)
    for name in costs.factors:
        if name not in ("response_time", "response_time_sum", *PEAKS):
            why = "a product" if name == "availability" else "not linear"
            raise BadInput(f"objective.{name}: is {why}, which a linear program can't hold")
    if (costs.node < 0).any():
        raise BadInput("objective: nodes that pay for being used are not in it")
    return costs


class _Limits:
    """The constraints that the relaxation leaves out."""

    def __init__(self, relaxation: Relaxation, placement: Placement) -> None:
        self._program, self._shares = relaxation.program, relaxation.shares_of
        self._pairs, self._placement = relaxation.pairs_of, placement

    def add(self) -> None:
        """All of them."""
        self._bandwidth()
        self._cards()
        self._ports()
        self._latest()
        self._availability()

    def _row(self, terms: list[tuple[IndexArray, float]], most: float) -> None:
        (row,) = self._program.add_rows(1, -np.inf, most)
        for columns, amount in terms:
            self._program.put(row, columns, amount)

    def _bandwidth(self) -> None:
        bandwidth = self._placement.network.table.physical_bandwidth
        for link, terms in crossings(self._placement, self._pairs).items():
            self._row(terms, float(bandwidth.ravel()[link]))

    def _cards(self) -> None:
        cards = self._placement.network.nic_bytes_per_s
        for node in np.flatnonzero(np.isfinite(cards)).tolist():
            terms = [
                (columns[(here == node) != (there == node)], rate)
                for columns, here, there, rate in flows(self._placement, self._pairs)
            ]
            self._row(terms, float(cards[node]))

    def _ports(self) -> None:
        network = self._placement.network
        if not network.one_port:
            return
        table = network.table
        for node in range(len(network.nodes)):
            for sends in (True, False):
                (row,) = self._program.add_rows(1, -np.inf, 1.0)
                for columns, here, there, rate in flows(self._placement, self._pairs):
                    crosses = ((here if sends else there) == node) & (here != there)
                    room = table.bandwidth_bytes_per_s[here[crosses], there[crosses]]
                    with np.errstate(divide="ignore"):
                        # a share above 1 breaks the limit alone; how far above does not matter
                        share = np.minimum(rate / room, 2.0)
                    self._program.put(row, columns[crosses], share)

    def _latest(self) -> None:
        applications = self._placement.setting.problem.applications
        most = np.array(
            [
                np.inf if each.max_response_time_ms is None else each.max_response_time_ms
                for each in applications
            ]
        )
        if np.isfinite(most).any():
            Arrivals(
                self._program, self._placement, "response_time_sum", 1.0, self._shares, self._pairs, most=most
            )

    def _availability(self) -> None:
        placement = self._placement
        unavailability = Costs.none(placement)
        add_metric(unavailability, AVAILABILITY, -1.0)
        owner = placement.graph.application_of
        for number, application in enumerate(placement.setting.problem.applications):
            if not application.min_availability:
                continue
            (row,) = self._program.add_rows(1, -np.inf, -float(np.log(application.min_availability)))
            for block, numbers in enumerate(placement.blocks):
                if owner[numbers[0]] == number:
                    self._program.put(row, self._shares(block), unavailability.block[block])
            for edge, weights in zip(placement.edges, unavailability.edge, strict=True):
                if weights is not None and owner[placement.blocks[edge.first][0]] == number:
                    self._program.put(row, self._pairs(edge.first, edge.second), weights)
