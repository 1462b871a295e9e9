"""Small packings, and their optimum by trying all maps."""

from itertools import product

import numpy as np

from berth.budget import Budget
from berth.model.arrays import IndexArray
from berth.policies.two_stage.mips import Found, search
from berth.policies.two_stage.packing import Packing


def drawn(
    rng: np.random.Generator, *, second: bool = False, items: int = 5, bins: int = 3, spare: int = 0
) -> Packing:
    """A packing of instances into containers, or of containers onto servers; some of them impossible."""
    kinds = rng.integers(0, 3, items)
    size = rng.integers(1, 4, (3, 2))[kinds].astype(float)
    rates = np.triu(rng.integers(0, 6, (3, 3)), 1)[np.ix_(kinds, kinds)].astype(float)
    room = np.tile(rng.integers(4, 9, 2) + spare, (bins, 1)).astype(float)
    hosts = np.zeros((items, 0), dtype=bool)
    if not second:
        if rng.random() < 0.3:
            hosts = rng.random((3, 70))[kinds] < 0.02
        alpha = float(rng.choice([0.0, 0.5, 1.0]))
        return Packing(size, room, rates, 1.0 - np.eye(bins), _all(items, bins), hosts, alpha, 1.0 - alpha)
    distance = rng.integers(1, 5, (bins, bins)).astype(float) * (1.0 - np.eye(bins))
    if rng.random() < 0.3:
        distance[0, 1] = np.inf
    allowed = rng.random((items, bins)) < 0.9
    capacity = room + 2.0
    return Packing(size, room, rates, distance, allowed, hosts, capacity=capacity)


def _all(items: int, bins: int) -> np.ndarray:
    return np.ones((items, bins), dtype=bool)


def fits(packing: Packing, bins: IndexArray) -> bool:
    """Whether a map keeps all that must hold."""
    for place in set(bins.tolist()):
        inside = bins == place
        if (packing.demand[inside].sum(axis=0) > packing.room[place]).any():
            return False
        if not packing.allowed[inside, place].all():
            return False
        if packing.hosts.shape[1] and not packing.hosts[inside].all(axis=0).any():
            return False
    for limit in packing.shared:
        used = np.bincount(limit.place_of[bins], limit.needed, len(limit.room))
        if (used > limit.room).any():
            return False
    return bool(np.isfinite(packing.cost(bins)))


def optimum(packing: Packing) -> float | None:
    """The least cost of all maps; None: there is none."""
    maps = (np.array(bins) for bins in product(range(len(packing.room)), repeat=len(packing.demand)))
    return min((packing.cost(bins) for bins in maps if fits(packing, bins)), default=None)


def searched(packing: Packing, seed: int = 0, **options: object) -> Found:
    """A search with the defaults, unless said otherwise."""
    chosen: dict[str, object] = {
        "samples": 500,
        "exploration": 2**0.5,
        "symmetry": True,
        "printed": False,
        "polish": False,
        "budget": Budget(None),
    }
    return search(packing, seed, **(chosen | options))  # type: ignore[arg-type]
