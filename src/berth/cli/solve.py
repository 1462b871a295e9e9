"""`berth solve` and `berth policies`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from rich.markup import escape

from berth.budget import Budget
from berth.cli.alternatives import alternatives_document, print_alternatives, save_alternatives
from berth.cli.exit_codes import KEPT, exit_code
from berth.cli.options import (
    AsJson,
    Objectives,
    Policy,
    PolicySettings,
    Previous,
    ProblemFile,
    Seed,
    Then,
    TimeLimit,
    Within,
    as_option,
    budget_for,
    option,
    settings_from,
    share_from,
    time_limit_from,
    with_objective,
)
from berth.cli.output import out, print_json, tell
from berth.cli.plan_view import print_plan, print_sequence
from berth.cli.progress import solving
from berth.files import check_writable, load, load_plan, plan_document, save_plan
from berth.files.document import is_standard
from berth.model import BadInput, Plan, Problem
from berth.model.parameters import described
from berth.policies import alternatives as find_alternatives
from berth.policies import find_policy, policy_names
from berth.policies import solve as solve_at_once
from berth.policies.alternatives import DEFAULT_WITHIN, Alternatives
from berth.policies.registry import policy_documents
from berth.policies.sequence import solve_in_turn
from berth.policies.solve import DEFAULT_TIME_LIMIT

SOLVE_EXAMPLES = """Examples:

  berth solve examples/tag-and-count.yaml

  berth solve problem.yaml --objective availability --out plan.json

  berth solve problem.yaml --previous plan.json --objective response_time=1 --objective moved_state=0.2

  berth solve problem.yaml --objective response_time --then cost_per_hour --within 5%

  berth solve problem.yaml --alternatives 5 --within 2% --out plan.json

  berth solve problem.yaml --time-limit 10 --set gap=0.01 --json

  berth solve cluster.yaml --sequential --policy mips --events first,second,-first,third --out plan.json

Exit codes: 0 a plan that breaks no constraint, 2 bad input, 3 proved infeasible, 4 no plan found,
5 a plan that breaks constraints, or has no place for a request.
"""

POLICIES_EXAMPLES = """Examples:

  berth policies

  berth policies --json
"""


Found = TypeVar("Found")
Sequential = Annotated[
    bool,
    as_option(
        "The applications arrive one after another: what is placed stays where it is.", name="--sequential"
    ),
]
Events = Annotated[
    str | None,
    as_option(
        "With --sequential: who arrives, in this order; -NAME leaves. Default: all, as in the file.",
        "NAME,-NAME,...",
    ),
]


def solve(
    problem: ProblemFile,
    policy: Policy = "auto",
    time_limit: TimeLimit = DEFAULT_TIME_LIMIT,
    seed: Seed = 0,
    settings: PolicySettings = None,
    objective: Objectives = None,
    then: Then = None,
    within: Within = None,
    alternatives: int | None = option(
        None, "So many plans, the best one first, each near to it (--within) and different.", "K"
    ),
    differ: int | None = option(
        None, "With --alternatives: in how many operators any two differ. Default: a tenth of them.", "D"
    ),
    previous: Previous = None,
    sequential: Sequential = False,
    events: Events = None,
    leave: list[str] | None = option(
        None, "With --sequential and --previous: this application leaves first. Can be repeated.", "NAME"
    ),
    out: Path | None = option(None, "Write the plan file here; -: to standard output, as --json.", "FILE"),
    as_json: AsJson = False,
) -> None:
    """Find a plan: on which node every operator runs, with a proof of how good it is."""
    if out is not None and is_standard(out):
        out, as_json = None, True
    if alternatives is None and differ is not None:
        raise BadInput("--differ: only with --alternatives")
    loaded = with_objective(load(problem), objective, then, within if alternatives is None else None)
    if out is not None:
        check_writable(out)
    before = None if previous is None else load_plan(previous)
    limit, parameters = time_limit_from(time_limit), settings_from(settings)
    one = partial(solver_for(sequential, events, leave), loaded, policy, seed=seed, previous=before)
    if alternatives is not None:
        share = _share(within, sequential)
        several = partial(find_alternatives, loaded, alternatives, share, differ, policy)
        found = solved(partial(several, seed=seed, previous=before), budget_for(limit), parameters)
        _show_several(loaded, found, out, as_json)
    plan = solved(one, budget_for(limit), parameters)
    code = exit_code(plan)
    written = plan.found or code == KEPT
    if out is not None and written:
        save_plan(plan, out)
    if as_json:
        print_json(plan_document(plan))
    else:
        (print_sequence if sequential else print_plan)(loaded, plan)
    if out is not None:
        tell(f"plan written to {out}" if written else f"no plan: nothing written to {out}")
    raise typer.Exit(code)


def _share(within: list[str] | None, sequential: bool) -> float:
    """How far from the best plan the others may be."""
    if sequential:
        raise BadInput("--alternatives: not with --sequential")
    if within and len(within) > 1:
        raise BadInput("--within: once with --alternatives: how far from the best plan the others may be")
    return share_from(within[0]) if within else DEFAULT_WITHIN


def _show_several(problem: Problem, found: Alternatives, file: Path | None, as_json: bool) -> NoReturn:
    """Write and print all plans, and end with the code of the best one."""
    written = [] if file is None else save_alternatives(found, file)
    if as_json:
        print_json(alternatives_document(found))
    else:
        print_alternatives(problem, found)
    if file is not None:
        names = ", ".join(map(str, written))
        tell(f"plans written to {names}" if written else f"no plan: nothing written to {file}")
    raise typer.Exit(exit_code(found.plans[0]))


def solver_for(sequential: bool, events: str | None, leave: list[str] | None) -> Callable[..., Plan]:
    """What solves: all at once, or one after another."""
    if sequential:
        given = None if events is None else [item.strip() for item in events.split(",")] if events else []
        return partial(solve_in_turn, events=given, leave=tuple(leave or ()))
    options: dict[str, Any] = {"--events": events, "--leave": leave or None}
    mistakes = [f"{name}: only with --sequential" for name, value in options.items() if value is not None]
    if mistakes:
        raise BadInput(mistakes)
    return solve_at_once


def solved(solver: Callable[..., Found], budget: Budget, parameters: Mapping[str, Any]) -> Found:
    """What a solver finds; meanwhile it is shown how far it is."""
    with solving(budget) as progress:
        return solver(budget=budget, progress=progress, **parameters)


def policies(as_json: AsJson = False) -> None:
    """List every policy: what it optimises, which constraints it holds, and its parameters."""
    if as_json:
        print_json(policy_documents())
        return
    for policy in map(find_policy, policy_names()):
        about = policy.about
        out.print(f"[bold]{escape(about.name)}[/]")
        for label, text in (("paper", about.paper), ("optimises", about.optimises), ("holds", about.holds)):
            out.print(f"  {label:10} {escape(text)}", soft_wrap=True)
        for item in described(policy.parameters):
            line = f"  --set {item['name']}={item['default']}"
            out.print(f"{escape(line):40} [dim]{escape(item['help'])}[/]", soft_wrap=True)
        out.print()
