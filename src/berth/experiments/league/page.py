"""The league table as a page of the docs; the page says by which command it was made."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import pandas as pd

from berth.experiments.league.fixtures import GROUPS
from berth.experiments.league.standings import Standing, is_proved, standings, with_ratios

COMMANDS = (
    "berth reproduce league{quick} --out league\npython -m berth.experiments.league league docs/league.md"
)
HEADER = """# Which policy?

A policy decides on which node each operator runs; `berth solve PROBLEM --policy NAME` chooses one. Here all
are tried on the same problems: examples, generated ones and measured networks. Each problem has its own
objective, every policy its default parameters and {limit:g} s of processor time. This page is generated: edit
`src/berth/experiments/league/page.py` instead, and make it anew, with
[measured networks](reproduce.md#measured-networks) in `BERTH_DATA`, by

```sh
{commands}
```
"""
KINDS = {
    "one application, small": "One application of a few dozen operators",
    "one application, large": "One application of many operators, or many nodes",
    "latency space": "Delays between many nodes, least data in flight",
    "containers": "Instances in containers on servers",
    "many applications": "Many applications that share",
}
READING = """## How to read the tables

- **objective / best**: geometric mean of the objective over the best that any policy found, where it has a
  plan; 1.00 is the best known. `†`: it minimises something of its own, or nothing, whatever
  the problem asks for: how near it came here says little of other problems.
- **within 1 %**: problems where it is that near, of those that it is made for.
- **breaks**: its plan breaks constraints, and is not counted. **no plan**: it found none in its time, or got
  stuck.
- **seconds**: median of processor time.
- The best first: most problems within 1 %, then most plans, then the lowest ratio.
"""
QUICK_ENOUGH = 1.25
"""Times the best known: near, for those in a hurry."""
QUICKER = 0.5


def page(table: pd.DataFrame, limit: float, quick: bool) -> str:
    """The whole page.

    Args:
        table: the rows of the experiment `league`.
        limit: seconds that every policy had.
        quick: whether it is the quick form.
    """
    rated = with_ratios(table)
    groups = [group for group in GROUPS if (rated["group"] == group).any()]
    commands = COMMANDS.format(quick=" --quick" if quick else "")
    header = HEADER.format(limit=limit, commands=commands)
    parts = [
        header,
        _advice(rated, groups),
        READING,
        *(_group(rated, group) for group in groups),
        _problems(rated),
    ]
    return "\n".join(parts)


def _link(policy: str) -> str:
    return f"[{policy}](policies/{policy}.md)"


def _advice(rated: pd.DataFrame, groups: Sequence[str]) -> str:
    lines = ["## In short", ""]
    everywhere = _everywhere(rated, groups)
    lines.append(f"- **Not sure**: {_link('auto')}, the default; {everywhere}.")
    for group in groups:
        found = [item for item in standings(rated, group) if item.plans and item.policy != "auto"]
        if not found:
            continue
        line = f"- **{KINDS[group]}**: {_link(found[0].policy)} ({_in_words(found[0])})"
        fast = _faster(found)
        if fast is not None:
            line += f"; quicker and near: {_link(fast.policy)} ({_in_words(fast)})"
        lines.append(f"{line}.")
    return "\n".join([*lines, ""])


def _everywhere(rated: pd.DataFrame, groups: Sequence[str]) -> str:
    found = [item for group in groups for item in standings(rated, group) if item.policy == "auto"]
    near, made_for = sum(item.near for item in found), sum(item.made_for for item in found)
    plans = sum(item.plans for item in found)
    return f"within 1 % of the best known on {near} of {made_for} problems, with a plan for {plans}"


def _faster(found: Sequence[Standing]) -> Standing | None:
    """The quickest with a plan wherever it is asked, within a quarter of the best, in half the first's time.

    None with a goal of its own: how near it came here says little of other problems.
    """
    most = found[0].seconds * QUICKER
    good = [
        item
        for item in found[1:]
        if item.plans == item.made_for
        and item.ratio <= QUICK_ENOUGH
        and item.seconds <= most
        and not item.own_goal
    ]
    return min(good, key=lambda item: item.seconds, default=None)


def _in_words(item: Standing) -> str:
    words = [
        f"{item.ratio:.2f} times the best known",
        f"{_seconds(item.seconds)} s",
        f"plans for {item.plans} of {item.made_for}",
    ]
    return ", ".join([*words, "has a goal of its own"] if item.own_goal else words)


def _seconds(value: float) -> str:
    if isnan(value):
        return "-"
    return "< 0.01" if value < 0.01 else f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"


def _group(rated: pd.DataFrame, group: str) -> str:
    found = standings(rated, group)
    lines = [
        f"## {group.capitalize()}",
        "",
        f"{rated.loc[rated['group'] == group, 'problem'].nunique()} problems.",
        "",
        "| policy | objective / best | within 1 % | plans | breaks | no plan | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_row(item) for item in found if item.made_for]
    idle = [_link(item.policy) for item in found if not item.made_for]
    if idle:
        lines += ["", f"Not made for any of these: {', '.join(idle)}."]
    partly = [f"{_link(item.policy)} ({item.not_made})" for item in found if item.made_for and item.not_made]
    if partly:
        lines += ["", f"Not made for some of these: {', '.join(partly)}."]
    return "\n".join([*lines, ""])


def _row(item: Standing) -> str:
    ratio = "-" if isnan(item.ratio) else f"{item.ratio:.2f}"
    cells = (
        _link(item.policy) + (" †" if item.own_goal else ""),
        ratio,
        f"{item.near} of {item.made_for}",
        item.plans,
        item.broken or "",
        item.without or "",
        _seconds(item.seconds),
    )
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _problems(rated: pd.DataFrame) -> str:
    lines = [
        "## The problems",
        "",
        "| problem | instances | nodes | objective | best known | found by | proved |",
        "|---|---|---|---|---|---|---|",
    ]
    first = rated[rated["seed"] == rated["seed"].min()]
    for name, part in first.groupby("problem", sort=False):
        one = part.iloc[0]
        best, bound = float(one["best"]), float(one["proved"])
        finders = part.loc[part["ratio"] <= 1.0 + 1e-9, "policy"].tolist()
        lines.append(
            f"| {name} | {one['operators']} | {one['nodes']} | {one['objective']} "
            f"| {'-' if isnan(best) else f'{best:.4g}'} | {_finders(finders)} | {_proof(best, bound)} |"
        )
    return "\n".join([*lines, ""])


def _finders(policies: list[str]) -> str:
    if not policies:
        return "nobody"
    return policies[0] if len(policies) == 1 else f"{policies[0]} and {len(policies) - 1} more"


def _proof(best: float, bound: float) -> str:
    if isnan(best) or isnan(bound):
        return "no"
    if is_proved(best, bound):
        return "yes"
    return f"bound {bound:.4g}"
