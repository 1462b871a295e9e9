"""Placement in the latency space: what mopa, sbon, mop-exhaustive and latency-bound share.

For other policies::

    mopa_mapping(setting: Setting, space: Space, parameters: MopaParameters) -> Placed

`Placed` is a tuple of `nodes` (of each instance), `positions` (virtual, [instances, dimensions]) and
`counters` (`messages`, `events`, ...). It raises `NoHostError` where no node has room, `NoEndError` where
the search is given up (the texts are reasons for a plan) and `BadInput` for unknown rates.
"""

from berth.policies.latency_space.hosts import NoHostError
from berth.policies.latency_space.mopa import MopaParameters, mopa_mapping
from berth.policies.latency_space.placing import Placed, SpaceParameters
from berth.policies.latency_space.sbon import SbonParameters, sbon_mapping
from berth.policies.latency_space.virtual import NoEndError

__all__ = [
    "MopaParameters",
    "NoEndError",
    "NoHostError",
    "Placed",
    "SbonParameters",
    "SpaceParameters",
    "mopa_mapping",
    "sbon_mapping",
]
