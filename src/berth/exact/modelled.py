"""The part of a problem that the exact model holds."""

from __future__ import annotations

from dataclasses import replace

from berth.evaluation import Setting
from berth.model import Problem


def unmodelled(problem: Problem, packs: bool = False) -> str | None:
    """What an exact method leaves out of a problem, as a reason why its optimum proves nothing; else None.

    Args:
        problem: what is solved.
        packs: whether the method fills containers; the general model does.
    """
    if not packs and any(application.containers is not None for application in problem.applications):
        return "containers are not packed"
    if any(item.operator.reads for item in problem.instances.operators):
        return "object downloads are not planned"
    if problem.sharing_keys.matters:
        return "equal operators are not shared"
    return None


def modelled(setting: Setting) -> Setting:
    """The setting without what the exact model leaves out; plans for it are then judged in the real one."""
    problem = setting.problem
    if unmodelled(problem, packs=True) is None:
        return setting
    applications = tuple(
        replace(
            application,
            operators=tuple(replace(operator, reads=()) for operator in application.operators),
        )
        for application in problem.applications
    )
    held = replace(problem, applications=applications, sharing=False)
    return Setting(held, setting.previous, setting.occupied)
