"""The running system: tuples move in it, and what happens from outside is done to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Situation
from berth.model import BadInput
from berth.simulate.blocking import block, drop_waiting, unblock
from berth.simulate.build import first_state, placed
from berth.simulate.flow import TupleFlow
from berth.simulate.heap import push
from berth.simulate.kernel import advance
from berth.simulate.options import Options
from berth.simulate.serving import SOURCE
from berth.simulate.snapshot import Snapshot, snapshot
from berth.simulate.state import MOST, grown
from berth.simulate.wiring import Routes, outputs_of

FloatArray = NDArray[np.float64]

MOST_INSIDE = 5_000_000


class Machine:
    """Instances on nodes, with their queues and links, at a moment."""

    def __init__(
        self, situation: Situation, flow: TupleFlow, options: Options, random: np.random.Generator
    ) -> None:
        self._situation, self._flow, self._options, self._random = situation, flow, options, random
        self.outputs = outputs_of(situation)
        self.routes = Routes(situation.problem)
        self.state = first_state(situation, flow, self.routes, options)
        self._paused_until = np.zeros(len(situation.graph))
        self._times_down = np.zeros(len(situation.network.nodes), dtype=np.int64)
        self._delay_factor: FloatArray | None = None
        self._units = self._first_units()
        self.set_rates(np.ones(len(situation.graph)), 0.0)

    @property
    def down(self) -> NDArray[np.bool_]:
        """Which nodes are down."""
        return self._times_down > 0

    def measured(self, now: float) -> Snapshot:
        """How far everything is."""
        return snapshot(self.state, now)

    def advance(self, until: float) -> None:
        """Let tuples move until a time.

        Raises:
            BadInput: there are more of them inside than fit.
        """
        while not advance(*self.state, self._random, until):
            if len(self.state.work.pool) > MOST_INSIDE:
                time = self.state.work.heap[0]["time"]
                full = f"more than {MOST_INSIDE:,} tuples are inside after {time:.4g} s"
                raise BadInput([f"{full}: simulate a shorter time, lower rates or larger tuples"])
            work = self.state.work
            self.state = self.state._replace(work=grown(work, 2 * int(work.counts[MOST])))

    # sources

    def _first_units(self) -> FloatArray:
        """When each source begins, in multiples of the time between two of its tuples."""
        graph, sources = self._situation.graph, np.flatnonzero(self._flow.is_source)
        units = np.zeros(len(graph))
        if self._options.arrivals == "poisson":
            units[sources] = self._random.standard_exponential(len(sources))
        else:
            first = np.array([item.first for item in graph.operators])[graph.operator_of]
            units = (np.arange(len(graph)) - first) / graph.operator_values("parallelism")
        return units

    def set_rates(self, factor: FloatArray, now: float) -> None:
        """Sources emit so many times what the problem says; what is due comes sooner or later by that."""
        work, instances = self.state.work, self.state.work.instances
        sources = np.flatnonzero(self._flow.is_source)
        rate = self._flow.source_rate[sources] * factor[sources]
        gap = np.divide(1.0, rate, out=np.full(len(rate), np.inf), where=rate > 0)
        if now > 0:
            silent = np.isinf(instances["gap"][sources])
            left = (instances["due"][sources] - now) / np.where(silent, 1.0, instances["gap"][sources])
            self._units[sources] = np.where(silent, self._units[sources], left)
        for place, source in enumerate(sources.tolist()):
            if now > 0 and instances["gap"][source] == gap[place]:
                continue
            due = now + self._units[source] * gap[place] if gap[place] < np.inf else np.inf
            instances["gap"][source], instances["due"][source] = gap[place], due
            instances["order"][source] = push(work.heap, work.counts, due, source * 4 + SOURCE)

    # nodes and instances

    def set_down(self, node: int, more: int, now: float) -> None:
        """A node fails (1) or is back from a failure (-1)."""
        self._times_down[node] += more
        for instance in np.flatnonzero(self._situation.node_of == node).tolist():
            self.refresh(instance, now)

    def refresh(self, instance: int, now: float) -> None:
        """Stop an instance, or let it go on, as its node and its own pause ask for."""
        if not self._situation.computed[instance]:
            return
        down = bool(self.down[self._situation.node_of[instance]])
        stopped = down or self._paused_until[instance] > now
        losing = self._options.failures == "lose" if down else self._options.migrations == "lose"
        here = self.state.work.instances[instance]
        if stopped and not here["blocked"]:
            block(self.state.work, self._random, instance, losing, now)
        elif stopped and losing and not here["losing"]:
            drop_waiting(self.state.work, instance, now)
        elif stopped:
            here["losing"] = losing
        elif here["blocked"]:
            unblock(self.state.work, self._random, instance, now)

    def move(self, situation: Situation, now: float) -> list[tuple[int, float]]:
        """Another plan is in force; gives what moved and how long that stops it."""
        before = self._situation.node_of
        moved = np.flatnonzero(situation.computed & (before != situation.node_of))
        pauses = self._pauses(situation, moved)
        losing = self._options.migrations == "lose"
        for instance in moved.tolist():
            if not self.state.work.instances[instance]["blocked"]:
                block(self.state.work, self._random, instance, losing, now)
            elif losing:
                drop_waiting(self.state.work, instance, now)
        self._situation = situation
        self.state = placed(self.state, situation, self.routes, self.outputs)
        self._lay_delays()
        self._paused_until[moved] = now + pauses
        for instance in moved.tolist():
            self.refresh(instance, now)
        return list(zip(moved.tolist(), pauses.tolist(), strict=True))

    def _pauses(self, situation: Situation, moved: NDArray[np.intp]) -> FloatArray:
        """A fixed time, and the time that the state takes on the way."""
        bytes_moved = situation.graph.operator_values("state_bytes")[moved]
        ways = self._situation.node_of[moved], situation.node_of[moved]
        bandwidth = np.asarray(situation.network.table.bandwidth_bytes_per_s[ways[0], ways[1]])
        sending = np.divide(
            bytes_moved, bandwidth, out=np.where(bytes_moved > 0, np.inf, 0.0), where=bandwidth > 0
        )
        return np.asarray(self._options.pause_s + np.nan_to_num(sending, nan=0.0, posinf=np.inf))

    # delays

    def set_delay_factor(self, factor: FloatArray) -> None:
        """Every delay between two nodes is so many times what the problem says."""
        self._delay_factor = factor
        self._lay_delays()

    def _lay_delays(self) -> None:
        if self._delay_factor is None or not self.routes.ends:
            return
        ends = np.array(list(self.routes.ends))
        factor = self._delay_factor[ends[:, 0], ends[:, 1]]
        self.state.net.hops["delay"] = np.array(self.routes.hop_delay) * factor[self.routes.hop_route]
