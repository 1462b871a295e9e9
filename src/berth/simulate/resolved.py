"""Plans that can run: they say of everything where it is."""

from __future__ import annotations

import numpy as np

from berth.evaluation import Setting, Situation
from berth.model import BadInput, Plan, Problem


def complete_situation(problem: Problem, plan: Plan, name: str) -> Situation:
    """A plan resolved; `name` is what messages call it.

    Raises:
        BadInput: it names what isn't there, or leaves something without a node.
    """
    try:
        situation = Situation(Setting(problem), plan)
    except BadInput as error:
        raise BadInput(f"{name}: {line}" for line in error.mistakes) from None
    if situation.reuse_mistakes:
        raise BadInput(f"{name}: {line}" for line in situation.reuse_mistakes)
    missing = np.flatnonzero(situation.computed & (situation.node_of < 0)).tolist()
    if missing:
        names = [situation.graph.names[number] for number in missing]
        raise BadInput(f"{name}: instance {instance} is not placed" for instance in names)
    return situation


def following_situation(problem: Problem, plan: Plan, before: Plan, name: str) -> Situation:
    """A later plan resolved: it must compute what the one before does.

    Raises:
        BadInput: it doesn't, or can't run.
    """
    situation = complete_situation(problem, plan, name)
    if dict(plan.reuse) != dict(before.reuse) or set(plan.skipped) != set(before.skipped):
        raise BadInput([f"{name}: reuses or skips other operators than the plan before"])
    if not situation.linked:
        raise BadInput([f"{name}: needs a link between nodes that have none"])
    return situation
