"""A simulation from its beginning to its end: everything that happens, in the order of its time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from berth.model import BadInput, Plan, Problem
from berth.model.randomness import generator_for
from berth.simulate.agenda import HAPPEN, MEASURE, PLAN, Agenda
from berth.simulate.events import Events, RateChange, check_events
from berth.simulate.figures import instance_figures, link_figures, totals
from berth.simulate.flow import tuple_flow
from berth.simulate.judging import judged, with_delays, with_rates
from berth.simulate.machine import Machine
from berth.simulate.options import Options
from berth.simulate.outages import outages
from berth.simulate.quantiles import EDGES_MS
from berth.simulate.rates import changed, tuples_coming
from berth.simulate.resolved import complete_situation, following_situation
from berth.simulate.series import Series, latency_mean_ms
from berth.simulate.simulation import Measured, Move, Simulation
from berth.simulate.snapshot import Snapshot
from berth.simulate.stability import unstable
from berth.simulate.state import EMITTED, LOGGED

FloatArray = NDArray[np.float64]
Planner = Callable[[float, Measured], Mapping[str, str] | None]
"""Is told the time and what was measured; gives another assignment, or None to stay."""

MOST_WITH_NOISE = 4_000
MOST_TUPLES = 1e9


def simulate(
    problem: Problem,
    plan: Plan,
    options: Options | None = None,
    events: Events | None = None,
    planner: Planner | None = None,
) -> Simulation:
    """Let a plan run for a while.

    Args:
        problem: what runs and where.
        plan: where everything is at first.
        options: how long, how random, how machines work; None: the defaults.
        events: what happens from outside; None: nothing.
        planner: asked every `replan_every_s` for another assignment; what it moves pauses as migrations do.

    Raises:
        BadInput: a rate is unknown, the plan doesn't place everything, a link is missing, an event makes no
            sense, or more tuples than fit are inside.
    """
    return _Run(problem, plan, options or Options(), events or Events(), planner).run()


class _Run:
    def __init__(
        self, problem: Problem, plan: Plan, options: Options, events: Events, planner: Planner | None
    ) -> None:
        check_events(problem, events)
        self._problem, self._plan, self._options, self._planner = problem, plan, options, planner
        self._situation = complete_situation(problem, plan, "plan")
        for number, migration in enumerate(events.migrations):
            following_situation(problem, migration.plan, plan, f"migrations[{number}].plan")
        if options.delay_noise > 0 and len(problem.network.nodes) > MOST_WITH_NOISE:
            raise BadInput([f"delay_noise: only up to {MOST_WITH_NOISE:,} nodes"])
        self._flow = tuple_flow(self._situation, options.tuple_bytes)
        coming = tuples_coming(self._flow.source_rate, events.rates, problem.instances, options.duration_s)
        if coming > MOST_TUPLES:
            raise BadInput(
                [f"duration_s: about {coming:.2g} tuples would come in, at most {MOST_TUPLES:.0e} may"]
            )
        self._unstable = unstable(self._situation, self._flow, options.processors)
        self._expected = judged(problem, plan)
        self._random = generator_for(options.seed)
        self._machine = Machine(self._situation, self._flow, options, self._random)
        self._outages = outages(problem, options, events, self._random)
        self._factor = np.ones(len(problem.instances))
        self._delay_ms = problem.network.table.delay_ms
        self._judged_problem = problem
        self._moves: list[Move] = []
        self._moves_before = 0
        self._warm = self._asked = self._window = self._machine.measured(0.0)
        self._series = Series(self._warm)
        self._agenda = Agenda(options.duration_s)
        self._plan_ahead(events)

    def run(self) -> Simulation:
        """Everything in the order of its time."""
        for time, happen in self._agenda:
            self._machine.advance(time)
            happen(time)
        end = float(self._options.duration_s)
        self._machine.advance(end)
        self._end_window(end)
        state, last = self._machine.state, self._window
        return Simulation(
            options=self._options,
            plan=self._plan,
            totals=totals(self._situation, state, self._warm, last, len(self._moves)),
            expected=self._expected,
            series=self._series.columns(),
            node_busy=self._series.nodes(),
            link_utilisation=self._series.links(len(state.net.links)),
            instances=instance_figures(self._situation, self._warm, last),
            links=link_figures(self._situation, self._machine.routes, self._warm, last),
            latency_counts=last.histogram - self._warm.histogram,
            latency_edges_ms=EDGES_MS,
            moves=tuple(self._moves),
            outages=self._outages,
            unstable=self._unstable,
            recorded=state.tally.results[: int(state.work.counts[LOGGED])],
        )

    # what will happen

    def _plan_ahead(self, events: Events) -> None:
        options, machine = self._options, self._machine
        if options.warm_up_s > 0:
            self._agenda.add(options.warm_up_s, MEASURE, self._end_warm_up)
        windows = int(np.ceil(options.duration_s / options.window - 1e-9))
        for number in range(1, windows):
            self._agenda.add(number * options.window, MEASURE, self._end_window)
        for change in events.rates:
            self._agenda.add(change.at_s, HAPPEN, partial(self._change_rate, change))
        for outage in self._outages:
            node = self._problem.network.index[outage.node]
            self._agenda.add(outage.begin_s, HAPPEN, partial(machine.set_down, node, 1))
            if outage.end_s is not None:
                self._agenda.add(outage.end_s, HAPPEN, partial(machine.set_down, node, -1))
        for migration in events.migrations:
            self._agenda.add(migration.at_s, HAPPEN, partial(self._switch, migration.plan))
        if options.delay_noise > 0:
            self._agenda.add(0.0, HAPPEN, self._draw_delays)
        if self._planner is not None:
            self._agenda.add(options.replan_every_s, PLAN, self._replan)

    # what is measured

    def _end_warm_up(self, now: float) -> None:
        self._warm = self._machine.measured(now)

    def _end_window(self, now: float) -> None:
        here = self._machine.measured(now)
        rates = self._stream_rates(here, self._window)
        expected = judged(with_rates(self._judged_problem, rates), self._plan)
        self._series.add(here, expected, len(self._moves) - self._moves_before)
        self._moves_before = len(self._moves)
        self._window = here

    def _stream_rates(self, now: Snapshot, before: Snapshot) -> FloatArray:
        """Bytes per second of every stream between two moments."""
        streams = len(self._flow.stream_bytes)
        tuples = np.bincount(self._machine.outputs.stream, now.sent - before.sent, streams)
        return np.asarray(tuples * self._flow.stream_bytes / (now.time - before.time))

    # what happens

    def _change_rate(self, change: RateChange, now: float) -> None:
        self._factor = changed(self._factor, change, self._problem.instances)
        self._machine.set_rates(self._factor, now)

    def _draw_delays(self, now: float) -> None:
        """Delays of the next period."""
        size, network = len(self._problem.network.nodes), self._problem.network
        noise = self._random.standard_normal((size, size))
        if network.symmetric:
            noise = np.triu(noise, 1)
            noise += noise.T
        factor = np.maximum(0.0, 1.0 + self._options.delay_noise * noise)
        self._machine.set_delay_factor(factor)
        self._delay_ms = network.table.delay_ms * factor
        if network.routing == "direct":
            self._judged_problem = replace(self._problem, network=with_delays(network, self._delay_ms))
        self._agenda.add(now + self._options.delay_period_s, HAPPEN, self._draw_delays)

    def _switch(self, plan: Plan, now: float) -> None:
        situation = following_situation(self._problem, plan, self._plan, "plan")
        before, nodes = self._situation.node_of, self._problem.network.nodes
        for instance, pause in self._machine.move(situation, now):
            names = nodes[before[instance]].name, nodes[situation.node_of[instance]].name
            self._moves.append(Move(now, situation.graph.names[instance], *names, pause))
            self._agenda.add(now + pause, HAPPEN, partial(self._machine.refresh, instance))
        self._plan, self._situation = plan, situation

    def _replan(self, now: float) -> None:
        assert self._planner is not None
        here = self._machine.measured(now)
        before, length = self._asked, now - self._asked.time
        nodes = self._problem.network.nodes
        measured = Measured(
            time_s=now,
            assignment=self._plan.assignment,
            down=tuple(nodes[number].name for number in np.flatnonzero(self._machine.down).tolist()),
            stream_bytes_per_s=self._stream_rates(here, before),
            source_tuples_per_s=float(here.counts[EMITTED] - before.counts[EMITTED]) / length,
            delay_ms=self._delay_ms,
            latency_mean_ms=latency_mean_ms(here, before),
            node_busy=(here.node_busy - before.node_busy) / length,
        )
        self._asked = here
        assignment = self._planner(now, measured)
        if assignment is not None:
            self._switch(replace(self._plan, assignment=dict(assignment)), now)
        self._agenda.add(now + self._options.replan_every_s, PLAN, self._replan)
