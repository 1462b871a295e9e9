"""Placement policies: a small protocol, a file each, a line each in the registry."""

from berth.policies.front import front
from berth.policies.policy import About, Answer, NoParameters, Policy, Progress, Task
from berth.policies.registry import find_policy, policy_names
from berth.policies.solve import solve

__all__ = [
    "About",
    "Answer",
    "NoParameters",
    "Policy",
    "Progress",
    "Task",
    "find_policy",
    "front",
    "policy_names",
    "solve",
]
