"""X0.1 for real: Tag-and-Count on a Spark cluster of eight named workers, by the plans of both wishes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from pyspark import cloudpickle

from berth.disk import temporary_folder
from berth.experiments.experiment import Calibration
from berth.experiments.odp import sentences
from berth.model import Plan, Problem
from berth.runtime.cluster.access import Access, access_to
from berth.runtime.cluster.starting import temporary_cluster
from berth.runtime.measures import BatchMeasures
from berth.runtime.running import Run, RunOptions

TIMES = 200.0
"""Emulated delays are so many times as long as the problem's."""
ROWS, BATCHES, QUICK_BATCHES = 200, 10, 4
LONGEST_S, PATIENCE_S = 900.0, 300.0
"""For all batches of a plan, and for its executors: a busy machine takes its time."""

CALIBRATIONS = (
    Calibration(
        "on Spark: delays between nodes",
        f"emulated: an operator waits, once for each batch, {TIMES:g} times the longest delay from its "
        "senders; batches of seconds would hide the delays themselves",
    ),
    Calibration(
        "on Spark: availability",
        "emulated: an executor loses each row with the chance that its node is down, drawn for each row "
        "and operator",
    ),
)


def measured_on_spark(
    problem: Problem, plans: Mapping[str, Plan], batches: int, seed: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """Run plans one after the other on one cluster, which ends with the last; first batches only warm up.

    Each batch is told with its method; `time_s` is when it was done, since its method's first batch began.
    """
    with temporary_folder("berth-x01-") as folder, temporary_cluster(problem) as cluster:
        for number, (method, plan) in enumerate(plans.items()):
            place = folder / str(number)
            found = _batches(problem, plan, access_to(cluster), place, batches + 1, seed)
            for batch in found[1:]:
                arrived = sum(each.rows_in for each in batch.instances if each.operator == "consumer")
                yield (
                    method,
                    {
                        "time_s": (batch.ended_ms - found[0].began_ms) / 1000.0,
                        "latency_ms": batch.latency_ms,
                        "lost_share": 1.0 - arrived / batch.rows,
                    },
                )


def emulated_ms(problem: Problem, plan: Plan) -> float:
    """The model's word for the waiting of a batch: the delays on its longest way, as emulated."""
    graph, index = problem.instances, problem.network.index
    node = np.array([index[plan.assignment[name]] for name in graph.names])
    delay = np.asarray(problem.network.table.delay_ms)
    there = np.zeros(len(graph))
    # pairs come in the order of the row of operators
    for sender, receiver in zip(graph.pair_sender.tolist(), graph.pair_receiver.tolist(), strict=True):
        way = 0.0 if node[sender] == node[receiver] else float(delay[node[sender], node[receiver]])
        there[receiver] = max(there[receiver], there[sender] + way)
    return TIMES * float(there.max())


def _batches(
    problem: Problem, plan: Plan, access: Access, place: Path, batches: int, seed: int
) -> list[BatchMeasures]:
    """All batches of a run by a plan.

    Raises:
        RuntimeError: it didn't end in time, or ended otherwise than by having taken in everything.
    """
    sentences.write_sentences(place / "sentences", batches, ROWS)
    availability = {node.name: node.availability for node in problem.network.nodes}
    app = sentences.tag_and_count(place / "sentences", place / "ranks", availability, seed)
    # workers need not have berth
    cloudpickle.register_pickle_by_value(sentences)  # type: ignore[no-untyped-call]
    found: list[BatchMeasures] = []
    options = RunOptions(emulate=TIMES, once=True, patience_s=PATIENCE_S)
    deadline = time.monotonic() + LONGEST_S
    with Run(app, problem, plan, access, place / "run", options, found.append) as running:
        word = "running"
        while word == "running" and time.monotonic() < deadline:
            word = running.wait(2.0)
    if word != "finished":
        raise RuntimeError(f"Tag-and-Count on Spark: {word} after {len(found)} batches: {running.error}")
    return found
