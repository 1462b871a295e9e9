"""All policies as plain data."""

from __future__ import annotations

from typing import Any

from berth.policies.parameters import described
from berth.policies.registry import find_policy, policy_names


def policy_documents() -> list[dict[str, Any]]:
    """What people should know of every policy, with its parameters and their defaults."""
    return [
        {
            "name": policy.about.name,
            "paper": policy.about.paper,
            "optimises": policy.about.optimises,
            "holds": policy.about.holds,
            "parameters": described(policy.parameters),
        }
        for policy in map(find_policy, policy_names())
    ]
