"""What the commands' exit codes mean, in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from berth.model import Plan

KEPT = 0
FAILED = 1
BAD_INPUT = 2
INFEASIBLE = 3
NOT_FOUND = 4
BROKEN = 5
MISPLACED = 6
INTERRUPTED = 130


def exit_code(plan: Plan) -> int:
    """0 a plan that breaks nothing, 3 proved infeasible, 4 no plan, 5 a plan that breaks constraints."""
    if plan.status == "infeasible":
        return INFEASIBLE
    # that all applications have left, as they were told, is no failure
    if not plan.found and plan.status != "feasible":
        return NOT_FOUND
    return BROKEN if plan.violations else KEPT
