"""Coordinates of 490 PlanetLab nodes and of 100,000 made-up ones, 32 neighbours each, on one core.

Against the same Vivaldi steps in plain Python on the same samples, and, for the error, against classical
multidimensional scaling, which needs the whole matrix and minimises something else. With `--spark` also the
same made-up nodes on Spark, on two processors.
"""

import gzip
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from berth.core import space as core
from berth.space import Coordinates, Samples, VivaldiOptions, embed, samples_from_matrix, samples_from_pairs
from berth.space.coordinates import error_figures
from berth.space.vivaldi import neighbourhoods

NEIGHBOURS = 32
MANY = 100_000
ROUNDS = 3
PLAIN_ROUNDS = 2


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = run()
    return time.process_time() - started, result


def planetlab() -> np.ndarray | None:
    path = Path(os.environ.get("BERTH_DATA", "")) / "planetlab_490" / "PlanetLabData_01.tsv.gz"
    if not path.exists():
        return None
    with gzip.open(path) as file:
        return np.loadtxt(file) / 2


def made_up() -> Samples:
    """Clusters in three dimensions; delays with noise of 15 % and something that no distance explains."""
    generator = np.random.default_rng(0)
    points = generator.normal(0, 60, (20, 3))[generator.integers(0, 20, MANY)] + generator.normal(
        0, 6, (MANY, 3)
    )
    senders = np.repeat(np.arange(MANY), NEIGHBOURS // 2)
    receivers = generator.integers(0, MANY, len(senders))
    apart = np.linalg.norm(points[senders] - points[receivers], axis=1)
    delay = apart * np.exp(generator.normal(0, 0.15, len(apart))) + generator.exponential(2, len(apart))
    return samples_from_pairs(MANY, senders, receivers, delay)


def plain_vivaldi(known: core.Neighbourhoods, rounds: int) -> int:
    """The same steps with lists and floats; returns how many samples it took."""
    chance = random.Random(0)
    nodes = len(known.offsets) - 1
    offsets, neighbours, delays = (part.tolist() for part in (known.offsets, known.neighbours, known.delays))
    places = [[0.0, 0.0, 0.0] for _ in range(nodes)]
    errors = [1.5] * nodes
    for _ in range(rounds):
        for node in chance.sample(range(nodes), nodes):
            here = places[node]
            for sample in range(offsets[node], offsets[node + 1]):
                other, delay = neighbours[sample], delays[sample]
                there = places[other]
                x, y, z = here[0] - there[0], here[1] - there[1], here[2] - there[2]
                norm = math.sqrt(x * x + y * y + z * z)
                weight = errors[node] / (errors[node] + errors[other])
                share = 0.25 * weight
                relative = min(abs(norm - delay) / delay, 1.5)
                errors[node] = share * relative + (1 - share) * errors[node]
                if norm < 1e-12:
                    x, y, z = chance.gauss(0, 1), chance.gauss(0, 1), chance.gauss(0, 1)
                    scale = share * (delay - norm) / math.sqrt(x * x + y * y + z * z)
                else:
                    scale = share * (delay - norm) / norm
                here[0] += scale * x
                here[1] += scale * y
                here[2] += scale * z
    return rounds * len(neighbours)


def classical_scaling(delay: np.ndarray, dimensions: int = 3) -> np.ndarray:
    size = len(delay)
    delay = np.minimum(
        delay, np.percentile(delay, 99)
    )  # it squares delays: a few long ones would be all it sees
    centring = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(-0.5 * centring @ delay**2 @ centring)
    return vectors[:, -dimensions:] * np.sqrt(np.maximum(values[-dimensions:], 0))


def described(found: Coordinates) -> str:
    assert found.errors is not None
    mean = f"mean error {found.errors.absolute_mean_ms:.2f} ms"
    return f"{mean}, {found.rounds} rounds and {found.polish_rounds} of polish"


def on_planetlab(delay: np.ndarray) -> None:
    samples = samples_from_matrix(delay)
    options = VivaldiOptions(neighbours=NEIGHBOURS, starts=1)
    first, _ = timed(lambda: embed(samples, options))
    ours, found = min((timed(lambda: embed(samples, options)) for _ in range(ROUNDS)), key=lambda run: run[0])
    print(f"coordinates: {len(delay)} PlanetLab nodes x {NEIGHBOURS} neighbours, to a stable error")
    print(f"first call {first:.2f} s (compiles, or loads code), then {ours:.3f} s: {described(found)}")
    springs = VivaldiOptions(neighbours=NEIGHBOURS, starts=1, refine=False)
    alone, rough = min(
        (timed(lambda: embed(samples, springs)) for _ in range(ROUNDS)), key=lambda run: run[0]
    )
    known = neighbourhoods(samples, NEIGHBOURS, np.random.default_rng(0))
    plain, count = min(timed(lambda: plain_vivaldi(known, PLAIN_ROUNDS)) for _ in range(ROUNDS))
    ratio = (alone / (rough.rounds * known.samples)) / (plain / count)
    print(f"Vivaldi alone {alone:.3f} s ({described(rough)});")
    print(f"a sample against the same step in plain Python ({1e6 * plain / count:.2f} us): ratio {ratio:.4f}")
    everything, full = timed(lambda: embed(samples))
    scaling, points = timed(lambda: classical_scaling(delay))
    theirs = error_figures(points, np.zeros(len(delay)), samples)
    assert theirs is not None
    assert full.errors is not None
    print(f"all pairs {everything:.3f} s: {described(full)}")
    print(
        f"classical scaling of all pairs {scaling:.3f} s: mean error {theirs.absolute_mean_ms:.2f} ms: "
        f"ratio of errors {full.errors.absolute_mean_ms / theirs.absolute_mean_ms:.2f}"
    )


def on_spark(samples: Samples) -> None:
    import pyarrow as pa

    from berth.pipeline.coordinates import Measurements, spark_coordinates
    from berth.spark import spark_session

    names = np.array([f"n{node}" for node in range(samples.nodes)])
    ends = {"from": names[samples.first], "to": names[samples.second]}
    probes = pa.table({**ends, "rtt_ms": 2 * samples.delay_ms})
    with (
        spark_session("local[2]", name="bench coordinates") as session,
        tempfile.TemporaryDirectory() as folder,
    ):
        measured = Measurements(session.createDataFrame(probes))
        began = time.process_time()
        options = VivaldiOptions(neighbours=NEIGHBOURS)

        def report(done: Any) -> None:
            print(f"  {done.number}: {done.mean_error_ms:.2f} ms, {time.process_time() - began:.0f} s")

        located = spark_coordinates(measured, Path(folder), options, report=report)
        seconds = time.process_time() - began
    assert located.errors is not None
    print(
        f"coordinates on Spark, local[2]: {samples.nodes:,} made-up nodes x {NEIGHBOURS} neighbours: "
        f"{seconds:.1f} s, mean error {located.errors.absolute_mean_ms:.2f} ms, {len(located.rounds)} rounds"
    )


def main() -> None:
    delay = planetlab()
    if delay is None:
        print("coordinates of PlanetLab nodes: skipped, BERTH_DATA has no planetlab_490")
    else:
        on_planetlab(delay)
    samples = made_up()
    seconds, found = timed(lambda: embed(samples, VivaldiOptions(neighbours=NEIGHBOURS)))
    print(
        f"coordinates: {MANY:,} made-up nodes x {NEIGHBOURS} neighbours: {seconds:.1f} s, {described(found)}"
    )
    if "--spark" in sys.argv:
        on_spark(samples)


if __name__ == "__main__":
    main()
