"""`berth solve-many --together`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berth.amounts import duration
from berth.cli.output import err, number, out, plain_table, print_json
from berth.cli.spark_options import session_for
from berth.cli.spark_progress import waiting

if TYPE_CHECKING:
    from berth.pipeline.many import Variant


def place_together(
    problems: Sequence[str],
    variants: Sequence[Variant],
    folder: Path,
    network: Path | None,
    time_limit: float | None,
    in_turn: bool,
    master: str | None,
    configuration: list[str] | None,
    as_json: bool,
) -> None:
    """Place the applications of all problems on nodes that they share."""
    from berth.pipeline.many import SETTINGS, find_problems, locked
    from berth.pipeline.together import Method, Together, check_methods, run_together, shared_network

    began = time.monotonic()
    methods = [Method(each.policy, each.seed, each.parameters, time_limit) for each in variants]
    check_methods(methods)
    inputs = find_problems(problems)
    ours = [f"{key}={value}" for key, value in SETTINGS.items()]
    with locked(folder), waiting("reading the network") as report:
        job = Together(inputs, shared_network(inputs, network), methods, folder, in_turn)
        report("starting Spark")
        with session_for(master, [*ours, *(configuration or [])], "berth solve-many --together") as session:
            report("reading graphs")
            summaries = run_together(session, job, report)
    seconds = time.monotonic() - began
    if as_json:
        print_json({"ways": summaries, "seconds": round(seconds, 3)})
    else:
        _print(summaries, in_turn)
    err.print(f"done in {duration(seconds)}; plans in {folder / 'plans'}", markup=False, soft_wrap=True)


def _print(summaries: Sequence[dict[str, Any]], in_turn: bool) -> None:
    more = ("in turn", "ratio") if in_turn else ()
    names = ("policy", "seed", "graphs", "placed", "rounds", "network usage", *more)
    table = plain_table(*names, right=tuple(range(1, len(names))))
    for each in summaries:
        row = [each["policy"], *(f"{each[key]:,}" for key in ("seed", "graphs", "placed", "rounds"))]
        row.append(f"{number(each['network_usage_bytes'])} B")
        if in_turn:
            ratio = each["network_usage_against_in_turn"]
            row += [
                f"{number(each['network_usage_bytes_in_turn'])} B",
                "-" if ratio is None else f"{ratio:.4f}",
            ]
        table.add_row(*row)
    out.print(table)
