"""What is placed and where: immutable values. Imports nothing else of berth."""

from berth.model.application import (
    Apart,
    Application,
    Containers,
    Operator,
    Read,
    Rule,
    Spread,
    Stream,
    Together,
    Where,
)
from berth.model.errors import BadInput
from berth.model.front import Front, FrontPoint
from berth.model.instances import InstanceGraph
from berth.model.losses import Loss
from berth.model.network import Link, Network, Node
from berth.model.plan import Download, Plan
from berth.model.problem import DataObject, Problem, Survive

__all__ = [
    "Apart",
    "Application",
    "BadInput",
    "Containers",
    "DataObject",
    "Download",
    "Front",
    "FrontPoint",
    "InstanceGraph",
    "Link",
    "Loss",
    "Network",
    "Node",
    "Operator",
    "Plan",
    "Problem",
    "Read",
    "Rule",
    "Spread",
    "Stream",
    "Survive",
    "Together",
    "Where",
]
