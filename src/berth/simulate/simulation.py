"""A simulation from its beginning to its end: everything that happens, in the order of its time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import count

import numpy as np
from numpy.typing import NDArray

from berth.core import simulation as core
from berth.evaluation import METRIC_BY_KEY, Setting, Situation
from berth.model import BadInput, Network, Plan, Problem
from berth.model.links import LINK_FIELDS
from berth.model.randomness import generator_for
from berth.simulate.events import (
    Events,
    NodeLoss,
    RateChange,
    changed_rates,
    check_events,
    outages,
    tuples_coming,
)
from berth.simulate.flow import tuple_flow, unstable
from berth.simulate.machine import Machine
from berth.simulate.measuring import (
    EDGES_MS,
    EXPECTED,
    Series,
    instance_figures,
    latency_mean_ms,
    link_figures,
    phases_between,
    totals,
)
from berth.simulate.options import Options
from berth.simulate.results import Measured, Move, Simulation

FloatArray = NDArray[np.float64]
Planner = Callable[[float, Measured], Mapping[str, str] | None]
"""Called with the time and what was measured; gives another assignment, or None to stay."""

MOST_WITH_NOISE = 4_000
MOST_TUPLES = 1e9
Action = Callable[[float], None]
MEASURE, CHANGE, PLAN = range(3)
"""What comes first of all that happens at one time."""


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


# plans that can run


def complete_situation(problem: Problem, plan: Plan, name: str) -> Situation:
    """A plan resolved; `name` is what messages call it.

    Raises:
        BadInput: it names what isn't there, or leaves something without a node.
    """
    try:
        situation = Situation(Setting(problem), plan)
    except BadInput as error:
        raise error.reworded(lambda line: f"{name}: {line}") from None
    if situation.reuse_mistakes:
        raise BadInput(f"{name}: {line}" for line in situation.reuse_mistakes)
    missing = np.flatnonzero(situation.computed & (situation.node_of < 0)).tolist()
    if missing:
        names = [situation.graph.names[number] for number in missing]
        raise BadInput(f"{name}: instance {instance} is not placed" for instance in names)
    return situation


def following_situation(problem: Problem, plan: Plan, before: Plan, name: str) -> Situation:
    """A later plan resolved: it must compute what the one before does.

    Raises:
        BadInput: it doesn't, or can't run.
    """
    situation = complete_situation(problem, plan, name)
    if dict(plan.reuse) != dict(before.reuse) or set(plan.skipped) != set(before.skipped):
        raise BadInput([f"{name}: reuses or skips other operators than the plan before"])
    if not situation.linked:
        raise BadInput([f"{name}: needs a link between nodes that have none"])
    return situation


# what the judge says


def expected_metrics(problem: Problem, plan: Plan) -> dict[str, float]:
    """The judge's metrics that a simulation shows; those that are unknown are left out."""
    situation = Situation(Setting(problem), plan)
    values = {key: METRIC_BY_KEY[key].value(situation) for key in EXPECTED}
    return {key: value for key, value in values.items() if value is not None}


def with_rates(problem: Problem, stream_bytes_per_s: FloatArray) -> Problem:
    """The problem with other rates of its streams, over all applications."""
    rates = iter(stream_bytes_per_s.tolist())
    applications = tuple(
        replace(
            application,
            streams=tuple(replace(stream, bytes_per_s=next(rates)) for stream in application.streams),
        )
        for application in problem.applications
    )
    return replace(problem, applications=applications)


def with_delays(network: Network, delay_ms: FloatArray) -> Network:
    """A network of direct links with other delays."""
    table = network.table
    fields = {name: np.asarray(getattr(table, name)) for name in LINK_FIELDS}
    return replace(network, links=(), matrices={**fields, "delay_ms": delay_ms})


# the run


class Agenda:
    """Times up to an end, with what happens then; what is added first comes first among equals."""

    def __init__(self, end: float) -> None:
        self._end = end
        self._entries: list[tuple[float, int, int, Action]] = []
        self._numbers = count()

    def add(self, time: float, rank: int, action: Action) -> None:
        """Add something; what would be at the end or after it never happens."""
        if time < self._end:
            heapq.heappush(self._entries, (time, rank, next(self._numbers), action))

    def __iter__(self) -> Iterator[tuple[float, Action]]:
        """Take out everything, also what is added meanwhile."""
        while self._entries:
            time, _, _, action = heapq.heappop(self._entries)
            yield time, action


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
        self._expected = expected_metrics(problem, plan)
        self._random = generator_for(options.seed)
        self._machine = Machine(self._situation, self._flow, options, self._random)
        self._outages = outages(problem, options, events, self._random)
        self._factor = np.ones(len(problem.instances))
        self._delay_ms = problem.network.table.delay_ms
        self._judged_problem = problem
        self._moves: list[Move] = []
        self._moves_before = 0
        self._marks: list[tuple[str, core.Snapshot]] = []
        self._warm = self._last_planned = self._window = self._machine.snapshot(0.0)
        self._series = Series(self._warm, problem.network.cores)
        self._agenda = Agenda(options.duration_s)
        self._fill_agenda(events)

    def run(self) -> Simulation:
        """Everything in the order of its time."""
        for time, action in self._agenda:
            self._machine.advance(time)
            action(time)
        end = float(self._options.duration_s)
        self._machine.advance(end)
        self._end_window(end)
        last = self._window
        return Simulation(
            options=self._options,
            plan=self._plan,
            totals=totals(self._situation, self._machine, self._warm, last, len(self._moves)),
            expected=self._expected,
            series=self._series.columns(),
            node_busy=self._series.nodes(),
            link_utilisation=self._series.links(),
            instances=instance_figures(self._situation, self._warm, last),
            links=link_figures(self._situation, self._machine.routes, self._warm, last),
            latency_counts=last.histogram - self._warm.histogram,
            latency_edges_ms=EDGES_MS,
            moves=tuple(self._moves),
            phases=phases_between(self._marks, last) if len(self._marks) > 1 else (),
            outages=self._outages,
            unstable=self._unstable,
            assumed=self._flow.assumed,
            recorded=self._machine.recorded(),
        )

    def _fill_agenda(self, events: Events) -> None:
        options, machine = self._options, self._machine
        if options.warm_up_s > 0:
            self._agenda.add(options.warm_up_s, MEASURE, self._end_warm_up)
        windows = int(np.ceil(options.duration_s / options.window - 1e-9))
        for number in range(1, windows):
            self._agenda.add(number * options.window, MEASURE, self._end_window)
        for change in events.rates:
            self._agenda.add(change.at_s, CHANGE, partial(self._change_rate, change))
        for outage in self._outages:
            node = self._problem.network.index[outage.node]
            self._agenda.add(outage.begin_s, CHANGE, partial(machine.set_down, node, 1))
            if outage.end_s is not None:
                self._agenda.add(outage.end_s, CHANGE, partial(machine.set_down, node, -1))
        self._mark("before", 0.0)
        for loss in events.losses:
            self._agenda.add(loss.at_s, MEASURE, partial(self._mark, f"{loss.name} lost"))
            self._agenda.add(loss.at_s + options.detect_s, CHANGE, partial(self._fail_over, loss))
        for migration in events.migrations:
            self._agenda.add(migration.at_s, CHANGE, partial(self._switch, migration.plan))
        if options.delay_noise > 0:
            self._agenda.add(0.0, CHANGE, self._draw_delays)
        if self._planner is not None:
            self._agenda.add(options.replan_every_s, PLAN, self._replan)

    # what is measured

    def _end_warm_up(self, now: float) -> None:
        self._warm = self._machine.snapshot(now)
        if len(self._marks) == 1:
            self._marks.clear()
            self._mark("before", now)

    def _mark(self, name: str, now: float) -> None:
        """Another phase begins."""
        self._marks.append((name, self._machine.snapshot(now)))

    def _end_window(self, now: float) -> None:
        here = self._machine.snapshot(now)
        rates = self._stream_rates(here, self._window)
        expected = expected_metrics(with_rates(self._judged_problem, rates), self._plan)
        self._series.add(here, expected, len(self._moves) - self._moves_before)
        self._moves_before = len(self._moves)
        self._window = here

    def _stream_rates(self, now: core.Snapshot, before: core.Snapshot) -> FloatArray:
        """Bytes per second of every stream between two moments."""
        streams = len(self._flow.stream_bytes)
        tuples = np.bincount(self._machine.outputs.stream, now.output_sent - before.output_sent, streams)
        return np.asarray(tuples * self._flow.stream_bytes / (now.time - before.time))

    # what happens

    def _change_rate(self, change: RateChange, now: float) -> None:
        self._factor = changed_rates(self._factor, change, self._problem.instances)
        self._machine.set_rates(self._factor, now)

    def _draw_delays(self, now: float) -> None:
        """Draw the delays of the next period."""
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
        self._agenda.add(now + self._options.delay_period_s, CHANGE, self._draw_delays)

    def _switch(self, plan: Plan, now: float) -> None:
        situation = following_situation(self._problem, plan, self._plan, "plan")
        before, nodes = self._situation.node_of, self._problem.network.nodes
        for instance, pause in self._machine.move(situation, now):
            names = nodes[before[instance]].name, nodes[situation.node_of[instance]].name
            self._moves.append(Move(now, situation.graph.names[instance], *names, pause))
            self._agenda.add(now + pause, CHANGE, partial(self._machine.refresh, instance))
        self._plan, self._situation = plan, situation

    def _fail_over(self, loss: NodeLoss, now: float) -> None:
        """What was on lost nodes goes where the plan's failover says."""
        lost = next(item for item in self._problem.losses if item.name == loss.name)
        graph, moves = self._problem.instances, self._plan.failover.get(loss.name, {})
        moving = np.flatnonzero(lost.moving(self._situation.node_of)).tolist()
        goals = {graph.names[k]: moves[graph.names[k]] for k in moving if graph.names[k] in moves}
        done = len(self._moves)
        if goals:
            self._switch(replace(self._plan, assignment={**self._plan.assignment, **goals}), now)
        longest = max((move.pause_s for move in self._moves[done:]), default=0.0)
        self._agenda.add(now + longest, MEASURE, partial(self._mark, f"after {loss.name}"))

    def _replan(self, now: float) -> None:
        assert self._planner is not None
        here = self._machine.snapshot(now)
        before, seconds = self._last_planned, now - self._last_planned.time
        nodes = self._problem.network.nodes
        measured = Measured(
            time_s=now,
            assignment=self._plan.assignment,
            down=tuple(nodes[number].name for number in np.flatnonzero(self._machine.down).tolist()),
            stream_bytes_per_s=self._stream_rates(here, before),
            source_tuples_per_s=(here.emitted - before.emitted) / seconds,
            delay_ms=self._delay_ms,
            latency_mean_ms=latency_mean_ms(here, before),
            node_busy=(here.node_busy - before.node_busy) / seconds,
        )
        self._last_planned = here
        assignment = self._planner(now, measured)
        if assignment is not None:
            self._switch(replace(self._plan, assignment=dict(assignment)), now)
        self._agenda.add(now + self._options.replan_every_s, PLAN, self._replan)
