"""Searches in the latency space with 226, 10,000 and 100,000 nodes, against a look at every node with numpy.

Times are CPU times, so that others on the machine don't count. Brute force runs on the same questions.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.core import space as core
from berth.space.index import SpaceIndex

SIZES = (226, 10_000, 100_000)
QUESTIONS = 2_000
BRUTE_SECONDS = 1.0
"""Brute force answers as many questions as it can in this time."""
CLUSTERS = 40
NEAR = 20.0
"""ms: the radius of ranges, and what an ellipse is longer than its foci are apart."""

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A kind of search, and the same by brute force."""

    name: str
    ask: Callable[[FloatArray, FloatArray], object]
    brute: Callable[[FloatArray, FloatArray], object]


def positions(size: int, random: np.random.Generator) -> FloatArray:
    """Nodes in clusters, as machines are in data centres and cities."""
    centres = random.normal(0.0, 60.0, (CLUSTERS, 3))
    return centres[random.integers(CLUSTERS, size=size)] + random.normal(0.0, 5.0, (size, 3))


def questions(places: FloatArray, random: np.random.Generator) -> list[Question]:
    index = SpaceIndex(places)
    size = len(places)
    crowded = min(5_000, size // 2)
    full = np.zeros(size, dtype=np.bool_)
    full[index.nearest(places[0], crowded)[0]] = True
    allowed = random.random(size) < 0.9
    numbers = np.arange(size)
    room = core.Room(np.ones((1, 1)), [numbers], [np.where(full | ~allowed, 0.0, 1.0)])

    def away(point: FloatArray) -> FloatArray:
        return np.sqrt(((places - point) ** 2).sum(axis=1))

    def sorted_near(point: FloatArray, count: int) -> object:
        distance = away(point)
        near = np.argpartition(distance, count)[:count]
        return near[np.lexsort((near, distance[near]))]

    def nearest_of(point: FloatArray, fits: NDArray[np.bool_]) -> object:
        among = numbers[fits]
        return among[np.argmin(np.sqrt(((places[among] - point) ** 2).sum(axis=1)))]

    def amid(point: FloatArray) -> FloatArray:
        """A point where all nodes around are full."""
        return places[0] + (point - places[0]) * 0.01

    def length(first: FloatArray, second: FloatArray) -> float:
        return float(np.sqrt(((first - second) ** 2).sum())) + NEAR / 4

    return [
        Question("nearest", lambda p, _: index.nearest(p, 1), lambda p, _: np.argmin(away(p))),
        Question("nearest 10", lambda p, _: index.nearest(p, 10), lambda p, _: sorted_near(p, 10)),
        Question(
            f"nearest with room, {crowded} full",
            lambda p, _: index.nearest_many(amid(p)[None], 1, room, np.zeros(1, dtype=np.intp)),
            lambda p, _: nearest_of(amid(p), ~full & allowed),
        ),
        Question(
            "in ellipse",
            lambda p, q: index.in_ellipse(p, q, length(p, q)),
            lambda p, q: np.flatnonzero(away(p) + away(q) <= length(p, q)),
        ),
    ]


def microseconds(
    ask: Callable[[FloatArray, FloatArray], object], ends: FloatArray, seconds: float = np.inf
) -> FloatArray:
    """What each question took; stops early when the time is over."""
    ask(ends[0, 0], ends[0, 1])  # compiled, and in the caches
    taken: list[float] = []
    started = time.thread_time()
    for first, second in ends:
        before = time.thread_time_ns()
        ask(first, second)
        taken.append((time.thread_time_ns() - before) / 1000.0)
        if time.thread_time() - started > seconds:
            break
    return np.array(taken)


def main() -> None:
    for size in SIZES:
        random = np.random.default_rng(size)
        places = positions(size, random)
        SpaceIndex(places)
        started = time.thread_time()
        SpaceIndex(places)
        print(f"\n{size:,} nodes; the index is built in {(time.thread_time() - started) * 1000:.1f} ms")
        print(f"{'':34}{'p50 us':>9}{'p99 us':>9}{'per s':>10}{'brute p50':>11}{'times':>8}")
        shape = (QUESTIONS, 2)
        ends = places[random.integers(size, size=shape)] + random.normal(0.0, 5.0, (*shape, 3))
        for question in questions(places, random):
            ours = microseconds(question.ask, ends)
            brute = np.median(microseconds(question.brute, ends, BRUTE_SECONDS))
            middle, late = np.percentile(ours, [50, 99])
            print(
                f"{question.name:34}{middle:9.1f}{late:9.1f}{1e6 / ours.mean():10,.0f}"
                f"{brute:11.1f}{brute / middle:8.1f}"
            )
        index = SpaceIndex(places)
        started = time.thread_time()
        index.nearest_many(ends.reshape(-1, 3), 10)
        each = (time.thread_time() - started) * 1e6 / (2 * QUESTIONS)
        print(f"{'nearest 10 of 4,000 points at once':34}{each:9.1f}{'':9}{1e6 / each:10,.0f}")


if __name__ == "__main__":
    main()
