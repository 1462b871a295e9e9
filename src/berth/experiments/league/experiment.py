"""`berth reproduce league`: all policies on all problems."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Experiment, Row, Run, Setting, columns
from berth.experiments.league.fixtures import GROUPS, entries
from berth.experiments.league.solving import solved
from berth.experiments.league.standings import standings, with_ratios
from berth.policies.registry import BUILT_IN

FULL_LIMIT, QUICK_LIMIT = 10.0, 2.0
WORST_SHOWN = 10.0


def runs(setting: Setting) -> Iterable[Run]:
    """A run is a problem, a policy and a seed."""
    for entry in entries(setting):
        for policy in BUILT_IN:
            for seed in range(1 if setting.quick else 2):
                named = {"problem": entry.name, "group": entry.group, "policy": policy, "seed": seed}
                yield Run.of("{problem}/{policy}/{seed}", **named)


def rows(run: Run, setting: Setting) -> Iterable[Row]:
    """What the policy did."""
    chosen = run.parameters
    limit = QUICK_LIMIT if setting.quick else FULL_LIMIT
    seed = setting.seed + chosen["seed"]
    found = solved(chosen["problem"], chosen["policy"], seed, setting.data, limit)
    yield {**chosen, **found}


def draw(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """For each group, how far policies are from the best known."""
    figure.set_size_inches(9, 9)
    rated = with_ratios(table)
    groups = [group for group in GROUPS if (rated["group"] == group).any()]
    axes = np.atleast_1d(figure.subplots((len(groups) + 1) // 2, 2)).ravel()
    for place, group in zip(axes, groups, strict=False):
        found = [item for item in standings(rated, group) if item.plans][::-1]
        place.barh(
            [item.policy for item in found],
            [min(item.ratio, WORST_SHOWN) - 1.0 for item in found],
            left=1.0,
            color=["#0072b2" if item.plans == item.made_for else "#e69f00" for item in found],
        )
        place.set(title=group, xlabel="objective / best known (geometric mean)")
        place.set(xscale="log", xlim=(1.0, WORST_SHOWN))
        place.set_xticks([1, 2, 5, 10], ["1", "2", "5", "10"])
        place.tick_params(labelsize=8)
    for place in axes[len(groups) :]:
        place.set_visible(False)
    limit = QUICK_LIMIT if setting.quick else FULL_LIMIT
    return (
        f"How far each policy is from the best known plan, {rated['problem'].nunique()} problems, "
        f"{limit:g} s for each; bars end at {WORST_SHOWN:g}. Orange: on some problems of the group it "
        "found no plan that keeps all constraints, and these are not in its mean. Policies without any "
        "plan are left out."
    )


LEAGUE = Experiment(
    name="league",
    paper="- (berth's own)",
    title="All policies on all problems",
    about="`berth reproduce league`: all policies on all problems.",
    schema=columns(
        "problem str, group str, policy str, seed int, operators int, nodes int, objective str, maximise "
        "bool, outcome str, value float, bound float, own_goal bool, seconds float, reason str"
    ),
    runs=runs,
    rows=rows,
    claims=lambda table, setting: (),  # no paper has this table
    draw=draw,
)
