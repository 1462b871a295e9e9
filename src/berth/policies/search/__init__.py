"""`search`: the policy in `policy.py`, the cycles of its annealing in `cycles.py`."""

from berth.policies.search.policy import Search, SearchParameters

__all__ = ["Search", "SearchParameters"]
