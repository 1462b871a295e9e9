"""Whether operators fit side by side: the search, its knapsacks and the solver against enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core.exact import PackingSearch, fullest_filling
from berth.exact.structure import fans
from berth.exact.structure.fans import FanArrays, Packing, fits_side_by_side

Case = tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]


def case(seed: int) -> Case:
    """Who may go where, needs and room: tight, with equal operators, equal places, zeros and exact fits."""
    generator = np.random.default_rng(seed)
    count, places, resources = (int(generator.integers(low, high)) for low, high in ((2, 7), (1, 5), (0, 3)))
    kinds, sorts = int(generator.integers(1, count + 1)), int(generator.integers(1, places + 1))
    tenths = generator.random() < 0.5
    demand = generator.integers(0, 8, (resources, kinds)).astype(float)
    demand = (demand / 10 if tenths else demand)[:, generator.integers(kinds, size=count)]
    spread = generator.uniform(0.5, 2, (resources, sorts))[:, generator.integers(sorts, size=places)]
    room = spread * demand.sum(axis=1, keepdims=True) / places * generator.uniform(0.9, 1.3)
    room = np.round(room, 1) * (1 + 2e-9) if tenths else np.floor(room)
    allowed = generator.random((kinds, sorts)) < generator.uniform(0.4, 1.2)
    rows, columns = generator.integers(kinds, size=count), generator.integers(sorts, size=places)
    return allowed[np.ix_(rows, columns)], demand, room


def is_packing(choice: NDArray[np.int64], usable: NDArray[np.bool_], demand: object, room: object) -> bool:
    """Whether everybody is where they may be and fit."""
    needs, there = np.asarray(demand), np.asarray(room)
    loads = np.zeros(there.shape)
    for item, place in enumerate(choice.tolist()):
        loads[:, place] += needs[:, item]
    return bool(usable[np.arange(len(choice)), choice].all() and (loads <= there * (1 + 1e-11)).all())


def fits(usable: NDArray[np.bool_], demand: NDArray[np.float64], room: NDArray[np.float64]) -> bool:
    """By looking at all ways."""
    ways = np.stack([part.ravel() for part in np.meshgrid(*map(np.flatnonzero, usable))], axis=1)
    fit = np.ones(len(ways), dtype=bool)
    for place in range(usable.shape[1]):
        loads = (ways == place) @ demand.T
        fit &= (loads <= room[:, place] * (1 + 1e-11)).all(axis=1)
    return bool(fit.any())


def packer(usable: NDArray[np.bool_], demand: NDArray[np.float64], room: NDArray[np.float64]) -> Packing:
    """A packing of a fan without ends."""
    none, places = np.zeros(0), usable.shape[1]
    times = np.where(usable, 1.0, np.inf)
    nothing = np.zeros(len(demand))
    step = np.zeros((places, places))
    return Packing(FanArrays(np.arange(places), none, none, times, step, nothing, nothing, demand, room), 0.0)


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.integers(0, 10**7))
def test_search_against_enumeration(seed: int) -> None:
    """The quick try finds packings only; the search finds one exactly where there is one."""
    usable, demand, room = case(seed)
    value = np.random.default_rng(seed).uniform(0.1, 1, size=(len(usable),))
    search = PackingSearch(usable, demand, room, value)
    quick = search.quick_packing()
    assert quick is None or is_packing(quick, usable, demand, room)
    while search.go_on(3):
        pass
    found = search.packing
    assert (found is not None) == fits(usable, demand, room)
    assert found is None or is_packing(found, usable, demand, room)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(0, 10**7))
def test_solver_against_enumeration(seed: int) -> None:
    """The last resort of hard cases says the same."""
    usable, demand, room = case(seed)
    if not usable.any(axis=1).all():
        return
    found = fits_side_by_side(usable, demand, room, Budget(60))
    assert (found.outcome == "optimal") == fits(usable, demand, room)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.integers(0, 10**7))
def test_knapsack_against_enumeration(seed: int) -> None:
    """The fullest filling of a place, and what it holds."""
    usable, demand, room = case(seed)
    count = len(usable)
    value = np.round(np.random.default_rng(seed).uniform(0, 1, count), 1)
    usable &= (demand[:, :, None] <= room[:, None, :] * (1 + 1e-12)).all(axis=0)
    best = 0.0
    for way in product((False, True), repeat=count):
        taken = np.array(way)
        if usable[taken, 0].all() and (demand[:, taken].sum(axis=1) <= room[:, 0] * (1 + 1e-11)).all():
            best = max(best, float(value[taken].sum()))
    most, chosen = fullest_filling(usable[:, 0], demand, room[:, 0], value)
    assert most == pytest.approx(best, abs=1e-9)
    assert value[chosen].sum() == pytest.approx(best, abs=1e-9)
    assert (demand[:, chosen].sum(axis=1) <= room[:, 0] * (1 + 1e-11)).all()


@pytest.mark.parametrize("work", [0, 1, 4])
def test_rounds_come_to_the_same(work: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much is left to later rounds or the solver, what is found is proved and right."""
    monkeypatch.setattr(fans, "WORK", work)
    for seed in range(40):
        usable, demand, room = case(seed)
        if not usable.any(axis=1).all():
            continue
        found = packer(usable, demand, room).run(Budget(60), lambda best, bound: None)
        if fits(usable, demand, room):
            assert found.costs == 1.0
            assert found.bound == pytest.approx(1.0)
        else:
            assert found.places is None
            assert np.isinf(found.bound)
