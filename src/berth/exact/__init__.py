"""Exact solving: from a goal to a plan with a proved bound; shared by the exact policies."""
