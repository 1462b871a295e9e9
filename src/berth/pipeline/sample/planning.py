"""From a problem and options to the shape of a feed: how many records, how often, how much garbage."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from berth.model import BadInput, Plan, Problem
from berth.pipeline.feeds import FEEDS
from berth.pipeline.feeds.flows import flows_of
from berth.pipeline.feeds.outages import Outages, outages_of
from berth.pipeline.feeds.sampling import Folder, Sample
from berth.pipeline.options import MOST_LINES, SampleOptions

DEFAULT_RECORDS = 100_000
DEFAULT_INTERVAL_S = 10.0
LARGEST_SHARE = 4
"""Heartbeats, and reports, take at most one in so many records where their interval is not given."""
LINES_IN_A_FILE = 500_000
FEW_LINES = 10_000


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
    nodes = len(problem.network.nodes)
    reporting = sum(feed.reporters(problem, flows) for feed in FEEDS)
    ticks = _ticks("--heartbeat-interval", options.heartbeat_interval, options, nodes, 1)
    reports = _ticks("--report-interval", options.report_interval, options, reporting, 0)
    availability = problem.network.availability if options.outages else np.ones(nodes)
    outages = outages_of(availability, ticks)
    linked = bool(problem.network.table.connected.sum() > nodes)
    notes = _notes(options, outages, reports, linked) + flows.notes
    regular = Sample(problem, options, options.start_ms(now), outages, reports, flows, 0, notes)
    probes = _probes(options, sum(feed.records(regular) for feed in FEEDS), linked)
    sample = replace(regular, probes=probes)
    return replace(sample, folders=_folders(sample))


def _folders(sample: Sample) -> Mapping[str, Folder]:
    folders = {}
    for feed in FEEDS:
        if feed.has_sample(sample.problem):
            records, share = feed.records(sample), sample.options.garbage
            garbage = round(records * share / (1.0 - share))
            lines = feed.slots(sample) + garbage
            if lines > MOST_LINES:
                raise BadInput([f"--records: {lines:,} lines of {feed.name}, above {MOST_LINES:,}"])
            wanted = max(-(-lines // LINES_IN_A_FILE), min(4, -(-lines // FEW_LINES)))
            files = min(sample.options.files or wanted, lines)
            folders[feed.name] = Folder(feed.slots(sample), records, garbage, files)
    return folders


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
