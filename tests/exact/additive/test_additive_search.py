"""The search for sums against enumeration: its optimum, and every bound by itself."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berth.budget import Budget
from berth.exact.additive.bounds import forest_bound, lifted_bound
from berth.exact.additive.branch_and_bound import Search
from berth.exact.additive.tables import Aim, Bound, Prices, Rest, Tables, rest_of
from tests.exact.additive.random_tables import enumerated, random_tables

QUIET = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck), derandomize=True)


def searched(tables: Tables) -> Search:
    search = Search(tables, [], 0.0, 0)
    search.run(Budget(60), 10**9, lambda best, bound: None)
    return search


@QUIET
@given(st.integers(0, 10**6))
def test_against_enumeration(seed: int) -> None:
    tables = random_tables(np.random.default_rng(seed))
    expected, _ = enumerated(tables)
    search = searched(tables)
    assert search.done
    if np.isinf(expected):
        assert search.plan is None
        assert search.bound == np.inf
    else:
        assert search.plan is not None
        assert tables.fits(search.plan)
        assert tables.total(search.plan) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert expected - 1e-8 * (1 + abs(expected)) <= search.bound <= expected


def bounds_of(tables: Tables, rest: Rest, ceiling: float, rounds: int) -> dict[str, Bound]:
    free, aim = Prices.none(tables), Aim(ceiling, 0.0)
    trees = forest_bound(rest, free, aim, rounds)
    return {
        "lifted": lifted_bound(rest, free, aim, rounds, tables.beyond),
        "lifted and priced": lifted_bound(rest, trees.prices, aim, rounds, tables.beyond),
        "trees": trees,
        "trees again": forest_bound(rest, trees.prices, aim, rounds),
    }


@QUIET
@given(st.integers(0, 10**6), st.integers(1, 25), st.floats(0, 1))
def test_no_bound_is_above_a_plan(seed: int, rounds: int, above: float) -> None:
    """For the whole and for each block on each place, whatever the ceiling."""
    tables = random_tables(np.random.default_rng(seed))
    expected, least = enumerated(tables)
    rest = rest_of(tables, tables.allowed.copy())
    if rest is None:
        assert expected == np.inf
        return
    if len(rest.blocks) == 0:
        assert rest.constant == pytest.approx(expected)
        return
    ceiling = min(expected, tables.largest) + above * tables.largest - rest.constant
    noise = 1e-9 * (1 + tables.largest)
    for name, bound in bounds_of(tables, rest, ceiling, rounds).items():
        assert bound.value + rest.constant <= expected + noise, name
        below = (bound.least + rest.constant <= least[rest.blocks] + noise) | ~rest.allowed
        assert below.all(), name


def test_pieces_of_trees_must_fit() -> None:
    """Prices alone bound a row on equal nodes by 0; that pieces fit makes it change places."""
    blocks, places = 8, 8
    delays = 1.0 - np.eye(places)
    ends = np.array([(k, k + 1) for k in range(blocks - 1)], dtype=np.intp)
    tables = Tables(
        np.arange(places),
        np.ones((blocks, places), dtype=np.bool_),
        np.zeros((blocks, places)),
        ends,
        np.tile(delays, (len(ends), 1, 1)),
        np.ones((1, blocks)),
        np.full((1, places), 2.0),
        np.arange(places)[None],
        float(len(ends)),
    )
    rest = rest_of(tables, tables.allowed.copy())
    assert rest is not None
    free, aim = Prices.none(tables), Aim(3.0, 0.0)
    assert forest_bound(rest, free, aim, 50).value == pytest.approx(3.0)


def test_interchangeable_blocks_keep_the_optimum() -> None:
    """Blocks of a group differ in nothing: ordering them loses no value."""
    generator = np.random.default_rng(3)
    for _ in range(30):
        places, blocks = 3, 5
        cost = generator.integers(0, 6, (blocks, places)).astype(float)
        cost[2:] = cost[2]
        pair = np.tile(generator.integers(0, 9, (places, places)).astype(float), (2 * (blocks - 2), 1, 1))
        ends = [(end, block) for end in (0, 1) for block in range(2, blocks)]
        pair[blocks - 2 :] += generator.integers(0, 9, (places, places))
        demand = np.ones((1, blocks))
        largest = float(cost.max(axis=1).sum() + pair.max(axis=(1, 2)).sum())
        tables = Tables(
            np.arange(places), np.ones((blocks, places), dtype=np.bool_), cost, np.array(ends, dtype=np.intp),
            pair, demand, np.full((1, places), 2.0), np.arange(places)[None], largest,
        )  # fmt: skip
        search = Search(tables, [[2, 3, 4]], 0.0, 0)
        search.run(Budget(60), 10**9, lambda best, bound: None)
        assert search.done
        assert search.best == pytest.approx(enumerated(tables)[0])
        assert search.bound == pytest.approx(search.best)


def test_a_search_that_is_cut_short_has_a_bound() -> None:
    tables = random_tables(np.random.default_rng(11))
    expected, _ = enumerated(tables)
    search = Search(tables, [], 0.0, 0)
    search.run(Budget(60), 1, lambda best, bound: None)
    assert search.bound <= expected
    stopped = Search(tables, [], 0.0, 0)
    stopped.run(Budget(0), 10**9, lambda best, bound: None)
    assert stopped.branches == 0
    assert stopped.bound == -np.inf


def test_bounds_that_are_stopped_at_once_are_bounds() -> None:
    """However early time is over: no bound is above a plan, and no local search goes on."""
    for seed in range(40):
        tables = random_tables(np.random.default_rng(seed))
        expected, least = enumerated(tables)
        rest = rest_of(tables, tables.allowed.copy())
        if rest is None or len(rest.blocks) == 0:
            continue
        aim = Aim(tables.largest - rest.constant, 0.0, lambda: True)
        noise = 1e-9 * (1 + tables.largest)
        for bound in (
            forest_bound(rest, Prices.none(tables), aim, 50),
            lifted_bound(rest, Prices.none(tables), aim, 50, tables.beyond),
        ):
            assert bound.value + rest.constant <= expected + noise
            below = (bound.least + rest.constant <= least[rest.blocks] + noise) | ~rest.allowed
            assert below.all()
