"""Placement policies: a small protocol, a file each, a line each in the registry."""

from berth.policies.alternatives import Alternatives, alternatives
from berth.policies.front import front
from berth.policies.policy import About, Answer, NoParameters, Policy, Progress, Task
from berth.policies.registry import find_policy, policy_names
from berth.policies.solve import solve

__all__ = [
    "About",
    "Alternatives",
    "Answer",
    "NoParameters",
    "Policy",
    "Progress",
    "Task",
    "alternatives",
    "find_policy",
    "front",
    "policy_names",
    "solve",
]
