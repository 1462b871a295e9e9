"""From a problem and options to the shape of a feed: how many records, how often, how much garbage."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from berth.model import BadInput, Plan, Problem
from berth.pipeline.sample.fields import FIELDS
from berth.pipeline.sample.flows import Flows, flows_of
from berth.pipeline.sample.options import MOST_LINES, SampleOptions
from berth.pipeline.sample.outages import Outages, outages_of

DEFAULT_RECORDS = 100_000
DEFAULT_INTERVAL_S = 10.0
LARGEST_SHARE = 4
"""Heartbeats, and reports, take at most one in so many records where their interval is not given."""
LINES_IN_A_FILE = 500_000
FEW_LINES = 10_000


@dataclass(frozen=True)
class Folder:
    """What one folder of the feed holds."""

    name: str
    slots: int
    """Numbers of good records; of heartbeats some are missed, so there are fewer records."""
    records: int
    garbage: int
    files: int


@dataclass(frozen=True, eq=False)
class Sample:
    """A feed that is decided in everything but its random numbers."""

    problem: Problem
    options: SampleOptions
    start_ms: int
    outages: Outages
    reports: int
    """Reports of each instance and each stream."""
    flows: Flows
    probes: int
    notes: tuple[str, ...]

    @cached_property
    def folders(self) -> Mapping[str, Folder]:
        """Every folder of the feed, an empty one too."""
        heartbeats = len(self.problem.network.nodes) * (self.outages.ticks + 1)
        operators = len(self.flows.instances) * self.reports
        streams = len(self.flows.streams) * self.reports
        slots = dict(zip(FIELDS, (self.probes, heartbeats, operators, streams), strict=True))
        records = slots | {"heartbeats": self.outages.records}
        return {name: self._folder(name, slots[name], records[name]) for name in FIELDS}

    def _folder(self, name: str, slots: int, records: int) -> Folder:
        share = self.options.garbage
        garbage = round(records * share / (1.0 - share))
        lines = slots + garbage
        if lines > MOST_LINES:
            raise BadInput([f"--records: {lines:,} lines of {name}, above {MOST_LINES:,}"])
        wanted = max(-(-lines // LINES_IN_A_FILE), min(4, -(-lines // FEW_LINES)))
        return Folder(name, slots, records, garbage, min(self.options.files or wanted, lines))


def plan_sample(
    problem: Problem, options: SampleOptions, plan: Plan | None = None, now_ms: int | None = None
) -> Sample:
    """Decide on the shape of a feed.

    Args:
        problem: the truth.
        options: how the feed differs from it.
        plan: where the instances run; None: in turn on the nodes that may host them.
        now_ms: the time at which the feed ends unless the options say when it starts.

    Raises:
        BadInput: the options don't fit together, or the plan doesn't fit the problem.
    """
    if problem.network.scattered:
        count = len(problem.network.nodes)
        raise BadInput([f"network.nodes: {count:,} are too many: probes go over all links between them"])
    now = int(time.time() * 1000) if now_ms is None else now_ms
    flows = flows_of(problem, options.duration_ms / 1000, options.tuple_bytes, plan)
    nodes, reporting = len(problem.network.nodes), len(flows.instances) + len(flows.streams)
    ticks = _ticks("--heartbeat-interval", options.heartbeat_interval, options, nodes, 1)
    reports = _ticks("--report-interval", options.report_interval, options, reporting, 0)
    availability = problem.network.availability if options.outages else np.ones(nodes)
    outages = outages_of(availability, ticks)
    regular = outages.records + reporting * reports
    linked = bool(problem.network.table.connected.sum() > nodes)
    probes = _probes(options, regular, linked)
    return Sample(
        problem=problem,
        options=options,
        start_ms=options.start_ms(now),
        outages=outages,
        reports=reports,
        flows=flows,
        probes=probes,
        notes=_notes(options, outages, reports, linked) + flows.notes,
    )


def _ticks(name: str, interval: float | None, options: SampleOptions, each: int, ends: int) -> int:
    """How often something happens over the feed; what is left to us makes room for probes."""
    wanted = options.duration_ms / 1000 / (interval or DEFAULT_INTERVAL_S)
    if interval is not None and wanted < 1:
        raise BadInput([f"{name}: {interval:g} s is longer than the feed's {options.duration:g} s"])
    ticks = max(1, min(round(wanted), options.duration_ms))
    if interval is None and options.records is not None and each:
        ticks = min(ticks, max(1, options.records // LARGEST_SHARE // each - ends))
    return ticks


def _probes(options: SampleOptions, regular: int, linked: bool) -> int:
    records = max(DEFAULT_RECORDS, 2 * regular) if options.records is None else options.records
    if records < regular:
        given = options.heartbeat_interval or options.report_interval
        hint = "; longer intervals make them fewer" if given else ""
        raise BadInput(
            [f"--records: {records:,} are too few: heartbeats and reports alone are {regular:,}{hint}"]
        )
    return records - regular if linked else 0


def _notes(options: SampleOptions, outages: Outages, reports: int, linked: bool) -> tuple[str, ...]:
    seconds = options.duration_ms / 1000
    notes = [
        f"heartbeats every {seconds / outages.ticks:.4g} s: availability to within "
        f"{50 / outages.ticks:.2g} points; reports every {seconds / reports:.4g} s"
    ]
    if not linked:
        notes.append("no two nodes are linked: no probes")
    return tuple(notes)
