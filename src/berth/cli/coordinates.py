"""`berth coordinates`."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from berth.amounts import milliseconds, percentage
from berth.cli.options import (
    AsJson,
    Configuration,
    Master,
    ProblemFile,
    flag,
    option,
    session_for,
)
from berth.cli.output import out, plain_table, print_json, printing_aside, tell
from berth.cli.progress import watching
from berth.files import check_writable, write_text
from berth.files.document import document_text, is_standard, mistakes_in, read_document
from berth.files.problem_file import network_from, with_coordinates
from berth.model import BadInput, Network

if TYPE_CHECKING:
    from berth.files.probes import ProbeCounts
    from berth.space.network_space import Located
    from berth.space.vivaldi import VivaldiOptions

COORDINATES_EXAMPLES = """Examples:

  berth coordinates problem.yaml --out located.yaml

  berth coordinates problem.yaml --out located.json --probes probes.csv --height --json

  berth coordinates problem.yaml --out located.json --probes probes/ --spark --master 'local[8]'

The same problem, probes, options and seed give the same coordinates.
"""

MOST_SHOWN = 10
MOST_LISTED = 1_000_000


def coordinates(
    problem: ProblemFile,
    target: Path = option(..., "Write the problem there: YAML if it ends so, or else JSON.", "FILE", "--out"),
    dimensions: int = option(3, "Dimensions of the latency space.", "N"),
    height: bool = flag("--height", "Give every node a height, too: its way into the network."),
    neighbours: int | None = option(
        None, "Most neighbours of a node that are used. Default: all of up to 250,000 pairs, then 32.", "N"
    ),
    seed: int = option(0, "The same seed gives the same coordinates.", "N"),
    probes: list[Path] | None = option(
        None,
        "Measured round trips (from, to, rtt_ms) beside the problem's delays: CSV, JSON lines or "
        "Parquet, a file or a folder. Can be repeated.",
        "TABLE",
    ),
    refine: bool = option(True, "Room to unfold first, least absolute errors after; without, Vivaldi alone."),
    spark: bool = flag("--spark", "Compute on Spark: for more probes than one machine can hold."),
    master: Master = None,
    configuration: Configuration = None,
    as_json: AsJson = False,
) -> None:
    """Compute network coordinates from delays, and write them into a problem."""
    if as_json and is_standard(target):
        raise BadInput("--out -: goes to standard output, where --json prints; give a file")
    if not spark and (configuration or (master and "BERTH_MASTER" not in os.environ)):
        raise BadInput("--master and --conf go with --spark")
    options = _options(dimensions=dimensions, height=height, neighbours=neighbours, refine=refine)
    document = read_document(problem)
    with mistakes_in(problem):
        network = network_from(document)
    check_writable(target)
    # compiled code takes its time to load: only who wants coordinates pays for it
    from berth.space.samples import without_coordinates

    # Those that it has are replaced, so their distances are no delays to go by.
    network = without_coordinates(network)
    most_listed = MOST_LISTED if as_json else MOST_SHOWN
    if spark:
        with (
            session_for(master, configuration, "berth coordinates") as session,
            watching(session, "reading probes") as steps,
        ):
            from berth.pipeline.coordinates import locate_on_spark

            located, measured = locate_on_spark(
                session, network, probes or [], options, seed, most_listed, target.parent, steps
            )
    else:
        located, measured = _located(network, probes or [], options, seed, most_listed)
    found = located.coordinates
    if found.errors is None:
        raise BadInput(f"{problem}: no delay between any two nodes: it needs links, a matrix or --probes")
    changed = with_coordinates(
        document, found.positions, found.heights if height else None, set(found.unplaced.tolist())
    )
    network_from(changed)
    write_text(target, document_text(changed, target))
    if as_json:
        print_json({"problem": document["name"], **_document(network, located, measured), "seed": seed})
    elif is_standard(target):
        with printing_aside():
            _print(network, located, measured)
        return
    else:
        _print(network, located, measured)
    tell(f"problem written to {target}")


def _options(**given: Any) -> VivaldiOptions:
    from berth.space.vivaldi import VivaldiOptions

    try:
        return VivaldiOptions(**given)
    except ValueError as error:
        raise BadInput(f"--{error}") from None


def _located(
    network: Network, probes: list[Path], options: VivaldiOptions, seed: int, most_listed: int
) -> tuple[Located, ProbeCounts | None]:
    """Compute here."""
    from berth.files.probes import read_probes
    from berth.space.network_space import locate

    if not probes:
        return locate(network, None, options, seed, most_listed), None
    measured = read_probes(probes, network.index)
    pairs = measured.senders, measured.receivers, measured.delay_ms
    return locate(network, pairs, options, seed, most_listed), measured.counts


def _document(network: Network, located: Located, probes: ProbeCounts | None) -> dict[str, Any]:
    found, estimates = located.coordinates, located.estimates
    names = [node.name for node in network.nodes]
    ends = estimates.senders.tolist(), estimates.receivers.tolist()
    values = estimates.delay_ms.round(4).tolist(), estimates.both_ways.tolist()
    return {
        "nodes": len(names),
        "dimensions": found.positions.shape[1],
        "rounds": found.rounds,
        "polish_rounds": found.polish_rounds,
        "resets": found.resets,
        "errors": None if found.errors is None else found.errors.as_trace(),
        "rejected_samples": located.rejected,
        "probes": None if probes is None else asdict(probes),
        "unplaced": [names[node] for node in found.unplaced.tolist()],
        "islands": int(found.islands.max(initial=0)) + 1,
        "estimated": {
            "count": estimates.count,
            "listed": len(ends[0]),
            "pairs": [
                {"from": names[a], "to": names[b], "delay_ms": delay, "both_ways": both}
                for a, b, delay, both in zip(*ends, *values, strict=True)
            ],
        },
    }


def _print(network: Network, located: Located, probes: ProbeCounts | None) -> None:
    found = located.coordinates
    assert found.errors is not None
    errors = found.errors.as_trace()
    out.print(
        f"[bold]{len(network.nodes) - len(found.unplaced):,} of {len(network.nodes):,} nodes[/] "
        f"have coordinates in {found.positions.shape[1]} dimensions "
        f"({found.rounds} rounds, {found.polish_rounds} of polish)"
    )
    if found.resets:
        out.print(f"{found.resets:,} times a node went out of bounds and was started again")
    _print_samples(located, probes)
    pairs = f"{errors['pairs']:,}"
    sampled = "" if errors["pairs"] == errors["measured_pairs"] else f" of {errors['measured_pairs']:,}"
    out.print(f"\nerrors over {pairs}{sampled} measured pairs")
    table = plain_table("", "mean", "median", "90 %", "99 %", "largest", right=(1, 2, 3, 4, 5))
    absolute = (errors[f"absolute_{name}_ms"] for name in ("mean", "median", "p90", "p99", "max"))
    table.add_row("absolute", *map(milliseconds, absolute))
    relative = (errors[f"relative_{name}"] for name in ("median", "p90"))
    table.add_row("relative", "", *map(percentage, relative), "", "")
    out.print(table)
    _print_unplaced(network, located)
    _print_estimates(network, located)


def _print_samples(located: Located, probes: ProbeCounts | None) -> None:
    if located.rejected:
        out.print(f"[yellow]{located.rejected:,} delays make no sense and were left out[/]")
    if probes is None:
        return
    out.print(f"{probes.records:,} probes read, of {probes.pairs:,} pairs")
    for reason, count in probes.rejected.items():
        out.print(f"  [yellow]{count:,} left out:[/] {escape(reason)}")


def _print_unplaced(network: Network, located: Located) -> None:
    unplaced = located.coordinates.unplaced
    if not len(unplaced):
        return
    names = ", ".join(network.nodes[node].name for node in unplaced[:MOST_SHOWN].tolist())
    more = f" and {len(unplaced) - MOST_SHOWN:,} more" if len(unplaced) > MOST_SHOWN else ""
    out.print(
        f"\n[yellow]{len(unplaced):,} without coordinates:[/] no delay relates them to the rest: "
        f"{escape(names)}{more}",
        soft_wrap=True,
    )


def _print_estimates(network: Network, located: Located) -> None:
    estimates = located.estimates
    if not estimates.count:
        out.print("\nevery pair has a measured delay: none is an estimate")
        return
    some = "1 pair has" if estimates.count == 1 else f"{estimates.count:,} pairs have"
    out.print(f"\n{some} an estimated delay now, because there is no link")
    if not len(estimates.senders):
        return
    table = plain_table("from", "to", "delay", right=(2,))
    rows = zip(estimates.senders.tolist(), estimates.receivers.tolist(), estimates.delay_ms, strict=True)
    for sender, receiver, delay in rows:
        names = (escape(network.nodes[node].name) for node in (sender, receiver))
        table.add_row(*names, milliseconds(float(delay)))
    out.print(table)
    if estimates.count > len(estimates.senders):
        out.print(f"... and {estimates.count - len(estimates.senders):,} more; --json lists them")
