"""The tree search on plain packings: against all maps, with and without symmetry, in its dead ends."""

import numpy as np
import pytest

from berth.budget import Budget
from berth.core import packing as core
from berth.policies.two_stage import mips
from berth.policies.two_stage.packing import Packing, alike, case_of, previous_alike
from berth.policies.two_stage.stages import SharedRoom
from tests.policies.two_stage.packings import drawn, fits, optimum, searched


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("symmetry", [True, False])
def test_tiny_packings_have_the_optimum(second: bool, symmetry: bool) -> None:
    """500 samples a decision are enough for maps of five items; what is impossible has no map at all."""
    rng = np.random.default_rng(3)
    impossible = 0
    for number in range(40):
        packing = drawn(rng, second=second)
        best, found = optimum(packing), searched(packing, number, symmetry=symmetry)
        if best is None:
            impossible += 1
            assert found.best_leaf is None
            assert found.committed is None
            continue
        assert found.best_leaf is not None
        assert fits(packing, found.best_leaf)
        assert packing.cost(found.best_leaf) == pytest.approx(best)
    assert 0 < impossible < 30


@pytest.mark.parametrize("second", [False, True])
def test_larger_packings_are_near_the_optimum(second: bool) -> None:
    """Few samples on six items: not always the optimum, a few percent above it on average."""
    rng = np.random.default_rng(8)
    ratios = []
    for number in range(12):
        packing = drawn(rng, second=second, items=6, bins=3, spare=2)
        best = optimum(packing)
        found = searched(packing, number, samples=10).best_leaf
        if best and found is not None:
            ratios.append(packing.cost(found) / best)
    assert len(ratios) >= 6
    assert min(ratios) >= 1 - 1e-9
    assert np.mean(ratios) <= 1.03


def test_the_committed_map_holds_and_is_no_better_than_the_best_seen() -> None:
    rng = np.random.default_rng(4)
    for number in range(40):
        packing = drawn(rng, second=number % 2 == 0, items=6)
        found = searched(packing, number, samples=30, printed=number % 3 == 0)
        if found.committed is not None:
            assert fits(packing, found.committed)
            assert found.best_leaf is not None
            assert packing.cost(found.best_leaf) <= packing.cost(found.committed) + 1e-9


def test_the_same_seed_gives_the_same_search() -> None:
    packing = drawn(np.random.default_rng(6), items=9, bins=5)
    one, same, other = (searched(packing, seed, samples=40) for seed in (7, 7, 8))
    assert one.figures == same.figures
    assert one.committed is not None
    assert same.committed is not None
    assert one.committed.tolist() == same.committed.tolist()
    assert one.figures != other.figures


def test_what_fits_into_one_bin_costs_nothing_and_the_printed_form_does_not_end() -> None:
    """E1.6: a cost of 0 is the optimum, and never counts in the printed form."""
    traffic = np.triu(np.ones((3, 3)), 1)
    free = np.ones((3, 2), dtype=bool)
    packing = Packing(
        np.ones((3, 1)), np.full((2, 1), 3.0), traffic, 1 - np.eye(2), free, np.zeros((3, 0), dtype=bool)
    )
    found = searched(packing, samples=50)
    assert found.committed is not None
    assert packing.cost(found.committed) == 0
    printed = searched(
        Packing(**(vars(packing) | {"room": np.array([[3.0], [0.0]])})), printed=True, samples=50
    )
    assert printed.committed is None
    assert printed.best_leaf is not None
    assert printed.figures["rollouts"] == printed.figures["dead_ends"] == 500


def test_no_room_at_all() -> None:
    """An item that fits nowhere is a dead end at once."""
    packing = drawn(np.random.default_rng(1))
    full = Packing(**(vars(packing) | {"room": packing.room * 0}))
    found = searched(full)
    assert (found.committed, found.best_leaf, found.rounds) == (None, None, 0)
    assert found.figures["rollouts"] == found.figures["dead_ends"] == 1


def test_time_that_is_over_ends_the_search_after_a_round() -> None:
    budget = Budget(None)
    budget.stop("enough")
    found = searched(drawn(np.random.default_rng(6), items=9, bins=5), budget=budget, samples=10)
    assert (found.cut_short, found.rounds, found.committed) == (True, 1, None)
    assert found.best_leaf is not None


def test_dead_ends_look_at_the_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven items that fill a bin each, and six bins: no roll-out is a sample."""
    monkeypatch.setattr(mips, "STEPS_AT_ONCE", 1)
    size, bins = np.full((7, 1), 2.0), 6
    whole = np.ones((7, bins), dtype=bool)
    traffic = np.triu(np.arange(49.0).reshape(7, 7), 1)
    packing = Packing(
        size, np.full((bins, 1), 2.0), traffic, 1.0 - np.eye(bins), whole, np.zeros((7, 0), dtype=bool)
    )
    budget = Budget(None)
    budget.stop("enough")
    found = searched(packing, budget=budget, samples=1000, symmetry=False)
    assert (found.figures["rollouts"], found.figures["dead_ends"]) == (1, 1)


def test_every_sample_reaches_the_root() -> None:
    """E1.4: the root counts; its children have all its visits but for the prior's one each."""
    case, _ = case_of(drawn(np.random.default_rng(6), items=9, bins=5, spare=9), symmetry=False)
    tree = core.TreeSearch(
        case,
        1,
        samples=300,
        attempts=3000,
        patience=600,
        exploration=2**0.5,
        unit=100.0,
        worst=1.0,
        all_traffic=50.0,
        farthest=50.0,
        printed=False,
        most_nodes=1000,
    )
    assert not tree.sample(10_000)
    assert tree.visits == tree.roll_outs == 300
    children = tree.children()
    assert sum(visits for _, visits, _ in children) == 300
    assert len({action for action, _, _ in children}) == len(children) == 45
    means = {action: cost / visits for action, visits, cost in children}
    assert min(means.values()) == means[tree.best_action]


def test_counts_follow_the_map() -> None:
    """What may go where, kept up to date step by step, is what it is when looked at from the start."""
    rng = np.random.default_rng(2)
    for number in range(60):
        packing = drawn(rng, second=number % 2 == 0, items=7, bins=4)
        if number % 3 == 0:
            packing = Packing(**(vars(packing) | {"shared": (pairs_of_bins(rng, packing),)}))
        case, kind = case_of(packing, symmetry=number % 4 < 2)
        state = core.PartialMap(case)
        while True:
            expected = _statuses(packing, kind, number % 4 < 2, state)
            assert state.statuses(case).tolist() == expected.tolist()
            for status in (core.PLAIN, core.PREFERRED):
                found = [state.actions_in(place, status) for place in range(case.bins)]
                assert found == (expected == status).sum(axis=1).tolist()
            left = state.left > 0
            assert state.hopeless_kinds == (left & (expected == core.NO).all(axis=0)).sum()
            if not (expected != core.NO).any():
                break
            places, kinds = np.nonzero(expected != core.NO)
            chosen = rng.integers(len(places))
            state.place(int(kinds[chosen]), int(places[chosen]))
        state.roll_out(number)


def pairs_of_bins(rng: np.random.Generator, packing: Packing) -> SharedRoom:
    """A limit of places with two bins each; items of a kind need the same."""
    sizes = packing.demand.sum(axis=1)
    return SharedRoom(sizes % 2, np.arange(len(packing.room)) // 2, rng.integers(1, 4, 2).astype(float))


def test_limits_that_bins_share_hold() -> None:
    """In maps from the tree and from local steps; with enough samples they are the best that hold."""
    rng = np.random.default_rng(9)
    compared = 0
    for number in range(30):
        packing = drawn(rng, second=number % 2 == 0, items=5, bins=4, spare=1)
        packing = Packing(**(vars(packing) | {"shared": (pairs_of_bins(rng, packing),)}))
        best, found = optimum(packing), searched(packing, number, polish=True)
        for bins in (found.best_leaf, found.polished, found.committed):
            assert bins is None or fits(packing, bins)
        if best is not None:
            assert found.polished is not None
            assert packing.cost(found.polished) == pytest.approx(best)
            compared += 1
    assert compared >= 15


def _statuses(packing: Packing, kind: np.ndarray, symmetry: bool, state: core.PartialMap) -> np.ndarray:
    placed, left = state.path, state.left
    example = [int(np.argmax(kind == k)) for k in range(len(left))]
    expected = np.zeros((len(packing.room), len(left)), dtype=np.int8)
    before = np.full(len(packing.room), -1)
    if symmetry:
        capacity = packing.room if packing.capacity is None else packing.capacity
        places = [limit.place_of[:, None] for limit in packing.shared]
        before = previous_alike(alike(packing.distance, [packing.room, capacity, packing.allowed.T, *places]))
    for place in range(len(packing.room)):
        if before[place] >= 0 and before[place] not in placed[:, 1]:
            continue
        inside = [example[k] for k in placed[placed[:, 1] == place, 0].tolist()]
        room = packing.room[place] - packing.demand[inside].sum(axis=0)
        for k in np.flatnonzero(left > 0).tolist():
            item = example[k]
            masks = packing.hosts[[item, *inside]]
            together = packing.hosts.shape[1] == 0 or masks.all(axis=0).any()
            shares = all(
                _shared_left(limit, place, placed, example) >= limit.needed[item] for limit in packing.shared
            )
            if packing.allowed[item, place] and (packing.demand[item] <= room).all() and together and shares:
                full = packing.capacity is not None
                traffic = packing.traffic[item, inside] + packing.traffic[inside, item]
                liked = full or bool((traffic > 0).any())
                expected[place, k] = core.PREFERRED if liked else core.PLAIN
    return expected


def _shared_left(limit: SharedRoom, place: int, placed: np.ndarray, example: list[int]) -> float:
    mates = limit.place_of[placed[:, 1]] == limit.place_of[place]
    used = sum(limit.needed[example[k]] for k in placed[mates, 0].tolist())
    return float(limit.room[limit.place_of[place]] - used)


def test_alike_is_what_can_be_swapped() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        size = 6
        kinds = rng.integers(0, 3, size)
        between = rng.integers(0, 2, (3, 3))[np.ix_(kinds, kinds)].astype(float)
        feature = rng.integers(0, 2, (size, 1))
        group = alike(between, [feature])
        for one in range(size):
            for other in range(size):
                swap = np.arange(size)
                swap[[one, other]] = other, one
                same = (between[np.ix_(swap, swap)] == between).all() and feature[one] == feature[other]
                assert (group[one] == group[other]) == same
    assert previous_alike(np.array([0, 1, 0, 0, 1])).tolist() == [-1, -1, 0, 2, 1]
