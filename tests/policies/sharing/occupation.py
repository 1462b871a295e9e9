"""What others have taken of a problem's nodes, by chance."""

import numpy as np

from berth.evaluation import Occupied
from berth.model import Problem


def taken(problem: Problem, seed: int, most: float = 0.7) -> Occupied:
    """Up to so large a share of every processor and every resource."""
    chance, nodes = np.random.default_rng(seed), len(problem.network.nodes)
    amounts = {
        resource: chance.uniform(0.0, most, nodes) * np.minimum(problem.network.capacity(resource), 1e9)
        for resource in problem.instances.resources
    }
    return Occupied(amounts, busy=chance.uniform(0.0, most, nodes), operators=np.zeros(nodes))
