"""Local steps: each costs what it says, and no single one that is left would lower the cost."""

from collections.abc import Iterator

import numpy as np

from berth.model.arrays import IndexArray
from berth.policies.two_stage.packing import Packing
from berth.policies.two_stage.polish import polished
from tests.policies.two_stage.packings import drawn, fits, optimum, searched


def starts(count: int, items: int = 6) -> Iterator[tuple[Packing, IndexArray]]:
    """Packings of both stages with any map that holds."""
    rng = np.random.default_rng(9)
    while count:
        packing = drawn(rng, second=bool(count % 2), items=items, spare=1)
        bins = rng.integers(0, len(packing.room), items)
        if fits(packing, bins):
            count -= 1
            yield packing, bins


def neighbours(packing: Packing, bins: IndexArray) -> Iterator[IndexArray]:
    """Every map that is one move or one swap away, and holds."""
    for item in range(len(bins)):
        for place in range(len(packing.room)):
            moved = bins.copy()
            moved[item] = place
            if fits(packing, moved):
                yield moved
        for other in range(item):
            swapped = bins.copy()
            swapped[[item, other]] = bins[[other, item]]
            if fits(packing, swapped):
                yield swapped


def test_no_step_is_left() -> None:
    ratios = []
    for packing, bins in starts(60):
        found = polished(packing, bins)
        assert fits(packing, found)
        assert not packing.better(bins, found)
        assert not any(packing.better(other, found) for other in neighbours(packing, found))
        best = optimum(packing) or 0.0
        ratios.append(packing.cost(found) - best <= 1e-9)
    assert np.mean(ratios) > 0.7


def test_a_bin_is_emptied_though_no_single_move_pays() -> None:
    """Two items in a bin of their own: moving one opens nothing and closes nothing, moving both saves it."""
    packing = Packing(
        demand=np.array([[2.0], [2.0], [1.0], [1.0]]),
        room=np.full((3, 1), 3.0),
        traffic=np.zeros((4, 4)),
        distance=1.0 - np.eye(3),
        allowed=np.ones((4, 3), dtype=bool),
        hosts=np.zeros((4, 0), dtype=bool),
        per_traffic=0.0,
        per_bin=1.0,
    )
    found = polished(packing, np.array([0, 1, 2, 2]))
    assert len(np.unique(found)) == 2
    assert fits(packing, found)


def test_steps_find_more_than_few_samples() -> None:
    """One sample a decision: what it finds is worse than with local steps behind it, never better."""
    worse = 0
    rng = np.random.default_rng(4)
    for number in range(20):
        packing = drawn(rng, second=number % 2 == 0, items=9, bins=5, spare=2)
        found = searched(packing, number, samples=1, polish=True)
        if found.best_leaf is None:
            continue
        assert found.polished is not None
        assert fits(packing, found.polished)
        assert not packing.better(found.best_leaf, found.polished)
        worse += packing.better(found.polished, found.best_leaf)
    assert worse >= 5
