"""Random tables with everything that the search holds, and their optimum by looking at every plan."""

from itertools import combinations, product

import numpy as np

from berth.exact.additive.tables import FloatArray, Tables
from berth.exact.placement import LOOSE


def random_tables(generator: np.random.Generator) -> Tables:
    """Rows, trees, sparse and dense graphs; costs of any sign, missing links, tight and shared limits."""
    blocks = int(generator.integers(1, 7))
    places = int(generator.integers(1, 5 if blocks < 6 else 4))
    allowed = generator.random((blocks, places)) < generator.choice([0.6, 0.9, 1.0])
    allowed[np.arange(blocks), generator.integers(places, size=blocks)] = True
    whole = generator.random() < 0.6
    cost = generator.integers(0, 10, allowed.shape) if whole else generator.normal(0, 5, allowed.shape)
    cost = np.where(allowed, cost, 0.0) * (generator.random() < 0.7)
    ends = _ends(generator, blocks)
    pair = np.array([_pair(generator, places, whole) for _ in ends]).reshape(-1, places, places)
    if generator.random() < 0.3:
        pair[:] = pair[:1]
    missing = generator.random(pair.shape) < generator.choice([0.0, 0.0, 0.2])
    pair[missing] = 0.0
    largest = float(np.abs(cost).max(axis=1).sum() + np.abs(pair).max(axis=(1, 2)).sum())
    pair[missing] = 1.0 + 3.0 * largest
    order = np.array(ends, dtype=np.intp).reshape(-1, 2)
    limits = _limits(generator, blocks, places)
    return Tables(np.arange(places), allowed, cost, order, pair, *limits, largest)


def _ends(generator: np.random.Generator, blocks: int) -> list[tuple[int, int]]:
    kind = generator.integers(4)
    if kind == 0:
        return [(block, block + 1) for block in range(blocks - 1)]
    if kind == 1:
        return [(int(generator.integers(block)), block) for block in range(1, blocks)]
    share = 0.6 if kind == 2 else 1.0
    return [ends for ends in combinations(range(blocks), 2) if generator.random() < share]


def _pair(generator: np.random.Generator, places: int, whole: bool) -> FloatArray:
    shape = places, places
    if generator.random() < 0.2:
        return generator.normal(0, 4, shape)
    values = generator.integers(0, 12, shape) if whole else generator.exponential(5, shape)
    if generator.random() < 0.8:
        np.fill_diagonal(values, 0)
    return values * float(generator.integers(0, 4))


def _limits(
    generator: np.random.Generator, blocks: int, places: int
) -> tuple[FloatArray, FloatArray, np.ndarray[tuple[int, int], np.dtype[np.intp]]]:
    resources = int(generator.integers(0, 4))
    whole = generator.random() < 0.7
    demand = np.asarray(generator.integers(0, 4, (resources, blocks)), dtype=np.float64)
    if not whole:
        demand *= generator.random(demand.shape)
    if generator.random() < 0.3:
        demand[:] = 1.0
    tight = np.ceil(demand.sum(axis=1, keepdims=True) / places) * np.ones((1, places))
    limit = tight if generator.random() < 0.4 else generator.integers(0, 12, (resources, places)) * 1.0
    group = np.tile(np.arange(places), (resources, 1))
    if resources and generator.random() < 0.3:
        # As an `apart` rule by a label has it.
        labels, first = generator.integers(0, 3, places), {}
        group[0] = [first.setdefault(int(label), place) for place, label in enumerate(labels)]
        demand[0], limit[0] = generator.integers(0, 2, blocks), 1.0
    return demand, limit * (1 + LOOSE), group


def enumerated(tables: Tables) -> tuple[float, FloatArray]:
    """The least costs of all plans, and those with each block on each place; infinite: there are none."""
    least = np.full(tables.cost.shape, np.inf)
    blocks = np.arange(len(tables.cost))
    for choice in product(*(np.flatnonzero(row).tolist() for row in tables.allowed)):
        places = np.array(choice, dtype=np.intp)
        total = tables.total(places)
        if total <= tables.largest * (1 + 1e-9) + 1e-9 and tables.fits(places):
            least[blocks, places] = np.minimum(least[blocks, places], total)
    return float(least.min()), least
