"""The tree search on plain packings: against all maps, with and without symmetry, in its dead ends."""

import numpy as np
import pytest

from berth.budget import Budget
from berth.policies.two_stage import mcts
from berth.policies.two_stage.mcts_alike import alike, previous_alike
from berth.policies.two_stage.mcts_case import Packing, case_of
from berth.policies.two_stage.mcts_rollout import ROLL_OUT, advance
from berth.policies.two_stage.mcts_round import sample_round
from berth.policies.two_stage.mcts_state import HOPELESS, NO, PLAIN, PREFERRED, State, new_state
from berth.policies.two_stage.mcts_tree import ROLL_OUTS, Rules, best_child, new_tree
from tests.policies.packings import drawn, fits, optimum, searched


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
    monkeypatch.setattr(mcts, "STEPS_AT_ONCE", 1)
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
    tree, root, state = new_tree(case, 1000), new_state(case, 1), new_state(case, 1)
    rules = Rules(300, 3000, 600, 2**0.5, 100.0, 1.0, 50.0, 50.0, False)
    sample_round(case, root, state, tree, rules, 0, 10_000)
    assert tree.visits[0] == tree.numbers[ROLL_OUTS] == 300
    children, child = [], tree.child[0]
    while child >= 0:
        children.append(int(child))
        child = tree.sibling[child]
    assert tree.visits[children].sum() == 300
    assert len({int(tree.action[child]) for child in children}) == len(children) == 45
    means = tree.cost[children] / tree.visits[children]
    assert means.min() == tree.cost[best_child(tree, rules, 0)] / tree.visits[best_child(tree, rules, 0)]


def test_counts_follow_the_map() -> None:
    """What may go where, kept up to date step by step, is what it is when looked at from the start."""
    rng = np.random.default_rng(2)
    for number in range(40):
        packing = drawn(rng, second=number % 2 == 0, items=7, bins=4)
        case, _ = case_of(packing, symmetry=number % 4 < 2)
        state = new_state(case, number)
        while True:
            expected = _statuses(packing, case_of(packing, number % 4 < 2), state)
            assert state.status.tolist() == expected.tolist()
            for status in (PLAIN, PREFERRED):
                assert state.counts[:-1, status - 1].tolist() == (expected == status).sum(axis=1).tolist()
            left = state.left > 0
            assert state.numbers[HOPELESS] == (left & (expected == NO).all(axis=0)).sum()
            if not (expected != NO).any():
                break
            places, kinds = np.nonzero(expected != NO)
            chosen = rng.integers(len(places))
            advance(case, state, int(kinds[chosen]), int(places[chosen]))
        advance(case, state, ROLL_OUT, 0)


def _statuses(packing: Packing, made: tuple, state: State) -> np.ndarray:
    case, kind = made
    placed = state.path[: state.numbers[0]]
    expected = np.zeros(state.status.shape, dtype=np.int8)
    waiting = {int(after): place for place, after in enumerate(case.following) if after >= 0}
    for place in range(len(case.room)):
        if place in waiting and waiting[place] not in placed[:, 1]:
            continue
        inside = placed[placed[:, 1] == place, 0]
        room = packing.room[place] - sum(case.need[:, k] for k in inside)
        for k in np.flatnonzero(state.left > 0).tolist():
            item = int(np.argmax(kind == k))
            masks = [packing.hosts[int(np.argmax(kind == each))] for each in [k, *inside.tolist()]]
            together = packing.hosts.shape[1] == 0 or np.all(masks, axis=0).any()
            if packing.allowed[item, place] and (packing.demand[item] <= room).all() and together:
                full = packing.capacity is not None
                liked = full or any(case.both[k, each] > 0 for each in inside)
                expected[place, k] = PREFERRED if liked else PLAIN
    return expected


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
