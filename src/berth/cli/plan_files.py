"""Plan files that commands read beside a problem: a plan of another version of it is said to be one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from berth.cli.output import tell
from berth.connectors import Loaded, load_any
from berth.evaluation.situation import check_names
from berth.files import load_plan
from berth.files.document import mistakes_in, shown_name
from berth.model import Plan, Problem


def read_plan(problem: Problem, files: Sequence[Path], *, fits: bool = True) -> Loaded:
    """A plan of berth's or of another system's; unless it need not fit, all its names are the problem's."""
    read = load_any(problem, files)
    tell_version(problem, read.plan, files[0])
    if fits:
        with mistakes_in(files[0]):
            check_names(problem, read.plan)
    return read


def read_own_plan(problem: Problem, file: Path) -> Plan:
    """A plan of berth's; whether it fits, a run says with all else that is wrong."""
    plan = load_plan(file)
    tell_version(problem, plan, file)
    return plan


def tell_version(problem: Problem, plan: Plan, file: Path) -> None:
    """A line on standard error where a plan was made for another version of the problem."""
    if plan.is_of_another_version(problem.fingerprint):
        known = plan.problem == problem.name
        made_for = f"another version of {problem.name}" if known else f"another problem, {plan.problem}"
        versions = f"{plan.problem_fingerprint}; this one is {problem.fingerprint}"
        tell(f"note: {shown_name(file)} was made for {made_for} ({versions})")
