"""The league table of `berth reproduce league`: who did best at which kind of problem."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from berth.web.plain import without_nan

RESULTS = Path("league", "results")
MOST_BYTES = 64 * 2**20


def league_of(folder: Path) -> list[dict[str, Any]] | None:
    """The standings in each group of problems, the best policy first; None where no league was run."""
    results = folder / RESULTS
    files = [each for each in sorted(results.glob("*.parquet")) if each.is_file() and not each.is_symlink()]
    if not files or results.is_symlink() or sum(each.stat().st_size for each in files) > MOST_BYTES:
        return None
    # pandas takes a while, and most workspaces have no league
    from berth.experiments.league.standings import standings, with_ratios

    try:
        table = with_ratios(pa.concat_tables(map(pq.read_table, files)).to_pandas())
        groups = [
            {
                "group": group,
                "problems": int(part["problem"].nunique()),
                "standings": [
                    {
                        "policy": item.policy,
                        "objective_over_best": item.ratio,
                        "within_one_percent": item.near,
                        "asked": item.made_for,
                        "plans": item.plans,
                        "breaks": item.broken,
                        "no_plan": item.without,
                        "seconds": item.seconds,
                        "own_goal": item.own_goal,
                    }
                    for item in standings(table, group)
                    if item.made_for
                ],
            }
            for group, part in table.groupby("group", sort=False)
        ]
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError):
        return None  # other columns than those of a league
    whole: list[dict[str, Any]] = without_nan(groups)
    return whole
